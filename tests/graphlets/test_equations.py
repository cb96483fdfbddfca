"""The equations, fed with inputs found by definition, against brute force over node subsets."""

from functools import partial
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._exact import join_sums
from jaxmotif.graphlets._equations import (
    MAX_DEGREE_INT64,
    TERMS,
    edge_columns,
    edge_sums,
    global_counts,
    node_orbits,
)
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES, NODE_ORBITS
from tests.oracles import brute_force, edge_inputs, random_edges

GRAPHS = {
    "no nodes": (0, []),
    "one node": (1, []),
    "two nodes": (2, []),
    "one edge": (2, [(0, 1)]),
    "no edges": (7, []),
    "star": (8, [(0, x) for x in range(1, 8)]),
    "clique": (7, random_edges(7, 1.0, 0)),
    "disconnected": (9, [(0, 1), (0, 2), (1, 2), (3, 4), (4, 5), (5, 6), (3, 6)]),
    **{f"density {p} of {n}": (n, random_edges(n, p, 3)) for n in (6, 12) for p in (0.1, 0.3, 0.5, 0.7, 0.9)},
}
INPUTS = ("d_u", "d_v", "t", "K", "cyc")


def _counts(n, m, sums):
    return dict(zip(GRAPHLET_NAMES, global_counts(np, n, m, sums).tolist(), strict=True))


def _sums(inputs, **options):
    return {name: join_sums(pair) for name, pair in edge_sums(*(inputs[k] for k in INPUTS), **options).items()}


@pytest.mark.parametrize(("n", "edges"), GRAPHS.values(), ids=GRAPHS)
def test_equals_brute_force(n, edges):
    counts, columns, orbits = brute_force(n, edges)
    inputs = edge_inputs(n, edges)

    per_edge = edge_columns(n, len(edges), **inputs)
    assert tuple(per_edge) == EDGE_COLUMN_NAMES
    for name in EDGE_COLUMN_NAMES:
        np.testing.assert_array_equal(per_edge[name], columns[name], err_msg=name)

    assert _counts(n, len(edges), _sums(inputs)) == counts

    degrees = np.zeros(n, np.int64)
    incident = {name: np.zeros(n, np.int64) for name in EDGE_COLUMN_NAMES[:12]}
    for end in (0, 1):
        at = np.array([e[end] for e in edges], np.int64)
        np.add.at(degrees, at, 1)
        for name, total in incident.items():
            np.add.at(total, at, per_edge[name])
    found = node_orbits(degrees, incident)
    assert len(found) == len(NODE_ORBITS)
    np.testing.assert_array_equal(np.stack(found, axis=-1), orbits)


def test_jax_arrays_of_64_bits_give_the_same():
    n, edges = GRAPHS["density 0.5 of 12"]
    inputs = edge_inputs(n, edges)
    with jax.enable_x64(True):
        arrays = {name: jnp.asarray(value) for name, value in inputs.items()}
        found = jax.jit(lambda arrays: edge_columns(n, len(edges), **arrays))(arrays)
        sums = jax.jit(lambda arrays: edge_sums(*(arrays[k] for k in INPUTS)))(arrays)
        assert {x.dtype.name for x in jax.tree.leaves((found, sums))} == {"int64"}
    for name, column in edge_columns(n, len(edges), **inputs).items():
        np.testing.assert_array_equal(found[name], column)
    assert {name: join_sums(pair) for name, pair in sums.items()} == _sums(inputs)


def test_entries_that_are_no_edges_and_chunks():
    n, edges = GRAPHS["density 0.5 of 12"]
    inputs = edge_inputs(n, edges)
    keep = np.arange(len(edges)) % 3 > 0
    padded = {name: np.insert(value, 0, -7) for name, value in inputs.items()}
    first, second = _sums(padded, where=np.insert(keep, 0, False)), _sums(inputs, where=~keep)
    assert {name: first[name] + second[name] for name in first} == _sums(inputs)


