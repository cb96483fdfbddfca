"""Smaller steps where memory ends, in what is done in one call."""

import importlib
import itertools
import re
from functools import partial

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._sizes import graph_class
from jaxmotif.devices import _memory as memory_of
from jaxmotif.devices._memory import (
    compiled_bytes,
    default_memory,
    free_memory,
    out_of_memory,
    with_smaller_steps,
    working_memory,
)  # fmt: skip
from jaxmotif.graph import synthetic
from jaxmotif.graphlets import _run as run
from jaxmotif.graphlets._run import smaller
from jaxmotif.graphlets._tuning import choose_tuning
from jaxmotif.matching import Search
from jaxmotif.matching import _divided as shares
from jaxmotif.motifs import _random_graphs
from jaxmotif.patterns import Pattern
from tests.optimised import optimise

EXHAUSTED = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7 bytes.")
DEVICE = jax.devices()[0]
PAN = Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)])


def test_what_counts_as_out_of_memory():
    assert out_of_memory(EXHAUSTED)
    assert not out_of_memory(jax.errors.JaxRuntimeError("INTERNAL: broken"))
    assert not out_of_memory(ValueError("RESOURCE_EXHAUSTED"))


def test_what_takes_the_place_of_an_argument_takes_no_further_room():
    """As results of programs that are given their arguments for good."""
    x = jax.numpy.zeros(256, jax.numpy.int32)
    kept, given = (compiled_bytes(jit64(lambda x: x + 1, donate_argnums=places), x) for places in ((), (0,)))
    assert kept - given == x.nbytes


class Accelerator:
    """A device that has so many bytes, and so many in use."""

    platform, device_kind = "gpu", "any"

    def __init__(self, limit, used=0):
        self.stats = None if limit is None else {"bytes_limit": limit, "bytes_in_use": used}

    def memory_stats(self):
        return self.stats


def test_the_default_is_half_of_what_is_free():
    """Of what is free now, not of what was preallocated; steady while a little more or less is."""
    assert default_memory(Accelerator(100 << 30)) == default_memory(Accelerator(100 << 30, 30 << 30)) == 32 << 30
    assert default_memory(Accelerator(100 << 30, 98 << 30)) == 1 << 30
    assert default_memory(Accelerator(100, 120)) == 1
    assert default_memory(Accelerator(None)) == memory_of.UNKNOWN_MEMORY // 2
    with pytest.raises(ValueError, match="memory=7 bytes is too little for a table: allow at least 9"):
        working_memory(7, DEVICE, 9, "a table")
    with pytest.raises(TypeError, match=r"memory must be a number of bytes, such as 2\*\*30, got '1MiB'"):
        working_memory("1MiB", DEVICE, 9, "a table")  # pyright: ignore[reportArgumentType]
    assert working_memory(None, Accelerator(100), 9, "a table") == 32
    assert working_memory(None, Accelerator(100), 70, "a table") == 70  # nobody gave an argument to complain of


def test_free_memory_of_a_cpu(monkeypatch, tmp_path):
    """What the machine has available, or less where a group has a limit, in both versions of control groups."""
    with monkeypatch.context() as patch:
        for text in ("MemFree: 5 kB\n", "MemAvailable:\n", "MemAvailable: much\n"):
            patch.setattr(memory_of.Path, "read_text", lambda path, text=text: text)
            assert memory_of._available() is None
        patch.setattr(memory_of.Path, "read_text", lambda path: "MemFree: 5 kB\nMemAvailable: 7 kB\n")
        patch.setattr(memory_of, "_left_by_limits", lambda: [])
        assert memory_of._available() == 7 * 1024
    monkeypatch.setattr(memory_of, "_available", lambda: 4000)
    assert free_memory(jax.devices("cpu")[0]) == 4000 // len(jax.devices("cpu"))
    monkeypatch.setattr(memory_of, "_available", lambda: None)
    assert free_memory(jax.devices("cpu")[0]) == memory_of.UNKNOWN_MEMORY

    groups = tmp_path / "cgroup"
    groups.write_text("4:memory:/job/step\n3:cpu:/job\n0::/slice:1\n")
    files = {
        "memory/job/step": {"memory.limit_in_bytes": "9000", "memory.usage_in_bytes": "1000"},
        "memory/job": {"memory.limit_in_bytes": "5000", "memory.usage_in_bytes": "3000"},
        "slice:1": {"memory.max": "max", "memory.current": "50"},
        ".": {"memory.max": "7000", "memory.current": "400"},
    }
    for folder, contents in files.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, text in (contents | {"memory.stat": "active_file 5\ninactive_file 100"}).items():
            (tmp_path / folder / name).write_text(text)
    assert memory_of._left_by_limits(tmp_path, groups) == [8100, 2100, 6700]
    assert memory_of._left_by_limits(tmp_path, tmp_path / "none") == []


