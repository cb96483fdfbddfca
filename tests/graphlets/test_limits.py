"""Limits on which exactness rests: just below each of them, and just above."""

from types import SimpleNamespace
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif import Graph, node_orbits
from jaxmotif.arrays._compile import Target, compiling_for
from jaxmotif.arrays._exact import join_sums
from jaxmotif.graphlets import _count, _dense, _products, _typed
from jaxmotif.graphlets import _tuning as tuning
from jaxmotif.graphlets._units import units
from jaxmotif.graphlets.five import hubs, matrices, orbits, results
from jaxmotif.patterns import NODE_ORBIT_NAMES
from jaxmotif.patterns._catalogue import CONNECTED
from tests.graphlets.test_five import MATRICES, ONE
from tests.laws.graphs import KINDS, adjacency, build


def star(leaves: int, *further: tuple[int, int]) -> Graph:
    spokes = np.stack([np.zeros(leaves, int), np.arange(1, leaves + 1)], axis=1)
    return Graph.from_edges(np.concatenate([spokes, np.array(further, int).reshape(-1, 2)]), leaves + 1)


def tree(*children: int) -> Graph:
    """Build a tree in which each node of depth i has ``children[i]`` children."""
    edges, level = [], range(1)
    for number in children:
        first = level[-1] + 1
        edges += [(node, first + number * i + j) for i, node in enumerate(level) for j in range(number)]
        level = range(first, first + number * len(level))
    return Graph.from_edges(edges, level[-1] + 1)


def planned(graph: Graph) -> matrices.HubPlan:
    return matrices.prepare_graph(graph, "node", None, ONE.selection.main, MATRICES)


@pytest.mark.parametrize(
    ("degree", "most"), [(4095, 2**12), (4096, 2**16), (65_535, 2**16), (65_536, 2**24), (65_538, 2**24)]
)
def test_a_number_above_all_degrees_and_tables_that_hold_it(degree, most):
    """Tables of 16 bits hold 65,535 leaves; those of more need 32 bits."""
    graph = star(degree, (1, 2))
    prepared = planned(graph)
    assert prepared.most == most
    ends = jnp.array([0, 32], jnp.int32)
    made = hubs.empty_tables(prepared.graph, ends, rows=32, size=prepared.size, detail="node", most=most)
    assert int(made.codegree.astype(jnp.int32).max()) == degree - 2  # leaves of the hub


def squares(rows: np.ndarray) -> list[int]:
    return [sum(x * x for x in row) for row in rows.tolist()]


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("most", [2**15, 2**16, 2**24])
def test_squares_of_numbers_below_a_bound(most):
    rows = np.full((1, 3, 40), most - 1, np.int32)
    assert hubs.sum_squares(jnp.array(rows), most).tolist() == [squares(rows[0])]


@pytest.mark.parametrize("most", [2**12, 2**16])
def test_walks_where_tables_are_full(most):
    """Inner products of rows in which every codegree is the largest there can be: in 32 bits below 2^12, else in 64."""
    prepared = planned(Graph.from_edges(np.argwhere(np.triu(np.ones((9, 9), bool), 1)), 9))
    arcs, size = prepared.graph.heads.shape[0], prepared.size
    with jax.enable_x64(True):
        full = jnp.full((size, size), most - 1, jnp.uint16)
        up = hubs.upward_arcs(prepared.graph), jnp.int32(0), jnp.int32(36)
        walks = hubs.add_fourth_walks(
            jnp.zeros(arcs, jnp.int64),
            full,
            full,
            prepared.graph,
            up,
            (jnp.int32(0), jnp.int32(0)),
            block=7,  # of 36 edges, one is left for the last step
            most=most,
        )
    assert set(walks[:72].tolist()) == {size * (most - 1) ** 2}


