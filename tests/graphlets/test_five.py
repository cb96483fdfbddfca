"""Five-node graphlets against ORCA, every set of five nodes, and the stored answers of real networks."""

import hashlib
import json
import os
import subprocess
import sys
from functools import partial
from itertools import combinations
from math import comb

import jax
import networkx as nx
import numpy as np
import orbit_count
import pytest

import jaxmotif
from jaxmotif import Graph, edge_graphlets, graphlet_counts, node_orbits
from jaxmotif.arrays._sums import product
from jaxmotif.devices import _record
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._select import Selection
from jaxmotif.graph import stack_graphs
from jaxmotif.graphlets import _tuning as tuning
from jaxmotif.graphlets import dense_edge_columns, dense_graphlet_counts, dense_node_orbits
from jaxmotif.graphlets.five import cpu, equations, giants, hubs, matrices, results
from jaxmotif.graphlets.five import orbits as orbits_of_graphs
from jaxmotif.graphlets.five.cpu import CpuLoops, LoopTask, folder_for_loops
from jaxmotif.graphlets.five.matrices import HubMatrices, HubSumTask
from jaxmotif.graphlets.five.orbits import choose_engine, five_node_copies, five_node_counts, five_node_orbits
from jaxmotif.patterns import _orbits as orbits
from jaxmotif.patterns._totals import NAMES_5, all_counts, copies
from tests.more import more
from tests.oracles import DISCONNECTED_5

PAD = (64, 1024)  # as small graphs are padded by the front doors
OF_FIVE = NAMES_5[17:]
ONE = JobOptions(Selection((jax.devices()[0],)))
MATRICES = tuning.CPU._replace(loops=False)
GRAPH = Graph.from_edges(np.argwhere(np.triu(np.random.default_rng(0).random((14, 14)) < 0.6, 1)), 14, pad=PAD)


def random_graph(seed: int) -> nx.Graph:
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(int(rng.integers(2, 17)), rng.uniform(0.05, 1), seed=seed)
    return graph if graph.number_of_edges() else nx.star_graph(5)


def built(graph: nx.Graph, pad=PAD) -> Graph:
    return Graph.from_edges(np.array(sorted(graph.edges)).reshape(-1, 2), graph.number_of_nodes(), pad=pad)


def with_giants() -> nx.Graph:
    """Return a graph with all graphs of five nodes, and leaves at its largest node, in which nodes of more than 8 core
    neighbours may be giants, all that one node has among them: as few widths of matrices as show what widths do, since
    each is compiled for."""
    graph = nx.gnm_random_graph(60, 180, seed=11)
    graph.add_edges_from(combinations(range(7), 2))
    largest = max(graph, key=graph.degree)
    beside = max(graph[largest], key=graph.degree)
    graph.add_edges_from([(largest, 60), (largest, 61), (7, 62), (63, largest), (63, beside)])
    return graph


def by_orca(graph: nx.Graph) -> np.ndarray:
    whole = nx.Graph(graph)
    whole.add_nodes_from(range(100, 106))  # ORCA wants a few nodes at least
    found = orbit_count.node_orbit_counts(whole, graphlet_size=5, node_list=sorted(whole.nodes))
    return np.asarray(found)[: len(graph)]


def edges_by_orca(graph: nx.Graph, edges: np.ndarray) -> np.ndarray:
    whole = nx.Graph(graph)
    whole.add_nodes_from(range(100, 106))
    return np.asarray(orbit_count.edge_orbit_counts(whole, graphlet_size=5, edge_list=list(map(tuple, edges.tolist()))))


def by_sets(graph: nx.Graph) -> dict[str, int]:
    """All sets of five nodes, told apart by networkx."""
    shapes = {g.name: g.edges for g in orbits.of_size(5)} | DISCONNECTED_5
    patterns = {}
    for name, edges in shapes.items():
        pattern = nx.empty_graph(5)
        pattern.add_edges_from(edges)
        patterns[name] = pattern
    found = dict.fromkeys(OF_FIVE, 0)
    for nodes in combinations(graph.nodes, 5):
        part = graph.subgraph(nodes)
        degrees = sorted(d for _, d in part.degree)
        for name, pattern in patterns.items():
            if sorted(d for _, d in pattern.degree) == degrees and nx.is_isomorphic(part, pattern):
                found[name] += 1
                break
    return found


