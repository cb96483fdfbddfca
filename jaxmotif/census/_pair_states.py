"""Graphs as the census reads them: neighbours either way, the state of every dyad, nodes by falling degree."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._host import zeros_for_jax
from jaxmotif.arrays._rows import first_of_each, row_of
from jaxmotif.arrays._sizes import census_room, floor_power_of_two, power_of_two
from jaxmotif.graph import Graph, Graphs
from jaxmotif.graph._fields import Array
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._subgraphs import Codes, Dyads

SMALLEST, LARGEST = 2, 8
"""Fewest and most nodes of the subgraphs that are counted."""


class Room(NamedTuple):
    """Lengths of the arrays over nodes, neighbours and pairs of nodes."""

    nodes: int
    slots: int
    cells: int


CPU_LEAST = Room(2**9, 2**15, 2**18)
ACCELERATOR_LEAST, ACCELERATOR_SAMPLE = Room(2**16, 2**18, 2**26), Room(2**19, 2**21, 2**26)
"""Lengths of the smallest arrays, on a CPU and on an accelerator: all graphs that need less share their programs.

``ACCELERATOR_SAMPLE`` is for random graphs, dozens or hundreds of which are counted together. On an accelerator padding
takes no time in any step, but on a CPU it takes memory.
"""


MOST_CELLS = 2**31 - 64
"""Most cells of a matrix: the numbers of cells are int32, and one more number stands for no cell.