@pytest.mark.parametrize(("rim", "giants"), [(185_363, 1), (185_364, 0)])
def test_giants_where_sums_of_squares_are_below_2_to_53(rim, giants):
    """A wheel: the hub's degree squared, times the nodes, padded, passes 2^53 between these."""
    ends = np.arange(1, rim + 1)
    edges = np.concatenate([np.stack([0 * ends, ends], 1), np.stack([ends, ends % rim + 1], 1)])
    wheel = Graph.from_edges(edges, pad=(2**18, 2**20))
    assert (rim**2 * wheel.node_capacity < 2**53) == bool(giants)
    assert planned(wheel).giants == giants


def test_bounds_of_precision():
    """What a bound of all counts says, at its limits; why each limit is where it is."""
    chosen, below = tuning.CPU, np.nextafter
    assert chosen.one_limb == tuning.ACCELERATOR.one_limb == 2.0**60
    assert chosen.largest == tuning.ACCELERATOR.largest
    for engine in (chosen, MATRICES):
        largest = orbits.choose_engine(star(7), ONE, "node", engine)[0].largest
        for limit in (largest, np.nextafter(largest, np.inf)):
            made = orbits.choose_engine(star(7), ONE, "node", engine._replace(one_limb=limit))[0]
            assert made.wide == (limit == largest)

    def check(largest: float) -> None:
        orbits._check_largest(cast(Any, SimpleNamespace(largest=largest, most_neighbours=7)), chosen)

    check(below(2.0**90, 0))
    with pytest.raises(OverflowError, match="a node of degree 7"):
        check(2.0**90)


class ByNodes(Exception):
    """The counts are taken from orbits at nodes."""


def test_totals_are_taken_where_homomorphisms_fit(monkeypatch):
    """At most 24 times as many homomorphisms as counts at a node: below 2^57 they are below 2^62."""

    def refuse(*given, **options):
        raise ByNodes

    def count(largest: float) -> None:
        homs = np.zeros(len(CONNECTED), object)
        made = SimpleNamespace(largest=largest, add_up=lambda *_: (), total_homs=lambda: homs)
        monkeypatch.setattr(orbits, "choose_engine", lambda *_: (made, ()))
        orbits.five_node_counts(star(3), ONE)

    monkeypatch.setattr(orbits, "five_node_orbits", refuse)
    assert 24 * orbits.LARGEST_WITH_TOTALS < 2**62
    count(np.nextafter(2.0**57, 0))
    with pytest.raises(ByNodes):
        count(2.0**57)


def test_limbs_at_powers_of_two():
    """Counts near each power of two, as the equations give them: modulo 2^61, and once more in floats."""
    counts = [2**k + d for k in (0, 31, 32, 53, 59, 60, 61, 62, 63, 64, 80, 89) for d in (-1, 0, 1)]
    wrapped = np.array([(x + 2**60) % 2**61 - 2**60 for x in counts])
    floats = np.array(counts, np.float64)
    with jax.enable_x64(True):

        def solve(of):
            return jnp.array(floats) if of(jnp.zeros(1, jnp.int64)).dtype == jnp.float64 else jnp.array(wrapped)

        found = results.Limbs.of(solve, True).as_integers()
    assert found.tolist() == counts


def test_halves_are_joined_beyond_64_bits():
    halves = np.array([2**32 - 1, 0, 5]), np.array([2**31, 2**40, 0])
    assert join_sums(halves).tolist() == [2**63 + 2**32 - 1, 2**72, 5]


@pytest.mark.parametrize("platform", ["cpu", "cuda", "tpu"])
def test_limbs_of_products_of_matrices_fit_their_sums(platform):
    """A limb of the larger factor, as many times as there are rows, is a whole number of the type of sums."""
    with compiling_for(Target(platform)):
        unit = units()
    assert unit.sum_bits == {"float32": 24, "int32": 31}[str(unit.sums)]
    assert unit.factor_bits == {"float32": 24, "bfloat16": 8, "int8": 7}[str(unit.factors)]


