"""The step of the level search against plain Python, and its lowering for a GPU."""

from functools import partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target, compiling_for, jit64
from jaxmotif.kernels._lane_body import PLAIN
from jaxmotif.search._layout import Operands, PairWords, Reader, Sizes, TallyWords
from jaxmotif.search._loop import DeviceReport, advance, start_state
from jaxmotif.search._program import Placement, build_program
from jaxmotif.search._step import Window, extend, prepare_window
from tests import emulated
from tests.more import more

N, BLOCK, WINDOW = 32, 64, 16
XLA, INTERPRETED = Target("cpu"), Target("cpu", "interpreted")


def adjacency(seed):
    upper = np.triu(np.random.default_rng(seed).random((N, N)) < 0.3, 1)
    return upper | upper.T


def operands(near, program, bitmap):
    offsets = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    entries = np.concatenate([np.nonzero(near)[1], np.arange(N)])  # then the whole of the nodes, as one list
    places = np.concatenate([offsets, [offsets[-1], offsets[-1] + N]]).astype(np.int32)
    words = np.packbits(near, axis=1, bitorder="little").view(np.uint32).view(np.int32).reshape(-1)
    one = np.zeros(1, np.int32)
    fields = (program.code, places, entries.astype(np.int32), words if bitmap else one, one, one, one)
    return Operands(*map(jnp.asarray, fields))


def path_steps():
    """A path of three nodes: node 2 next to node 1, different from node 0."""
    everything, edge = PairWords(-1, N + 1, 0), PairWords(0, 0, 0)
    return [Placement([everything]), Placement([edge]), Placement([PairWords(1, 0, 0)], distinct_from=[0])]


@pytest.mark.parametrize(
    ("bitmap", "block"),  # it ends in the first row, in a later one, after the last
    [(False, 2), (False, 30), (True, BLOCK), *more((False, BLOCK), (True, 2), (True, 30))],
)
def test_a_step_appends_what_passes_in_order(bitmap, block):
    near = adjacency(1)
    edge = [PairWords(0, 0, 0), PairWords(1, 0, 0)]
    steps = [*path_steps()[:2], Placement(edge, below=[1]), Placement([PairWords(2, 0, 0)], distinct_from=[0, 1])]
    sizes, room = Sizes(BLOCK, WINDOW, bitmap), 2 * BLOCK
    program = build_program(steps, stride=1, longest=N).sized([room] * 3)
    op = operands(near, program, bitmap)
    rows = np.argwhere(near)[5 : 5 + WINDOW]
    base = room  # table 1 holds one column; table 2 begins after it
    table = np.zeros(program.entries + 1, np.int32)
    table[base : base + WINDOW], table[base + room :][:WINDOW] = rows.T
    window = Window(*map(jnp.int32, (2, 0, WINDOW, 1)))

    @jit64
    def take_step(op, table, window, tally, block, filled):
        io = Reader(PLAIN, op, table, sizes)
        lists = prepare_window(io, window)
        return lists, extend(io, tally, window, lists, block, filled)

    tally = np.zeros(0, np.uint64)
    prepared, step = take_step(op, jnp.asarray(table), window, tally, jnp.int32(block), jnp.int32(3))
    flat = []
    for number, (u, v) in enumerate(rows):
        lists = [v + 1 + np.flatnonzero(near[x, v + 1 :]) for x in (u, v)]
        flat += [(u, v, w) for w in min(lists, key=len)[number == 0 :]]
    lengths = np.asarray(prepared[0])
    assert lengths.sum() == len(flat)
    done, used = int(step.done), int(step.used)
    assert int(step.tested) == min(block, len(flat))
    if block < len(flat):
        assert lengths[:done].sum() + used - (done == 0) == block
        assert used - (done == 0) < lengths[done]
    else:
        assert (done, used) == (WINDOW, 0)
    expected = [(u, v, w) for u, v, w in flat[:block] if near[u, w] and near[v, w]]
    assert len(expected) == int(step.added)
    assert expected or block == 2
    columns = np.asarray(step.table)[3 * base :][: 3 * room].reshape(3, -1)[:, 3 : 3 + len(expected)]
    assert columns.T.tolist() == [list(map(int, row)) for row in expected]
    assert not np.asarray(step.counts).any()


def test_a_whole_search_counts_and_lists():
    near = adjacency(2)
    degree = near.sum(axis=1)
    for whole in (False, True):
        sizes = Sizes(BLOCK, WINDOW, False)
        program = build_program(path_steps(), stride=1, longest=N, whole=whole).sized([48, 96, 4096])
        state = start_state(entries=program.entries, tables=4, sizes=sizes)
        op = operands(near, program, False)
        state, report = advance(op, state, jnp.int32(10_000), sizes=sizes, ordered=whole)
        expected = [(u, v, w) for u, v in np.argwhere(near) for w in np.flatnonzero(near[v]) if w != u]
        assert int(state.steps) < 10_000
        assert len(expected) == (degree * (degree - 1)).sum()
        if whole:
            start = program.entries - 3 * 4096
            table = np.asarray(state.table)[start:-1].reshape(3, -1)[:, : len(expected)]
            assert int(state.rows[0, 3]) == len(expected)
            assert table.T.tolist() == [list(map(int, row)) for row in expected]
        else:
            assert DeviceReport.read(np.asarray(report), sizes).matches == len(expected)