def test_sums_beyond_64_bits():
    """Three million edges of a star: the squares of degrees alone sum to 2.7e19."""
    m = 3_000_000
    zero = np.zeros(m, np.int64)
    sums = _sums({"d_u": zero + m, "d_v": zero + 1, "t": zero, "K": zero, "cyc": zero})
    assert sums["d2"] == m * (m**2 + 1) > 2**64
    counts = _counts(m + 1, m, sums)
    assert {name: count for name, count in counts.items() if count} == {
        "edge": m,
        "2-node-indep": comb(m, 2),
        "2-star": comb(m, 2),
        "3-node-indep": comb(m, 3),
        "3-star": comb(m, 3),
        "4-node-indep": comb(m, 4),
    }


@pytest.mark.parametrize("n", [100_000, 3_000_000])
def test_disconnected_counts_beyond_64_bits(n):
    """A matching of ten edges has a closed form for every count."""
    ones = np.ones(10, np.int64)
    counts = _counts(n, 10, _sums({"d_u": ones, "d_v": ones, "t": 0 * ones, "K": 0 * ones, "cyc": 0 * ones}))
    assert counts["3-node-1-edge"] == 10 * (n - 2)
    assert counts["4-node-2-edge"] == comb(10, 2)
    assert counts["4-node-1-edge"] == 10 * comb(n - 2, 2) - 2 * comb(10, 2)
    assert counts["4-node-indep"] == comb(n, 4) - counts["4-node-1-edge"] - comb(10, 2)
    assert sum(counts[name] for name in GRAPHLET_NAMES[6:]) == comb(n, 4)


def test_largest_edge_columns_fit_64_bits():
    n = 2**31 - 1
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    columns = edge_columns(n, 1, one, one, zero, zero, zero, zero, zero, 2 * one, zero)
    assert columns["4-node-1-edge"].tolist() == [comb(n - 2, 2)]


@pytest.mark.parametrize("center", [3, 4, 5, 3_000_000, MAX_DEGREE_INT64 - 1, MAX_DEGREE_INT64])
def test_node_orbits_of_large_stars(center):
    """The center of a star with that many leaves; the sum of its edges' 3-stars may wrap on the way."""
    assert comb(MAX_DEGREE_INT64, 3) < 2**63 <= comb(MAX_DEGREE_INT64 + 1, 3)
    d = np.array([center])
    incident = dict.fromkeys(EDGE_COLUMN_NAMES[:12], 0 * d)
    incident |= {"2-star": d * (d - 1), "3-star": d * comb(center - 1, 2)}
    expected = [center, 0, comb(center, 2), 0, 0, 0, 0, comb(center, 3), 0, 0, 0, 0, 0, 0, 0]
    assert np.concatenate(node_orbits(d, incident)).tolist() == expected


def test_node_orbits_of_python_integers_are_exact_at_any_size():
    d = np.array([10**7], object)
    incident = dict.fromkeys(EDGE_COLUMN_NAMES[:12], 0 * d)
    incident |= {"2-star": d * (d - 1), "3-star": d * comb(10**7 - 1, 2)}
    orbits = np.concatenate(node_orbits(d, incident)).tolist()
    assert orbits[7] == comb(10**7, 3) > 2**64
    assert orbits[6] == 0


def test_sums_of_narrow_integers_are_refused():
    narrow = np.ones(1, np.int32)
    with pytest.raises(TypeError, match="int64 arrays, got d_u of dtype int32"):
        edge_sums(narrow, narrow, narrow, narrow, narrow)


def test_no_array_is_divided():
    """A TPU has no 64-bit division, and its compiler takes seconds for each one."""
    with jax.enable_x64(True):
        number, row = jax.ShapeDtypeStruct((), np.int64), jax.ShapeDtypeStruct((9,), np.int64)
        sums = dict.fromkeys(TERMS, number)
        of_graph = jax.make_jaxpr(partial(global_counts, jnp))(number, number, sums)
        of_nodes = jax.make_jaxpr(node_orbits)(row, dict.fromkeys(EDGE_COLUMN_NAMES[:12], row))
    for program in (of_graph, of_nodes):
        assert "mul" in str(program)
        assert not {"div", "rem", "floor_divide"} & set(str(program).replace("=", " ").split())