def check_against_orca(graph: nx.Graph, made: Graph, chosen: tuning.FiveTuning = tuning.CPU) -> None:
    """Node orbits and edge orbits are ORCA's, and the counts of the graph are what its node orbits add up to."""
    found = five_node_orbits(made, ONE, edges=True, tuning=chosen)
    assert np.array_equal(np.asarray(found.nodes)[: len(graph)], by_orca(graph))
    assert np.array_equal(np.asarray(found.edges), edges_by_orca(graph, made.edge_list()))
    assert results.totals_of_edges(found.edges).tolist() == results.totals(found.nodes).tolist()
    counts, _ = five_node_counts(made, ONE, tuning=chosen)
    assert counts.tolist() == all_counts(np, np.array(made.n, object), results.totals(found.nodes)).tolist()


@pytest.mark.parametrize("chosen", [tuning.CPU, MATRICES], ids=["loops", "matrices"])
@pytest.mark.parametrize("seed", [0, 3, 4, *more(1, 2, *range(5, 12))])
def test_orbits_are_orcas(seed, chosen):
    graph = random_graph(seed)
    check_against_orca(graph, built(graph), chosen)


@pytest.mark.parametrize("seed", [*range(20), *more(*range(20, 200))])
def test_loops_on_graphs_of_all_densities(seed):
    """Leaves, nodes without edges, dense neighbourhoods, whose rows are bits, and sparse ones, whose rows are lists."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    graph = nx.gnp_random_graph(n, rng.uniform(0.02, 0.9), seed=seed)
    graph.add_edges_from((int(rng.integers(n)), n + i) for i in range(int(rng.integers(1, 8))))
    graph = nx.convert_node_labels_to_integers(graph)
    check_against_orca(graph, built(graph, (128, 4096)))


@pytest.mark.parametrize("graph", [
    nx.star_graph(12), nx.complete_graph(9), nx.complete_bipartite_graph(5, 6), nx.path_graph(2), nx.path_graph(7),
    nx.disjoint_union(nx.cycle_graph(5), nx.wheel_graph(6)), nx.lollipop_graph(6, 8),
], ids=["star", "clique", "bipartite", "edge", "path", "cycle-and-wheel", "lollipop"])  # fmt: skip
def test_special_graphs(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    at_nodes = five_node_orbits(built(graph), ONE, edges=True).nodes
    assert np.array_equal(np.asarray(at_nodes)[: len(graph)], by_orca(graph))


def test_small_graphs_under_vmap():
    graphs = [random_graph(seed) for seed in range(6)]
    made = [built(graph) for graph in graphs]
    batch = stack_graphs(made)
    nodes, edges, counts = (
        jax.jit(jax.vmap(partial(count, size=5)))(batch).to_numpy()
        for count in (dense_node_orbits, dense_edge_columns, dense_graphlet_counts)
    )
    for i, graph in enumerate(graphs):
        np.testing.assert_array_equal(nodes[i][: len(graph)], by_orca(graph))
        assert not nodes[i][len(graph) :].any()
        np.testing.assert_array_equal(edges[i][: made[i].m], edges_by_orca(graph, made[i].edge_list()))
        assert not edges[i][made[i].m :].any()
        orbits = by_orca(graph).astype(object)
        assert counts[i].tolist() == all_counts(np, np.array(len(graph), object), results.totals(orbits)).tolist()
    with pytest.raises(ValueError, match="of up to 128 nodes"):
        dense_node_orbits(built(nx.path_graph(3), (130, 256)), size=5)


def test_the_largest_small_graph():
    """A clique of 128 nodes: every sum and count is the largest there can be."""
    whole = Graph.from_edges(np.argwhere(np.triu(np.ones((128, 128), bool), 1)), 128)
    found = dense_node_orbits(whole, size=5).to_numpy()
    assert set(found[:, 72].tolist()) == {comb(127, 4)}
    assert not np.delete(found, [0, 3, 14, 72], axis=1).any()


@pytest.mark.parametrize(("devices", "edges"), [(2, True), *more((1, False), (1, True))])
def test_giants_and_tables_in_blocks_of_rows(monkeypatch, devices, edges):
    """Nodes of more core neighbours than a hub may have, among hubs; the least memory holds half of the rows of tables.

    Two devices share all, each with tables of its own, and go through them block of rows by block of rows; a hash index
    tells them who is adjacent, as where bits would take too much.
    """
    graph = with_giants()
    made, chosen = built(graph), MATRICES._replace(giant=8, edges_together=100)
    with pytest.raises(ValueError, match="allow at least") as refused:
        five_node_orbits(made, ONE._replace(memory=1), edges, tuning=chosen)
    least = int(str(refused.value).split("at least ")[1].split()[0])
    planned = matrices.prepare_graph(made, "edge" if edges else "node", least, ONE.selection.main, chosen)
    assert planned.giants > 5
    assert planned.sparse
    asked = []  # what giants beside each other may take
    choose = giants.choose_tuning
    monkeypatch.setattr(giants, "choose_tuning", lambda *of: asked.append(of[3]) or choose(*of))
    on = ONE._replace(memory=least)
    if devices == 2:
        on, chosen = JobOptions(Selection(tuple(jax.devices()[:2])), 2 * least), chosen._replace(bit_rows=False)
    nodes, at_edges, _ = five_node_orbits(made, on, edges, tuning=chosen)
    assert len(asked) == 1
    assert asked[0] is not None
    assert np.array_equal(np.asarray(nodes)[:64], by_orca(graph))
    if edges:
        assert np.array_equal(np.asarray(at_edges), edges_by_orca(graph, made.edge_list()))


def test_rows_of_a_block_are_done_by_one_worker():
    """The work of a block lies on its last row, so that no unit ends before that row."""
    assert matrices._move_to_blocks(np.array([3, 1, 4, 1, 5]), 2).tolist() == [0, 4, 0, 5, 5]
    assert matrices._move_to_blocks(np.zeros(0, np.int64), 2).tolist() == []


def test_the_steps_over_a_stretch_have_its_hubs_alone():
    """Of three widths, one of them with a single hub, the first of all."""
    lengths = np.array([3, *[12] * 5, *[30] * 3])
    batches = hubs.batch_hubs(lengths, 0, 2 * 16**2, (8, 16, 32))
    for first, stop in combinations(range(len(lengths) + 1), 2):
        for wanted in (None, lengths < 30):
            found = [ids[ids >= 0].tolist() for _, ids in hubs.steps_between(batches, first, stop, wanted)]
            expected = [i for i in range(first, stop) if wanted is None or wanted[i]]
            assert sorted(i for ids in found for i in ids) == expected


@pytest.mark.parametrize("room", [True, False])
def test_steps_that_run_out_of_memory_are_done_with_fewer_rows(monkeypatch, room):
    """A block of rows then meets others, whose tables are made for it, in walks of length 4."""
    graph = with_giants()
    step, rows = HubSumTask.step, []

    def run_out(task, span):
        rows.append(task._rows)
        if room and len(rows) != 2:
            step(task, span)  # what the first one has added up is given up
        if len(rows) < 3 or not room:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")

    monkeypatch.setattr(HubSumTask, "step", run_out)
    count = partial(five_node_copies, built(graph), "5-cycle", False, ONE, tuning=MATRICES._replace(least_cells=2**18))
    if room:
        found, notes = count()
        induced = all_counts(np, np.array(len(graph), object), results.totals(by_orca(graph).astype(object)))
        assert found == (copies(None, NAMES_5).astype(object) @ induced)[NAMES_5.index("5-cycle")]
        assert [note.split()[-4:] for note in notes] == [[str(x), "rows", "of", "tables"] for x in (48, 32)]
    else:
        with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
            count()
    assert rows == [96, 48, 32]


def test_a_part_of_a_step_without_memory_is_not_counted_twice(monkeypatch):
    """A step adds what some hubs give before memory runs out, in a unit that is not the first."""
    calls, gather = [], HubSumTask._gather

    def run_out(task, *rest):
        gather(task, *rest)
        calls.append(task._rows)
        if len(calls) == 4:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")

    monkeypatch.setattr(HubSumTask, "_gather", run_out)
    chosen = tuning.CPU._replace(units=8, loops=False, long_run=0, least_cells=2**10)
    found = five_node_orbits(GRAPH, ONE, tuning=chosen)
    assert "ran out of memory" in found.notes[0]
    assert np.array_equal(np.asarray(found.nodes)[:14], node_orbits(GRAPH, size=5).to_numpy())


@pytest.mark.parametrize("how", ["loops", "matrices", "giants", "blocks", "orbits", *more("orbits of matrices")])
def test_copies_of_one_graph_by_the_passes_that_it_takes(monkeypatch, how):
    """All 21 graphs, induced or not, beside ORCA's orbits of the whole graph; with giants, and tables in blocks."""
    graph, memory = with_giants(), None
    if how == "blocks":  # without leaves and padding, so that the first of all nodes is a hub
        few = [node for node in graph if graph.degree[node] < 2]
        graph.add_edges_from((node, other) for node in few for other in (1, 2))
    made = built(graph)
    few = MATRICES._replace(cells=2**14)  # in a step, as where the least memory is given
    chosen = {"loops": tuning.CPU, "giants": few._replace(giant=8), "orbits": tuning.CPU}.get(how, few)
    if how == "blocks":
        with pytest.raises(ValueError, match="allow at least") as refused:
            five_node_copies(made, "house", True, ONE._replace(memory=1), chosen)
        memory = int(str(refused.value).split("at least ")[1].split()[0])
        assert matrices.prepare_graph(made, "graph", memory, ONE.selection.main, chosen).sparse
    if "orbits" in how:  # of which each is the difference of many maps
        monkeypatch.setattr(orbits_of_graphs, "LARGEST_WITH_TOTALS", 0)
    induced = all_counts(np, np.array(made.n, object), results.totals(by_orca(graph).astype(object)))
    expected = {True: induced, False: copies(None, NAMES_5).astype(object) @ induced}
    assert all(induced[NAMES_5.index(g.name)] for g in orbits.of_size(5))
    for name in (g.name for g in orbits.of_size(5)):
        for kind, counts in expected.items():
            found, _ = five_node_copies(made, name, kind, ONE._replace(memory=memory), chosen)
            assert (name, kind, found) == (name, kind, counts[NAMES_5.index(name)])


