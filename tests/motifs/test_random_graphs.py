import dataclasses
import io
import logging
import pickle
from itertools import islice
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import jit64
from jaxmotif.devices._progress import Progress
from jaxmotif.graph import Graph, read_graph
from jaxmotif.kernels import _switching as switching
from jaxmotif.kernels import _walking as walking
from jaxmotif.kernels._chains import run_chains
from jaxmotif.motifs import NULL_MODELS, keep_blocks, keep_distances, keep_labels, random_graphs
from jaxmotif.motifs import _random_graphs as module
from jaxmotif.motifs._discovery import LONGER
from jaxmotif.motifs._null_models import NullModel, Wiring, null_model_of
from tests.compilations import compilations
from tests.more import more
from tests.motifs.ensembles import (
    all_with_same_degrees,
    counts_of,
    degrees_of,
    drawn_sets,
    ensembles,
    reachable,
    restricted,
)
from tests.optimised import optimise

scipy_stats = pytest.importorskip("scipy.stats")

# name: (nodes, arcs, keep, directed)
ENSEMBLES = {
    "3-cycle": (3, [(0, 1), (1, 2), (2, 0)], "bidegree", True),
    "path": (4, [(0, 1), (1, 2), (2, 3)], "bidegree", True),
    "mixed": (6, [(0, 1), (1, 0), (2, 3), (3, 2), (0, 4), (4, 5), (1, 2), (5, 3)], "bidegree", True),
    "only walks lead on": (
        5, [(0, 4), (1, 0), (1, 4), (2, 3), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2), (4, 3)], "bidegree", True,
    ),
    "reciprocation free": (4, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1)], "degree", True),
    "undirected": (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], "degree", False),
    "no hubs": (8, [(0, 1), (2, 3), (4, 5), (6, 7)], "degree", False),
}  # fmt: skip


def start(name):
    n, arcs, keep, directed = ENSEMBLES[name]
    both = arcs if directed else arcs + [(v, u) for u, v in arcs]
    return Graph.from_edges(arcs, n, directed), frozenset(both), keep, directed


def p_value(name, chains, **options):
    """Of all graphs with these degrees, each of which must be met."""
    graph, arcs, keep, directed = start(name)
    states = sorted(all_with_same_degrees(arcs, graph.n, keep, directed), key=sorted)
    counts = counts_of(drawn_sets(random_graphs(graph, chains, 7, keep, **options)), states)
    assert len(states) > 1
    assert counts.all()
    return scipy_stats.chisquare(counts).pvalue


@pytest.mark.parametrize(
    "name", ["mixed", "reciprocation free", "undirected", "no hubs", *more("only walks lead on", "3-cycle", "path")]
)
def test_uniform_at_the_defaults(name):
    assert p_value(name, 1000) > 0.001


@pytest.mark.parametrize("nodes", [12, 40])
def test_moves_are_counted_at_the_labels_that_move(nodes):
    """A switch moves two labels, a turn of three arcs two or three, and a walk, of small graphs alone, some at once."""
    arcs = np.argwhere(np.random.default_rng(nodes).random((nodes, nodes)) < 0.2)
    graph = Graph.from_edges(arcs[arcs[:, 0] != arcs[:, 1]], nodes, directed=True)
    plan = module.plan_chains(graph, 0, "bidegree", 1.0, attempts=1.0)
    lot = module.Chains(plan, jax.devices()[0], None, 3).run(np.arange(3, dtype=np.int32), None, 0, 8)
    ends, *made = (np.asarray(x) for x in (lot.fetch(plan.wiring).ends, *lot.counts[:3]))
    switches, triples, walked = made
    labels, before = plan.wiring.labels, np.concatenate(plan.wiring.ends.rows(None))
    moved = np.asarray(lot.made.moved)[: 3 * labels].reshape(3, labels)
    changed = (ends != before[:, None]).any(axis=0)
    assert changed.any()
    assert moved[changed].all()
    assert (walked > 0).all() == (nodes == 12)
    assert (2 * (switches + triples) <= moved.sum(axis=1)).all()
    assert (moved.sum(axis=1) <= 2 * switches + 3 * triples + 3 * walked).all()


@pytest.mark.slow
def test_uniform_on_many_ensembles():
    found = []
    for number, one in enumerate(ensembles(24)):
        graph = Graph.from_edges(one.edges, one.nodes, one.directed)
        counts = counts_of(drawn_sets(random_graphs(graph, 20_000, number, one.keep)), one.members)
        assert counts.all()
        found.append(scipy_stats.chisquare(counts).pvalue)
    assert scipy_stats.kstest(found, "uniform").pvalue > 0.01


def test_without_walks_an_ensemble_is_in_pieces(monkeypatch):
    """The moves of the parallel steps alone cannot leave this graph; with walks all six are met."""
    graph, arcs, keep, _ = start("only walks lead on")
    assert len(reachable(arcs, keep)) == 1
    assert len(all_with_same_degrees(arcs, 5, keep)) == 6
    monkeypatch.setattr(module.Wiring, "walks", property(lambda self: False))
    sample = random_graphs(graph, 20, 0)
    assert set(drawn_sets(sample)) == {arcs}
    assert "no chain could move" in sample.notes[0]
    assert "that the moves reach" in sample.null_model