So many cells take whole lines of a GPU's memory, which the GPU clears in a quarter of the time.
"""

SHARED_SLOTS = 2**22
"""Slots of the largest graphs that an accelerator pads, so that they share the program that sorts their rows."""


def least_room(device: jax.Device) -> Room:
    """Return the lengths of the smallest arrays on a device."""
    return ACCELERATOR_LEAST if target_of(device).is_accelerator else CPU_LEAST


@dataclasses.dataclass(frozen=True)
class Alphabet:
    """The meaning of the states and node codes of a graph's dyads.

    Attributes:
      directed: whether states tell (u, v) from (v, u).
      edge_labels: the values of edge labels, ascending, or ``None`` without labels.
      node_labels: likewise of node labels.
    """

    directed: bool
    edge_labels: tuple[int, ...] | None
    node_labels: tuple[int, ...] | None

    @classmethod
    def of(cls, graph: Graph | Graphs) -> Alphabet:
        """Return the alphabet of a graph, or of all graphs of a data set together."""

        def values(array: Array | None, used: int) -> tuple[int, ...] | None:
            return None if array is None else tuple(np.unique(np.asarray(array)[:used]).tolist())

        fields = graph.fields
        # An undirected graph has two slots for each edge.
        n, slots = int(fields.num_nodes), int(fields.num_edges) * (1 if graph.directed else 2)
        return cls(graph.directed, values(fields.edge_labels, slots), values(fields.node_labels, n))

    @property
    def entries(self) -> int:
        """Number of values of an adjacency entry: one for no edge, and one for each label."""
        return 2 if self.edge_labels is None else 1 + max(len(self.edge_labels), 1)

    @property
    def codes(self) -> Codes:
        """Layout of the codes of subgraphs."""
        # A directed state has two digits, e(u, v) and e(v, u).
        states = self.entries**2 if self.directed else self.entries
        label_bits = 0 if self.node_labels is None else (max(len(self.node_labels), 1) - 1).bit_length()
        return Codes(self.entries if self.directed else 0, (states - 1).bit_length(), label_bits)

    def ranks(self, labels: np.ndarray | None, values: tuple[int, ...] | None, count: int) -> np.ndarray:
        """Return the rank of each label among the values, from 1 on; 1 everywhere without labels.

        The rank 0 is left to stand for no edge.
        """
        if labels is None or values is None:
            return np.ones(count, np.int64)
        return np.searchsorted(values, labels).astype(np.int64) + 1


def check_size(graph: Graph | Graphs, size: int) -> int:
    """Return the size as an int; raise ValueError unless subgraphs of this size can be counted."""
    size = whole_number(size, "size")
    if not SMALLEST <= size <= LARGEST:
        larger = "; larger ones are estimated (estimate_census)" if size > LARGEST else ""
        raise ValueError(f"size must be between {SMALLEST} and {LARGEST}, got {size}{larger}")
    alphabet = Alphabet.of(graph)
    codes = alphabet.codes
    bits, last = codes.bits(size), codes.label_bits + (size - 1) * codes.state_bits
    # A code has 63 bits, and the bits of one node are shifted in as one word.
    if bits > 63 or last > 31:
        raise ValueError(
            f"size {size} with {len(alphabet.node_labels or ())} node and {len(alphabet.edge_labels or ())} edge "
            f"labels takes {bits} bits a subgraph, {last} for its last node; the limits are 63 and 31: use fewer labels"
        )
    return size


def degree_rank(graph: Graph) -> np.ndarray:
    """Return a new number for every node, the highest degree first, int64 ``[n]``.

    In this order a search meets few neighbours that come before the first node of a subgraph.
    """
    rank, degrees = np.empty(graph.n, np.int64), _total_degrees(graph)
    # Nodes of one degree are in the order of their ids, so that all random samples of a graph, whose degrees are equal,
    # share the order. Sorting keys takes a fraction of the time of finding their order.
    keys = (degrees.max(initial=0) - degrees) * graph.n + np.arange(graph.n)
    keys.sort()
    rank[keys % max(graph.n, 1)] = np.arange(graph.n)
    return rank


def _total_degrees(graph: Graph) -> np.ndarray:
    return graph.degrees + (graph.in_degrees if graph.directed else 0)


def content_of(graph: Graph) -> tuple:
    """Return what identifies a graph in a checkpoint: edges, nodes, directions, and labels without padding."""
    ends = (graph.node_labels, graph.n), (graph.edge_labels, graph.m * (2 - graph.directed))
    labels = [None if x is None else np.asarray(x)[:stop] for x, stop in ends]
    return graph.edge_list(), graph.n, graph.directed, labels


def likely_subgraphs(graph: Graph, size: int) -> float:
    """Estimate how many connected subgraphs of ``size`` nodes there are."""
    return _likely(_total_degrees(graph), size)


def _likely(degrees: np.ndarray, size: int) -> float:
    """Estimate the number of connected subgraphs from total degrees.

    A subgraph of ``k`` nodes has about ``k`` times the mean excess degree as many extensions, and each subgraph of
    ``k + 1`` nodes extends about ``k + 1`` others.
    """
    if size == 1:
        return degrees.size
    degrees = degrees.astype(np.float64)
    excess = (degrees**2).sum() / max(degrees.sum(), 1.0)
    # An edge is a subgraph of two nodes, and each further node adds a factor.
    return degrees.sum() / 2 * float(np.prod([k * excess / (k + 1) for k in range(2, size)]))


class Edges(NamedTuple):
    """Edges of several graphs over the same nodes.

    Attributes:
      tails: ``[graphs, m]``.
      heads: ``[graphs, m]``.
      labels: ``[m]``, the same for all graphs, or ``None``.
    """

    tails: np.ndarray
    heads: np.ndarray
    labels: np.ndarray | None


def graph_edges(graph: Graph) -> Edges:
    """Return the edges of one graph."""
    edges = graph.edge_list()
    return Edges(edges[None, :, 0], edges[None, :, 1], graph._labels()[1])


@dataclasses.dataclass(frozen=True, eq=False)
class CensusGraphs:
    """Graphs of the same nodes ready for a census, on a device.

    Attributes:
      dyads: the arrays, which are longer than the graphs need.
      n: nodes of each graph, in the order of :func:`degree_rank`.
      count: how many graphs there are, empty ones included.
      degrees: the total degrees of the nodes of all graphs, or of one graph where all have the same.
      alike: how many graphs have these degrees.
    """

    dyads: Dyads
    n: int
    count: int
    degrees: np.ndarray
    alike: int = 1

    def likely(self, size: int) -> int:
        """Estimate how many connected subgraphs of ``size`` nodes all graphs have together."""
        return int(min(self.alike * _likely(self.degrees, size), 2.0**62))

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all graphs together."""
        return self.n * self.count

    @property
    def graph_bits(self) -> int:
        """Number of bits of a graph's number."""
        return max(self.count - 1, 0).bit_length()