@pytest.mark.parametrize(("name", "induced", "made"), [
    ("4-wheel", False, ""), ("almost-5-clique", True, "cliques"), ("chordal-bipartite-2-3", False, "tables"),
    ("chordal-bipartite-2-3", True, "cliques tables"), ("5-cycle", False, "walks"), ("5-clique", False, "cliques"),
    ("5-path", True, "cliques tables walks"),
])  # fmt: skip
def test_no_pass_is_made_that_a_count_does_not_take(monkeypatch, name, induced, made):
    passes, calls = set(made.split()), set()
    assert equations.passes_for(name, induced) == passes
    loops = {"tables": "add_row_sums", "walks": "add_five_cycles", "cliques": "add_five_cliques"}
    for which, loop in loops.items():
        monkeypatch.setattr(cpu, loop, lambda *_, which=which: calls.add(which))
    five_node_copies(GRAPH, name, induced, ONE)
    assert calls == passes
    monkeypatch.undo()
    steps = {"tables": "scatter_hubs", "walks": "add_fourth_walks", "cliques": "add_five_cliques"}
    for which, step in steps.items():
        own = getattr(hubs, step)
        monkeypatch.setattr(hubs, step, lambda *a, own=own, which=which, **k: calls.add(which) or own(*a, **k))
    calls.clear()
    five_node_copies(GRAPH, name, induced, ONE, tuning=MATRICES)
    assert calls == passes | ({"tables"} if "walks" in passes else set())  # which are their factors