def test_turns_of_triples_alone_reverse_a_cycle(monkeypatch):
    """No switch changes a directed 3-cycle, and without walks only turns are left: both directions are met as often."""
    graph, arcs, keep, _ = start("3-cycle")
    monkeypatch.setattr(module.Wiring, "walks", property(lambda self: False))
    sample = random_graphs(graph, 400, 0, keep)
    assert sample.triples.all()
    assert not sample.switches.any()
    backwards = frozenset((v, u) for u, v in arcs)
    counts = counts_of(drawn_sets(sample), [frozenset(arcs), backwards])
    assert scipy_stats.binomtest(int(counts[0]), 400).pvalue > 0.001


TOURNAMENT = [(u, v) for u in range(6) for v in range(u + 1, 6)]  # transitive: the only one with its degrees


@pytest.mark.parametrize(
    ("edges", "keep"),
    [
        (TOURNAMENT, "bidegree"),
        *more((TOURNAMENT, "degree"), ([(0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (2, 3)], "bidegree")),
        ([(0, 2), (3, 1), (3, 0), (0, 1), (0, 3), (3, 2)], "degree"),
    ],
)
def test_turns_that_lead_to_the_same_arcs_are_no_moves(edges, keep):
    sample = random_graphs(Graph.from_edges(edges, 6, directed=True), 20, 0, keep, attempts=100)
    assert set(drawn_sets(sample)) == {frozenset(edges)}
    assert not sample.triples.any()
    assert "no chain could move" in sample.notes[0]


def test_turns_that_exchange_labels_of_edges_are_moves():
    labels = np.arange(15)
    graph = Graph.from_edges(TOURNAMENT, 6, directed=True, edge_labels=labels)
    sample = random_graphs(graph, 20, 0, attempts=100)
    assert sample.triples.any()
    tails = np.array([u for u, _ in TOURNAMENT])
    drawn = np.array([one.edge_labels[:15] for one in sample])
    assert (tails[drawn] == tails).all()  # a label stays with its tail
    assert (drawn != labels).any()


def test_a_biased_step_is_caught(monkeypatch):
    """Deciding by 'new dyads free now and asked for once' looks right and is not."""

    def naive(fixed, where, tail, head, new_head, proposed, partner, salt):
        old, new = (switching.slots(fixed, where.chain, tail, h, salt) for h in (head, new_head))
        nowhere = switching.SLOTS_PER_LABEL * tail.shape[0]
        present = jnp.zeros(nowhere + 1, jnp.int32).at[jnp.where(where.live, old, nowhere)].add(1)
        asked = jnp.zeros(nowhere + 1, jnp.int32).at[jnp.where(proposed, new, nowhere)].add(1)
        free = proposed & (present[new] == 0) & (asked[new] == 1)
        return free & free[partner]

    monkeypatch.setattr(switching, "_decide_alone", naive)
    monkeypatch.setattr(module.Wiring, "walks", property(lambda self: False))  # they would mend it
    monkeypatch.setattr(module, "run_chains", _again(run_chains))
    assert p_value("mixed", 2000, attempts=30) < 1e-6


def test_labels_keep_their_words(tmp_path):
    path = tmp_path / "signed.csv"
    path.write_text("source,target,sign\na,b,up\nb,c,down\nc,d,up\nd,a,down\n")
    graph = read_graph(path, directed=True, edge_label="sign")
    drawn = random_graphs(graph, 2)[0]
    assert drawn.edge_label_names == graph.edge_label_names
    assert drawn.node_names.tolist() == graph.node_names.tolist()


def test_a_biased_walk_is_caught(monkeypatch):
    """Moves that are refused on the way back though they are made on the way out."""
    original = walking._outcome

    def one_way(fixed, chain, now, move):
        collisions, cell, change = original(fixed, chain, now, move)
        back = (collisions < now.collisions) & (move.new_head[0] == 1)
        return jnp.where(back, 99, collisions), cell, change

    monkeypatch.setattr(walking, "_outcome", one_way)
    monkeypatch.setattr(module, "run_chains", _again(run_chains))
    graph, arcs, keep, _ = start("only walks lead on")
    states = sorted(all_with_same_degrees(arcs, 5, keep), key=sorted)
    counts = counts_of(drawn_sets(random_graphs(graph, 1536, 7, keep, attempts=30)), states)
    assert scipy_stats.chisquare(counts).pvalue < 1e-6


def _again(compiled):
    """The same function, traced anew."""
    again = jit64(lambda *args, **static: compiled.__wrapped__(*args, **static), static_argnames=("lanes", "walks"))
    return optimise(again)


@pytest.mark.parametrize("keep", ["bidegree", "degree"])
def test_degrees_are_exact_and_graphs_simple(keep):
    rng = np.random.default_rng(0)
    matrix = rng.random((25, 25)) < 0.15
    matrix |= np.triu(matrix, 1).T & (rng.random((25, 25)) < 0.5)
    np.fill_diagonal(matrix, False)
    arcs = np.argwhere(matrix)
    graph = Graph.from_edges(arcs, 25, directed=True)
    wanted = degrees_of(frozenset(map(tuple, arcs.tolist())), keep)
    sample = random_graphs(graph, 5, 0, keep)
    for drawn in drawn_sets(sample):
        assert len(drawn) == graph.m
        assert degrees_of(drawn, keep) == wanted
    assert 0.05 < sample.acceptance < 1


def of_ninety_arcs(nodes):
    return Graph.from_edges(np.random.default_rng(1).integers(0, nodes, (90, 2)), nodes, directed=True)


@pytest.mark.parametrize("nodes", [20, *more(40)])  # walks, and none
def test_same_bits_however_divided(nodes):
    graph = of_ninety_arcs(nodes)
    whole = random_graphs(graph, 6, 3, attempts=8)
    assert whole.wiring.walks == (nodes == 20)
    some = random_graphs(graph, 2, 3, attempts=8, first=2)
    np.testing.assert_array_equal(some.ends.head, whole.ends.head[2:4])
    np.testing.assert_array_equal(some.moves, whole.moves[2:4])
    divided = random_graphs(graph, 6, jax.random.key(3), attempts=8, devices=2)
    np.testing.assert_array_equal(divided.ends.head, whole.ends.head)
    longer = random_graphs(graph, 6, 3, attempts=8, start=whole)
    twice = random_graphs(graph, 6, 3, attempts=2 * whole.attempts - 0.01)
    np.testing.assert_array_equal(longer.ends.head, twice.ends.head)
    np.testing.assert_array_equal(longer.moves, twice.moves)
    assert (longer.steps, longer.attempts) == (2 * whole.steps, 2 * whole.attempts)
    assert longer.acceptance == pytest.approx(twice.acceptance)


def test_chains_are_as_long_as_it_takes():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 60, (240, 2)), 60, directed=True)
    sample = random_graphs(graph, 20, 0)
    # Pairs are few and slow here: they decide.
    assert min(sample.accepted_by_kind.values()) == pytest.approx(15, rel=0.25)
    assert sample.notes == ()
    shorter = random_graphs(graph, 20, 0, switches=5)
    assert min(shorter.accepted_by_kind.values()) == pytest.approx(5, rel=0.3)
    assert shorter.steps < sample.steps
    assert random_graphs(graph, 3, 0, start=random_graphs(graph, 3, 0, switches=5)).steps == 2 * shorter.steps
    # Where a single move would take fewer steps, walks still take as many as mix what only they connect.
    assert module.plan_chains(of_ninety_arcs(20), 0, "bidegree", 1.0, None).steps == module.LEAST_WALK_STEPS


