"""The census of small graphs, thousands at a time: a pure function for ``jax.jit`` and ``jax.vmap``."""

from __future__ import annotations

from functools import cache, partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._checks import check_arrays
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._int64 import Int64
from jaxmotif.graph import Graph
from jaxmotif.graph._container import refuse_large
from jaxmotif.kernels._expand import take
from jaxmotif.motifs._classes import Classifier, decode
from jaxmotif.motifs._pair_states import Alphabet

MAX_DENSE_NODES = 128
"""Largest node capacity that :func:`dense_census` takes: it looks at every set of nodes."""

BLOCK = 2**11  # sets of three nodes looked at together


def dense_census_classes(size: int, directed: bool) -> tuple[str, ...]:
    """The classes that :func:`dense_census` counts: all connected ones, canonical strings, ascending.

    Args:
      size: 3 or 4.

    Example:
      >>> dense_census_classes(3, directed=False), len(dense_census_classes(4, directed=True))
      (('001001110', '011101110'), 199)
    """
    return _table(size, directed)[0]


@partial(jit64, static_argnames="size")
def dense_census(graph: Graph, size: int) -> Int64:
    """Counts the connected induced subgraphs of 3 or 4 nodes of a small unlabelled graph by class.

    Pure: jit it, and vmap it over a stacked batch of graphs padded to one size. One padded size compiles once.

    Args:
      graph: directed or not, capacity up to :data:`MAX_DENSE_NODES` nodes.
      size: static, 3 or 4.

    Returns:
      Exact 64-bit counts in the order of :func:`dense_census_classes`.

    Raises:
      ValueError: when traced, for another size, labels, a capacity over the limit, or a batch outside ``jax.vmap``.
      TypeError: when traced, for arrays that are not int32.

    Example:
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
      >>> dense_census(graph, 3).to_numpy().tolist()
      [2, 1]
    """
    if graph.node_labels is not None or graph.edge_labels is not None:
        raise ValueError("dense_census takes graphs without labels; use subgraph_census, or build it without them")
    refuse_large(graph, MAX_DENSE_NODES, "dense_census", "subgraph_census, which takes any size")
    check_arrays({"out_offsets": graph.out_offsets, "out_targets": graph.out_targets}, rank=1, dtype=jnp.int32)
    classes, table = _table(size, graph.directed)
    index, bits = jnp.asarray(table), 1 + graph.directed
    state = _states(graph)
    triples, total = _triples(graph.node_capacity)
    first, second, third = (jnp.asarray(column) for column in triples)
    # A code is states in the order of `decode`: the last node's lowest.
    code = take(state, _cell(first, second, graph)) << (2 * bits)
    code = code | take(state, _cell(first, third, graph)) | (take(state, _cell(second, third, graph)) << bits)
    counts = jnp.zeros(len(classes) + 1, jnp.int32)  # the last one: not connected
    if size == 3:
        return Int64.of(counts.at[take(index, code)[:total]].add(1)[:-1])

    def with_node(node: jax.Array, counts: jax.Array) -> jax.Array:
        """Sets whose last node this is: the triples of the nodes before it come first."""
        before = node * (node - 1) * (node - 2) // 6

        def add(number: jax.Array, counts: jax.Array) -> jax.Array:
            a, b, c, three = (lax.dynamic_slice(x, (number * BLOCK,), (BLOCK,)) for x in (first, second, third, code))
            joined = [take(state, _cell(x, node, graph)) << (bits * i) for i, x in enumerate((a, b, c))]
            found = take(index, (three << (3 * bits)) | joined[0] | joined[1] | joined[2])
            # Blocks are whole: what is past the triples before the node is put where nothing is counted.
            inside = number * BLOCK + jnp.arange(BLOCK, dtype=jnp.int32) < before
            return counts.at[jnp.where(inside, found, len(classes))].add(1)

        return lax.fori_loop(jnp.int32(0), -(-before // BLOCK), add, counts)

    return Int64.of(lax.fori_loop(jnp.int32(3), jnp.int32(max(graph.node_capacity, 3)), with_node, counts)[:-1])


def _states(graph: Graph) -> jax.Array:
    """The state of every pair of nodes, int32 ``[N * N]``."""
    N = graph.node_capacity
    offsets, targets = jnp.asarray(graph.out_offsets), jnp.asarray(graph.out_targets)
    tails = jnp.repeat(jnp.arange(N, dtype=jnp.int32), jnp.diff(offsets), total_repeat_length=targets.shape[0])
    # Padding has no target that is a node, and is dropped.
    edges = jnp.zeros((N, N), jnp.int32).at[tails, targets].set(1, mode="drop")
    return (edges + 2 * edges.T if graph.directed else edges).reshape(-1)


def _cell(u: jax.Array, v: jax.Array, graph: Graph) -> jax.Array:
    return u * graph.node_capacity + v


@cache
def _triples(nodes: int) -> tuple[np.ndarray, int]:
    """All sets of three nodes by their last one, int32 ``[3, T]``, padded to whole blocks; and how many they are."""
    # In the order of their last node, so that those before any node are the first ones.
    found = np.array([triple[::-1] for triple in combinations(range(nodes - 1, -1, -1), 3)][::-1], np.int32)
    found = found.reshape(-1, 3)
    return np.pad(found, ((0, -len(found) % BLOCK), (0, 0))).T.copy(), len(found)


@cache
def _table(size: int, directed: bool) -> tuple[tuple[str, ...], np.ndarray]:
    """The classes, and the index of each code among them, int32 (past the last where it is not connected)."""
    if size not in (3, 4):
        raise ValueError(f"dense_census takes size 3 or 4, got {size}; use subgraph_census")
    alphabet = Alphabet(directed, None, None)
    codes = np.arange(1 << alphabet.code_bits(size), dtype=np.uint64)
    near = decode(codes, alphabet.codes, size)[1] > 0
    # Whoever reaches whom in one step, either way, or itself; three of these are enough for four nodes.
    reach = (near | near.transpose(0, 2, 1) | np.eye(size, dtype=bool)).astype(np.int64)
    connected = (reach @ reach @ reach > 0).all(axis=(1, 2))
    classifier = Classifier(alphabet, size)
    found = classifier(codes[connected])
    order = np.argsort(classifier.classes)
    index = np.full(codes.size, order.size, np.int32)
    # From the order in which classes were met to the ascending one.
    index[connected] = np.argsort(order)[found]
    return tuple(np.array(classifier.classes)[order].tolist()), index
