"""Laws that need no oracle, for every job that counts: what wrong numbers break, however they came about.

A job counts patterns in a graph, and most also at its nodes and edges (`tests/laws/jobs.py`).
"""

from functools import cache
from math import comb

import jax
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

import jaxmotif
from jaxmotif import Graph
from jaxmotif.graph import stack_graphs
from jaxmotif.graphlets import dense_graphlet_counts, dense_node_orbits
from jaxmotif.motifs import dense_census, dense_census_classes
from jaxmotif.patterns import Pattern, as_pattern
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._catalogue import CONNECTED
from tests.laws.graphs import KINDS, NODES, adjacency, build, complement, copies_in, union
from tests.laws.jobs import CLASSES, JOBS, size_of
from tests.oracles import DISCONNECTED_5, MIRROR

every_job = pytest.mark.parametrize("name", JOBS)
every_graph = pytest.mark.parametrize("kind", KINDS)


@cache
def made(kind: str, directed: bool) -> Graph:
    return build(adjacency(kind, directed), directed)


@cache
def counted(name: str, kind: str, where: str = "count") -> dict:
    """Return what a job counts in a generated graph, at its nodes (``"at_nodes"``) or at its edges (``"at_edges"``)."""
    job = JOBS[name]
    return getattr(job, where)(made(kind, job.directed))


def without_zeros(counts: dict) -> dict:
    return {name: int(count) for name, count in counts.items() if count}


def difference(one: dict, other: dict) -> dict:
    return without_zeros({name: one.get(name, 0) - other.get(name, 0) for name in {*one, *other}})


@every_graph
@every_job
def test_what_a_removed_node_takes_with_it(name, kind):
    """c(G) = c(G - v) + c_v(G)."""
    job = JOBS[name]
    near = adjacency(kind, job.directed)
    counts, at_nodes = counted(name, kind), counted(name, kind, "at_nodes")
    for node in (0, 7):
        kept = np.delete(np.arange(NODES), node)
        rest = job.count(build(near[np.ix_(kept, kept)], job.directed))
        assert difference(counts, rest) == without_zeros({x: column[node] for x, column in at_nodes.items()})


@every_graph
@every_job
def test_nodes_and_edges_sum_to_the_graph(name, kind):
    """Every occurrence is met once at each of its nodes, and once at each of its edges, if all its edges count."""
    job, counts = JOBS[name], without_zeros(counted(name, kind))
    sizes = {x: size_of(x, job.directed) for x in counts}
    nodes = {x: column.sum() for x, column in counted(name, kind, "at_nodes").items()}
    assert without_zeros(nodes) == {x: count * sizes[x][0] for x, count in counts.items()}
    if job.at_edges is not None:
        edges = {x: column.sum() for x, column in counted(name, kind, "at_edges").items()}
        expected = {x: count * sizes[x][1] for x, count in counts.items()}
        assert without_zeros(edges) == {x: count for x, count in expected.items() if x in edges}
        assert len(edges) >= len(counts) - 1  # an edge alone has no column


@every_job
def test_unions_add(name):
    job, kinds = JOBS[name], ("hub", "dense")
    both = build(union(*(adjacency(kind, job.directed) for kind in kinds)), job.directed)
    counts = [without_zeros(counted(name, kind)) for kind in kinds]
    added = {x: counts[0].get(x, 0) + counts[1].get(x, 0) for x in {*counts[0], *counts[1]}}
    assert without_zeros(job.count(both)) == added
    parts, none = [counted(name, kind, "at_nodes") for kind in kinds], np.zeros(NODES, int)
    for x, column in job.at_nodes(both).items():
        np.testing.assert_array_equal(column, np.concatenate([part.get(x, none) for part in parts]))


@every_graph
@every_job
def test_new_names_for_the_nodes_change_nothing(name, kind):
    job = JOBS[name]
    near = adjacency(kind, job.directed)
    order = np.random.default_rng(1).permutation(NODES)  # the new graph's node i is the old one's order[i]
    one, two = made(kind, job.directed), build(near[np.ix_(order, order)], job.directed)
    assert without_zeros(counted(name, kind)) == without_zeros(job.count(two))
    before, after = counted(name, kind, "at_nodes"), job.at_nodes(two)
    assert before.keys() == after.keys()
    for x, column in before.items():
        np.testing.assert_array_equal(column[order], after[x])
    if job.at_edges is not None:
        ends = order[two.edge_list()]
        ends = ends if job.directed else np.sort(ends, axis=1)
        rows = {tuple(edge): row for row, edge in enumerate(one.edge_list().tolist())}
        same = [rows[tuple(edge)] for edge in ends.tolist()]
        before, after = counted(name, kind, "at_edges"), job.at_edges(two)
        for x, column in before.items():
            np.testing.assert_array_equal(column[same], after[x])