def test_hubs_with_sparse_neighbourhoods():
    """Rows of L L come from lists of paths, with chords and 4-cliques among few neighbours, and leaves beside them."""
    graph = nx.disjoint_union(nx.wheel_graph(60), nx.star_graph(40))
    graph.add_edges_from([(1, 3), (2, 4), (1, 4), (5, 9), (0, 61), (61, 62), (0, 60), (60, 5), (63, 64)])
    check_against_orca(graph, built(graph, (128, 1024)))


def test_many_nodes_with_the_same_neighbours():
    """Twins of hubs, of nodes of 5-cliques, of leaves and of nodes without edges."""
    rng = np.random.default_rng(0)
    some = nx.gnp_random_graph(12, 0.6, seed=1)
    some.add_edges_from((i, 12 + i) for i in range(3))
    for _ in range(4):
        copies = np.repeat(np.arange(15), rng.integers(1, 5, 15))
        graph = nx.empty_graph(len(copies) + 2)
        graph.add_edges_from((i, j) for j in range(len(copies)) for i in range(j) if some.has_edge(*copies[[i, j]]))
        check_against_orca(graph, built(graph, (64, 2048)))


def test_hubs_with_hundreds_of_common_neighbours():
    """Adjacent and not, with codegrees beyond 8 bits."""
    graph = nx.complete_multipartite_graph(1, 1, 300)
    graph.add_edges_from([(302, x) for x in range(2, 257)] + [(302, 303), (303, 0), (2, 3), (3, 4), (0, 304)])
    found = five_node_orbits(built(graph, (512, 2048)), ONE, edges=True)
    assert np.array_equal(np.asarray(found.nodes)[: len(graph)], by_orca(graph))
    assert results.totals_of_edges(found.edges).tolist() == results.totals(found.nodes).tolist()