TRIANGLES = (0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)


@pytest.fixture(scope="module")
def crowded():
    """170 one-way arcs among 40 nodes, most at a few hubs, and two triangles of reciprocated pairs between these."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, 41) ** 0.6
    arcs, taken = set(), {frozenset(pair) for pair in TRIANGLES}
    while len(arcs) < 170:
        u, v = rng.choice(40, 2, replace=False, p=weights / weights.sum()).tolist()
        if frozenset((u, v)) not in taken:
            arcs.add((u, v))
            taken.add(frozenset((u, v)))
    return Graph.from_edges(sorted(arcs | set(TRIANGLES) | {(v, u) for u, v in TRIANGLES}), 40, directed=True)


def test_a_few_slow_pairs_mix_too(crowded):
    """One-way arcs make their moves long before the six pairs do. An independent sequential chain, 1,000 tries a label,
    leaves 2.184 +- 0.027 of the pairs in place (2,000 random graphs); as long as arcs need, 4.1 are left."""
    sample = random_graphs(crowded, 40, 0)
    w, there = sample.wiring, set(TRIANGLES)
    kept = [
        sum((min(pair), max(pair)) in there for pair in zip(tail, head, strict=True))
        for tail, head in zip(w.nodes[sample.ends.tail[:, w.arcs :]].tolist(),
                              w.nodes[sample.ends.head[:, w.arcs :]].tolist(), strict=True)
    ]  # fmt: skip
    error = np.hypot(np.std(kept, ddof=1) / np.sqrt(40), 0.027)
    assert abs(np.mean(kept) - 2.184) < 3 * error
    assert sample.accepted_by_kind["reciprocated pairs"] > 7


@pytest.mark.parametrize(
    ("out", "into", "paired", "ordered", "part"),
    [(4, 4, 0, False, 0.9375), (40, 40, 0, False, 0.125), (0, 0, 30, False, 0.25), (0, 0, 30, True, 0.9375)],
    ids=["few", "arcs", "pairs", "pairs that are two arcs"],
)
def test_fewer_moves_are_tried_between_hubs(wide, out, into, paired, ordered, part):
    """Once in twice as many as a step of all proposals would make of their dyad: of 1,600 arcs, and 900 pairs."""
    bits = switching.DEGREE_BITS
    degrees = jnp.full(1, out | into << bits | paired << 2 * bits, jnp.uint64)
    fixed, ends = SimpleNamespace(ordered=ordered, arcs=jnp.int32(1600), pairs=jnp.int32(900)), (np.zeros(1, int),) * 2
    coin = jnp.arange(0, 1 << 24, 1 << 12, dtype=jnp.uint32)
    tried = switching._tried(fixed, degrees, coin, ends, ends)
    assert abs(tried.mean() - part) < 0.001


@pytest.mark.parametrize("keep", ["bidegree", *more("degree")])
def test_hubs_are_joined_as_often_as_they_should_be(keep):
    """Many proposals of a step would join these two hubs, which the given graph does not.

    A sequential chain of single switches says how often they are joined: its time average, after as many moves as it
    begins with.
    """
    rng = np.random.default_rng(0)
    targets, sources = (rng.choice(np.arange(2, 150), 60, replace=False).tolist() for _ in range(2))
    arcs = {(0, v) for v in targets} | {(v, 1) for v in sources}
    while len(arcs) < 180:
        u, v = rng.integers(2, 150, 2).tolist()
        if u != v and (v, u) not in arcs:
            arcs.add((u, v))
    sample = random_graphs(Graph.from_edges(sorted(arcs), 150, directed=True), 200, 0, keep)
    tail, head = sample.wiring.edges(sample.ends)
    joined = ((tail == 0) & (head == 1)).any(axis=1).mean()

    state, times, moves = sorted(arcs), 0, 60_000
    present = set(state)
    for number, (i, j) in enumerate(rng.integers(0, len(state), (2 * moves, 2)).tolist()):
        (a, b), (c, d) = state[i], state[j]
        new = (a, d), (c, b)
        free = not any(x in present or (keep == "bidegree" and x[::-1] in present) for x in new)
        if free and a != d and c != b:
            present -= {state[i], state[j]}
            present |= set(new)
            state[i], state[j] = new
        times += number >= moves and (0, 1) in present
    expected = times / moves
    assert expected > 0.8
    assert abs(joined - expected) < 4 * np.sqrt(expected * (1 - expected) / 200) + 0.02


def test_a_kind_that_hardly_moved_is_told(crowded):
    sample = random_graphs(crowded, 4, 0, attempts=150)
    assert sample.accepted_by_kind["one-way arcs"] > 15
    assert sample.notes[0].startswith("reciprocated pairs made 0")
    moves, of_pairs = sample.moves.mean(), sample.of_pairs.mean()
    assert sample.accepted_by_kind == pytest.approx(
        {"one-way arcs": (moves - of_pairs) / 170, "reciprocated pairs": of_pairs / 6}
    )


def test_a_kind_without_another_place_asks_for_nothing():
    """Pairs that all share a node cannot move, and a single one cannot: chains are as long as arcs need."""
    rng = np.random.default_rng(0)
    arcs = {(u, v) for u, v in rng.integers(0, 60, (90, 2)).tolist() if u != v and (v, u) not in {(0, 7), (7, 0)}}
    arcs = {arc for arc in arcs if arc[::-1] not in arcs}
    plain = random_graphs(Graph.from_edges(sorted(arcs), 70, directed=True), 2, 0)
    for leaves in ((62,), (62, 63, 64)):
        star = {(61, leaf) for leaf in leaves}
        both = arcs | star | {(v, u) for u, v in star}
        sample = random_graphs(Graph.from_edges(sorted(both), 70, directed=True), 2, 0)
        assert sample.steps < 1.5 * plain.steps
        assert sample.notes == ()


def test_what_cannot_move_is_told(caplog):
    ring = Graph.from_edges([(0, i) for i in range(1, 40)], 40, directed=True)  # an out-star: the only one
    with caplog.at_level(logging.WARNING, "jaxmotif"):
        sample = random_graphs(ring, 3, 0)
    assert sample.accepted == 0
    assert sample.notes[0].startswith("no chain could move")
    assert "no chain could move" in caplog.text


def test_a_chain_that_moves_little_is_told():
    n, rng = 34, np.random.default_rng(0)  # a tournament, whose dyads are all taken: only cycles of three turn around
    arcs = [(u, v)[:: rng.choice([1, -1])] for u in range(n) for v in range(u + 1, n)]
    sample = random_graphs(Graph.from_edges(arcs, n, directed=True), 2, 0, keep="bidegree")
    assert 0 < sample.accepted < 15
    assert "fewer than asked for" in sample.notes[0]


def test_one_program_for_many_sizes():
    """And one more for larger graphs, of which fewer chains fit."""
    rng = np.random.default_rng(0)
    graphs = [Graph.from_edges(rng.integers(0, n, (3 * n, 2)), n, directed=True) for n in range(34, 400, 90)]
    for graph in (graphs[0], graphs[-1]):
        random_graphs(graph, 2, 0)
    with compilations() as found:
        for number, graph in enumerate(graphs):
            random_graphs(graph, 3 + number, number)
    assert found == []


@pytest.mark.parametrize("nodes", [20, *more(40)])  # walks, and none
def test_a_device_without_memory_is_given_less(nodes, monkeypatch):
    """Half as many chains at a time until they fit, with the same bits, though they are padded to other sizes; with one
    chain too many it is an error."""
    graph = of_ninety_arcs(nodes)
    whole = random_graphs(graph, 6, 3, attempts=8)
    original, fits = module.Chains.run, 2

    def call(self, numbers, *rest):
        if numbers.size > fits:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")
        return original(self, numbers, *rest)

    monkeypatch.setattr(module.Chains, "run", call)
    monkeypatch.setattr(module, "run_chains", run_chains)  # it runs briefly: no time for optimisations
    less = random_graphs(graph, 6, 3, attempts=8)
    np.testing.assert_array_equal(less.ends.tail, whole.ends.tail)
    np.testing.assert_array_equal(less.ends.head, whole.ends.head)
    assert "1 random graphs at a time" in less.notes[-1]
    fits = 0
    with pytest.raises(MemoryError, match="smallest steps"):
        random_graphs(graph, 6, 3, attempts=8)


def test_a_null_model_is_one_object():
    model = NULL_MODELS["degree"]
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (0, 3)], directed=True)
    np.testing.assert_array_equal(
        random_graphs(graph, 2, 0, model).ends.head, random_graphs(graph, 2, 0, "degree").ends.head
    )
    assert null_model_of("bidegree", directed=False).keeps == "degree"
    loose = NullModel("nothing moves", "everything", "none", model.divide, True, "the graph itself")
    assert random_graphs(graph, 2, 0, loose, attempts=0).null_model == (
        "keeps the everything of every node; uniform over the graph itself; moves: none"
    )


def test_some_of_the_random_graphs():
    """A part of them is random graphs, too, with the moves of its own chains; one of them is a graph."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 34, (102, 2)), 34, directed=True)
    sample = random_graphs(graph, 3, 0, attempts=4)
    edges = [one.edge_list().tolist() for one in sample]
    assert edges[0] != edges[1] != edges[2]
    for part, places in ((sample[1:], [1, 2]), (sample[np.array([2, 0])], [2, 0]), (sample[:0], [])):
        assert [one.edge_list().tolist() for one in part] == [edges[i] for i in places]
        assert part.numbers.tolist() == places
        assert part.moves.tolist() == sample.moves[places].tolist()
    assert sample[-1].edge_list().tolist() == edges[2]
    moves = sample.moves.mean() / len({frozenset(arc) for arc in graph.edge_list().tolist()})
    assert repr(sample) == f"RandomGraphs(3 of {graph}, keep='bidegree', {moves:.1f} moves per edge)"
    other = Graph.from_edges(graph.edge_list()[:, ::-1], 34, directed=True)
    for start, one, keep in ((sample, other, "bidegree"), (sample[:2], graph, "bidegree"), (sample, graph, "degree")):
        with pytest.raises(ValueError, match="start must hold the same number of graphs of the same source and keep"):
            random_graphs(one, 3, 0, keep, start=start)


