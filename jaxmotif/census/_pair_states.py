"""Graphs in the form the census walks: neighbours either way, the state of every dyad, nodes by falling degree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._rows import row_of
from jaxmotif.arrays._sizes import bucket_size, power_of_two
from jaxmotif.graph import Graph, Graphs
from jaxmotif.graph._fields import Array
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._subgraphs import Dyads

SMALLEST, LARGEST = 2, 8
"""Nodes of the subgraphs that are counted."""


class Room(NamedTuple):
    """Entries of arrays over nodes, neighbours and pairs of nodes."""

    nodes: int
    slots: int
    cells: int


LEAST = Room(2**9, 2**15, 2**18)
"""Room in the smallest arrays over nodes, neighbours and pairs: all smaller graphs share their programs."""


@dataclasses.dataclass(frozen=True)
class Alphabet:
    """What the states and node codes of a graph's dyads stand for.

    Attributes:
      directed: whether states tell (u, v) from (v, u).
      edge_labels: values by rank, or ``None``; node_labels: likewise.
    """

    directed: bool
    edge_labels: tuple[int, ...] | None
    node_labels: tuple[int, ...] | None

    @classmethod
    def of(cls, graph: Graph | Graphs) -> Alphabet:
        def values(array: Array | None, used: int) -> tuple[int, ...] | None:
            return None if array is None else tuple(np.unique(np.asarray(array)[:used]).tolist())

        fields = graph.fields
        # Slots of an undirected graph are two for each edge.
        n, slots = int(fields.num_nodes), int(fields.num_edges) * (1 if graph.directed else 2)
        return cls(graph.directed, values(fields.edge_labels, slots), values(fields.node_labels, n))

    @property
    def entries(self) -> int:
        """How many values an adjacency entry has: none, or a label."""
        return 2 if self.edge_labels is None else 1 + max(len(self.edge_labels), 1)

    @property
    def state_bits(self) -> int:
        # Both digits of a directed state: e(u, v) and e(v, u).
        states = self.entries**2 if self.directed else self.entries
        return (states - 1).bit_length()

    @property
    def label_bits(self) -> int:
        return 0 if self.node_labels is None else (max(len(self.node_labels), 1) - 1).bit_length()

    def code_bits(self, size: int) -> int:
        """Bits of the code of a subgraph of ``size`` nodes."""
        return size * self.label_bits + size * (size - 1) // 2 * self.state_bits

    @property
    def codes(self) -> Codes:
        """How subgraphs are written."""
        return Codes(self.directed, self.entries, self.state_bits, self.label_bits)

    def ranks(self, labels: np.ndarray | None, values: tuple[int, ...] | None, count: int) -> np.ndarray:
        """Labels to 1.. (1 everywhere without labels)."""
        # 0 stands for no edge.
        if labels is None or values is None:
            return np.ones(count, np.int64)
        return np.searchsorted(values, labels).astype(np.int64) + 1


class Codes(NamedTuple):
    """How subgraphs are written as codes: all of an :class:`Alphabet` that a program depends on.

    Attributes:
      directed; entries: values of an adjacency entry; state_bits: of a dyad; label_bits: of a node.
    """

    directed: bool
    entries: int
    state_bits: int
    label_bits: int


def check_size(graph: Graph | Graphs, size: int, more_bits: int = 0) -> None:
    """Raises unless subgraphs of this size can be counted (``more_bits``: of a graph's number)."""
    if not SMALLEST <= whole_number(size, "size") <= LARGEST:
        raise ValueError(f"size must be between {SMALLEST} and {LARGEST}, got {size}")
    alphabet = Alphabet.of(graph)
    bits = alphabet.code_bits(size) + more_bits
    last = alphabet.label_bits + (size - 1) * alphabet.state_bits
    # Codes have 63 bits, and a node's own are shifted in as one word.
    if bits > 63 or last > 31:
        raise ValueError(
            f"size {size} with {len(alphabet.node_labels or ())} node and {len(alphabet.edge_labels or ())} edge "
            f"labels takes {bits} bits a subgraph, {last} for its last node; the limits are 63 and 31: use fewer labels"
        )


def degree_rank(graph: Graph) -> np.ndarray:
    """A new number for every node, the highest degree first: rows then meet few nodes that come before their first."""
    rank, degrees = np.empty(graph.n, np.int64), _total_degrees(graph)
    # Ties by id: the order is the same for every sample of the graph, whose degrees are the same. Numbers are sorted
    # in a fraction of the time that their order takes.
    keys = (degrees.max(initial=0) - degrees) * graph.n + np.arange(graph.n)
    keys.sort()
    rank[keys % max(graph.n, 1)] = np.arange(graph.n)
    return rank


def _total_degrees(graph: Graph) -> np.ndarray:
    return graph.degrees + (graph.in_degrees if graph.directed else 0)


def content_of(graph: Graph) -> tuple:
    """What a checkpoint knows a graph by: its edges, nodes and directions, and its labels without padding."""
    ends = (graph.node_labels, graph.n), (graph.edge_labels, graph.m * (2 - graph.directed))
    labels = [None if x is None else np.asarray(x)[:stop] for x, stop in ends]
    return graph.edge_list(), graph.n, graph.directed, labels


def likely_subgraphs(graph: Graph, size: int) -> float:
    """About how many connected subgraphs of so many nodes there are."""
    return _likely(_total_degrees(graph), size)


def _likely(degrees: np.ndarray, size: int) -> float:
    """The same from total degrees: each subgraph of ``k`` nodes has ``k`` times the mean excess degree as many
    extensions, and each of ``k + 1`` is the extension of about as many."""
    if size == 1:
        return degrees.size
    degrees = degrees.astype(np.float64)
    excess = (degrees**2).sum() / max(degrees.sum(), 1.0)
    # An edge is a subgraph of two nodes; one factor for each node more.
    return degrees.sum() / 2 * float(np.prod([k * excess / (k + 1) for k in range(2, size)]))


class Edges(NamedTuple):
    """Edges of graphs over the nodes of one: tails and heads ``[graphs, m]``, labels ``[m]`` of all or ``None``."""

    tails: np.ndarray
    heads: np.ndarray
    labels: np.ndarray | None


def graph_edges(graph: Graph) -> Edges:
    """Those of one graph."""
    edges = graph.edge_list()
    labels = None if graph.edge_labels is None else np.asarray(graph.edge_labels)[graph.edge_slots()]
    return Edges(edges[None, :, 0], edges[None, :, 1], labels)


@dataclasses.dataclass(frozen=True, eq=False)
class CensusGraphs:
    """Graphs of the same nodes ready for a census, on a device.

    Attributes:
      dyads: the arrays, with room for more than there is.
      n: nodes of each graph, in the order of :func:`degree_rank`; count: how many graphs.
      alphabet: what states and node codes stand for.
      degrees: total, of each graph's nodes where these are alike in so many (``alike``), or of all.
    """

    dyads: Dyads
    n: int
    count: int
    alphabet: Alphabet
    degrees: np.ndarray
    alike: int = 1

    def likely(self, size: int) -> int:
        """About how many connected subgraphs of so many nodes there are in all."""
        return int(min(self.alike * _likely(self.degrees, size), 2.0**62))

    @property
    def num_nodes(self) -> int:
        """Of all graphs together."""
        return self.n * self.count

    @property
    def graph_bits(self) -> int:
        """Of a graph's number."""
        return max(self.count - 1, 0).bit_length()


class Slots(NamedTuple):
    """Graphs of ``n`` nodes side by side, as rows of neighbours on the host.

    Attributes:
      offsets: int64 ``[V + 1]``, row starts; ``V`` = graphs * n.
      near: int64 ``[S]``, neighbours within their own graph (0..n-1), ascending in a row.
      states: int64 ``[S]``, the state of each dyad, seen from the row's node.
    """

    offsets: np.ndarray
    near: np.ndarray
    states: np.ndarray


def slots_of(graph: Graph, edges: Edges) -> Slots:
    """Rows from edges between the nodes of ``graph``."""
    alphabet, n = Alphabet.of(graph), graph.n
    number = degree_rank(graph)
    u, v = number[edges.tails], number[edges.heads]
    entry = np.broadcast_to(alphabet.ranks(edges.labels, alphabet.edge_labels, u.shape[1]), u.shape)
    # Rows of several graphs lie one after another: a graph's begin at its number times n.
    first = np.broadcast_to(np.arange(u.shape[0], dtype=np.int64)[:, None] * n, u.shape)
    return sorted_slots(alphabet, first.ravel(), u.ravel(), v.ravel(), entry.ravel(), u.shape[0] * n, n)


def sorted_slots(
    alphabet: Alphabet, first: np.ndarray, u: np.ndarray, v: np.ndarray, entry: np.ndarray, rows: int, n: int
) -> Slots:
    """Rows from edges ``u v`` (int64, each within its own graph, whose rows begin at ``first``) and their entries."""
    bits = alphabet.state_bits
    # Seen from the other end the entry is the higher digit: e(u, v) + L e(v, u).
    mirrored = entry * alphabet.entries if alphabet.directed else entry
    both_ways = ((u, v, entry), (v, u, mirrored))
    # One sort of packed keys: row, neighbour, then the entry.
    cells = np.concatenate([(((first + a) * n + b) << bits) + e for a, b, e in both_ways])
    cells.sort()
    places, states = cells >> bits, cells & ((1 << bits) - 1)
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), places[1:] != places[:-1]])[: places.size])
    if begins.size < places.size:  # a dyad with arcs both ways has two keys: their states add up
        states = np.add.reduceat(states, begins)
        places = places[begins]
    row = places // max(n, 1)
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=rows), out=offsets[1:])
    return Slots(offsets, places - row * n, states)