def test_dense_neighbourhoods_are_rows_of_several_words():
    hubs = nx.relabel_nodes(nx.gnp_random_graph(12, 0.7, seed=1), {i: 68 + i for i in range(12)})
    graph = nx.disjoint_union(nx.full_join(nx.gnp_random_graph(68, 0.5, seed=3), hubs), nx.star_graph(3))
    graph.add_edges_from([(0, 81), (5, 82)])
    assert sorted(dict(graph.degree).values())[-12] > 64  # neighbours, one bit each
    check_against_orca(graph, built(graph, (128, 2**13)))


def test_a_clique_of_rows_of_several_words():
    clique = Graph.from_edges(np.argwhere(np.triu(np.ones((130, 130), bool), 1)), 130)
    found = five_node_orbits(clique, ONE, edges=True)
    assert set(np.asarray(found.nodes)[:130, 72].tolist()) == {comb(129, 4)}
    assert set(np.asarray(found.edges)[:, 67].tolist()) == {comb(128, 3)}
    assert results.totals_of_edges(found.edges).tolist() == results.totals(found.nodes).tolist()


def test_counts_beyond_40_bits():
    """Two nodes that share 2,300 neighbours; all induced subgraphs are stars, and two nodes with three neighbours."""
    leaves = 2300
    graph = Graph.from_edges([(hub, leaf) for hub in (0, 1) for leaf in range(2, leaves + 2)])
    counts, table = graphlet_counts(graph, size=5).counts, node_orbits(graph, size=5).to_numpy()
    assert table[0, 23] == comb(leaves, 4) > 2**40
    assert table[2, 22] == 2 * comb(leaves - 1, 3)
    assert (counts["4-star"], counts["bipartite-2-3"]) == (2 * comb(leaves, 4), comb(leaves, 3))
    assert sum(counts[g.name] for g in orbits.of_size(5)) == counts["4-star"] + counts["bipartite-2-3"]
    edges = edge_graphlets(graph, size=5)
    assert edges.counts == counts
    assert len(np.unique(edges.to_numpy(), axis=0)) == 1