@pytest.mark.parametrize("make", [keep_labels, *more(lambda: keep_blocks(np.arange(34) % 2))])
def test_chains_go_on_with_an_equal_null_model(make, monkeypatch):
    """One that was made anew, as that of graphs from a file is."""
    monkeypatch.setattr(module, "run_chains", run_chains)  # it runs briefly: no time for optimisations
    edges = np.random.default_rng(0).integers(0, 34, (102, 2))
    graph = Graph.from_edges(edges, 34, directed=True, node_labels=np.arange(34) % 2)
    first = random_graphs(graph, 2, 0, make(), attempts=4)
    again = random_graphs(graph, 2, 0, make(), start=pickle.loads(pickle.dumps(first)))
    assert again.steps == 2 * first.steps
    for options, message in (({"first": 1}, "leave out first, got 1"), ({"attempts": 1e8}, "give fewer attempts")):
        with pytest.raises(ValueError, match=message):
            random_graphs(graph, 2, 0, make(), start=dataclasses.replace(first, steps=module.MOST_STEPS), **options)


def test_as_many_steps_as_an_int32_counts():
    path = Graph.from_edges([(0, 1), (2, 3)])
    most = module.MOST_STEPS * module.plan_chains(path, 0, "degree", 1.0, 1.0).wiring.pairs_a_step
    assert LONGER * module.plan_chains(path, 0, "degree", 1.0, most).steps in range(2**31 - 16, 2**31)
    for attempts in (most + 1, 1e308):
        with pytest.raises(ValueError, match="attempts must be at most 2.52e\\+08 per edge of this graph"):
            random_graphs(path, 1, 0, attempts=attempts)