RowsOf = Callable[[Alphabet, np.ndarray, int, tuple[int, int, int], np.dtype], tuple[Any, ...]]
"""Makes rows and matrix on a device, given the alphabet, the nodes' numbers, how many graphs with the empty ones, the
room for nodes, slots and cells, and the type of states."""


def census_graphs(
    graph: Graph, edges: Edges | None, matrix_bytes: int, device: jax.Device, count: int = 0, least: Room = LEAST
) -> CensusGraphs:
    """Graphs with these edges, and the labels of ``graph``, on a device.

    An accelerator sorts the rows itself. What depends on the number of nodes or edges has room up to a power of two:
    no step takes longer for it, since all follow what is there.

    Args:
      edges: on the host; ``None``: those of the graph itself.
      matrix_bytes: the matrix of states may take so many; without it states are searched for.
      count: with empty graphs up to this number, where there are fewer.
      least: room in the arrays, at least.
    """

    accelerated = target_of(device).is_accelerator
    if edges is None and (count > 1 or not accelerated):
        edges = graph_edges(graph)

    def rows(
        alphabet: Alphabet, number: np.ndarray, count: int, room: tuple[int, int, int], state_type: np.dtype
    ) -> tuple[Any, ...]:
        if edges is None:
            return _sorted_as_held(alphabet, graph, number, room, state_type, device)
        if accelerated:
            return _sorted_on_device(alphabet, edges, number, graph.n, count, room, state_type, device)
        return put64(_padded(slots_of(graph, edges), graph.n, room, state_type), device)

    given = 1 if edges is None else edges.tails.shape[0]
    return graphs_of_rows(graph, given, rows, matrix_bytes, device, count, least)


