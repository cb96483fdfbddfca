"""Graphlets that tell directions and labels, against every set of nodes in every order."""

from collections import Counter
from itertools import combinations, permutations

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.features import all_patterns
from jaxmotif.graphlets import EdgeGraphlets, _typed, dense_graphlet_counts
from jaxmotif.patterns import GRAPHLET_NAMES, class_columns, named_pattern
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._names import short_name
from tests.more import more

NODES = 8  # as few as show all, and the same in all tests: they share their programs
LABELLED = {"directed": True, "labels": 2, "edge_labels": 2}
UNDIRECTED = {"labels": 3}


def make(seed, directed=False, labels=0, edge_labels=0, n=NODES, density=0.3):
    rng = np.random.default_rng(seed)
    pairs = permutations(range(n), 2) if directed else combinations(range(n), 2)
    edges = [pair for pair in pairs if rng.random() < density]
    return Graph.from_edges(
        edges, n, directed, rng.integers(labels, size=n) if labels else None,
        rng.integers(1, 1 + edge_labels, len(edges)) if edge_labels else None,
    )  # fmt: skip


def matrix(graph):
    """Entries: 0 for no edge, else 1 + its label."""
    found = np.zeros((graph.n, graph.n), int)
    for (u, v), slot in zip(graph.edge_list().tolist(), graph.edge_slots().tolist(), strict=True):
        found[u, v] = 1 if graph.edge_labels is None else 1 + int(np.asarray(graph.edge_labels)[slot])
        if not graph.directed:
            found[v, u] = found[u, v]
    return found


def connected(near):
    reach = (near + near.T > 0) | np.eye(len(near), dtype=bool)
    return bool(np.linalg.matrix_power(reach.astype(int), len(near)).all())


def form(labels, near):
    """What is the same for isomorphic graphs alone: the least of labels and entries in all orders of the nodes."""
    orders = [list(p) for p in permutations(range(len(near)))]
    return min((tuple(labels[p].tolist()), tuple(near[np.ix_(p, p)].ravel().tolist())) for p in orders)


def brute_force(graph, size=4):
    near = matrix(graph)
    labels = np.zeros(graph.n, int) if graph.node_labels is None else np.asarray(graph.node_labels)[: graph.n]
    counts = Counter()
    for k in range(2, size + 1):
        for some in map(list, combinations(range(graph.n), k)):
            if connected(near[np.ix_(some, some)]):
                counts[form(labels[some], near[np.ix_(some, some)])] += 1
    return counts


def forms(counts, graph):
    """Counts by name as counts by form."""
    found = {}
    for name, count in counts.items():
        pattern = named_pattern(name, graph.directed)
        near = pattern.adjacency.astype(int)
        if pattern.edge_labels is not None:
            near = np.where(near > 0, 1 + np.asarray(pattern.edge_labels), 0)
        labels = np.zeros(len(near), int) if pattern.node_labels is None else np.asarray(pattern.node_labels)
        found[form(labels, near)] = count
    return found


@pytest.mark.parametrize("kind", [LABELLED, *more(UNDIRECTED, {"directed": True})])
def test_counts_of_a_graph_and_of_many(kind):
    graphs = [make(seed, **kind) for seed in (1, 2)]
    many = jaxmotif.graphlet_counts(graphs, typed=True)
    for i, graph in enumerate(graphs):
        found = jaxmotif.graphlet_counts(graph, typed=True)
        assert forms(found.counts, graph) == brute_force(graph)
        assert many[i] == found
        # Summed over directions and labels: the graphlets of the graph without them.
        plain = jax.jit(dense_graphlet_counts)(Graph.from_edges(graph.edge_list(), NODES, pad=(NODES, 64))).to_numpy()
        plain = dict(zip(GRAPHLET_NAMES, plain.tolist(), strict=True))
        sums = Counter()
        for name, count in found.counts.items():
            pattern = named_pattern(name, graph.directed)
            shape = named_pattern(
                "".join("01"[x] for x in (pattern.adjacency | pattern.adjacency.T).ravel().astype(int))
            )
            sums[class_columns([canonical_string(shape)], False)["name"][0]] += count
        assert sums == {name: plain[name] for name in sums}
        assert sum(sums.values()) == sum(count for name, count in plain.items() if "node" not in name)
    assert many.values.sum(axis=1).tolist() == [sum(one.counts.values()) for one in many]


def marked(labels, near, root, directed):
    """A form that tells one node, or one edge, from the others; of an arc its ends, too."""
    marks = np.zeros(len(near), int)
    marks[list(root)] = range(1, 1 + len(root)) if directed else 1
    return form(labels + 100 * marks, near)


