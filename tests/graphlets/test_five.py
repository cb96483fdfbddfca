"""Five-node graphlets against ORCA, every set of five nodes, and the stored answers of real networks."""

import hashlib
import json
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
from jaxmotif.devices._select import Selection
from jaxmotif.graph import stack_graphs
from jaxmotif.graphlets import _by_columns as by_columns
from jaxmotif.graphlets import _by_lists as by_lists
from jaxmotif.graphlets import _by_matrices as by_matrices
from jaxmotif.graphlets import _by_rows as by_rows
from jaxmotif.graphlets import (
    _cells,
    _twins,
    dense_edge_columns,
    dense_graphlet_counts,
    dense_node_orbits,
)
from jaxmotif.graphlets import _five_on_host as on_host
from jaxmotif.graphlets.five import giants, plan, results, sums
from jaxmotif.graphlets.five import orbits as five
from jaxmotif.graphlets.five.equations import product
from jaxmotif.graphlets.five.orbits import five_node_orbits
from jaxmotif.patterns import _orbits as orbits
from jaxmotif.patterns._totals import DISCONNECTED_5, NAMES_5, all_counts
from tests.more import more

PAD = (64, 1024)  # as small graphs are padded by the front doors
OF_FIVE = NAMES_5[17:]
ONE = Selection((jax.devices()[0],))
GRAPH = Graph.from_edges(np.argwhere(np.triu(np.random.default_rng(0).random((14, 14)) < 0.6, 1)), 14, pad=PAD)


def random_graph(seed: int) -> nx.Graph:
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(int(rng.integers(2, 17)), rng.uniform(0.05, 1), seed=seed)
    return graph if graph.number_of_edges() else nx.star_graph(5)


def built(graph: nx.Graph, pad=PAD) -> Graph:
    return Graph.from_edges(np.array(sorted(graph.edges)).reshape(-1, 2), graph.number_of_nodes(), pad=pad)


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


@pytest.mark.parametrize("seed", [0, 3, 4, *more(1, 2, *range(5, 12))])
def test_orbits_are_orcas(monkeypatch, seed):
    """Row by row, and by tables of all pairs, as where several devices work."""
    graph = random_graph(seed)
    built_graph = built(graph)
    at_nodes, at_edges, _ = five_node_orbits(built_graph, ONE, edges=True)
    assert np.array_equal(np.asarray(at_nodes)[: len(graph)], by_orca(graph))
    assert np.array_equal(np.asarray(at_edges), edges_by_orca(graph, built_graph.edge_list()))
    assert results.totals_of_edges(at_edges).tolist() == results.totals(at_nodes).tolist()
    monkeypatch.setattr(plan, "row_lists", lambda *of: None)
    for found, expected in zip(five_node_orbits(built_graph, ONE, edges=True)[:2], (at_nodes, at_edges), strict=True):
        assert np.array_equal(np.asarray(found), np.asarray(expected))


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


@pytest.mark.parametrize(("devices", "edges"), [(1, False), (1, True), *more((2, True))])
def test_giants_and_tables_in_blocks_of_rows(monkeypatch, devices, edges):
    """Nodes of more core neighbours than a hub may have, among hubs; the least memory holds half of the rows of tables.

    Two devices share all, each with tables of its own, and go through them block of rows by block of rows."""
    graph = nx.barabasi_albert_graph(60, 5, seed=1)
    graph.add_edges_from([(0, 60), (0, 61), (7, 62)])  # leaves
    made = built(graph)
    monkeypatch.setitem(plan.GIANT, "cpu", 16)
    monkeypatch.setitem(results.TOGETHER, "cpu", 100)
    with pytest.raises(ValueError, match="allow at least") as refused:
        five_node_orbits(made, ONE, edges, memory=1)
    least = int(str(refused.value).split("at least ")[1].split()[0])
    detail = "edge" if edges else "node"
    given = plan.given_of((made.out_offsets, made.out_targets), made, detail, least, ONE.main)[0]
    assert given.giants > 5
    assert given.sparse
    asked = []  # what giants beside each other may take
    choose = giants.choose_tuning
    monkeypatch.setattr(giants, "choose_tuning", lambda *of: asked.append(of[3]) or choose(*of))
    on = ONE
    if devices == 2:
        on, least = Selection(tuple(jax.devices()[:2])), 2 * least
        # An index tells who is adjacent, as where bits would take too much.
        monkeypatch.setattr(plan, "adjacency_bytes", lambda size, arcs, bits: 2**30 if bits else 0)
    nodes, at_edges, _ = five_node_orbits(made, on, edges, memory=least)
    assert len(asked) == 1
    assert asked[0] is not None
    assert np.array_equal(np.asarray(nodes)[:63], by_orca(graph))
    if edges:
        assert np.array_equal(np.asarray(at_edges), edges_by_orca(graph, made.edge_list()))