def graphs_of_rows(
    graph: Graph, given: int, rows: RowsOf, matrix_bytes: int, device: jax.Device, count: int = 0, least: Room = LEAST
) -> CensusGraphs:
    """The same of as many graphs as are given, whose rows are made so."""
    alphabet, n = Alphabet.of(graph), graph.n
    count = max(count, given)
    # Twice the edges, as each is in two rows; graphs of one sample have equally many.
    nodes = power_of_two(count * n, least.nodes)
    slots = power_of_two(2 * graph.m * count, least.slots)
    # A byte where that will do: the matrix is read at random, and more of it stays in caches.
    state_type = np.dtype(np.uint8 if alphabet.state_bits <= 8 else np.int32)
    cells = _cells(count * n**2, least, matrix_bytes, state_type)
    number = degree_rank(graph)
    arrays = rows(alphabet, number, count, (nodes, slots, cells), state_type)
    node_codes = None
    if alphabet.label_bits:
        codes = np.empty(n, np.int32)
        codes[number] = alphabet.ranks(np.asarray(graph.node_labels)[:n], alphabet.node_labels, n) - 1
        # All graphs have the labels of the one.
        node_codes = np.tile(codes, count)
    degrees = _total_degrees(graph)
    dyads = _on_device(alphabet, arrays, node_codes, (nodes, n, count), int(degrees.max(initial=0)), device)
    return CensusGraphs(dyads, n, count, alphabet, degrees, given)


