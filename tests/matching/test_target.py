"""The index of a target."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching._target import index_target
from jaxmotif.matching.planner._device import neighbor_words


@pytest.mark.parametrize("directed", [False, True])
def test_numbers_by_degree_name_the_same_graph(directed):
    rng = np.random.default_rng(3)
    pairs = np.argwhere(rng.random((24, 24)) < 0.2 * rng.random((24, 1)))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]] if directed else pairs[pairs[:, 0] < pairs[:, 1]]
    graph = Graph.from_edges(
        pairs, 24, directed=directed, node_labels=np.arange(24) + 100, edge_labels=np.arange(len(pairs)) + 1,
        pad="bucket",
    )  # fmt: skip
    plain, ranked = (jax.tree.map(np.asarray, index_target(graph, by_degree)) for by_degree in (False, True))
    ids = np.append(ranked.ids, plain.nodes)
    degrees = np.diff(ranked.offsets).sum(axis=0)[:24]
    assert sorted(zip(degrees, ids, strict=False)) == list(zip(degrees, ids, strict=False))
    assert sorted(ids[:24]) == list(range(24))
    assert ranked.node_labels[:24].tolist() == (ids[:24] + 100).tolist()

    def slots(index, d, ids):
        ends = [ids[index.sources[d]], ids[index.targets[d]]]
        more = [x[d] for x in (index.labels, index.reverse, index.reverse_labels) if x is not None]
        return np.stack(ends + more, axis=1)

    for d in range(1 + directed):
        assert sorted(slots(ranked, d, ids).tolist()) == sorted(slots(plain, d, np.arange(len(ids))).tolist())
        pairs = list(zip(ranked.sources[d].tolist(), ranked.targets[d].tolist(), strict=True))
        assert pairs == sorted(pairs)
        rows = np.searchsorted(ranked.sources[d], np.arange(ranked.nodes + 1))
        assert rows.tolist() == ranked.offsets[d].tolist()


def test_words_of_neighbours_end_with_their_rows():
    """The words of each node's neighbours are joined, whatever lengths rows and those after them have."""
    rng = np.random.default_rng(7)
    arcs = np.argwhere(rng.random((40, 40)) < rng.choice([0.02, 0.1, 0.5], (40, 1)))
    index = index_target(Graph.from_edges(arcs, 40, directed=True, pad="bucket"))
    bits = rng.integers(0, 2**32, (2, index.nodes), np.uint32)
    any_kind, words_of = jnp.zeros(6, jnp.int32), jax.jit(neighbor_words)
    for d in (0, 1):
        found = np.asarray(words_of(index.direction(d), any_kind, jnp.asarray(bits)))
        expected = np.zeros_like(bits)
        for ends in arcs[arcs[:, 0] != arcs[:, 1]]:
            expected[:, ends[d]] |= bits[:, ends[1 - d]]
        np.testing.assert_array_equal(found, expected)