def fits(limit):
    def attempt(size):
        if size > limit:
            raise EXHAUSTED
        return size

    return attempt


def halve(size):
    return (size // 2, f"steps of {size // 2}") if size > 1 else None


def test_halves_until_it_fits():
    assert with_smaller_steps(fits(100), 64, halve, DEVICE) == (64, ())
    found, notes = with_smaller_steps(fits(20), 64, halve, DEVICE)
    assert found == 16
    assert [note.split("; ")[1] for note in notes] == ["went on with steps of 32", "went on with steps of 16"]
    with pytest.raises(MemoryError, match="even for the smallest steps"):
        with_smaller_steps(fits(0), 64, halve, DEVICE)
    with pytest.raises(ZeroDivisionError):
        with_smaller_steps(lambda size: 1 / 0, 64, halve, DEVICE)


def test_graphlets(monkeypatch):
    """The smallest steps of all count the same."""
    graph = jaxmotif.datasets.load("karate")
    expected = jaxmotif.graphlet_counts(graph)
    whole, tunings = run._statistics, []
    nodes, slots = graph_class(graph.n, graph.num_slots, False)
    edges = slots // 2

    def failing(*arguments, tuning, **options):
        tunings.append(tuning)
        if smaller(tuning, nodes, edges) is not None:
            raise EXHAUSTED
        return whole(*arguments, tuning=tuning, **options)

    monkeypatch.setattr(run, "_statistics", failing)
    found = jaxmotif.graphlet_counts(graph)
    assert found.counts == expected.counts
    assert len(found.notes) == len(tunings) - 1 > 0


@pytest.mark.parametrize("platform", ["cpu", "gpu"], ids=["host", "accelerator"])
def test_halved_sizes_fit_together(platform):
    nodes, edges = 2**20, 2**23
    first = tuning = choose_tuning(nodes, edges, DEVICE if platform == "cpu" else Accelerator(2**36))
    count = 0
    while (found := smaller(tuning, nodes, edges)) is not None:
        less, _ = found
        assert all(a <= b for a, b in zip(less[1:], tuning[1:], strict=True))
        assert less.light_block > less.most_light == first.most_light
        assert less.slots >= 2 * less.light_block
        tuning, count = less, count + 1
    assert count > 3
    assert tuning.block >= 1024


def test_matching(monkeypatch):
    query, target = Pattern.from_edges([(0, 1), (1, 2), (2, 3)]), jaxmotif.datasets.load("karate")
    options = {"search": Search(leaves=False, symmetry=False, block=256)}
    expected = jaxmotif.count_matches(query, target, **options)
    search, blocks = shares.finish, []

    def failing(run, *arguments):
        blocks.append(run._stage.sizes.block)
        if blocks[-1] > 64:
            raise EXHAUSTED
        yield from search(run, *arguments)

    monkeypatch.setattr(shares, "finish", failing)
    found = jaxmotif.count_matches(query, target, **options)
    assert (found.count, found.status) == (expected.count, "done")
    assert blocks == [256, 128, 64]
    assert len(found.notes) == 2
    monkeypatch.setattr(shares, "LEAST_BLOCK", 128)
    with pytest.raises(MemoryError):
        jaxmotif.count_matches(query, target, **options)


def test_census(monkeypatch, tmp_path):
    from jaxmotif.census import _count as census
    from jaxmotif.census import _job as job

    graph = jaxmotif.datasets.load("karate")
    expected = jaxmotif.subgraph_census(graph, 3)
    counted, tries = census.count_classes, []

    def failing(*arguments):
        tries.append(arguments)
        if len(tries) < 3:
            raise EXHAUSTED
        return counted(*arguments)

    monkeypatch.setattr(census, "count_classes", failing)
    with pytest.raises(MemoryError):
        jaxmotif.subgraph_census(graph, 3)
    tries.clear()
    memory = []

    def halve_memory(_, before):
        memory.append(before)
        return (before or 2**30) // 2, "smaller tables"

    monkeypatch.setattr(job, "halve_memory", halve_memory)
    assert jaxmotif.subgraph_census(graph, 3).as_dict() == expected.as_dict()
    assert memory == [None, 2**29]
    # The task of a job does the same, and plans anew.
    tries.clear()
    memory.clear()
    plan, planned = job.plan, []
    monkeypatch.setattr(job, "plan", lambda device, memory: planned.append(memory) or plan(device, memory))
    assert jaxmotif.subgraph_census(graph, 3, checkpoint=tmp_path).as_dict() == expected.as_dict()
    assert memory == [None, 2**29]
    assert planned == [None, 2**29, 2**28]
    tries.clear()
    monkeypatch.setattr(job, "halve_memory", lambda *_: None)
    with pytest.raises(MemoryError):
        jaxmotif.subgraph_census(graph, 3, checkpoint=tmp_path / "again")


def test_sizes_of_a_census(monkeypatch):
    from jaxmotif.arrays._compile import Target
    from jaxmotif.census import _sizes as census

    monkeypatch.setattr(census, "target_of", lambda device: Target("tpu"))
    monkeypatch.setattr(census, "default_memory", lambda device: 2**34)
    (device,) = jax.devices("cpu")[:1]
    blocks = [census.plan(device, gib << 30)[0] for gib in (1, 2, 8, 16, 24, 100)]
    assert blocks[-1] == blocks[-2] == census.ACCELERATOR_SIZES
    for less, more in itertools.pairwise(blocks[:-1]):
        assert all(a <= b for a, b in zip(vars(less).values(), vars(more).values(), strict=True))
    memory, tried = None, 0
    while (smaller := census.halve_memory(device, memory)) is not None:
        memory, _ = smaller
        census.plan(device, memory)
        tried += 1
    assert tried == 5


JOBS = {  # the steps of each job, and the job
    "graphlets": (["graphlets._run._statistics"], jaxmotif.edge_graphlets),
    "matching": (
        ["search._run.begin", "search._run.advance"],
        lambda graph, **options: jaxmotif.count_matches(
            PAN, graph, **options, search=Search(leaves=False, symmetry=False, max_steps=1000)
        ),
    ),
    "motifs": (
        ["census._enumerate._fill", "census._host._added", "census._host._visits"],
        lambda graph, **options: jaxmotif.find_motifs(graph, 4, 2, **options),
    ),
    "random graphs": (
        ["motifs._random_graphs.run_chains"],
        lambda graph, **options: jaxmotif.random_graphs(graph, 4, jax.random.key(0), **options),
    ),
    "sieve": (
        ["sieve._runner._draw", "sieve._runner._advance"],
        lambda graph, **options: jaxmotif.find_color_motif(
            graph, np.arange(graph.n) % 2, {0: 4, 1: 4}, 0, limit=0, error=0.1, **options
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", JOBS)
def test_a_budget_is_kept(monkeypatch, name):
    """The least that is not refused is enough, beyond the graph, for every step and what it is given, as XLA says."""
    steps, job = JOBS[name]
    graph, used = synthetic.barabasi_albert(1000, 4, seed=1), []
    monkeypatch.setattr(_random_graphs, "CPU_LANES", 2**13)  # as it is for users

    def measured(function):
        # With the options with which it is called, so that it is compiled once.
        needs = optimise(compiled_bytes) if function is _random_graphs.run_chains else compiled_bytes

        def call(*args, **static):
            used.append(needs(function, *args, **static))
            return function(*args, **static)

        call.lower64 = function.lower64
        return call

    for step in steps:
        path, _, function = step.rpartition(".")
        module = importlib.import_module(f"jaxmotif.{path}")
        monkeypatch.setattr(module, function, measured(getattr(module, function)))
    memory = 1
    while True:
        try:
            job(graph, memory=memory)
            break
        except ValueError as refused:
            memory = int(re.search("allow at least ([0-9]+)", str(refused))[1])
            used.clear()
    assert memory > 1
    assert 0 < max(used) <= memory + sum(x.nbytes for x in jax.tree.leaves(graph))


def test_a_budget_in_words_is_refused():
    graph = synthetic.random_regular(12, 4, seed=0)
    for call in (jaxmotif.graphlet_counts, jaxmotif.node_orbits, partial(jaxmotif.count_matches, "triangle")):
        for memory in ("1MiB", True):
            with pytest.raises(TypeError, match="memory must be a number of bytes"):
                call(graph, memory=memory)
    with pytest.raises(TypeError, match="memory must be a number of bytes"):
        jaxmotif.find_motifs(graph, 3, 20, memory=float("nan"))
