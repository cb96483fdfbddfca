"""What is compiled ahead of a census, and of motifs, on a device is what these call."""

import jax
import pytest

from jaxmotif.arrays._ahead import Rehearsal
from jaxmotif.arrays._compile import Target
from jaxmotif.arrays._programs import Kept
from jaxmotif.motifs import _census, _census_sizes, _discovery, find_motifs, subgraph_census
from tests.arrays.test_ahead import Here
from tests.motifs.test_census import brute_force
from tests.motifs.test_compilations import sparse_graph


@pytest.fixture
def as_on_a_device(monkeypatch):
    """A CPU does as an accelerator does, with small tables; lists what is rehearsed, and what is called."""
    sizes = _census_sizes.Sizes(1 << 10, 1 << 12, 1 << 13, 1 << 14, distinct=1 << 14, least=1 << 10)
    monkeypatch.setattr(Target, "is_accelerator", property(lambda self: True))
    monkeypatch.setattr(_census_sizes, "ACCELERATOR_SIZES", sizes)
    told, called = set(), set()

    def noted(method, notes):
        def call(self, *given):
            kept, args, kwargs = (given[0] if isinstance(self, Rehearsal) else self), *given[-2:]
            kinds = (getattr(x, "shape", x) for x in jax.tree.leaves((args, kwargs)))
            notes.add((kept._name, *kinds))
            return method(self, *given)

        return call

    def both(work, device, what):
        Rehearsal(Here()).run(work, jax.config.values["jax_default_device"])
        return work()

    monkeypatch.setattr(Rehearsal, "take", noted(Rehearsal.take, told))
    monkeypatch.setattr(Kept, "call", noted(Kept.call, called))
    for module in (_census, _discovery):
        monkeypatch.setattr(module, "rehearsed", both)
    return told, called


@pytest.mark.parametrize("size", [3, 4])
def test_census(as_on_a_device, size):
    told, called = as_on_a_device
    graph = sparse_graph(16)
    census = subgraph_census(graph, size)
    assert told == called
    assert len(told) >= 8
    assert census.as_dict() == brute_force(graph, size)


def test_motifs(as_on_a_device):
    told, called = as_on_a_device
    found = find_motifs(sparse_graph(16), 3, num_random=20, attempts=4, devices=jax.devices("cpu")[:1])
    assert told == called
    assert {"run_chains", "_rows_of_lanes"} <= {name.rpartition(".")[2] for name, *_ in told}
    assert found.counts.sum() == subgraph_census(sparse_graph(16), 3).total