def tallied_path(near, cells):
    """A search for paths of three nodes, and its sizes: matches by each node, by the last, and by the first pair."""
    nodes = [TallyWords(position, -1, -1, position * N) for position in range(3)]
    pairs = [TallyWords(1, 0, 0, 3 * N), TallyWords(2, 0, 1, 3 * N + int(near.sum()))]
    program = build_program(path_steps(), tallies=nodes + pairs, stride=1, longest=N).sized([1536, 1536])
    return program, Sizes(1024, 1024, False, limbs=0, cells=cells)


@pytest.mark.parametrize(
    "target",
    [
        XLA,
        pytest.param(INTERPRETED, marks=pytest.mark.more),
        pytest.param(emulated.TARGET, marks=[emulated.NEEDS, pytest.mark.more]),
    ],
    ids=lambda x: x.kernels,
)
def test_matches_are_added_up_by_nodes_and_pairs(target):
    near = adjacency(4)
    pairs, degree = np.argwhere(near), near.sum(axis=1)
    program, sizes = tallied_path(near, 1024)
    with compiling_for(target):
        state = start_state(entries=program.entries, tables=4, sizes=sizes)
        state, report = advance(operands(near, program, False), state, jnp.int32(99), sizes=sizes)
    first, second, third, opening, closing, rest = np.split(
        np.asarray(state.tally).astype(int), np.cumsum([N, N, N, len(pairs), len(pairs)])
    )
    ends = near @ (degree - 1)
    assert first.tolist() == third.tolist() == ends.tolist()
    assert second.tolist() == (degree * (degree - 1)).tolist()
    assert opening.tolist() == (degree[pairs[:, 1]] - 1).tolist()
    assert closing.tolist() == (degree[pairs[:, 0]] - 1).tolist()
    assert not rest.any()
    assert DeviceReport.read(np.asarray(report), sizes).matches == ends.sum()


@pytest.mark.parametrize(
    ("target", "bitmap"),
    [
        (INTERPRETED, True),
        *more((INTERPRETED, False)),
        # As programs of a GPU append, in any order.
        pytest.param(emulated.TARGET, False, marks=emulated.NEEDS),
        pytest.param(emulated.TARGET, True, marks=emulated.NEEDS),
    ],
)
def test_a_fused_step_appends_in_any_order(target, bitmap):
    """Triangles u < v < w: lists that begin behind a node, tests of adjacency, programs that append as they come."""
    near = adjacency(6)
    pairs = [PairWords(node, 0, 0) for node in range(2)]
    steps = [path_steps()[0], Placement(pairs[:1], below=[0]), Placement(pairs, below=[1])]
    program = build_program(steps, stride=1, longest=N, whole=True).sized([2048, 2048, 8192])
    sizes = Sizes(2048, 1024, bitmap, limbs=0)
    with compiling_for(target):
        state = start_state(entries=program.entries, tables=4, sizes=sizes)
        state, _ = advance(operands(near, program, bitmap), state, jnp.int32(99), sizes=sizes)
    count = int(state.rows[0, 3])
    found = np.asarray(state.table)[program.entries - 3 * 8192 : -1].reshape(3, -1)[:, :count].T
    expected = [x for x in combinations(range(N), 3) if near[np.ix_(x, x)].sum() == 6]
    assert sorted(map(tuple, found.tolist())) == expected
    assert len(expected) > 20


def test_a_fused_step_keeps_order_when_asked_to():
    near = adjacency(5)
    program = build_program(path_steps(), stride=1, longest=N, whole=True).sized([1536, 1536, 8192])
    found = []
    for kernels in ("xla", "interpreted"):
        sizes = Sizes(1024, 1024, False, limbs=0, in_order=True)
        with compiling_for(Target("cpu", kernels)):
            state = start_state(entries=program.entries, tables=4, sizes=sizes)
            state, _ = advance(operands(near, program, False), state, jnp.int32(99), sizes=sizes, ordered=True)
        count = int(state.rows[0, 3])
        found.append(np.asarray(state.table)[program.entries - 3 * 8192 : -1].reshape(3, -1)[:, :count].T.tolist())
    assert found[0] == found[1] == sorted(found[0])
    assert len(found[0]) == (near.sum(axis=1) * (near.sum(axis=1) - 1)).sum()


@pytest.mark.parametrize(
    ("bitmap", "limbs", "more"),
    [(True, 4, {"cells": 64}), *more((False, 0, {}), (True, 2, {}), (True, 4, {}), (True, 0, {"in_order": True}))],
)
def test_the_search_lowers_for_a_gpu(abstract_gpu, bitmap, limbs, more):
    def vector(size, dtype=jnp.int32):
        return jax.ShapeDtypeStruct(size, dtype)

    sizes = Sizes(2**16, 2**13, bitmap, limbs=limbs, **more)
    op = Operands(*(vector((size,)) for size in (4096, 4096, 4096, 1024, 64, 64, 64)))
    with compiling_for(Target("cuda", "triton")), jax.enable_x64(True), abstract_gpu():
        state = jax.eval_shape(lambda: start_state(entries=2**20, tables=16, sizes=sizes))
        traced = jax.jit(partial(advance, sizes=sizes)).trace(op, state, vector(()))
        assert traced.lower(lowering_platforms=("cuda",)).as_text().count("triton") > 0