@pytest.mark.parametrize("options", [{"switches": "100"}, {"switches": None}, {"switches": [15]}, {"attempts": "x"}])
def test_what_is_no_number_of_moves(options):
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be a number of (moves for each|tries per) edge"):
        random_graphs(Graph.from_edges([(0, 1), (2, 3)]), 1, 0, **options)


def test_chains_without_a_move_are_told():
    """Of two chains, one of which stayed where it began; both were to make ten moves for each edge."""
    ring = Graph.from_edges([(i, (i + 1) % 30) for i in range(30)], directed=True)
    plan = module.plan_chains(ring, 0, "bidegree", 15.0, 4)
    (note,) = module.chain_notes(plan, np.array([400, 0]), np.zeros(2, np.int64))
    assert note == "1 of 2 chains made no move at all: try more attempts"


def test_labels_ride_along():
    graph = Graph.from_edges([(0, 1), (1, 0), (1, 2), (3, 4), (4, 3)], directed=True, node_labels=[5, 6, 7, 8, 9],
                             edge_labels=[1, 2, 3, 4, 5])  # fmt: skip
    drawn = random_graphs(graph, 2, 0, attempts=30)[1]
    assert drawn.node_labels[:5].tolist() == [5, 6, 7, 8, 9]
    label_of = dict(zip(map(tuple, drawn.edge_list().tolist()), drawn.edge_labels[:5].tolist(), strict=True))
    assert sorted(label_of.values()) == [1, 2, 3, 4, 5]
    # That of a one-way arc stays with its tail, and the two of a pair stay with each other.
    assert next(arc for arc, label in label_of.items() if label == 3)[0] == 1
    assert {frozenset((label_of[arc], label_of[arc[::-1]])) for arc in label_of if arc[::-1] in label_of} == {
        frozenset((1, 2)), frozenset((4, 5)),
    }  # fmt: skip


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (1, 0)], [(0, 1), (0, 2)]])
def test_graphs_that_cannot_change(edges):
    graph = Graph.from_edges(edges, 3, directed=True)
    sample = random_graphs(graph, 2, jax.random.key(0), attempts=10)
    assert sample[0].edge_list().tolist() == graph.edge_list().tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num": 0}, "num"),
        ({"keep": "both"}, "keep must be one of 'bidegree', 'degree', 'labels'"),
        ({"attempts": -1}, "attempts"),
        ({"switches": float("inf")}, "switches"),
        ({"key": 2**64}, "seed"),
    ],
)
def test_bad_options(options, message):
    graph = Graph.from_edges([(0, 1)], directed=True)
    with pytest.raises(ValueError, match=message):
        random_graphs(graph, **{"num": 1, "key": jax.random.key(0)} | options)