def test_all_subgraphs_from_63_bits_on_are_python_integers():
    """Copies of induced counts that pass 2^62 may have wrapped: one just below, one above 2^63."""
    columns = NODE_ORBIT_NAMES
    matrix = _count.copies("node", columns).astype(object)
    most = int(matrix.sum(axis=1).max())
    for value in (2**62 // most - 1, 2**62 // most + 1, 2**63 // most + 1):
        for kind in (np.int64, object):  # these where an induced count already passes 63 bits
            table = np.full((2, len(columns)), value, kind)
            found = np.asarray(_count._all_at("node", columns, table, 2))
            assert found.tolist() == (table.astype(object) @ matrix.T).tolist()


def test_typed_graphlets_that_may_pass_64_bits():
    """1.05 stars of four leaves at a hub are below 2^63 up to a degree of 54,441."""
    degree = next(d for d in range(54_000, 55_000) if 1.05 * (float(d + 1) ** 4 + d + 1) >= 2.0**63)
    _typed._check_counts(star(degree), 5)
    with pytest.raises(OverflowError, match="which pass 64 bits"):
        _typed._check_counts(star(degree + 1), 5)


def test_cells_of_matrices_have_31_bits():
    assert _products.MOST_NODES**2 < 2**31 <= (_products.MOST_NODES + 1) ** 2


@pytest.mark.parametrize("wide", [None, "left", "right"])
@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_products_of_the_largest_factors(platform, wide):
    """Numbers up to 127; or beside zeros and ones, sums up to 2^21."""
    rng = np.random.default_rng(3)
    x, y = (rng.choice([0, 1] if wide else [0, 127], (6, 128)).astype(np.float32) for _ in range(2))
    if wide:
        large = y if wide == "right" else x
        large[:] = rng.choice([0, 2**21 // 128, 2**17 - 1], large.shape)
    expected = x.astype(np.int64) @ y.T.astype(np.int64)
    assert expected.max() < 2**24
    with compiling_for(Target(platform)):
        found = np.asarray(_dense._times(jnp.asarray(x), jnp.asarray(y.T), wide))
    np.testing.assert_array_equal(found.astype(np.int64), expected)


@pytest.mark.parametrize("chosen", [tuning.CPU, MATRICES], ids=["loops", "matrices"])
@pytest.mark.parametrize("kind", ["clique", "cycle", "star", *KINDS])
def test_the_bound_of_all_counts_holds(kind, chosen):
    """It is at least the number of trees of five nodes at any node, which is at least each count there."""
    shapes = {
        "clique": ~np.eye(60, dtype=bool),  # in which there are few more walks than paths
        "cycle": np.roll(np.eye(12, dtype=bool), 1, 0) | np.roll(np.eye(12, dtype=bool), -1, 0),
        "star": np.outer(np.arange(12) == 0, np.arange(12) > 0) | np.outer(np.arange(12) > 0, np.arange(12) == 0),
    }
    graph = build(shapes[kind] if kind in shapes else adjacency(kind, False), False, (64, 4096))
    largest = orbits.choose_engine(graph, ONE, "node", chosen)[0].largest
    at_nodes = node_orbits(graph, size=5, induced=False).to_numpy()
    trees = [orbit for g in CONNECTED if g.name in ("5-path", "fork", "4-star") for orbit in set(g.node_orbits)]
    assert at_nodes[:, trees].sum(axis=1).max() <= largest
    assert node_orbits(graph, size=5).to_numpy().max() <= largest


@pytest.mark.parametrize("children", [(400,), (60, 10), (20, 60)])  # mostly stars, forks, and paths
def test_a_bound_of_counts_at_a_node(children):
    graph = tree(*children)
    five = np.asarray(node_orbits(graph, size=5))[:, 15:].sum(axis=1)  # orbits of five nodes
    assert five.max() <= float(matrices.bound_counts(planned(graph).graph)) <= 1.5 * five.max()
