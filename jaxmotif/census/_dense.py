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
from jaxmotif.census._classes import Classifier, decode
from jaxmotif.census._pair_states import Alphabet
from jaxmotif.graph import Graph
from jaxmotif.graph._container import refuse_large
from jaxmotif.kernels._expand import take

MAX_DENSE_NODES, MAX_DENSE_NODES_5 = 128, 64
"""Largest node capacity that :func:`dense_census` takes, and of five nodes: it looks at every set of nodes."""

MAX_CODE_BITS = 20
"""Bits of the code of a subgraph: the class of each is held in a table."""

BLOCK, BLOCK_5 = 2**11, 2**14  # sets of nodes looked at together

Labels = tuple[int, ...] | None


def dense_census_classes(
    size: int, directed: bool, node_labels: Labels = None, edge_labels: Labels = None
) -> tuple[str, ...]:
    """The classes that :func:`dense_census` counts: all connected ones, canonical strings, ascending.

    Args:
      size, node_labels, edge_labels: as there.

    Raises:
      ValueError: as there.

    Example:
      >>> dense_census_classes(3, directed=False), len(dense_census_classes(4, directed=True))
      (('001001110', '011101110'), 199)
      >>> len(dense_census_classes(3, directed=False, node_labels=(0, 1)))  # 6 wedges, 4 triangles
      10
    """
    return _table(size, _alphabet(directed, node_labels, edge_labels))[0]