def test_a_null_model_of_another_kind():
    with pytest.raises(TypeError, match="keep must be a null model or its name, got int"):
        random_graphs(Graph.from_edges([(0, 1)], directed=True), 1, keep=3)


@pytest.mark.parametrize(("nodes", "arcs"), [(60, 150), (20, 90)])  # walks are made in the smaller graph alone
def test_chains_that_stay_on_their_device_go_on_as_others_do(nodes, arcs):
    graph = Graph.from_edges(np.random.default_rng(5).integers(0, nodes, (arcs, 2)), nodes, directed=True)
    plan = module.plan_chains(graph, 0, "bidegree", 15.0, 4.0)
    chains = module.Chains(plan, jax.devices("cpu")[0], None, 6)
    numbers, rows = np.arange(6, dtype=np.int32), np.array([1, 4])
    once = chains.run(numbers, None, 0, 8)
    found = chains.run(numbers[rows], once, 8, 8, rows).fetch(plan.wiring)
    wanted = chains.draw(numbers[rows], once.fetch(plan.wiring).ends.rows(rows), 8, 8)
    np.testing.assert_array_equal(found.ends.head, wanted.ends.head)
    np.testing.assert_array_equal(found.moves, wanted.moves)
    np.testing.assert_array_equal(np.sum(once.counts[:3], axis=0), chains.draw(numbers, None, 0, 8).moves)


def test_a_meter_is_told_what_a_chain_takes():
    """The second lot of chains tells it, since programs may have been compiled for the first one."""
    graph = Graph.from_edges(np.random.default_rng(5).integers(0, 60, (150, 2)), 60, directed=True)
    plan = module.plan_chains(graph, 0, "bidegree", 15.0, 4.0)
    chains = module.Chains(plan, jax.devices("cpu")[0], None, 6)
    numbers, stream = np.arange(6, dtype=np.int32), io.StringIO()
    alone = chains.draw(numbers, None, 0, 8)
    chains.most = 2
    with Progress(10**6, "graphs", "motifs", str, stream, float) as meter:
        told = chains.draw(numbers, None, 0, 8)
        assert 10 < meter._expected < 10**6 * 60
    assert stream.getvalue().endswith(" or more in all\n")
    np.testing.assert_array_equal(told.moves, alone.moves)
    np.testing.assert_array_equal(chains.draw(numbers, None, 0, 8).moves, alone.moves)


@pytest.mark.parametrize("nodes", [8, 60])
@pytest.mark.parametrize("kind", ["node", "edge"])
def test_labels_of_nodes_or_of_edges_alone_make_groups(kind, nodes):
    """Arcs exchange heads with those of equal labels, here twenty arcs of more nodes and of fewer."""
    rng = np.random.default_rng(nodes)
    arcs = rng.permutation(np.argwhere(np.triu(np.ones((nodes, nodes), bool), 1)))[:20]
    labels = rng.integers(0, 2, nodes if kind == "node" else 20)
    graph = Graph.from_edges(arcs, nodes, True, **{f"{kind}_labels": labels})
    of_arcs = labels[arcs] if kind == "node" else labels[:, None]
    groups = Wiring.of(graph, null_model_of("labels", True)).groups
    sizes = groups.size[np.unique(groups.first)].tolist()
    assert sorted(sizes) == sorted(np.unique(of_arcs, axis=0, return_counts=True)[1].tolist())


@pytest.mark.parametrize("nodes", [8, 60])
@pytest.mark.parametrize("kinds", ["node", "edge", "node edge"])
def test_labelled_edges_of_one_group_are_turned_alike(kinds, nodes):
    """Undirected edges exchange ends with those that join the same labels by the same label, in either order."""
    rng = np.random.default_rng(nodes)
    edges = rng.permutation(np.argwhere(np.triu(np.ones((nodes, nodes), bool), 1)))[:20]
    of_nodes, of_edges = rng.integers(0, 3, nodes), rng.integers(0, 2, 20)
    given = {"node_labels": of_nodes if "node" in kinds else None, "edge_labels": of_edges if "edge" in kinds else None}
    graph = Graph.from_edges(edges, nodes, **given)
    wiring = Wiring.of(graph, null_model_of("labels", False))
    tail, head = wiring.edges(wiring.ends)
    label_of = {tuple(sorted(edge)): label for edge, label in zip(edges.tolist(), of_edges.tolist(), strict=True)}
    assert {(min(edge), max(edge)) for edge in zip(tail.tolist(), head.tolist(), strict=True)} == set(label_of)
    ends = [
        (
            of_nodes[u] if "node" in kinds else 0,
            of_nodes[v] if "node" in kinds else 0,
            label_of[min(u, v), max(u, v)] if "edge" in kinds else 0,
        )
        for u, v in zip(tail.tolist(), head.tolist(), strict=True)
    ]
    firsts, groups = wiring.groups.first.tolist(), {}
    for first, kind in zip(firsts, ends, strict=True):
        groups.setdefault(first, set()).add(kind)
    assert all(len(group) == 1 for group in groups.values())
    kinds_of_groups = [next(iter(group)) for group in groups.values()]
    assert len({(*sorted(kind[:2]), kind[2]) for kind in kinds_of_groups}) == len(groups)
    assert wiring.groups.size.tolist() == [firsts.count(first) for first in firsts]
    assert wiring.groups.turns.tolist() == [kind[0] == kind[1] for kind in ends]