@every_graph
@pytest.mark.parametrize("name", [name for name, job in JOBS.items() if not job.induced and job.at_edges])
def test_an_added_edge_brings_what_holds_it(name, kind):
    """Subgraphs that need not be induced: c(G + e) = c(G) + c_e(G + e)."""
    job = JOBS[name]
    near = adjacency(kind, job.directed)
    absent = np.argwhere(complement(near) if job.directed else np.triu(complement(near)))
    for end in absent[[0, len(absent) // 2]]:
        more = near.copy()
        more[tuple(end)] = True
        if not job.directed:
            more[tuple(end[::-1])] = True
        graph = build(more, job.directed)
        (row,) = np.flatnonzero((graph.edge_list() == end).all(axis=1))
        brought = without_zeros({x: column[row] for x, column in job.at_edges(graph).items()})
        found = difference(job.count(graph), counted(name, kind))
        found.pop("edge", None)  # which has no column
        brought.pop("edge", None)
        assert found == brought


@every_graph
@pytest.mark.parametrize("size", [4, 5])
def test_a_linear_map_leads_to_all_subgraphs(size, kind):
    """A set of nodes that induces one graph holds as many subgraphs of each kind as that graph does."""
    graph = made(kind, False)
    induced = jaxmotif.graphlet_counts(graph, size=size).counts
    every = jaxmotif.graphlet_counts(graph, size=size, induced=False).counts
    shapes = {g.name: Pattern.from_edges(g.edges, g.num_nodes).adjacency for g in CONNECTED if g.num_nodes <= size}
    for name, pattern in shapes.items():
        hosts = {x: host for x, host in shapes.items() if len(host) == len(pattern)}
        assert every[name] == sum(copies_in(pattern, host) * induced[x] for x, host in hosts.items())


@every_graph
def test_complements_mirror(kind):
    """A graph induces in the complement what its complement induces here."""
    near = adjacency(kind, False)
    here, there = (
        jaxmotif.graphlet_counts(build(x, False, (64, 1024)), size=5).counts for x in (near, complement(near))
    )
    mirror = MIRROR | {b: a for a, b in MIRROR.items()}
    shapes = {g.name: g.edges for g in CONNECTED if g.num_nodes == 5} | DISCONNECTED_5
    classes = {canonical_string(Pattern.from_edges(edges, 5)): name for name, edges in shapes.items()}
    for name, edges in shapes.items():
        other = complement(Pattern.from_edges(edges, 5).adjacency)
        mirror[name] = classes[canonical_string(Pattern.from_edges(np.argwhere(np.triu(other)), 5))]
    assert len(mirror) == len(here) == 51
    assert {mirror[name]: count for name, count in here.items()} == there
    for k in (2, 3, 4, 5):
        of_size = [count for name, count in here.items() if (_nodes_of(name, shapes) == k)]
        assert sum(of_size) == comb(NODES, k)


def _nodes_of(name: str, shapes: dict) -> int:
    sizes = {g.name: g.num_nodes for g in jaxmotif.patterns.GRAPHLETS}
    return 5 if name in shapes else sizes[name]


@every_graph
@pytest.mark.parametrize(("name", "edges"), [("two edges", [(0, 1), (2, 3)]), ("3-path", [(0, 1), (1, 2), (2, 3)])])
def test_induced_matches_are_those_of_complements(kind, name, edges):
    near, pattern = adjacency(kind, False), Pattern.from_edges(edges, 4)
    other = Pattern.from_edges(np.argwhere(np.triu(complement(pattern.adjacency))), 4)
    found = jaxmotif.count_matches(pattern, build(near, False), induced=True).count
    assert found == jaxmotif.count_matches(other, build(complement(near), False), induced=True).count


@every_graph
def test_engines_agree(kind):
    """Graphlets of five nodes, the census, the search, features and arrays under vmap give one number."""
    graph = made(kind, False)
    counts = jaxmotif.graphlet_counts(graph, size=5).counts
    for size in (3, 4, 5):
        census = jaxmotif.subgraph_census(graph, size)
        names = [g.name for g in CONNECTED if g.num_nodes == size]
        found = dict(zip(census.classes, census.counts.tolist(), strict=True))
        assert {name: found.get(CLASSES[name], 0) for name in names} == {name: counts[name] for name in names}
    features = jaxmotif.pattern_features(graph, [g.name for g in CONNECTED])
    assert dict(zip(features.columns, features.values[0].tolist(), strict=True)) == {
        g.name: counts[g.name] for g in CONNECTED
    }
    for g in CONNECTED[::4]:
        matches = jaxmotif.count_matches(Pattern.from_edges(g.edges, g.num_nodes), graph, True, per="occurrence")
        assert matches.count == counts[g.name]
    small = jaxmotif.graphlet_counts(graph).counts
    assert small == {name: counts[name] for name in small}
    assert dense_graphlet_counts(graph).to_numpy().tolist() == list(small.values())


@every_graph
def test_engines_agree_on_arcs(kind):
    graph = made(kind, True)
    census = jaxmotif.subgraph_census(graph, 3)
    for text, count in zip(census.classes, census.counts.tolist(), strict=True):
        assert jaxmotif.count_matches(as_pattern(text, graph), graph, True, per="occurrence").count == count


@every_job
def test_devices_padding_and_checkpoints_change_nothing(name, tmp_path):
    job = JOBS[name]

    def count(graph: Graph, **options) -> dict:
        return without_zeros(job.count(graph, **job.some, **options))

    graph = made("hub", job.directed)
    expected = count(graph)
    assert expected
    assert count(build(adjacency("hub", job.directed), job.directed, None)) == expected
    assert count(graph, devices=2) == expected
    if job.keeps:
        for _ in range(2):  # the second time all is there
            assert count(graph, checkpoint=tmp_path) == expected


@pytest.mark.parametrize("way", ["vmap", "vmap of jit", "jit of vmap", "pmap", "shard_map"])
def test_pmap_and_shard_map_change_nothing(way):
    """Arrays in, arrays out: a batch of graphs gives, on four devices too, what front doors give for each."""
    graphs = [made(kind, False) for kind in KINDS]
    batch = stack_graphs(graphs)

    def count(graph: Graph) -> tuple:
        return dense_graphlet_counts(graph), dense_node_orbits(graph), dense_census(graph, size=4)

    mesh = jax.make_mesh((4,), ("graphs",), axis_types=(jax.sharding.AxisType.Auto,))
    specs = {"in_specs": P("graphs"), "out_specs": P("graphs"), "check_vma": False}
    ways = {
        "vmap": jax.vmap(count),
        "vmap of jit": jax.vmap(jax.jit(count)),
        "jit of vmap": jax.jit(jax.vmap(count)),
        "pmap": jax.pmap(count),
        "shard_map": jax.jit(jax.shard_map(jax.vmap(count), mesh=mesh, **specs)),
    }
    counts, orbits, census = (np.asarray(x.to_numpy() if hasattr(x, "to_numpy") else x) for x in ways[way](batch))
    for i, graph in enumerate(graphs):
        assert counts[i].tolist() == list(jaxmotif.graphlet_counts(graph).counts.values())
        np.testing.assert_array_equal(orbits[i][:NODES], jaxmotif.node_orbits(graph).values)
        found = jaxmotif.subgraph_census(graph, 4)
        every = dict(zip(dense_census_classes(4, directed=False), census[i].tolist(), strict=True))
        assert without_zeros(every) == dict(zip(found.classes, found.counts.tolist(), strict=True))


def color_motif(near: np.ndarray, colors: list[int], directed: bool) -> set[int]:
    """Return the vertices in a match of a fixed motif."""
    options = {"direction": "out"} if directed else {}
    motif = {0: 2, 1: 1, 2: 1}
    return set(
        jaxmotif.find_color_motif(build(near, directed), colors, motif, key=0, limit=0, **options).vertices.tolist()
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["hub", "sparse"])
def test_vertices_of_color_motifs(kind, directed):
    """Those of a union are those of its sides; new names rename them; what is taken away takes, and gives none."""
    near, rng = adjacency(kind, directed), np.random.default_rng(5)
    colors = rng.integers(0, 4, NODES).tolist()
    found = color_motif(near, colors, directed)
    assert 0 < len(found) < NODES
    both = color_motif(union(near, near), [*colors, *colors], directed)
    assert both == found | {x + NODES for x in found}
    order = rng.permutation(NODES)
    assert color_motif(near[np.ix_(order, order)], [colors[i] for i in order], directed) == {
        i for i, old in enumerate(order.tolist()) if old in found
    }
    for node in range(0, NODES, 7):
        kept = np.delete(np.arange(NODES), node)
        less = color_motif(near[np.ix_(kept, kept)], [colors[i] for i in kept], directed)
        named = {int(kept[i]) for i in less}
        assert named <= found
        if not directed and node not in found:
            assert named == found
    more = near.copy()
    for u, v in rng.integers(0, NODES, (5, 2)):
        more[u, v] = u != v
        more[v, u] |= not directed and u != v
    assert found <= color_motif(more, colors, directed)