@pytest.mark.parametrize("seed", [4])
def test_all_counts_are_those_of_all_sets(seed):
    graph = nx.gnp_random_graph(10, 0.25 * seed / 2, seed=seed)
    found = graphlet_counts(built(graph), size=5).counts
    assert len(found) == 51
    assert {name: found[name] for name in OF_FIVE} == by_sets(graph)
    assert sum(found[name] for name in OF_FIVE) == comb(10, 5)


def test_the_front_doors_agree_on_karate():
    karate = jaxmotif.datasets.load("karate")
    nodes, edges = node_orbits(karate, size=5), edge_graphlets(karate, size=5)
    assert (nodes.to_numpy().shape, edges.to_numpy().shape) == ((34, 73), (78, 68))
    assert nodes.counts == edges.counts
    assert [nodes.counts[name] for name in ("house", "5-clique", "5-node-indep")] == [139, 2, 88133]
    assert np.array_equal(nodes.to_numpy()[:, :15], dense_node_orbits(karate).to_numpy()[:34])
    assert np.array_equal(edges.to_numpy()[:, :12], dense_edge_columns(karate).to_numpy()[:78, :12])
    for g in orbits.of_size(5):  # every occurrence has as many edges as the graph
        rows = [edges.to_numpy()[:, orbit].sum() for orbit in set(g.edge_orbits)]
        assert sum(rows) == nodes.counts[g.name] * len(g.edges)


@pytest.mark.parametrize(("task", "loops"), [(LoopTask, True), (HubSumTask, False)], ids=["loops", "matrices"])
@pytest.mark.parametrize("devices", [1, *more(2)])
def test_a_killed_run_goes_on(devices, task, loops, tmp_path, monkeypatch):
    graph = built(random_graph(0))
    expected = five_node_orbits(graph, ONE, edges=True)
    chosen = tuning.CPU._replace(units=8, loops=loops)
    options = ONE._replace(checkpoint=tmp_path).identified(lambda: ("a graph",))
    steps, step = [], task.step
    monkeypatch.setattr(_record, "SAVE_SECONDS", 0.0)  # a step that fails takes with it what was not handed in

    def step_until_killed(self, span):
        if len(steps) == 3:
            raise RuntimeError("killed")
        steps.append(span)
        step(self, span)

    monkeypatch.setattr(task, "step", step_until_killed)
    with pytest.raises(RuntimeError, match="killed"):
        five_node_orbits(graph, options, edges=True, tuning=chosen)
    left = []
    monkeypatch.setattr(task, "step", lambda self, span: (left.append(span), step(self, span)))
    options = options._replace(selection=Selection(tuple(jax.devices()[:devices])))
    found = five_node_orbits(graph, options, edges=True, tuning=chosen)
    assert np.array_equal(np.asarray(found.nodes), np.asarray(expected.nodes))
    assert np.array_equal(np.asarray(found.edges), np.asarray(expected.edges))
    assert left
    assert not set(left) & set(steps)


def test_a_checkpoint_of_other_giants_is_refused(tmp_path, monkeypatch):
    """What a stretch's sums hold depends on which nodes are giants, and so on the memory."""
    graph, few = with_giants(), MATRICES._replace(units=4)
    options = ONE._replace(checkpoint=tmp_path).identified(lambda: ("with giants",))

    def fail(self, span):
        raise RuntimeError("killed")

    monkeypatch.setattr(HubSumTask, "step", fail)
    with pytest.raises(RuntimeError, match="killed"):
        five_node_orbits(built(graph), options, tuning=few)
    with pytest.raises(ValueError, match="checkpoint of other input or options"):
        five_node_orbits(built(graph), options, tuning=few._replace(giant=8))