def test_focused_steps_try_the_slow_edges_alone(monkeypatch):
    """Of four steps, three try all edges and one the slow ones, here two of six."""
    plans = []
    for slow in (0, 2):
        pace = module.Pace(64, np.arange(6) < slow, 0)
        monkeypatch.setattr(module, "_find_pace", lambda plan, pace=pace: pace)
        ring = Graph.from_edges([(u, (u + 1) % 6) for u in range(6)], directed=True)
        plans.append(module.plan_chains(ring, 0, "bidegree", 15.0, None))
    plain, focused = plans
    assert plain.steps == focused.steps >= 64
    assert focused.attempts == pytest.approx(plain.attempts * (3 + 2 / 6) / 4)


BUILDERS = {
    "labels": lambda one: keep_labels(one.keep),
    "blocks": lambda one: keep_blocks(one.of, one.keep),
    # The squares of lengths are whole numbers: each its own bin.
    "distances": lambda one: keep_distances(one.of, np.sqrt(np.arange(1, 19) - 0.5), one.keep),
}


def restricted_counts(one, chains, **options):
    labels = one.of if one.kept == "labels" else None
    graph = Graph.from_edges(one.edges, one.nodes, one.directed, labels)
    return counts_of(drawn_sets(random_graphs(graph, chains, 7, BUILDERS[one.kept](one), **options)), one.members)


@pytest.mark.parametrize(
    ("kept", "which", "attempts"),
    [
        ("blocks", 2, 60),  # of 9 graphs with these degrees 6 keep the blocks
        ("blocks", 4, 60),  # and of 54 here 30
        *more(("blocks", 3, 20), ("blocks", 5, 60)),
        *more(("labels", 3, 60), ("labels", 4, 60), ("distances", 3, 60), ("distances", 4, 60)),
    ],
)
def test_uniform_with_more_than_degrees_kept(kept, which, attempts):
    """Of bidegree (and undirected, by one program) and of degree; all kinds in experiments/motifs_uniformity.py."""
    counts = restricted_counts(next(islice(restricted(kept, 6), which, None)), 500, attempts=attempts)
    assert counts.all()
    assert scipy_stats.chisquare(counts).pvalue > 0.001


def test_arcs_are_no_part_of_the_pairs_that_may_be_left_behind(monkeypatch):
    """Two arcs among a hundred pairs move slowly, and chains with blocks are as long as these ask all the same."""
    pairs = [(2 * i, 2 * i + 1) for i in range(100)]
    both = pairs + [(v, u) for u, v in pairs]
    graph = Graph.from_edges([*both, (0, 2), (4, 6)], 200, directed=True)

    class Pilot:
        def __init__(self, plan):
            self._arcs = np.bincount(plan.wiring.dyad_kinds(plan.wiring.ends)) == 2

        def rates(self, steps):
            return np.where(self._arcs, 0.01, 0.5), np.full(2, 1000)

    monkeypatch.setattr(module, "_Pilot", Pilot)
    plan = module.plan_chains(graph, 0, keep_blocks(np.zeros(200, int)), 15.0, None)
    assert 1500 <= plan.pace.steps < 1510


def test_a_chain_is_as_long_as_the_slowest_pair_of_blocks_asks(monkeypatch):
    """Heads of two arcs within one block can be exchanged, while an arc from one block to the other goes with any."""
    rng, blocks = np.random.default_rng(5), np.arange(60) % 2
    pairs = np.unique(rng.integers(0, 60, (4000, 2)), axis=0)
    pairs = rng.permutation(pairs[pairs[:, 0] != pairs[:, 1]])
    joins = blocks[pairs].tolist()
    within = [i for i, (a, b) in enumerate(joins) if a == b][:176]
    between = [i for i, (a, b) in enumerate(joins) if (a, b) == (0, 1)][:24]
    graph = Graph.from_edges(pairs[within + between], 60, directed=True)
    monkeypatch.setattr(module, "run_chains", run_chains)  # it runs briefly: no time for optimisations
    plan, free = (
        module.plan_chains(graph, 0, keep_blocks(kept, "degree"), 15.0, None) for kept in (blocks, np.zeros(60, int))
    )
    wiring = plan.wiring
    kinds = wiring.dyad_kinds(wiring.ends)
    named = blocks[wiring.ends.tail.ravel()] * 2 + blocks[wiring.ends.head.ravel()]
    assert {(kind, name) for kind, name in zip(kinds.ravel().tolist(), named.tolist(), strict=True)} == {
        (0, 0), (1, 1), (2, 3),
    }  # fmt: skip
    rates, seen = module._Pilot(plan).rates(16)
    assert rates.shape == seen.shape == (3,)
    assert rates[1] > 1.5 * rates[[0, 2]].max() > 0
    assert plan.steps > 1.5 * free.steps


def test_chains_that_keep_blocks_make_as_many_moves_too():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 60, (240, 2)), 60, directed=True)
    sample = random_graphs(graph, 20, 0, keep_blocks(np.arange(60) % 2))
    assert 0.75 * 15 < min(sample.accepted_by_kind.values()) < 1.5 * 15


def test_two_arcs_can_switch_their_heads():
    graph = Graph.from_edges([(0, 1), (2, 3)], directed=True)
    assert module.plan_chains(graph, 0, "bidegree", 15.0, 1.0).wiring.movable().tolist() == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize("kept", BUILDERS)
