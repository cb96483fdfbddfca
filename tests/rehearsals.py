"""What is compiled ahead, and what is called."""

from concurrent.futures import Executor, Future

import jax
import pytest

from jaxmotif.arrays import _compile
from jaxmotif.arrays._ahead import Rehearsal
from jaxmotif.arrays._compile import Target


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

    def noted(call, notes):
        def noting(*given):
            run, args, kwargs = given[-3:]
            notes.add((run.__qualname__, *(getattr(x, "shape", x) for x in jax.tree.leaves((args, kwargs)))))
            return call(*given)

        return noting

    monkeypatch.setattr(Rehearsal, "take", noted(Rehearsal.take, told))
    monkeypatch.setattr(_compile, "call_program", noted(_compile.call_program, called))

    def rehearse_in(*modules):
        def both(work, device, what, rehearsal_of=None):
            Rehearsal(Here()).run(rehearsal_of or work, jax.config.values["jax_default_device"])
            return work()

        for module in modules:
            monkeypatch.setattr(module, "rehearsed", both)
        return told, called

    return rehearse_in