@partial(jit64, static_argnames=("size", "node_labels", "edge_labels"))
def dense_census(graph: Graph, size: int, node_labels: Labels = None, edge_labels: Labels = None) -> Int64:
    """Counts the connected induced subgraphs of 3 to 5 nodes of a small graph by class.

    Pure: jit it, and vmap it over a stacked batch of graphs padded to one size. One padded size compiles once.

    Args:
      graph: directed or not, capacity up to :data:`MAX_DENSE_NODES` nodes (:data:`MAX_DENSE_NODES_5` for five).
      size: static, 3 to 5.
      node_labels: static, the labels that nodes of a counted subgraph may have, for a graph with node labels.
      edge_labels: likewise for edges. Codes of subgraphs take ``size * b + size (size - 1) / 2 * c`` bits, at most
        :data:`MAX_CODE_BITS`, where b bits number the node labels and c the states of a pair: 1 (directed: 2), or for
        L edge labels those that number L + 2 (directed: squared).

    Returns:
      Exact 64-bit counts in the order of :func:`dense_census_classes`.

    Raises:
      ValueError: when traced, for another size, labels that are not named or not there, more than codes hold, a
        capacity over the limit, or a batch outside ``jax.vmap``.
      TypeError: when traced, for arrays that are not int32.

    Example:
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], node_labels=[0, 0, 1, 0])
      >>> found = dense_census(graph, 3, node_labels=(0, 1)).to_numpy()
      >>> classes = dense_census_classes(3, directed=False, node_labels=(0, 1))
      >>> {name: int(count) for name, count in zip(classes, found, strict=True) if count}
      {'0,0,1:001001110': 2, '0,0,1:011101110': 1}
    """
    for kind, held, named in (
        ("node_labels", graph.node_labels, node_labels),
        ("edge_labels", graph.edge_labels, edge_labels),
    ):
        if (held is None) != (named is None):
            has = "none" if held is None else "some"
            raise ValueError(f"dense_census: {kind}={named!r} and the graph has {has}; name those that it has")
    most = MAX_DENSE_NODES_5 if size == 5 else MAX_DENSE_NODES
    refuse_large(graph, most, "dense_census", "subgraph_census, which takes any size")
    check_arrays({"out_offsets": graph.out_offsets, "out_targets": graph.out_targets}, rank=1, dtype=jnp.int32)
    alphabet = _alphabet(graph.directed, node_labels, edge_labels)
    classes, table = _table(size, alphabet)
    index, bits = jnp.asarray(table), alphabet.state_bits
    label, state = _node_ranks(graph, alphabet), _states(graph, alphabet)
    # Sets of all nodes but the last; of three, all.
    base, block = max(3, size - 1), BLOCK_5 if size == 5 else BLOCK
    sets, total = _sets(graph.node_capacity, base, block)
    columns = [jnp.asarray(column) for column in sets]

    def joined(earlier: list[jax.Array], node: jax.Array) -> jax.Array:
        """What a node adds to a code: its states seen from those before it, and its label, in the order of `decode`."""
        code = take(label, node) << (bits * len(earlier))
        for i, x in enumerate(earlier):
            code = code | (take(state, x * graph.node_capacity + node) << (bits * i))
        return code

    code = jnp.zeros_like(columns[0])
    for i, column in enumerate(columns):
        code = (code << (alphabet.label_bits + bits * i)) | joined(columns[:i], column)
    counts = jnp.zeros(len(classes) + 1, jnp.int32)  # the last one: not connected, or not of these labels
    if size == base:
        return Int64.of(counts.at[take(index, code)[:total]].add(1)[:-1])

    def with_node(node: jax.Array, counts: jax.Array) -> jax.Array:
        """Sets whose last node this is: those of the nodes before it come first."""
        before = jnp.int32(1)
        for i in range(base):
            before = before * (node - i) // (i + 1)  # C(node, base)

        def add(number: jax.Array, counts: jax.Array) -> jax.Array:
            *some, of_base = (lax.dynamic_slice(x, (number * block,), (block,)) for x in (*columns, code))
            last = joined(some, jnp.full(block, node, jnp.int32))
            found = take(index, (of_base << (alphabet.label_bits + bits * base)) | last)
            # Blocks are whole: what is past the sets before the node is put where nothing is counted.
            inside = number * block + jnp.arange(block, dtype=jnp.int32) < before
            return counts.at[jnp.where(inside, found, len(classes))].add(1)

        return lax.fori_loop(jnp.int32(0), -(-before // block), add, counts)

    return Int64.of(lax.fori_loop(jnp.int32(base), jnp.int32(max(graph.node_capacity, base)), with_node, counts)[:-1])


def _alphabet(directed: bool, node_labels: Labels, edge_labels: Labels) -> Alphabet:
    def distinct(labels: Labels) -> Labels:
        return None if labels is None else tuple(sorted({int(x) for x in labels}))

    nodes, edges = distinct(node_labels), distinct(edge_labels)
    # One more edge label stands for all that are not named: a subgraph with such an edge is of no class.
    return Alphabet(directed, None if edges is None else (*edges, max(edges, default=0) + 1), nodes)


def _node_ranks(graph: Graph, alphabet: Alphabet) -> jax.Array:
    """The number of each node's label, int32 ``[N]``; 0 without labels, and for others (they have no edges here)."""
    if graph.node_labels is None:
        return jnp.zeros(graph.node_capacity, jnp.int32)
    return jnp.maximum(_rank(jnp.asarray(graph.node_labels), alphabet.node_labels), 0)


def _rank(labels: jax.Array, values: Labels) -> jax.Array:
    """The number of each label among some, int32; -1 for none of them."""
    same = labels[:, None] == jnp.array(values or (), jnp.int32)[None]
    return jnp.where(same.any(axis=1), lax.argmax(same, 1, jnp.int32), -1) if values else jnp.full_like(labels, -1)


def _states(graph: Graph, alphabet: Alphabet) -> jax.Array:
    """The state of every pair of nodes, int32 ``[N * N]``."""
    N = graph.node_capacity
    offsets, targets = jnp.asarray(graph.out_offsets), jnp.asarray(graph.out_targets)
    tails = jnp.repeat(jnp.arange(N, dtype=jnp.int32), jnp.diff(offsets), total_repeat_length=targets.shape[0])
    entry = jnp.int32(1)
    if graph.edge_labels is not None:
        rank = _rank(jnp.asarray(graph.edge_labels), (alphabet.edge_labels or ())[:-1])
        entry = jnp.where(rank < 0, alphabet.entries - 1, rank + 1)
    # Padding has no target that is a node, and is dropped.
    edges = jnp.zeros((N, N), jnp.int32).at[tails, targets].set(entry, mode="drop")
    if graph.node_labels is not None:
        named = _rank(jnp.asarray(graph.node_labels), alphabet.node_labels) >= 0
        edges = jnp.where(named[:, None] & named[None], edges, 0)  # what is not connected is not counted
    return (edges + alphabet.entries * edges.T if graph.directed else edges).reshape(-1)


@cache
def _sets(nodes: int, size: int, block: int) -> tuple[np.ndarray, int]:
    """All sets of so many nodes by their last one, int32 ``[size, T]``, padded to whole blocks; and how many they
    are."""
    # In the order of their last node, so that those before any node are the first ones.
    found = np.array([some[::-1] for some in combinations(range(nodes - 1, -1, -1), size)][::-1], np.int32)
    found = found.reshape(-1, size)
    return np.pad(found, ((0, -len(found) % block), (0, 0))).T.copy(), len(found)


@cache
def _table(size: int, alphabet: Alphabet) -> tuple[tuple[str, ...], np.ndarray]:
    """The classes, and the index of each code among them, int32 (past the last where it is of none)."""
    if size not in (3, 4, 5):
        raise ValueError(f"dense_census takes size 3 to 5, got {size}; use subgraph_census")
    if (bits := alphabet.code_bits(size)) > MAX_CODE_BITS:
        raise ValueError(
            f"dense_census: codes of {size} nodes with these labels take {bits} bits, over the limit of "
            f"{MAX_CODE_BITS}; name fewer labels, or use jaxmotif.subgraph_census outside jit"
        )
    codes = np.arange(1 << bits, dtype=np.uint64)
    counted = np.concatenate([_counted(some, size, alphabet) for some in np.array_split(codes, -(-codes.size >> 16))])
    classifier = Classifier(alphabet, size)
    found = classifier(codes[counted])
    order = np.argsort(classifier.classes)
    index = np.full(codes.size, order.size, np.int32)
    # From the order in which classes were met to the ascending one.
    index[counted] = np.argsort(order)[found]
    return tuple(np.array(classifier.classes)[order].tolist()), index


def _counted(codes: np.ndarray, size: int, alphabet: Alphabet) -> np.ndarray:
    """Which codes are of connected subgraphs with labels that are named."""
    labels, entries = decode(codes, alphabet.codes, size)
    off = ~np.eye(size, dtype=bool)
    real = (labels < len(alphabet.node_labels or (0,))).all(axis=1)
    # Without edge labels 1 is the only entry; with them the last stands for all others.
    most = 1 if alphabet.edge_labels is None else len(alphabet.edge_labels) - 1
    real &= ((entries <= most) | ~off).all(axis=(1, 2))
    near = entries > 0
    # Whoever reaches whom in one step, either way, or itself; four of these are enough for five nodes.
    reach = (near | near.transpose(0, 2, 1) | ~off).astype(np.float32)
    for _ in range(2):
        reach = np.minimum(reach @ reach, 1)
    return np.logical_and(real, (reach > 0).all(axis=(1, 2)))