def test_uniform_with_more_kept_on_many_ensembles(kept):
    found = []
    for one in restricted(kept, 24, seed=2):
        counts = restricted_counts(one, 10_000)
        # Of distances some ensembles are in pieces, and that is said.
        assert counts.all() or "that the moves reach" in BUILDERS[kept](one).claim()
        found.append(scipy_stats.chisquare(counts).pvalue if counts.all() else 0.5)
    assert scipy_stats.kstest([p for p in found if p != 0.5], "uniform").pvalue > 0.005


def test_more_than_degrees_is_kept_in_larger_graphs(monkeypatch):
    monkeypatch.setattr(module, "run_chains", run_chains)  # it runs briefly: no time for optimisations
    rng = np.random.default_rng(3)
    edges = np.unique(rng.integers(0, 40, (400, 2)), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    labels, places = rng.integers(0, 3, 40), rng.random((40, 2))
    graph = Graph.from_edges(edges, 40, True, labels, rng.integers(1, 3, len(edges)))
    of_edge = {tuple(e): w for e, w in zip(graph.edge_list().tolist(), graph.edge_labels[graph.edge_slots()].tolist(),
                                           strict=True)}  # fmt: skip

    def by_label(words):
        return degrees_of(frozenset(words), "degree"), sorted(
            [(u, labels[v], w) for (u, v), w in words.items()] + [(labels[u], v, w) for (u, v), w in words.items()]
        )

    undirected = Graph.from_edges(edges, 40, node_labels=labels)

    def neighbours(one):
        ends = np.concatenate([one.edge_list(), one.edge_list()[:, ::-1]])
        return sorted((u, int(labels[v])) for u, v in ends.tolist())

    drawn = random_graphs(undirected, 2, 0, "labels", attempts=20)[1]
    assert neighbours(drawn) == neighbours(undirected)
    assert (drawn.edge_list() != undirected.edge_list()).any()
    one = random_graphs(graph, 3, 0, "labels", attempts=20)
    assert one.accepted > 1
    drawn = one[2]
    slots = drawn.edge_labels[drawn.edge_slots()].tolist()
    assert by_label(dict(zip(map(tuple, drawn.edge_list().tolist()), slots, strict=True))) == by_label(of_edge)
    plain = Graph.from_edges(edges, 40, True)
    length = np.sort(np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1))
    at = len(length) * np.arange(1, 5) // 5
    # A number of bins ends each at the length of an edge; rounding to 2^-29 of the extent must not part the two.
    between = (length[at - 1] + length[at]) / 2
    for bins, ends in ((5, length[at] * (1 - 1e-7)), (between, between)):
        one = random_graphs(plain, 3, 0, keep_distances(places, bins, "degree"), attempts=20)
        assert one.accepted > 0.5
        for drawn in drawn_sets(one):
            u, v = np.array(sorted(drawn)).T
            made = np.linalg.norm(places[u] - places[v], axis=1)
            assert np.bincount(np.digitize(made, ends)).tolist() == np.bincount(np.digitize(length, ends)).tolist()


@pytest.mark.parametrize("bins", [[0.37], 2, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_equal_lengths_are_of_one_class(bins, turned):
    """Edges of a grid that is longer than its edges, so that their ends are rounded to different sides."""
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]]) if turned else np.eye(2)
    places = np.argwhere(np.ones((11, 3), bool)) @ turn * 0.37
    length = np.linalg.norm(places[:, None] - places, axis=2)
    edges = np.argwhere(np.triu(abs(length - 0.37) < 1e-9))
    wiring = Wiring.of(Graph.from_edges(edges, 33), null_model_of(keep_distances(places, bins), False))
    assert np.bincount(wiring.dyad_kinds(wiring.ends)).tolist() == [10 * 3 + 11 * 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: keep_labels("out"), "degrees must be"),
        (lambda: keep_blocks([[1, 2]]), "blocks must be"),
        (lambda: keep_blocks([0.5, 1.0]), "blocks must be"),
        (lambda: keep_blocks(["a", None]), "blocks must be"),
        (lambda: keep_blocks(["a", np.nan, "b"]), "none for node 1"),
        (lambda: keep_blocks(np.array(["a", np.nan, "b"], object)), "none for node 1"),
        (lambda: keep_blocks(np.array([1, 2, np.nan, np.nan], object)), "none for node 2"),
        (lambda: keep_blocks(np.ma.array([0, 1], mask=[0, 1])), "masked values"),
        (
            lambda: random_graphs(Graph.from_edges([(0, 1)]), 2, first=-1),
            "first must be from 0 to 2\\^31 - num, got -1",
        ),
        (lambda: keep_blocks(range(40_000)), "at most 32,768"),
        (lambda: keep_distances([1, 2, 3]), "1 to 16 axes"),
        (lambda: keep_distances([[1.0], [np.inf]]), "finite"),
        (lambda: keep_distances([[1.0], [2.0]], 0), "bins"),
        (lambda: keep_distances([[1.0], [2.0]], [2.0, 1.0]), "ascending"),
        (lambda: random_graphs(Graph.from_edges([(0, 1)], 3), 1, 0, keep_blocks([0, 1])), "blocks of 2 nodes"),
        (lambda: random_graphs(Graph.from_edges([(0, 1)], 3), 1, 0, "labels"), "labels of neither"),
    ],
)
def test_bad_null_models(make, message):
    with pytest.raises(ValueError, match=message):
        make()