@pytest.mark.parametrize("devices", [1, 2])
def test_loops_are_shared_out(devices):
    """A run of many units, by threads where there are several devices, gives the same bits."""
    on = JobOptions(Selection(tuple(jax.devices()[:devices])))
    found = five_node_orbits(GRAPH, on, edges=True, tuning=tuning.CPU._replace(unit_steps=100))
    expected = five_node_orbits(GRAPH, ONE, edges=True)
    assert np.array_equal(np.asarray(found.nodes), np.asarray(expected.nodes))
    assert np.array_equal(np.asarray(found.edges), np.asarray(expected.edges))


def test_bad_input():
    karate = jaxmotif.datasets.load("karate")
    with pytest.raises(ValueError, match="size must be 4 or 5, got 6"):
        graphlet_counts(karate, size=6)
    with pytest.raises(TypeError, match="induced must be True or False, got 'no'"):
        graphlet_counts(karate, induced="no")
    for function in (dense_graphlet_counts, dense_edge_columns, dense_node_orbits):
        with pytest.raises(ValueError, match="size must be 4 or 5, got 3"):
            function(karate, size=3)
    for chosen in (tuning.CPU, MATRICES):
        with pytest.raises(OverflowError, match="a node of degree 17"):
            five_node_orbits(karate, ONE, tuning=chosen._replace(largest=2.0**10))


def test_a_budget_without_room_for_triangles_takes_matrices():
    made = built(nx.complete_graph(100), (100, 9900))
    room = CpuLoops(made, ONE, "node", tuning.CPU).bytes
    kinds = [choose_engine(made, ONE._replace(memory=memory), "node", tuning.CPU)[0] for memory in (room, room - 1)]
    assert [type(kind) for kind in kinds] == [CpuLoops, HubMatrices]


def test_without_numba_matrices_are_taken_and_a_note_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxmotif.graphlets.five.cpu", None)  # as where an import fails
    graph = built(random_graph(0))
    found, counts = node_orbits(graph, size=5), graphlet_counts(graph, size=5)
    assert [note for note in found.notes if 'pip install "jaxmotif[cpu]"' in note]
    assert counts.notes == found.notes
    monkeypatch.undo()
    expected = node_orbits(graph, size=5)
    assert found.counts == counts.counts == expected.counts
    assert np.array_equal(found.to_numpy(), expected.to_numpy())
    assert not expected.notes


