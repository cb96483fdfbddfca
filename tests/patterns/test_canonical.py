"""Canonical forms, automorphisms, constraints and orders, against brute force and networkx."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from jaxmotif.patterns import (
    Pattern,
    automorphism_count,
    automorphisms,
    canonical_order,
    canonical_string,
    greatest_constraint_first,
    node_orbits,
    stabilizer_chain,
    symmetry_constraints,
)


def random_pattern(rng, k, directed, labels=None, edge_labels=None):
    pairs = [(u, v) for u in range(k) for v in range(k) if (u != v if directed else u < v)]
    kept = [pair for pair in pairs if rng.random() < rng.choice([0.2, 0.5, 0.8])]
    return Pattern.from_edges(
        kept,
        k,
        directed,
        node_labels=None if labels is None else rng.integers(0, labels, k),
        edge_labels=None if edge_labels is None else rng.integers(0, edge_labels, len(kept)),
    )


def cases(seed, count, sizes):
    rng = np.random.default_rng(seed)
    for i in range(count):
        k = int(rng.choice(sizes))
        yield rng, random_pattern(rng, k, i % 2 == 0, [None, 2][i // 2 % 2], [None, 2][i // 4 % 2])


def key(pattern, order):
    form = pattern.relabel(order)
    labels = () if form.node_labels is None else tuple(form.node_labels)
    return labels, tuple(form.entries.ravel())


def preserved(pattern, image):
    same = np.array_equal(pattern.entries[np.ix_(image, image)], pattern.entries)
    return same and (pattern.node_labels is None or np.array_equal(pattern.node_labels[image], pattern.node_labels))


def test_canonical_order_is_the_smallest_of_all():
    for _, pattern in cases(0, 120, [0, 1, 2, 3, 4, 5]):
        orders = [list(p) for p in itertools.permutations(range(pattern.num_nodes))]
        assert key(pattern, canonical_order(pattern)) == min(key(pattern, order) for order in orders)


def test_canonical_string_knows_isomorphic_patterns():
    for rng, pattern in cases(1, 60, [6, 7, 9]):
        shuffled = pattern.relabel(rng.permutation(pattern.num_nodes))
        assert canonical_string(shuffled) == canonical_string(pattern)
    strings = {
        canonical_string(Pattern.from_edges(kept, 4))
        for size in range(7)
        for kept in itertools.combinations(itertools.combinations(range(4), 2), size)
    }
    assert len(strings) == 11  # graphs on four nodes


@pytest.mark.parametrize("edges", [[], [(u, v) for u in range(12) for v in range(u)], [(0, v) for v in range(1, 12)]])
def test_twins_keep_symmetric_patterns_cheap(edges):
    assert sorted(canonical_order(Pattern.from_edges(edges, 12)).tolist()) == list(range(12))


def test_automorphisms_are_those_of_brute_force():
    for _, pattern in cases(2, 120, [1, 2, 3, 4, 5]):
        expected = {p for p in itertools.permutations(range(pattern.num_nodes)) if preserved(pattern, list(p))}
        found = automorphisms(pattern)
        assert {tuple(row) for row in found.tolist()} == expected
        assert found[0].tolist() == list(range(pattern.num_nodes))
        assert len(found) == len(expected) == automorphism_count(pattern)
        orbits = node_orbits(pattern)
        assert orbits.tolist() == [min(p[v] for p in expected) for v in range(pattern.num_nodes)]


def rooks_graph():
    """Return the squares of a board of four by four, where a rook goes from one to the other."""
    return nx.line_graph(nx.complete_bipartite_graph(4, 4))


def shrikhande_graph():
    """Return the graph of the same parameters as that of the rook, which is another one."""
    steps = (0, 1), (1, 0), (1, 1)
    squares = list(itertools.product(range(4), repeat=2))
    return nx.Graph([((a, b), ((a + x) % 4, (b + y) % 4)) for a, b in squares for x, y in steps])


HEXAGON_AND_TRIANGLES = nx.disjoint_union_all([nx.cycle_graph(6), nx.cycle_graph(3), nx.cycle_graph(3)])


def two_cones():
    """Return two graphs of one node joined to all of a hexagon and two triangles, which are in another order."""
    cone, backwards = nx.compose(HEXAGON_AND_TRIANGLES, nx.star_graph([12, *range(12)])), nx.Graph()
    backwards.add_nodes_from(reversed(range(13)))
    backwards.add_edges_from(cone.edges)
    return nx.disjoint_union(cone, backwards)


@pytest.mark.parametrize(
    ("graph", "order"),
    [
        (nx.petersen_graph(), 120),
        (nx.hypercube_graph(4), 384),
        (nx.complete_graph(20), math.factorial(20)),
        (nx.star_graph(60), math.factorial(60)),
        (nx.cycle_graph(50), 100),
        (nx.path_graph(200), 2),
        (nx.disjoint_union_all([nx.complete_graph(2)] * 6), math.factorial(6) * 2**6),
        (nx.frucht_graph(), 1),
        (nx.grid_2d_graph(5, 5), 8),
        (nx.full_rary_tree(2, 31), 2**15),
        # Refining tells nodes of two kinds apart only when one more is fixed, or two more.
        (HEXAGON_AND_TRIANGLES, 12 * 72),
        (two_cones(), 2 * (12 * 72) ** 2),
        (nx.disjoint_union(rooks_graph(), shrikhande_graph()), 1152 * 192),
    ],
)
def test_orders_of_known_groups(graph, order):
    graph = nx.convert_node_labels_to_integers(graph)
    assert automorphism_count(Pattern.from_edges(list(graph.edges), graph.number_of_nodes())) == order


def test_automorphisms_over_the_limit():
    with pytest.raises(ValueError, match="720 automorphisms, over limit=10"):
        automorphisms(Pattern.from_edges([], 6), limit=10)
    with pytest.raises(ValueError, match="over limit=719"):
        automorphisms(Pattern.from_edges([], 6), limit=719)
    assert len(automorphisms(Pattern.from_edges([], 6), limit=720)) == 720


def test_colors_and_fixed_nodes_stay_in_place():
    square = Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    assert stabilizer_chain(square, fixed=[0]).order == 2
    assert stabilizer_chain(square, colors=np.array([0, 1, 0, 1])).order == 4


def test_constraints_pick_one_map_of_each_class():
    for rng, pattern in cases(3, 60, [2, 3, 4, 5]):
        k = pattern.num_nodes
        order = rng.permutation(k).tolist()
        pairs, count = symmetry_constraints(pattern, order)
        assert all(order.index(a) < order.index(b) for a, b in pairs)
        group = automorphisms(pattern)
        assert count == len(group)
        values = rng.permutation(100)[:k]
        kept = [g for g in group if all(values[g][a] < values[g][b] for a, b in pairs)]
        assert len(kept) == 1


def test_orders_place_every_node_next_to_placed_ones():
    for rng, pattern in cases(4, 60, [1, 4, 8, 12]):
        k = pattern.num_nodes
        sizes = rng.integers(1, 50, k)
        last = [int(v) for v in np.flatnonzero(pattern.neighbors.sum(1) == 1)]
        order = greatest_constraint_first(pattern, sizes)
        assert sorted(order) == list(range(k))
        starts = sum(not pattern.neighbors[v, order[:i]].any() for i, v in enumerate(order))
        assert starts == len(pattern.components())
        order = greatest_constraint_first(pattern, sizes, last)
        assert set(order[k - len(last) :]) == set(last)


def test_ties_go_to_smaller_domains():
    path = Pattern.from_edges([(0, 1), (1, 2)])
    assert greatest_constraint_first(path, [5, 9, 3]) == [1, 2, 0]
    square = Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    assert greatest_constraint_first(square, [4, 4, 2, 9])[0] == 2


@pytest.mark.parametrize("edge_labels", [[5], [5, 6, 7], [[5, 6]], 5])
def test_edge_labels_are_one_a_row(edge_labels):
    with pytest.raises(ValueError, match=r"edge_labels must have shape \(2,\), got \("):
        Pattern.from_edges([(0, 1), (1, 2)], edge_labels=edge_labels)


def test_bad_patterns():
    with pytest.raises(ValueError, match=r"edges\[1\] = \(2, 2\)"):
        Pattern.from_edges([(0, 1), (2, 2)])
    with pytest.raises(ValueError, match="node_labels must have shape"):
        Pattern.from_edges([(0, 1)], num_nodes=2, node_labels=[1])
    with pytest.raises(ValueError, match=r"edges must have shape \(E, 2\), one edge a row, got \(2, 3\)"):
        Pattern.from_edges(np.array([(0, 1, 5), (1, 2, 7)]))
    with pytest.raises(ValueError, match=r"edges must be pairs of node ids, got edges\[1\] = \(1, 2, 3\)"):
        Pattern.from_edges([(0, 1), (1, 2, 3)])
    for size, error in ((3.0, TypeError), ("3", TypeError), (-1, ValueError), (2**31, ValueError)):
        with pytest.raises(error, match="num_nodes must be an integer|a pattern has 0 to 32768 nodes"):
            Pattern.from_edges([(0, 1)], size)
    with pytest.raises(ValueError, match="a pattern has 0 to 32768 nodes, numbered from 0, got 4611686018427387905"):
        Pattern.from_edges([(0, 2**62)])
    with pytest.raises(TypeError, match="directed must be True or False, got 'no'"):
        Pattern.from_edges([(0, 1)], directed="no")
    masked = np.ma.array([0, 1], mask=[0, 1])
    for name, values in (("edges", masked[None]), ("node_labels", masked), ("edge_labels", masked[1:])):
        with pytest.raises(ValueError, match=f"masked values in {name}"):
            Pattern.from_edges(**{"edges": [(0, 1)], name: values})
    for name, values in (("edges", [(0.9, 1.2)]), ("node_labels", [1.5, 2]), ("edge_labels", [1.7])):
        with pytest.raises(TypeError, match=f"{name} must be integers, got float64"):
            Pattern.from_edges(**{"edges": [(0, 1)], name: values})
    for name, values in (("node_labels", [1, 2**32 + 5]), ("edge_labels", [-(2**31) - 1])):
        with pytest.raises(ValueError, match=f"{name} must fit int32, .*, got .* = {values[-1]};"):
            Pattern.from_edges([(0, 1)], **{name: values})
    for rows in ([(0, 1), (1, 2), (1, 0)], [(1, 0), (1, 2), (1, 0)]):
        with pytest.raises(ValueError, match=r"disagree on one edge: 5 for edges\[0\] = \(., .\), and 7 for another"):
            Pattern.from_edges(rows, edge_labels=[5, 6, 7])
        assert Pattern.from_edges(rows, edge_labels=[5, 6, 5]).edge_labels[:2, :2].tolist() == [[0, 5], [5, 0]]
    both = Pattern.from_edges([(0, 1), (1, 0)], directed=True, edge_labels=[5, 7])
    assert both.edge_labels.tolist() == [[0, 5], [7, 0]]
