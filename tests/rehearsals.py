"""What is compiled ahead, and what is called."""

from concurrent.futures import Executor, Future

import jax
import pytest

from jaxmotif.arrays._ahead import Rehearsal
from jaxmotif.arrays._compile import Target
from jaxmotif.arrays._programs import Kept


class Here(Executor):
    """A pool that does at once what it is given."""

    def submit(self, fn, /, *args, **kwargs):
        fn(*args, **kwargs)
        return Future()


@pytest.fixture
def rehearsals(monkeypatch):
    """A CPU does as an accelerator does. Given the modules whose work is rehearsed, first and in this thread, two sets:
    the programs that rehearsals told, and those that were called, by name and kinds of arguments."""
    monkeypatch.setattr(Target, "is_accelerator", property(lambda self: True))
    told, called = set(), set()

    def noted(method, notes):
        def call(self, *given):
            kept, args, kwargs = (given[0] if isinstance(self, Rehearsal) else self), *given[-2:]
            kinds = (getattr(x, "shape", x) for x in jax.tree.leaves((args, kwargs)))
            notes.add((kept._name, *kinds))
            return method(self, *given)

        return call

    monkeypatch.setattr(Rehearsal, "take", noted(Rehearsal.take, told))
    monkeypatch.setattr(Kept, "call", noted(Kept.call, called))

    def rehearse_in(*modules):
        def both(work, device, what, rehearsal_of=None):
            Rehearsal(Here()).run(rehearsal_of or work, jax.config.values["jax_default_device"])
            return work()

        for module in modules:
            monkeypatch.setattr(module, "rehearsed", both)
        return told, called

    return rehearse_in