@pytest.mark.parametrize(("bend", "exact"), [(0.0, 2.0**24), (100.0, 2.0**24), (100.0, 2.0)])
def test_many_blocks_of_rows_in_cache(monkeypatch, bend, exact):
    """Three rows at a time at most, and long rows, triangles, bends, matrices, pairs and edges in portions, most of
    whose products XLA is given; all of it lists, or matrices, in float32 or not."""
    for module, name, value in (
        (_cells, "MOST", 500), (by_rows, "TABLE", 3 * 96), (by_lists, "TABLE", 3 * 96), (by_lists, "_BEND", bend),
        (by_matrices, "_EXACT", exact), (by_matrices, "_CELLS", 3000), (by_matrices, "_PAIRS", 400),
        (by_matrices, "_ALONE", 10_000), (on_host, "_PART", 64), (on_host, "_BLOCK", 16),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    graph = nx.gnp_random_graph(70, 0.5, seed=2)
    graph.add_edges_from([(0, 70), (0, 71), (7, 72)])  # leaves
    made = built(graph, (80, 3000))
    found, at_edges, _ = five_node_orbits(made, ONE, edges=True)
    assert np.array_equal(np.asarray(found)[:73], by_orca(graph))
    assert np.array_equal(np.asarray(at_edges), edges_by_orca(graph, made.edge_list()))
    counts, _ = five.five_node_counts(made, ONE)
    assert counts.tolist() == all_counts(np, np.array(73, object), results.totals(found)).tolist()


def test_sums_too_large_to_share_a_number(monkeypatch):
    """Edge orbits then take tables of some rows at a time."""
    monkeypatch.setattr(by_rows, "all_sums", None)
    monkeypatch.setattr(by_rows, "MOST_WALKS", 2 * comb(9, 2))
    graph = nx.complete_graph(10)
    made = built(graph)
    found = five_node_orbits(made, ONE, edges=True, nodes=False).edges
    assert np.array_equal(np.asarray(found), edges_by_orca(graph, made.edge_list()))


@pytest.mark.parametrize("bits", [8, *more(16)])
def test_codegrees_that_are_cut(monkeypatch, bits):
    """Of hubs, adjacent and not, that have 255 and more neighbours in common, and of a node with itself."""
    if bits == 16:
        monkeypatch.setattr(by_columns, "_CUT", 2**20)
        monkeypatch.setitem(by_columns.LARGEST, 16, 200)
    graph = nx.complete_multipartite_graph(1, 1, 300)
    graph.add_edges_from([(302, x) for x in range(2, 257)] + [(302, 303), (303, 0), (2, 3), (3, 4), (0, 304)])
    layouts, layout = [], by_rows.layout
    monkeypatch.setattr(by_rows, "layout", lambda *of: layouts.append(layout(*of)) or layouts[-1])
    found = five_node_orbits(built(graph, (512, 2048)), ONE).nodes
    assert np.array_equal(np.asarray(found)[: len(graph)], by_orca(graph))
    assert [x.bits for x in layouts] == [bits]


@pytest.mark.parametrize(("bend", "room"), [(0.0, True), *more((100.0, True), (0.0, False))])
def test_hubs_with_few_adjacent_neighbours(monkeypatch, bend, room):
    """Neighbourhoods as lists, of all hubs, giants among them; or of those alone where that takes less, beside
    matrices. Without room for that giants are none of the hubs."""
    monkeypatch.setattr(by_lists, "_BEND", bend)
    monkeypatch.setattr(by_lists, "_ARC", 0.0)
    monkeypatch.setitem(plan.GIANT, "cpu", 16 if bend == 0 else 1536)
    graph = nx.disjoint_union(nx.gnp_random_graph(40, 0.5, seed=3), nx.wheel_graph(30))
    graph.add_edges_from([(5, 40), (0, 70), (0, 71), (45, 72), (70, 71)])
    made = built(graph, (96, 1600 if bend == 0 else 2112))
    given = plan.given_of((made.out_offsets, made.out_targets), made, "node", None, ONE.main)[0]
    lists = plan.row_lists(given, ONE.main)
    assert lists is not None
    if bend == 0:
        assert given.giants > 5
        assert len(lists.few.hubs) == 72
        assert not lists.matrices
    else:
        assert 20 < len(lists.few.hubs) < 40
        assert max(lists.few.lengths) == 30
    found = five_node_orbits(made, ONE, edges=True)
    assert np.array_equal(np.asarray(found.nodes)[: len(graph)], by_orca(graph))
    assert np.array_equal(np.asarray(found.edges), edges_by_orca(graph, made.edge_list()))
    assert not found.notes
    counts, _ = five.five_node_counts(made, ONE)
    expected = all_counts(np, np.array(len(graph), object), results.totals(found.nodes))
    assert counts.tolist() == expected.tolist()
    if room:
        return
    failed = []

    def full(*of, **how):
        failed.append(of)
        raise MemoryError

    monkeypatch.setattr(by_rows, "all_sums", full)
    again = five_node_orbits(made, ONE)
    assert len(failed) == 1
    assert again.notes
    assert np.array_equal(np.asarray(again.nodes), np.asarray(found.nodes))


@pytest.mark.parametrize(("bend", "largest"), [(0.0, 2), *more((100.0, 255))])
def test_nodes_with_the_same_neighbours(monkeypatch, bend, largest):
    """Twins of hubs and of nodes of 5-cliques, leaves and nodes without edges among them, as lists and as matrices;
    most codegrees are cut, or none."""
    monkeypatch.setitem(by_columns.LARGEST, 8, largest)
    monkeypatch.setattr(by_lists, "_BEND", bend)
    monkeypatch.setattr(_twins, "_LESS", 1.0)
    monkeypatch.setattr(_twins, "_FEWER", 0)
    rng, seen = np.random.default_rng(0), []
    classes_of = _twins.classes_of
    monkeypatch.setattr(plan, "classes_of", lambda *of: seen.append(classes_of(*of)) or seen[-1])
    some = nx.gnp_random_graph(12, 0.6, seed=1)
    some.add_edges_from((i, 12 + i) for i in range(3))
    for _ in range(4):
        copies = np.repeat(np.arange(15), rng.integers(1, 5, 15))
        graph = nx.empty_graph(len(copies) + 2)
        graph.add_edges_from((i, j) for j in range(len(copies)) for i in range(j) if some.has_edge(*copies[[i, j]]))
        made = built(graph, (64, 2048))
        found = five_node_orbits(made, ONE).nodes
        assert np.array_equal(np.asarray(found)[: len(graph)], by_orca(graph))
        counts, _ = five.five_node_counts(made, ONE)
        expected = all_counts(np, np.array(len(graph), object), results.totals(found))
        assert counts.tolist() == expected.tolist()
    assert counts[NAMES_5.index("5-clique")] > 10
    assert all(x is not None and len(x.members) == 16 for x in seen)


def test_rows_that_only_look_alike_are_no_twins(monkeypatch):
    """Whatever random numbers say."""
    monkeypatch.setattr(_twins, "_FEWER", 0)
    monkeypatch.setattr(_twins.np.random, "default_rng", lambda seed: AllTheSame())
    graph = nx.complete_bipartite_graph(2, 9)
    graph.add_edges_from([(2, 3), (4, 5), (6, 11), (7, 11)])
    made = built(graph)
    found = _twins.classes_of(np.asarray(made.out_offsets), np.asarray(made.out_targets))
    assert found is not None
    groups = {tuple(np.flatnonzero(found.of[: len(graph)] == x).tolist()) for x in set(found.of[: len(graph)].tolist())}
    near = {x: tuple(sorted(graph[x])) for x in graph}
    alike = {tuple(sorted(x for x in graph if near[x] == near[y])) for y in graph}
    assert groups <= {g for whole in alike for g in (whole, *((x,) for x in whole))}
    assert any(len(g) > 1 for g in groups)


class AllTheSame:
    def integers(self, low, high, size, dtype):
        return np.ones(size, dtype)


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


@pytest.mark.parametrize("devices", [1, *more(2)])
def test_a_killed_run_goes_on(devices, tmp_path, monkeypatch):
    karate = jaxmotif.datasets.load("karate")
    expected = node_orbits(karate, size=5)
    steps, step = [], sums.Hand.step

    def killed(hand, span):
        if len(steps) == 3:
            raise RuntimeError("killed")
        steps.append(span)
        step(hand, span)

    monkeypatch.setattr(sums, "_UNITS", 8)
    monkeypatch.setattr(sums.Hand, "step", killed)
    with pytest.raises(RuntimeError, match="killed"):
        node_orbits(karate, size=5, checkpoint=tmp_path)
    left = []
    monkeypatch.setattr(sums.Hand, "step", lambda hand, span: (left.append(span), step(hand, span)))
    found = node_orbits(karate, size=5, checkpoint=tmp_path, devices=devices)
    assert np.array_equal(found.to_numpy(), expected.to_numpy())
    assert found.counts == expected.counts
    assert not set(left) & set(steps)


def test_bad_input(monkeypatch):
    karate = jaxmotif.datasets.load("karate")
    with pytest.raises(ValueError, match="size must be 4 or 5, got 6"):
        graphlet_counts(karate, size=6)
    monkeypatch.setattr(plan, "LARGEST_RESULT", 2.0**10)
    with pytest.raises(OverflowError, match="a node of degree 17"):
        node_orbits(karate, size=5)


# Of the larger star one count passes 64 bits.
@pytest.mark.parametrize("leaves", [*more(1 << 14), pytest.param(1 << 17, marks=pytest.mark.slow)])
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
            found = results.Limbs(*(jax.numpy.array([x[:many]]) for x in (low, high))).held(narrow=False)
        assert found.tolist() == [counts[:many]]
        assert found.dtype == kind


def test_counts_in_two_limbs_are_the_same(monkeypatch):
    monkeypatch.setattr(five, "ONE_LIMB", 0.0)
    found = edge_graphlets(GRAPH, size=5)
    graph = nx.Graph(GRAPH.edge_list().tolist())
    assert np.array_equal(found.to_numpy(), edges_by_orca(graph, GRAPH.edge_list()))
    counts = all_counts(np, np.array(GRAPH.n, object), results.totals(by_orca(graph).astype(object)))
    assert list(found.counts.values()) == counts.tolist()


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
    for size in (3, 4, 5):
        for root in ("node", "edge"):
            matrix = orbits.inclusion(size, root)
            assert np.array_equal(matrix @ orbits.inverse(matrix), np.eye(len(matrix), dtype=int))
            assert not (24 % orbits.corrections(size, root).stabilizer).any()


def test_counts_of_a_graph_without_edges():
    found = dict(zip(NAMES_5, all_counts(np, np.array(7, object), np.zeros(73, object)), strict=True))
    none = {"2-node-indep": comb(7, 2), "3-node-indep": comb(7, 3), "4-node-indep": comb(7, 4), "5-node-indep": 21}
    assert found == dict.fromkeys(NAMES_5, 0) | none


def test_products_of_integers_are_exact():
    """In float64 on a CPU: by halves of 32 bits, or at once where numbers are below 2^40."""
    assert all(abs(orbits.times24(root)).sum(axis=1).max() < 2**13 for root in ("node", "edge"))
    rng = np.random.default_rng(5)
    weights = rng.integers(-(2**7), 2**7, (20, 30))
    for small, bits in ((False, 63), (True, 40)):
        rows = rng.integers(-(2**bits) if not small else 0, 2**bits, (30, 50))
        with np.errstate(over="ignore"):
            expected = weights @ rows  # wraps
        with jax.enable_x64(True):
            found = product(jax.numpy, weights, jax.numpy.array(rows), small)
        assert found.dtype == np.int64
        assert np.array_equal(found, expected)


def test_a_table_made_row_by_row_takes_less_memory_than_all_tables(monkeypatch):
    graph = nx.barabasi_albert_graph(60, 4, seed=2)
    monkeypatch.setattr(plan.Given, "rows", lambda given, device: 32)
    made, taken = built(graph), []
    layout = by_rows.layout
    monkeypatch.setattr(by_rows, "layout", lambda *of: taken.append(of) or layout(*of))
    found = five_node_orbits(made, ONE).nodes
    assert len(taken) == 1
    assert np.array_equal(np.asarray(found)[:60], by_orca(graph))
