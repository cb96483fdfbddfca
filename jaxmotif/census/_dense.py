"""The census of small graphs, thousands at a time: a pure function for ``jax.jit`` and ``jax.vmap``."""

from __future__ import annotations

from functools import cache, partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._checks import check_vectors, whole_number
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._int64 import Int64
from jaxmotif.census._classes import Classifier, decode
from jaxmotif.census._pair_states import Alphabet
from jaxmotif.graph import Graph
from jaxmotif.graph._container import refuse_large
from jaxmotif.graph._fields import Array
from jaxmotif.kernels._expand import take

MAX_DENSE_NODES, MAX_DENSE_NODES_5 = 128, 64
"""Largest node capacities that :func:`dense_census` takes, the second for subgraphs of five nodes.

They are low, since :func:`dense_census` looks at every set of nodes.
"""

MAX_CODE_BITS = 20
"""Most bits of the code of a subgraph: a table holds the class of every code."""

BLOCK, BLOCK_5 = 2**11, 2**14  # sets of nodes looked at together

Labels = tuple[int, ...] | None


def dense_census_classes(
    size: int, directed: bool, node_labels: Labels = None, edge_labels: Labels = None
) -> tuple[str, ...]:
    """Return the classes that :func:`dense_census` counts: all connected ones, as canonical strings, ascending.

    Args:
      size: as for :func:`dense_census`.
      directed: whether the classes have directions.
      node_labels: the labels that nodes may have, as for :func:`dense_census`.
      edge_labels: the labels that edges may have, as for :func:`dense_census`.

    Raises:
      ValueError, TypeError: as for :func:`dense_census`.

    Example:
      >>> dense_census_classes(3, directed=False), len(dense_census_classes(4, directed=True))
      (('001001110', '011101110'), 199)
      >>> len(dense_census_classes(3, directed=False, node_labels=(0, 1)))  # 6 wedges, 4 triangles
      10
    """
    return _table(whole_number(size, "size"), _alphabet(directed, node_labels, edge_labels))[0]