def _cells(true_cells: int, least: Room, matrix_bytes: int, state_type: np.dtype) -> int:
    """Room for a matrix of states, or 0 where it takes too many bytes."""
    fit = min(matrix_bytes // state_type.itemsize, 2**31 - 2)  # int32 numbers cells, and one more for what is left out
    return min(power_of_two(true_cells, least.cells), fit) if true_cells <= fit else 0


def _on_device(
    alphabet: Alphabet,
    arrays: tuple[Any, ...],
    node_codes: np.ndarray | None,
    room: tuple[int, int, int],
    degree: int,
    device: jax.Device,
) -> Dyads:
    """The arrays. ``room``: for nodes, the nodes of a graph, and how many graphs; ``degree``: the largest."""
    nodes, n, count = room
    codes = None
    if node_codes is not None:
        codes = jax.device_put(np.pad(node_codes.astype(np.int32), (0, nodes - node_codes.size)), device)
    sizes = np.array([n, count * n, max(count - 1, 0).bit_length()], np.int32)
    offsets, near, states, matrix = arrays
    return Dyads(
        offsets,
        near,
        states,
        matrix,
        codes,
        jax.device_put(sizes, device),
        entries=alphabet.entries if alphabet.directed else 0,
        state_bits=alphabet.state_bits,
        # In threes, so that few depths of the search are compiled.
        label_bits=alphabet.label_bits,
        search_steps=max(9, -(-degree.bit_length() // 3) * 3),
    )


def mixed_graphs(
    graphs: Graphs, which: np.ndarray, n: int, count: int, alphabet: Alphabet, matrix_bytes: int, device: jax.Device
) -> tuple[CensusGraphs, np.ndarray]:
    """Graphs of a data set, each with room for ``n`` nodes, with empty ones up to ``count``; and where each node of
    theirs is, int64."""
    union = graphs.union(which, pad=None)
    # The graphs as one, whose nodes are then spread out to rooms of n.
    owner = np.repeat(np.arange(which.size), graphs.n[which])
    start = np.repeat(np.cumsum(graphs.n[which]) - graphs.n[which], graphs.n[which])
    degrees = _total_degrees(union)
    place = np.empty(union.n, np.int64)  # the highest degree of each graph first
    # Within each graph by degree, as `degree_rank` does for one.
    place[np.lexsort((-degrees, owner))] = np.arange(union.n) - start
    place += owner * n
    edges = graph_edges(union)
    u, v = place[edges.tails[0]], place[edges.heads[0]]
    # Where the rows of the edge's graph begin.
    first = u - u % n
    entry = alphabet.ranks(edges.labels, alphabet.edge_labels, u.size)
    found = sorted_slots(alphabet, first, u - first, v - first, entry, count * n, n)
    least = CPU_SAMPLE
    nodes, slots = power_of_two(count * n, least.nodes), power_of_two(2 * union.m, least.slots)
    state_type = np.dtype(np.uint8 if alphabet.state_bits <= 8 else np.int32)
    cells = _cells(count * n**2, least, matrix_bytes, state_type)
    arrays = put64(_padded(found, n, (nodes, slots, cells), state_type), device)
    codes = None
    if alphabet.label_bits:
        codes = np.zeros(count * n, np.int32)
        codes[place] = alphabet.ranks(np.asarray(union.node_labels)[: union.n], alphabet.node_labels, union.n) - 1
    dyads = _on_device(alphabet, arrays, codes, (nodes, n, count), int(degrees.max(initial=0)), device)
    return CensusGraphs(dyads, n, count, alphabet, degrees), place


CPU_SAMPLE = Room(2**15, 2**17, 2**23)
"""Room for random graphs on a CPU: so many are counted together as fit, and all share their programs."""


def in_one_room(graph: Graph) -> int:
    """How many random graphs have room together on a CPU."""
    n, m = max(graph.n, 1), max(graph.m, 1)
    return max(1, min(CPU_SAMPLE.nodes // n, CPU_SAMPLE.slots // (2 * m), CPU_SAMPLE.cells // n**2))


def _padded(found: Slots, n: int, room: tuple[int, int, int], state_type: np.dtype) -> tuple[Any, ...]:
    """Offsets, neighbours, states and matrix (if of any cells) with room for so many nodes, slots and cells."""
    nodes, slots, cells = room
    # Rows past the last are empty.
    offsets = np.pad(found.offsets.astype(np.int32), (0, nodes + 1 - found.offsets.size), mode="edge")
    near, states = (
        np.pad(x.astype(dtype), (0, slots - x.size))
        for x, dtype in ((found.near, np.int32), (found.states, state_type))
    )
    matrix = None
    if cells:
        matrix = np.zeros(cells, state_type)
        row = np.repeat(np.arange(found.offsets.size - 1), np.diff(found.offsets))
        matrix[row * n + found.near] = found.states
    return offsets, near, states, matrix


def _sorted_on_device(
    alphabet: Alphabet,
    edges: Edges,
    number: np.ndarray,
    n: int,
    count: int,
    room: tuple[int, int, int],
    state_type: np.dtype,
    device: jax.Device,
) -> tuple[Any, ...]:
    """As :func:`_padded`, of so many graphs with the empty ones."""
    graphs, m = edges.tails.shape
    # Without labels all are 1: of a large graph no gigabytes of them are sent.
    entry = np.ones(1, np.int64) if edges.labels is None else alphabet.ranks(edges.labels, alphabet.edge_labels, m)
    # Edges have room, too: those past the last have no tail.
    width, height = bucket_size(m), rows_height(count)
    pad = (0, height - graphs), (0, width - m)
    tails = np.pad(edges.tails.astype(np.int32), pad, constant_values=-1)
    heads = np.pad(edges.heads.astype(np.int32), pad)
    number = np.pad(number.astype(np.int32), (0, power_of_two(n, LEAST.nodes) - n))
    entry = entry if edges.labels is None else np.pad(entry, (0, width - m))
    given = put64((tails, heads, entry, number, np.int64(max(n, 1))), device)
    return _rows(
        *given,
        entries=alphabet.entries if alphabet.directed else 1,
        bits=alphabet.state_bits,
        room=room,
        states=state_type,
    )


def rows_height(graphs: int) -> int:
    """Room for so many graphs to be sorted together; for one, which may be large, no more than that."""
    return 1 if graphs == 1 else bucket_size(graphs)


def _sorted_as_held(
    alphabet: Alphabet,
    graph: Graph,
    number: np.ndarray,
    room: tuple[int, int, int],
    state_type: np.dtype,
    device: jax.Device,
) -> tuple[Any, ...]:
    """As :func:`_padded`, of the graph itself, without a list of its edges."""
    entry = np.ones(1, np.int64)
    if graph.edge_labels is not None:
        slots, labels = graph.num_slots, np.asarray(graph.edge_labels)
        entry = np.pad(alphabet.ranks(labels[:slots], alphabet.edge_labels, slots), (0, graph.slot_capacity - slots))
    number = np.pad(number.astype(np.int32), (0, graph.node_capacity - graph.n))
    given = put64((graph.out_offsets, graph.out_targets, entry, number, np.int64(max(graph.n, 1))), device)
    return _rows_as_held(
        *given,
        entries=alphabet.entries if alphabet.directed else 0,
        bits=alphabet.state_bits,
        room=room,
        states=state_type,
    )


@partial(jit64, static_argnames=("entries", "bits", "room", "states"))
def _rows(
    tails: jax.Array,
    heads: jax.Array,
    entry: jax.Array,
    number: jax.Array,
    n: jax.Array,
    *,
    entries: int,
    bits: int,
    room: tuple[int, int, int],
    states: np.dtype,
) -> tuple[Any, ...]:
    """The same between nodes that get these numbers."""
    some = tails >= 0
    # Edges that are none get a node that is there.
    tails, heads = (take(number, jnp.maximum(x, 0)) for x in (tails, heads))
    return sorted_rows(jnp.where(some, tails, -1), heads, entry, n, entries, bits, room, states)


@partial(jit64, static_argnames=("entries", "bits", "room", "states"))
def _rows_as_held(
    offsets: jax.Array,
    targets: jax.Array,
    entry: jax.Array,
    number: jax.Array,
    n: jax.Array,
    *,
    entries: int,
    bits: int,
    room: tuple[int, int, int],
    states: np.dtype,
) -> tuple[Any, ...]:
    """Rows and matrix from those of a graph, whose nodes get these numbers; ``entries``: 0 without directions."""
    sources = row_of(offsets, targets.shape[0])
    some = jnp.arange(targets.shape[0], dtype=jnp.int32) < offsets[-1]
    if not entries:  # an edge is in two rows, and counts in one
        some = some & (sources < targets)
    tails, heads = jnp.where(some, take(number, sources), -1), take(number, targets)
    return sorted_rows(tails[None], heads[None], entry, n, max(entries, 1), bits, room, states)


def sorted_rows(
    tails: jax.Array,
    heads: jax.Array,
    entry: jax.Array,
    n: jax.Array,
    entries: int,
    bits: int,
    room: tuple[int, int, int],
    states: np.dtype,
) -> tuple[Any, ...]:
    """Rows and matrix from edges ``[graphs, m]`` between nodes that have their numbers; without a tail (-1) is none."""
    nodes, slots, cells = room
    u, v = tails.astype(jnp.int64), heads.astype(jnp.int64)
    first = jnp.arange(tails.shape[0], dtype=jnp.int64)[:, None] * n
    none = jnp.iinfo(jnp.int64).max
    # A key is the pair's cell in the matrix, then what this edge adds to its state.
    both_ways = ((u, v, entry), (v, u, entry * entries))
    keys = jnp.stack([(((first + a) * n + b) << bits) + e[None] for a, b, e in both_ways])
    # At most twice the edges are real: what is cut off is padding.
    keys = jnp.sort(jnp.where(tails[None] >= 0, keys, none).reshape(-1))[:slots]
    keys = jnp.pad(keys, (0, slots - keys.size), constant_values=none)
    places, one = keys >> bits, jnp.ones(1, bool)
    new = places[1:] != places[:-1]
    # A dyad's first key stands for it; its second adds to the state.
    begins = jnp.concatenate([one, new]) & (keys != none)
    state = (keys & ((1 << bits) - 1)).astype(jnp.int32)
    # The roll brings the next key's entry to the one that begins: keys of one dyad stand together.
    state = state + jnp.where(jnp.concatenate([new, one]), 0, jnp.roll(state, -1))  # a dyad has two keys at most
    row = (places // n).astype(jnp.int32)
    local = (places % n).astype(jnp.int32)
    at = jnp.where(begins, jnp.cumsum(begins, dtype=jnp.int32) - 1, slots)
    near = jnp.zeros(slots, jnp.int32).at[at].set(local, mode="drop")
    found = jnp.zeros(slots, states).at[at].set(state.astype(states), mode="drop")
    # What begins is a neighbour: as many as a row has.
    lengths = jnp.zeros(nodes, jnp.int32).at[jnp.where(begins, row, nodes)].add(1, mode="drop")
    offsets = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(lengths, dtype=jnp.int32)])
    matrix = None
    if cells:
        cell = jnp.where(begins, places, cells).astype(jnp.int32)
        matrix = jnp.zeros(cells, states).at[cell].set(state.astype(states), mode="drop")
    return offsets, near, found, matrix
