"""What is compiled ahead of a census, and of motifs, on a device is what these call."""

import jax
import pytest

from jaxmotif.arrays._sizes import chain_lanes
from jaxmotif.census import _device, _enumerate, _pair_states, _sizes
from jaxmotif.census import _job as _census
from jaxmotif.devices import _job
from jaxmotif.kernels._chains import run_chains
from jaxmotif.motifs import (
    _discovery,
    _graph_samples,
    _proposals,
    _random_graphs,
    estimate_census,
    find_motifs,
    subgraph_census,
)
from tests.census.test_compilations import sparse_graph
from tests.census.test_count import brute_force
from tests.more import more
from tests.rehearsals import rehearsals  # noqa: F401  (a fixture)


@pytest.fixture
def programs(rehearsals, monkeypatch):  # noqa: F811
    sizes = _sizes.Sizes(1 << 10, 1 << 12, 1 << 13, 1 << 14, distinct=1 << 14, least=1 << 10)
    monkeypatch.setattr(_sizes, "ACCELERATOR_SIZES", sizes)
    # Room for a few small graphs, which takes time here and none on an accelerator.
    room = _pair_states.Room(1 << 10, 1 << 13, 1 << 16)
    monkeypatch.setattr(_pair_states, "ACCELERATOR_LEAST", room)
    for module in (_pair_states, _graph_samples):
        monkeypatch.setattr(module, "ACCELERATOR_SAMPLE", room)
    monkeypatch.setattr(_random_graphs, "LEAST", {True: (64, 1 << 11)})
    monkeypatch.setattr(_random_graphs, "chain_lanes", lambda labels, _: chain_lanes(max(labels, 1 << 11), False))
    monkeypatch.setattr(_random_graphs, "run_chains", run_chains)  # they run briefly: no time for optimisations
    return rehearsals(_census, _discovery, _job)


@pytest.mark.parametrize(("size", "least"), [(3, 6), *more((4, 8))])
def test_census(programs, size, least, monkeypatch):
    monkeypatch.setattr(_enumerate, "count_whole", lambda *_: None)
    told, called = programs
    graph = sparse_graph(16)
    census = subgraph_census(graph, size)
    assert told == called
    assert len(told) >= least
    assert census.as_dict() == brute_force(graph, size)


@pytest.mark.parametrize(("many", "sizes"), [(False, {1 << 10}), (True, {1 << 10, 1 << 12})])
def test_a_larger_window_where_there_may_be_many_different_codes(programs, many, sizes, monkeypatch):
    monkeypatch.setattr(_enumerate, "count_whole", lambda *_: None)
    monkeypatch.setattr(_device, "LEAST_DISTINCT", 1 << 10)
    monkeypatch.setattr(_device, "_many_classes", lambda *_: many)
    told, _ = programs
    subgraph_census(sparse_graph(16), 3)
    windows = [set(shapes) for name, *shapes in told if name.endswith("_grouped")]
    assert len(windows) == len(sizes)
    assert all(any(size in window for window in windows) for size in sizes)


def test_census_in_one_program(programs):
    told, called = programs
    census = subgraph_census(sparse_graph(16), 3)
    assert told == called
    assert sorted(name.rpartition(".")[2] for name, *_ in told) == ["_counted", "_rows_from_graph"]
    assert census.as_dict() == brute_force(sparse_graph(16), 3)


def test_motifs(programs, monkeypatch):
    """A second batch, which is short and has no chain that goes on, takes the programs of the first."""
    monkeypatch.setattr(_discovery, "GPU_WORKERS", 1)
    monkeypatch.setattr(_discovery, "MIXING_GRAPHS", 4)
    monkeypatch.setattr(_discovery, "_batch", lambda *_: 33)
    told, called = programs
    found = find_motifs(sparse_graph(16), 3, num_random=40, attempts=4, devices=jax.devices("cpu")[:1])
    assert told == called
    names = [name.rpartition(".")[2] for name, *_ in told]
    assert {name for name in names if names.count(name) > 1} == {"_sort_portion", "_full"}  # two in any batch
    assert names.count("run_chains") == 1
    met = {text: n for text, n in zip(found.classes, found.counts.tolist(), strict=True) if n}
    assert met == brute_force(sparse_graph(16), 3)


def test_what_is_compiled_beside_the_pilot_is_all_that_motifs_take(programs, monkeypatch):
    """Before the length of the chains is known."""
    told, called = programs
    rehearsed, known = _discovery.rehearsed, []

    def beside_the_pilot(work, device, what, rehearsal_of=None):
        known.append(what[0])
        return rehearsed(work, device, what, rehearsal_of) if what[0] == "pilot" else work()

    monkeypatch.setattr(_discovery, "rehearsed", beside_the_pilot)
    find_motifs(sparse_graph(16), 3, num_random=20, attempts=4, devices=jax.devices("cpu")[:1])
    assert known[0] == "pilot"
    assert told == called


@pytest.mark.more
def test_estimated_motifs(programs):
    told, called = programs
    options = {"num_random": 20, "attempts": 4, "estimate": 100, "devices": jax.devices("cpu")[:1]}
    found = find_motifs(sparse_graph(16), 3, **options)
    assert told == called
    assert {"run_chains", "_rows_of_lanes", "_drawn", "_grouped"} <= {name.rpartition(".")[2] for name, *_ in told}
    assert found.counts.sum() > 0


@pytest.mark.parametrize("matrix_bytes", [1 << 20, *more(0)])
def test_estimate(programs, matrix_bytes, monkeypatch):
    told, called = programs
    monkeypatch.setattr(_proposals, "MATRIX_BYTES", (matrix_bytes, matrix_bytes))
    monkeypatch.setattr(_proposals, "LANES", (_proposals.BLOCK, 2 * _proposals.BLOCK))
    graph = sparse_graph(16)
    found = estimate_census(graph, 4, samples=100, devices=jax.devices("cpu")[:1])
    assert told == called
    assert {"extended", "_drawn", "_grouped"} <= {name.rpartition(".")[2] for name, *_ in told}
    assert found.total > 0


def test_census_in_parts(programs, tmp_path):
    told, called = programs
    graph = sparse_graph(16)
    census = subgraph_census(graph, 4, checkpoint=tmp_path, devices=jax.devices("cpu")[:1])
    assert told == called
    assert census.as_dict() == brute_force(graph, 4)