def by_role(graph, per, size=4):
    """At each node, or edge, how many graphlets of each form hold it."""
    near, found = matrix(graph), Counter()
    labels = np.zeros(graph.n, int) if graph.node_labels is None else np.asarray(graph.node_labels)[: graph.n]
    roots = [(x,) for x in range(graph.n)] if per == "node" else [tuple(edge) for edge in graph.edge_list().tolist()]
    for k in range(2, size + 1):
        for some in map(list, combinations(range(graph.n), k)):
            part = near[np.ix_(some, some)]
            if connected(part):
                for row, root in enumerate(roots):
                    if set(root) <= set(some):
                        found[row, marked(labels[some], part, [some.index(x) for x in root], graph.directed)] += 1
    return found


def as_forms(found, graph):
    """A table of roles as counts by row and form: a column is called by its graphlet and its lowest place."""
    counts = {}
    for column, values in zip(found.columns, found.to_numpy().T, strict=True):
        name, _, place = (column, "", "") if column in found.counts else column.rpartition(":")
        pattern = named_pattern(name, graph.directed)
        near = pattern.adjacency.astype(int)
        root = [int(x) for x in place.split("-")] if place else [0]
        if isinstance(found, EdgeGraphlets) and not place:
            root = np.argwhere(near)[0].tolist()
        if pattern.edge_labels is not None:
            near = np.where(near > 0, 1 + np.asarray(pattern.edge_labels), 0)
        labels = np.zeros(len(near), int) if pattern.node_labels is None else np.asarray(pattern.node_labels)
        counts |= {(row, marked(labels, near, root, graph.directed)): n for row, n in enumerate(values.tolist()) if n}
    return counts


@pytest.mark.parametrize(
    ("kind", "per"),
    [
        (LABELLED, "node"),
        *more(
            (LABELLED, "edge"), (UNDIRECTED, "node"), (UNDIRECTED, "edge"), ({"directed": True}, "node"),
            ({"directed": True}, "edge"),
        ),
    ],
)  # fmt: skip
def test_roles_of_nodes_and_edges(kind, per):
    count = jaxmotif.node_orbits if per == "node" else jaxmotif.edge_graphlets
    graph = make(4, **kind)
    found = count(graph, typed=True)
    assert as_forms(found, graph) == by_role(graph, per)
    assert found.counts == jaxmotif.graphlet_counts(graph, typed=True).counts
    (again,) = count([graph], typed=True)
    np.testing.assert_array_equal(again.to_numpy(), found.to_numpy())
    assert (again.columns, again.counts) == (found.columns, found.counts)


def test_without_types_they_are_the_same():
    graph = make(3)
    assert jaxmotif.graphlet_counts(graph, typed=True) == jaxmotif.graphlet_counts(graph)


def test_every_name_means_its_class():
    for name in all_patterns(4, directed=True):
        assert short_name(canonical_string(named_pattern(name, directed=True)), True) == name


def test_names_words_and_refusals(tmp_path):
    (tmp_path / "g.txt").write_text("3 2 1\ncell\ngene\ngene\n0 1\n1 2\n")  # directed
    graph = jaxmotif.read_graph(tmp_path / "g.txt")
    found = jaxmotif.graphlet_counts(graph, typed=True)
    assert found.table()["graphlet"] == ["cell,gene:0100", "gene,gene:0010", "cell,gene,gene:001000010"]
    assert list(found.counts) == ["0,1:0100", "1,1:0010", "0,1,1:001000010"]
    assert "3 graphlets" in repr(found)
    with pytest.raises(ValueError, match="leave induced=False out"):
        jaxmotif.graphlet_counts(graph, typed=True, induced=False)
    with pytest.raises(ValueError, match="typed=True, which tells directions"):
        jaxmotif.graphlet_counts(graph)


def test_counts_that_may_pass_64_bits_are_refused(monkeypatch):
    monkeypatch.setattr(_typed, "LARGEST_COUNT", 1.05 * (3 + 3**3))  # the star's: no degree may be larger
    star = Graph.from_edges([(0, 1), (0, 2), (3, 0)], directed=True)
    for graph in (star, [star]):
        with pytest.raises(OverflowError, match=r"may be 32 connected subgraphs of 4 nodes \(largest degree 3\)"):
            jaxmotif.graphlet_counts(graph, typed=True)


@pytest.mark.parametrize("by_node", [False, *more(True)])
def test_a_checkpoint_holds_every_size(by_node, tmp_path):
    graph = make(1, **LABELLED)
    if by_node:
        kept, alone = (jaxmotif.node_orbits(graph, typed=True, checkpoint=folder) for folder in (tmp_path, None))
        assert kept.columns == alone.columns
        np.testing.assert_array_equal(kept.to_numpy(), alone.to_numpy())
        names = {"3-nodes", "4-nodes", "3-nodes-by-node", "4-nodes-by-node"}
        assert {path.name for path in tmp_path.iterdir()} == names
        return
    found = [jaxmotif.graphlet_counts(graph, typed=True, checkpoint=tmp_path).counts for _ in range(2)]
    assert found[0] == found[1] == jaxmotif.graphlet_counts(graph, typed=True).counts
    assert {path.name for path in tmp_path.iterdir()} == {"3-nodes", "4-nodes"}