class RowForm(NamedTuple):
    """The static form of sorted rows.

    Attributes:
      entries: how many values an adjacency entry has, or without directions 1.
      bits: bits of a dyad's state.
      room: lengths of the arrays over nodes, slots and cells.
      states: the type of states.
    """

    entries: int
    bits: int
    room: Room
    states: np.dtype


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """Places of the nodes of graphs in the arrays of a census: copies of one graph's nodes, one after another.

    Attributes:
      graph: the graph whose nodes and labels each copy has.
      alphabet: what states and node codes stand for.
      place: int64 ``[nodes of graph]``, the number of each node of the first copy.
      copies: how many copies there are.
      n: nodes of each graph; there are several in a copy of a union.
      count: how many graphs there is room for, empty ones included.
      form: the form of the rows.
      device: where the arrays lie.
    """

    graph: Graph
    alphabet: Alphabet
    place: np.ndarray
    copies: int
    n: int
    count: int
    form: RowForm
    device: jax.Device

    @property
    def firsts(self) -> np.ndarray:
        """Number of the first node of each copy, int64 ``[copies, 1]``."""
        return np.arange(self.copies)[:, None] * self.n

    def ready(self, arrays: tuple[Any, ...]) -> CensusGraphs:
        """Put labels and sizes on the device beside offsets, neighbours, states and matrix."""
        codes, labels, degrees = None, self.alphabet.codes, _total_degrees(self.graph)
        if labels.label_bits:
            node_labels = np.asarray(self.graph.node_labels)[: self.graph.n]
            ranks = self.alphabet.ranks(node_labels, self.alphabet.node_labels, self.graph.n)
            codes = np.zeros(len(arrays[0]) - 1, np.int32)
            codes[self.place + self.firsts] = ranks - 1
        n, count, most = self.n, self.count, int(degrees.max(initial=0))
        dyads = Dyads(
            *arrays,
            *jax.device_put((codes, np.array([n, count * n, max(count - 1, 0).bit_length()], np.int32)), self.device),
            codes=labels,
            # Steps go up in threes, so that few depths of the search are compiled.
            search_steps=max(9, -(-most.bit_length() // 3) * 3),
        )
        return CensusGraphs(dyads, n, count, degrees, self.copies)


def _sorted_on_host(layout: Layout, edges: Edges) -> tuple[Any, ...]:
    """Sort rows of neighbours from the edges of graphs; those of all copies are given.

    Returns:
      Offsets, neighbours within their own graph, ascending in a row, the state of each dyad, seen from the row's node,
      and the matrix, which is ``None`` where it has no cells.
    """
    n, (entries, bits, (nodes, slots, room), state_type) = layout.n, layout.form
    u, v = (layout.place[side] + layout.firsts for side in (edges.tails, edges.heads))
    ranks = layout.alphabet.ranks(edges.labels, layout.alphabet.edge_labels, u.shape[1])
    entry = np.broadcast_to(ranks, u.shape)
    # The state is e(u, v) + L e(v, u): seen from the head, the entry is the higher digit.
    both_ways = ((u, v, entry), (v, u, entry * entries))
    # One sort does it all: a key is the row, then the neighbour, then the entry.
    keys = np.concatenate([((a * n + b % max(n, 1) << bits) + e).ravel() for a, b, e in both_ways])
    keys.sort()
    cells, states = keys >> bits, keys & ((1 << bits) - 1)
    begins = np.flatnonzero(first_of_each(cells))
    if begins.size < cells.size:  # a dyad with arcs both ways has two keys, whose states add up
        states = np.add.reduceat(states, begins)
        cells = cells[begins]
    row = cells // max(n, 1)
    # Rows past the last are empty.
    offsets = np.zeros(nodes + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=nodes), out=offsets[1:])
    padding = (0, slots - cells.size)
    matrix = None
    if room:
        matrix = zeros_for_jax((room,), state_type)
        matrix[cells] = states
    near = np.pad((cells - row * n).astype(np.int32), padding)
    arrays: Any = offsets, near, np.pad(states.astype(state_type), padding), matrix
    return put64(arrays, layout.device)


def census_graphs(
    graph: Graph, edges: Edges | None, matrix_bytes: int, device: jax.Device, count: int = 0, least: Room | None = None
) -> CensusGraphs:
    """Prepare graphs over the nodes of ``graph``, with its labels, for a census on a device.

    An accelerator sorts the rows of ``graph`` itself. Arrays over nodes or edges are padded to powers of two, which
    costs no time in any step, since steps follow the true numbers.

    Args:
      graph: the graph whose nodes and labels all graphs have.
      edges: the edges of the graphs, on the host; ``None`` for those of ``graph`` itself.
      matrix_bytes: most bytes of the matrix of states; where it takes more, states are searched for instead.
      device: where the arrays lie.
      count: the number of graphs after padding with empty ones.
      least: the least lengths of the arrays (default: those of the kind of device).
    """
    layout = layout_of(graph, 1 if edges is None else len(edges.tails), matrix_bytes, device, count, least)
    if edges is None and target_of(device).is_accelerator:
        return layout.ready(_sorted_from_graph(layout))
    return layout.ready(_sorted_on_host(layout, edges or graph_edges(graph)))


def layout_of(
    graph: Graph, copies: int, matrix_bytes: int, device: jax.Device, count: int = 0, least: Room | None = None
) -> Layout:
    """Lay out ``copies`` graphs over the nodes of ``graph``; the other arguments are those of :func:`census_graphs`."""
    alphabet, count = Alphabet.of(graph), max(count, copies)
    # All graphs of a sample have the same number of edges.
    form = _form_of(alphabet, (count, graph.n, graph.m * count), least or least_room(device), device, matrix_bytes)
    return Layout(graph, alphabet, degree_rank(graph), copies, graph.n, count, form, device)


def _form_of(
    alphabet: Alphabet, sizes: tuple[int, int, int], least: Room, device: jax.Device, matrix_bytes: int
) -> RowForm:
    """Return the form of the rows of graphs; ``sizes`` are the first arguments of :func:`room_of`."""
    # The matrix is read at random: with a byte for a state, where that is enough, more of it stays in caches.
    codes = alphabet.codes
    states = np.dtype(np.uint8 if codes.state_bits <= 8 else np.int32)
    room = room_of(*sizes, least, device, matrix_bytes // states.itemsize)
    return RowForm(codes.entries or 1, codes.state_bits, room, states)


def room_of(count: int, n: int, edges: int, least: Room, device: jax.Device, most_cells: int = 2**31) -> Room:
    """Return the lengths of the arrays of graphs, which are all that programs depend on.

    Args:
      count: how many graphs there are.
      n: nodes of each graph.
      edges: edges of all graphs; each is in two rows.
      least: the least lengths.
      device: where the arrays lie.
      most_cells: a limit of the cells of the matrix. It is rounded down to a power of two, since it may follow from the
        memory that is free, on which no program should depend. A matrix that would have more cells is left out.
    """
    need = Room(count * n, 2 * edges, count * n**2)
    room = Room(*census_room(need, least, target_of(device).is_accelerator))
    most_cells = min(floor_power_of_two(most_cells), MOST_CELLS)
    return room._replace(cells=min(room.cells, most_cells) if need.cells <= most_cells else 0)


def mixed_graphs(
    graphs: Graphs, which: np.ndarray, n: int, count: int, alphabet: Alphabet, matrix_bytes: int, device: jax.Device
) -> tuple[CensusGraphs, np.ndarray]:
    """Prepare graphs of a data set for a census on a device.

    Args:
      graphs: the data set.
      which: the numbers of the graphs.
      n: the nodes that each graph has room for.
      count: the number of graphs after padding with empty ones.
      alphabet: what states and node codes stand for.
      matrix_bytes: most bytes of the matrix of states.
      device: where the arrays lie.

    Returns:
      The graphs, and the place of each of their nodes, int64.
    """
    # The graphs are joined into one, whose nodes are then spread out.
    union = graphs.union(which, pad=None)
    owner = np.repeat(np.arange(which.size), graphs.n[which])
    start = np.repeat(np.cumsum(graphs.n[which]) - graphs.n[which], graphs.n[which])
    place = np.empty(union.n, np.int64)
    # Nodes of a graph are in the order of falling degree, as `degree_rank` has them.
    place[np.lexsort((-_total_degrees(union), owner))] = np.arange(union.n) - start
    place += owner * n
    form = _form_of(alphabet, (count, n, union.m), CPU_SAMPLE, device, matrix_bytes)
    layout = Layout(union, alphabet, place, 1, n, count, form, device)
    return layout.ready(_sorted_on_host(layout, graph_edges(union))), place


CPU_SAMPLE = Room(2**15, 2**17, 2**23)
"""Lengths of arrays for random graphs on a CPU: as many as fit are counted together, and all share their programs."""


def in_one_room(graph: Graph) -> int:
    """Return how many random graphs fit together on a CPU."""
    n, m = max(graph.n, 1), max(graph.m, 1)
    return max(1, min(CPU_SAMPLE.nodes // n, CPU_SAMPLE.slots // (2 * m), CPU_SAMPLE.cells // n**2))


def rows_height(graphs: int) -> int:
    """Return how many graphs there is room for when ``graphs`` are sorted together.

    A single graph, which may be large, gets no more room than it needs.
    """
    return 1 if graphs == 1 else power_of_two(graphs, 64)


def _sorted_from_graph(layout: Layout) -> tuple[Any, ...]:
    """Return what :func:`_sorted_on_host` returns, from the rows of the graph itself, without a list of its edges."""
    graph, alphabet, form = layout.graph, layout.alphabet, layout.form
    if (room := form.room).slots <= SHARED_SLOTS:
        graph = graph.with_padding((room.nodes, room.slots // 2 if graph.directed else room.slots))
    entry = np.ones(1, np.int64)
    if graph.edge_labels is not None:
        slots, labels = graph.num_slots, np.asarray(graph.edge_labels)
        entry = np.pad(alphabet.ranks(labels[:slots], alphabet.edge_labels, slots), (0, graph.slot_capacity - slots))
    number = np.pad(layout.place.astype(np.int32), (0, graph.node_capacity - graph.n))
    rows = put64((graph.out_offsets, graph.out_targets), layout.device)
    return _rows_from_graph(*rows, entry, number, np.int64(max(graph.n, 1)), form=form, directed=graph.directed)


@partial(jit64, static_argnames=("form", "directed"))
def _rows_from_graph(
    offsets: jax.Array,
    targets: jax.Array,
    entry: jax.Array,
    number: jax.Array,
    n: jax.Array,
    *,
    form: RowForm,
    directed: bool,
) -> tuple[Any, ...]:
    """Sort rows from those of a graph, whose nodes get new numbers."""
    sources = row_of(offsets, targets.shape[0])
    some = jnp.arange(targets.shape[0], dtype=jnp.int32) < offsets[-1]
    if not directed:  # an undirected edge is in two rows, and is taken from one
        some = some & (sources < targets)
    tails, heads = jnp.where(some, take(number, sources), -1), take(number, targets)
    return sorted_rows(tails, heads, jnp.int64(0), entry, form, n)


def sorted_rows(
    tails: jax.Array, heads: jax.Array, first: jax.Array, entry: jax.Array, form: RowForm, n: jax.Array
) -> tuple[Any, ...]:
    """Sort rows of neighbours, inside a compiled function.

    Args:
      tails: the tails of edges, ``[.., m]``, in the order of degrees; -1 for no edge.
      heads: likewise.
      first: the row where each edge's graph begins, int64, of a shape that goes with the tails'.
      entry: the adjacency entry of each edge, likewise.
      form: the form of the rows.
      n: nodes of each graph.

    Returns:
      Offsets, neighbours, states, and the matrix or ``None``.
    """
    entries, bits, (nodes, slots, cells), states = form
    u, v = tails.astype(jnp.int64), heads.astype(jnp.int64)
    entry = jnp.broadcast_to(entry, u.shape)
    none = jnp.iinfo(jnp.int64).max
    # A key is the pair's cell in the matrix, then what this edge adds to its state.
    both_ways = ((u, v, entry), (v, u, entry * entries))
    keys = jnp.stack([(((first + a) * n + b) << bits) + e for a, b, e in both_ways])
    # At most two keys an edge are real: what is cut off is padding.
    keys = jnp.sort(jnp.where(tails[None] >= 0, keys, none).reshape(-1))[:slots]
    keys = jnp.pad(keys, (0, slots - keys.size), constant_values=none)
    places, one = keys >> bits, jnp.ones(1, bool)
    new = places[1:] != places[:-1]
    # A dyad has one or two keys: the first stands for it, the second adds to its state.
    begins = jnp.concatenate([one, new]) & (keys != none)
    state = (keys & ((1 << bits) - 1)).astype(jnp.int32)
    # The keys of a dyad are neighbours, and the roll brings the second one's entry to the first.
    state = state + jnp.where(jnp.concatenate([new, one]), 0, jnp.roll(state, -1))
    row = (places // n).astype(jnp.int32)
    local = (places % n).astype(jnp.int32)
    at = jnp.where(begins, jnp.cumsum(begins, dtype=jnp.int32) - 1, slots)
    near = jnp.zeros(slots, jnp.int32).at[at].set(local, mode="drop")
    dyad_states = jnp.zeros(slots, states).at[at].set(state.astype(states), mode="drop")
    # A row has as many neighbours as dyads begin in it.
    lengths = jnp.zeros(nodes, jnp.int32).at[jnp.where(begins, row, nodes)].add(1, mode="drop")
    offsets = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(lengths, dtype=jnp.int32)])
    matrix = None
    if cells:
        cell = jnp.where(begins, places, cells).astype(jnp.int32)
        matrix = jnp.zeros(cells, states).at[cell].set(state.astype(states), mode="drop")
    return offsets, near, dyad_states, matrix