@partial(jit64, static_argnames=("size", "node_labels", "edge_labels"))
def dense_census(graph: Graph, size: int, node_labels: Labels = None, edge_labels: Labels = None) -> Int64:
    """Count the connected induced subgraphs of 3 to 5 nodes of a small graph by class.

    This is a pure function: jit it, and vmap it over a stacked batch of graphs padded to one size. Each padded size
    compiles once.

    Args:
      graph: directed or not, capacity up to :data:`MAX_DENSE_NODES` nodes (:data:`MAX_DENSE_NODES_5` for five).
      size: static, 3 to 5 nodes.
      node_labels: static, a tuple of the labels that nodes of a counted subgraph may have, for a graph with node
        labels.
      edge_labels: likewise for edges. Codes of subgraphs take ``size * b + size (size - 1) / 2 * c`` bits, at most
        :data:`MAX_CODE_BITS`. Here b bits number the node labels. Without edge labels c is 1 (directed: 2); with L edge
        labels c bits number L + 2 states of a pair (directed: the square of that).

    Returns:
      Exact 64-bit counts in the order of :func:`dense_census_classes`.

    Raises:
      ValueError: when traced, for another size, for labels that the graph has and the call does not name or the
        reverse, for more labels than codes hold, for a capacity over the limit, or for a batch outside ``jax.vmap``.
      TypeError: when traced, for arrays that are not int32, or for a size or labels that are no integers.

    Example:
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], node_labels=[0, 0, 1, 0])
      >>> counts = dense_census(graph, 3, node_labels=(0, 1)).to_numpy()
      >>> classes = dense_census_classes(3, directed=False, node_labels=(0, 1))
      >>> {name: int(count) for name, count in zip(classes, counts, strict=True) if count}
      {'0,0,1:001001110': 2, '0,0,1:011101110': 1}
    """
    size = whole_number(size, "size")
    _check_labels("node_labels", node_labels, graph.node_labels)
    _check_labels("edge_labels", edge_labels, graph.edge_labels)
    most = MAX_DENSE_NODES_5 if size == 5 else MAX_DENSE_NODES
    refuse_large(graph, most, "dense_census", "subgraph_census, which takes any size")
    check_vectors({"out_offsets": graph.out_offsets, "out_targets": graph.out_targets})
    alphabet = _alphabet(graph.directed, node_labels, edge_labels)
    classes, table = _table(size, alphabet)
    if graph.node_capacity < size:
        return Int64.of(jnp.zeros(len(classes), jnp.int32))
    index, bits = jnp.asarray(table), alphabet.codes.state_bits
    label, state = _node_ranks(graph, alphabet), _states(graph, alphabet)
    # The sets have all nodes of a subgraph but the last one, or for three nodes all of them.
    base, block = max(3, size - 1), BLOCK_5 if size == 5 else BLOCK
    sets, total = _sets(graph.node_capacity, base, block)
    columns = [jnp.asarray(column) for column in sets]

    def joined(earlier: list[jax.Array], node: jax.Array) -> jax.Array:
        """Return what a node adds to a code (see `decode`): its label, and its states seen from earlier nodes."""
        code = take(label, node) << (bits * len(earlier))
        for i, x in enumerate(earlier):
            code = code | (take(state, x * graph.node_capacity + node) << (bits * i))
        return code

    code = jnp.zeros_like(columns[0])
    for i, column in enumerate(columns):
        code = (code << (alphabet.codes.label_bits + bits * i)) | joined(columns[:i], column)
    counts = jnp.zeros(len(classes) + 1, jnp.int32)  # the last one counts sets that belong to no class
    if size == base:
        return Int64.of(counts.at[take(index, code)[:total]].add(1)[:-1])

    def with_node(node: jax.Array, counts: jax.Array) -> jax.Array:
        """Count the sets whose last node this is; the sets of earlier nodes are the first ones of the list."""
        before = jnp.int32(1)
        for i in range(base):
            before = before * (node - i) // (i + 1)  # C(node, base)

        def add(number: jax.Array, counts: jax.Array) -> jax.Array:
            *earlier, base_code = (lax.dynamic_slice(x, (number * block,), (block,)) for x in (*columns, code))
            last = joined(earlier, jnp.full(block, node, jnp.int32))
            number_of_class = take(index, (base_code << (alphabet.codes.label_bits + bits * base)) | last)
            # The last block may go on to sets that hold the node or later ones, which count in no class.
            inside = number * block + jnp.arange(block, dtype=jnp.int32) < before
            return counts.at[jnp.where(inside, number_of_class, len(classes))].add(1)

        return lax.fori_loop(jnp.int32(0), -(-before // block), add, counts)

    return Int64.of(lax.fori_loop(jnp.int32(base), jnp.int32(graph.node_capacity), with_node, counts)[:-1])


def _check_labels(name: str, named: Labels, labels: Array | None) -> None:
    """Refuse labels that the call names and the graph does not have, or the reverse."""
    if (labels is None) != (named is None):
        has = "none" if labels is None else "some"
        raise ValueError(f"dense_census: {name}={named!r} and the graph has {has}; name those that it has")


def _alphabet(directed: bool, node_labels: Labels, edge_labels: Labels) -> Alphabet:
    def distinct(labels: Labels, name: str) -> Labels:
        return None if labels is None else tuple(sorted({whole_number(x, f"each of {name}") for x in labels}))

    if node_labels is not None and not len(node_labels):
        raise ValueError("node_labels is empty; name at least one label, or leave them out")
    nodes, edges = distinct(node_labels, "node_labels"), distinct(edge_labels, "edge_labels")
    # One more edge label stands for all that are not named. A subgraph with such an edge belongs to no class.
    return Alphabet(directed, None if edges is None else (*edges, max(edges, default=0) + 1), nodes)


def _node_ranks(graph: Graph, alphabet: Alphabet) -> jax.Array:
    """Return the number of each node's label, int32 ``[N]``.

    It is 0 without labels, and for a label that is not named: a node with such a label has no edges here.
    """
    if graph.node_labels is None:
        return jnp.zeros(graph.node_capacity, jnp.int32)
    return jnp.maximum(_rank(jnp.asarray(graph.node_labels), alphabet.node_labels), 0)


def _rank(labels: jax.Array, values: Labels) -> jax.Array:
    """Return the number of each label among ``values``, int32, or -1 for another label."""
    same = labels[:, None] == jnp.array(values or (), jnp.int32)[None]
    return jnp.where(same.any(axis=1), lax.argmax(same, 1, jnp.int32), -1) if values else jnp.full_like(labels, -1)


def _states(graph: Graph, alphabet: Alphabet) -> jax.Array:
    """Return the state of every pair of nodes, int32 ``[N * N]``."""
    N = graph.node_capacity
    offsets, targets = jnp.asarray(graph.out_offsets), jnp.asarray(graph.out_targets)
    tails = jnp.repeat(jnp.arange(N, dtype=jnp.int32), jnp.diff(offsets), total_repeat_length=targets.shape[0])
    entry = jnp.int32(1)
    if graph.edge_labels is not None:
        rank = _rank(jnp.asarray(graph.edge_labels), (alphabet.edge_labels or ())[:-1])
        entry = jnp.where(rank < 0, alphabet.entries - 1, rank + 1)
    # The targets of padding are no nodes, and are dropped.
    edges = jnp.zeros((N, N), jnp.int32).at[tails, targets].set(entry, mode="drop")
    if graph.node_labels is not None:
        named = _rank(jnp.asarray(graph.node_labels), alphabet.node_labels) >= 0
        edges = jnp.where(named[:, None] & named[None], edges, 0)  # only connected sets are counted
    return (edges + alphabet.entries * edges.T if graph.directed else edges).reshape(-1)


@cache
def _sets(nodes: int, size: int, block: int) -> tuple[np.ndarray, int]:
    """List all sets of ``size`` of the nodes, in the order of their last node.

    Returns:
      The sets, int32 ``[size, T]``, padded to whole blocks, and how many they are.
    """
    # Combinations of falling numbers, reversed, are in the order of their last node.
    falling = combinations(range(nodes - 1, -1, -1), size)
    sets = np.array([numbers[::-1] for numbers in falling][::-1], np.int32).reshape(-1, size)
    return np.pad(sets, ((0, -len(sets) % block), (0, 0))).T.copy(), len(sets)


@cache
def _table(size: int, alphabet: Alphabet) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the classes, and the number of the class of each code, int32; codes of no class have the next number."""
    if size not in (3, 4, 5):
        raise ValueError(f"dense_census takes size 3 to 5, got {size}; use subgraph_census")
    if (bits := alphabet.codes.bits(size)) > MAX_CODE_BITS:
        raise ValueError(
            f"dense_census: codes of {size} nodes with these labels take {bits} bits, over the limit of "
            f"{MAX_CODE_BITS}; name fewer labels, or use jaxmotif.subgraph_census outside jit"
        )
    codes = np.arange(1 << bits, dtype=np.uint64)
    pieces = np.array_split(codes, -(-codes.size >> 16))
    counted = np.concatenate([_is_counted(piece, size, alphabet) for piece in pieces])
    classifier = Classifier(alphabet, size)
    classes = classifier(codes[counted])
    order = np.argsort(classifier.classes)
    index = np.full(codes.size, order.size, np.int32)
    # The classifier numbers classes in the order in which it met them; here their names ascend.
    index[counted] = np.argsort(order)[classes]
    return tuple(np.array(classifier.classes)[order].tolist()), index


def _is_counted(codes: np.ndarray, size: int, alphabet: Alphabet) -> np.ndarray:
    """Return which codes belong to connected subgraphs with labels that are named, bool ``[U]``."""
    labels, entries = decode(codes, alphabet.codes, size)
    off = ~np.eye(size, dtype=bool)
    real = (labels < len(alphabet.node_labels or (0,))).all(axis=1)
    # Without edge labels 1 is the only entry; with them the last entry stands for all labels that are not named.
    most = 1 if alphabet.edge_labels is None else len(alphabet.edge_labels) - 1
    real &= ((entries <= most) | ~off).all(axis=(1, 2))
    near = entries > 0
    # The nodes that each node reaches in at most one step, then in two, then in four: enough for five nodes.
    reach = (near | near.transpose(0, 2, 1) | ~off).astype(np.float32, order="C")
    for _ in range(2):
        reach = np.minimum(reach @ reach, 1)
    return np.logical_and(real, (reach > 0).all(axis=(1, 2)))