def test_loops_are_kept_in_a_private_folder_alone(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = folder_for_loops()
    assert folder == tmp_path / "jaxmotif" / "loops"
    assert not caplog.records
    folder.chmod(0o777)
    assert folder_for_loops() is None
    assert "compiled in each process" in caplog.text


@pytest.mark.slow
def test_a_second_process_compiles_no_loops(tmp_path):
    code = "from jaxmotif.graphlets.five import cpu; print(cpu.add_row_sums.stats.cache_hits)"
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    for hits in ("Counter()", ": 1})"):
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
        assert run.stdout.strip().endswith(hits)


# Of the larger star one count passes 64 bits.
@pytest.mark.parametrize("leaves", [1 << 14, pytest.param(1 << 17, marks=pytest.mark.slow)])
def test_a_star_of_many_leaves(leaves):
    star = Graph.from_edges(np.stack([np.zeros(leaves, int), np.arange(1, leaves + 1)], 1))
    found = node_orbits(star, size=5)
    table = found.to_numpy()
    assert table[0, 23] == found.counts["4-star"] == comb(leaves, 4)
    assert table[1, 22] == comb(leaves - 1, 3)
    assert table[0, [0, 2, 7]].tolist() == [comb(leaves, k) for k in (1, 2, 3)]
    assert not np.delete(table[:20], [0, 1, 2, 6, 7, 22, 23], axis=1).any()
    assert found.counts["5-node-indep"] == comb(leaves, 5)
    assert graphlet_counts(star, size=5).counts == found.counts


def test_two_limbs_are_python_integers_where_a_count_passes_64_bits():
    counts = [7, 2**60 + 1, 2**61 - 1, 2**63 - 1, 2**63, 2**70 + 5]
    low = [(x + 2**60) % 2**61 - 2**60 for x in counts]
    high = [(x - y) >> 61 for x, y in zip(counts, low, strict=True)]
    for many, kind in ((4, np.int64), (6, object)):
        with jax.enable_x64(True):
            limbs = results.Limbs(*(jax.numpy.array([x[:many]]) for x in (low, high)))
            found, moved = limbs.as_integers(), limbs.as_integers(jax.numpy.arange(many)[::-1])
        assert found.tolist() == [counts[:many]]
        assert moved.tolist() == [[count] for count in counts[:many][::-1]]
        assert found.dtype == moved.dtype == kind


@pytest.mark.parametrize(
    "chosen", [tuning.CPU, pytest.param(MATRICES, marks=pytest.mark.more)], ids=["loops", "matrices"]
)
def test_counts_in_two_limbs_are_the_same(chosen):
    graph = nx.Graph(GRAPH.edge_list().tolist())
    check_against_orca(graph, GRAPH, chosen._replace(one_limb=0.0))


@pytest.mark.parametrize("edges", [0, 1, 2])
def test_fewer_than_five_nodes(edges):
    graph = Graph.from_edges(np.array([(0, 1), (1, 2)][:edges], int).reshape(-1, 2), 3, pad=PAD)
    found = node_orbits(graph, size=5)
    assert found.to_numpy().shape == (3, 73)
    assert not found.to_numpy()[:, 4:].any()
    assert not any(found.counts[name] for name in OF_FIVE)


@pytest.mark.parametrize(
    "name", ["karate", *(pytest.param(x, marks=pytest.mark.slow) for x in ("celegans_metabolic", "PGPgiantcompo"))]
)
def test_stored_answers(shared_data, name):
    stored = json.loads((shared_data / "undirected" / "graphlets5.json").read_text())["graphs"][name]
    graph = jaxmotif.read_graph(shared_data / "undirected" / f"{name}.edges.gz")
    nodes, edges = node_orbits(graph, size=5), edge_graphlets(graph, size=5)
    assert hashlib.sha256(nodes.to_numpy().astype(np.int64).tobytes()).hexdigest() == stored["sha256_node_orbits_int64"]
    sums = [str(x) for x in edges.to_numpy().astype(object).sum(0)]
    assert sums == stored["edge_orbit_sums"]
    assert all(nodes.counts[graphlet] == int(count) for graphlet, count in stored["counts"].items())


def test_the_matrices_are_integer_and_triangular():
    for root in ("node", "edge"):
        matrix = orbits.column_matrices(root, orbits.NUM_ORBITS[root][5]).copies
        assert np.array_equal(matrix @ orbits.inverse(matrix), np.eye(len(matrix), dtype=int))
    halves = np.array([[2, 0], [0, 1]])
    assert orbits.inverse(halves, 2).tolist() == [[1, 0], [0, 2]]
    with pytest.raises(ValueError, match="no inverse that is an integer matrix over 1"):
        orbits.inverse(halves)


def test_counts_of_a_graph_without_edges():
    found = dict(zip(NAMES_5, all_counts(np, np.array(7, object), np.zeros(73, object)), strict=True))
    none = {"2-node-indep": comb(7, 2), "3-node-indep": comb(7, 3), "4-node-indep": comb(7, 4), "5-node-indep": 21}
    assert found == dict.fromkeys(NAMES_5, 0) | none


def test_products_of_integers_are_exact():
    """In float64, by halves of 32 bits."""
    assert all(abs(orbits.times24(root)).sum(axis=1).max() < 2**13 for root in ("node", "edge"))
    rng = np.random.default_rng(5)
    weights = rng.integers(-(2**7), 2**7, (20, 30))
    for low, bits in ((-(2**63), 63), (0, 40)):
        rows = rng.integers(low, 2**bits, (30, 50))
        with np.errstate(over="ignore"):
            expected = weights @ rows  # wraps
        with jax.enable_x64(True):
            found = product(jax.numpy, weights, jax.numpy.array(rows))
        assert found.dtype == np.int64
        assert np.array_equal(found, expected)
