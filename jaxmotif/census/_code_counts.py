"""Counting subgraphs by class from their codes, many at a time, on the host or on a device.

A code ends with the number of its graph; without it, it says what the subgraph looks like in the order in which its
nodes were met. Codes of one class are many: they are brought to *normal forms*, few for each class, and a
:class:`~jaxmotif.census._classes.Classifier` knows the class of every form it has seen.

Codes of pairs of nodes with an edge between them also take one pair without an edge back: all pairs were counted as
if they had none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import end_rehearsal, fetched
from jaxmotif.arrays._compile import for_host, jit64, put64
from jaxmotif.arrays._sizes import power_of_four, power_of_two
from jaxmotif.census._classes import Classifier, normal_codes
from jaxmotif.census._pair_states import CensusGraphs, Codes
from jaxmotif.kernels._expand import first_ones, take
from jaxmotif.kernels._subgraphs import all_ones

KNOWN = 1 << 16  # normal forms that a device knows the classes of, at least
NEW = 1 << 8  # those it does not know that are counted apart, at most
NORMAL_AT_ONCE = 1 << 17  # codes brought to normal form together on a device
LEAST_DISTINCT = 1 << 16  # different codes looked at together, at least: fewer take as long
LEAST_CLASSES, CLASSES = 1 << 10, 1 << 14  # room in the counts of each graph where few classes are possible, and else
MOST_COUNTS = 1 << 26  # of all graphs together, to begin with
LEAST_SORTED = 1 << 20  # codes sorted together, at least: fewer take as long
MERGE_AT = 1 << 23  # (code, count) entries held on the host before they are merged


class CodeCounts(Protocol):
    """Counts by graph and class, from codes that come in portions."""

    def add(self, codes: jax.Array | np.ndarray, weights: jax.Array | None = None, used: int | None = None) -> None:
        """Count codes, uint32 ``[L]`` or, of :func:`wide_codes`, ``[2, L]`` (high words first); all ones for none.

        Args:
          weights: int64 ``[L]``, how often each is to be counted.
          used: so many of them, the first; all when not given.
        """
        ...

    def counts(self) -> np.ndarray:
        """int64 ``[graphs, classes]``."""
        ...


def code_counts(graphs: CensusGraphs, size: int, classifier: Classifier, distinct: int) -> CodeCounts:
    """An empty sum of the codes of subgraphs of ``size`` nodes.

    Args:
      classifier: asked for the class of every new form.
      distinct: different codes looked at together by the device; 0: the host does it all.
    """
    if distinct:
        return DeviceCounts(graphs, size, classifier, distinct)
    return HostCounts(graphs, size, classifier)


def wide_codes(graphs: CensusGraphs, size: int) -> bool:
    """Whether codes of subgraphs of ``size`` nodes take two words."""
    # All ones must be left to say that there is no code.
    return graphs.alphabet.code_bits(size) + graphs.graph_bits > 31


def _many_classes(graphs: CensusGraphs, size: int) -> bool:
    """Whether there may be more than a thousand classes: an undirected graph without labels has 853 of 7 nodes, a
    directed one 199 of 4."""
    alphabet = graphs.alphabet
    return alphabet.label_bits > 0 or size > (4 if alphabet.state_bits > 1 else 7)


def last_pair(codes: Codes, size: int) -> tuple[np.uint64, np.uint64]:
    """The bits of a code (without a graph's number) that hold the states of the last node: those towards the nodes
    before the last but one, and the one towards that. Both are there where the last two are a pair of candidates
    with an edge; an edge alone is an only neighbour's, which was counted as no pair."""
    before = codes.state_bits * (size - 2)
    return np.uint64((1 << before) - 1), np.uint64(((1 << codes.state_bits) - 1) << before)


# ---- on the host


class HostCounts:
    """Sorts each portion, merges what is alike, and looks at the classes at the end."""

    def __init__(self, graphs: CensusGraphs, size: int, classifier: Classifier):
        self._graphs, self._size, self._classifier = graphs, size, classifier
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []  # distinct codes, ascending, and how often each occurs

    def add(self, codes: jax.Array | np.ndarray, weights: jax.Array | None = None, used: int | None = None) -> None:
        words = np.asarray(codes)[..., :used]
        if words.ndim == 2:
            words = (words[0].astype(np.uint64) << np.uint64(32)) | words[1]
        some = words != np.iinfo(words.dtype).max
        # Of codes alone the values are enough: a plain sort is faster than one that carries places.
        if weights is None:
            words, times = np.sort(words[some]), None
        else:
            times = np.asarray(weights)[:used]
            some &= times > 0
            order = np.argsort(words[some], kind="stable")
            words, times = words[some][order], times[some][order]
        self._parts.append(merged_codes(words, times))
        # Merged now and then: what is held is bounded by the different codes, not by all.
        if sum(part[0].size for part in self._parts) > MERGE_AT:
            self._merge()

    def counts(self) -> np.ndarray:
        codes, times = self._merge()
        bits = self._graphs.graph_bits
        codes, graph = codes >> np.uint64(bits), codes & np.uint64((1 << bits) - 1)
        # Codes of several graphs stand together: each is classified once.
        begins = _begins(codes)
        which = np.cumsum(begins) - 1
        index, without = (table[which] for table in self._classes(codes[begins]))
        classes = len(self._classifier)
        counts = np.zeros(self._graphs.count * classes, np.int64)
        cell = graph.astype(np.int64) * classes
        # Several codes may be of one cell: each adds.
        np.add.at(counts, cell + index, times)
        joined = without >= 0
        # All pairs were counted as if without an edge: those with one are taken back there.
        np.subtract.at(counts, (cell + without)[joined], times[joined])
        return counts.reshape(self._graphs.count, classes)

    def _classes(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The class of each code (distinct, ascending), and of the same pair without its edge, or -1."""
        old, edge = last_pair(self._graphs.alphabet.codes, self._size)
        # The last two are both candidates, and have an edge; subgraphs of two nodes have no such pair.
        joined = (codes & old != 0) & (codes & edge != 0) & (self._size > 2)
        found = self._classifier(np.concatenate([codes, codes[joined] & ~edge]))
        without = np.full(codes.size, -1, np.int64)
        without[joined] = found[codes.size :]
        return found[: codes.size], without

    def _merge(self) -> tuple[np.ndarray, np.ndarray]:
        """All parts as one."""
        codes = np.concatenate([np.zeros(0, np.uint64), *(part[0].astype(np.uint64) for part in self._parts)])
        counts = np.concatenate([np.zeros(0, np.int64), *(part[1] for part in self._parts)])
        if len(self._parts) > 1:
            # Parts are in order already: a stable sort merges them.
            order = np.argsort(codes, kind="stable")
            codes, counts = merged_codes(codes[order], counts[order])
        self._parts = [(codes, counts)]
        return codes, counts


def _begins(codes: np.ndarray) -> np.ndarray:
    return np.concatenate([np.ones(1, bool), codes[1:] != codes[:-1]])[: codes.size]


def merged_codes(codes: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct codes of sorted ones, and how often each occurs, or the sums of their counts."""
    begins = np.flatnonzero(_begins(codes))
    if counts is None:
        return codes[begins], np.diff(np.append(begins, codes.size))
    return codes[begins], np.add.reduceat(counts, begins) if begins.size else counts


# ---- on a device


class _Ordered(NamedTuple):
    """Codes in order: these; the sum of the weights before each and of all, int64 ``[L + 1]``, or ``None``; the number
    of each among the different ones, int32; how many different ones there are."""

    codes: jax.Array
    before: jax.Array | None
    order: jax.Array
    number: jax.Array


class _Different(NamedTuple):
    """Different codes of a portion, with their graphs' numbers, ascending; as much room whatever the portion's length.

    Attributes:
      codes: uint64 ``[room]``; times: int64 ``[room]``, how often each occurs.
      number: int32, how many there are; more than there is room for where the others are asked for later.
    """

    codes: jax.Array
    times: jax.Array
    number: jax.Array


class _Portion(NamedTuple):
    """Codes that came together, and their different ones from number ``base`` on."""

    ordered: _Ordered
    different: _Different
    base: int


class _Window(NamedTuple):
    """Some different codes of a portion, counted as far as their forms were known.

    Attributes:
      numbers: int32 ``[3]``: different codes from the portion's base on, forms of the window, and new ones among them.
      forms: uint64 ``[2 * size]``, the forms, ascending.
      new, apart: up to :data:`NEW` new forms, and counts ``[graphs, NEW]`` of their own.
    """

    numbers: jax.Array
    forms: jax.Array
    new: jax.Array
    apart: jax.Array


class _Pending(NamedTuple):
    """The window ``first .. first + size`` of a portion, whose numbers nobody has looked at yet."""

    portion: _Portion
    first: int
    size: int
    found: _Window


class DeviceCounts:
    """Keeps counts and known forms on the device; the host hears of new forms alone, while the next portion is counted.

    A portion's different codes are looked at in windows. A window that has few new forms counts them apart; one that
    has many counts nothing, and is counted again once the device knows them.
    """

    def __init__(self, graphs: CensusGraphs, size: int, classifier: Classifier, distinct: int):
        self._graphs, self._classifier, self._distinct = graphs, classifier, distinct
        # Static, and so compiled for: of an alphabet, not of a graph.
        self._form = {"codes": graphs.alphabet.codes, "nodes": size}
        (self._device,) = graphs.dyads.offsets.sharding.device_set
        self._graph_bits = np.uint64(graphs.graph_bits)
        # Columns grow with the classes that are met.
        rows = power_of_two(graphs.count)
        many = min(CLASSES, max(LEAST_CLASSES, MOST_COUNTS // rows))
        self._width = many if _many_classes(graphs, size) else LEAST_CLASSES
        self._counts = put64(np.zeros((rows, 0), np.int64), self._device)
        self._learn()
        self._expected: dict[tuple[int, bool], int] = {}  # size of a window, by the kind of a portion
        self._pending: _Pending | None = None
        self._late: list[tuple[np.ndarray, np.ndarray]] = []  # classes of new forms, and their counts by graph

    def add(self, codes: jax.Array | np.ndarray, weights: jax.Array | None = None, used: int | None = None) -> None:
        room, kind = codes.shape[-1], (codes.shape[-1], weights is None)
        number = room if used is None else used
        # A last portion that is short is not sorted with all the room: of few sizes, as each is compiled for.
        length = min(room, power_of_four(number, max(room // 16, LEAST_SORTED)))
        ordered, different = _begun(codes, weights, np.int32(number), length=length, room=self._distinct)
        portion = _Portion(ordered, different, 0)
        if kind not in self._expected:  # what the first portion of a kind has, the next ones will have
            (several,) = fetched(different.number, (1,))
            self._expected[kind] = min(self._distinct, power_of_four(several, LEAST_DISTINCT))
        # The next portion is under way before the host looks at what was new in the last.
        last, self._pending = self._pending, self._window(portion, 0, self._expected[kind])
        self._settle(last)

    def counts(self) -> np.ndarray:
        self._settle(self._pending)
        end_rehearsal()
        self._pending = None
        counts = np.asarray(self._counts)[: self._graphs.count, : len(self._classifier)].copy()
        for classes, times in self._late:
            np.add.at(counts.T, classes, times[: self._graphs.count].T)
        return counts

    def _window(self, portion: _Portion, first: int, size: int) -> _Pending:
        """Counts a window's known forms, without waiting for it."""
        # Sizes are powers of two: windows end where the room does.
        if first == portion.base + self._distinct:
            different = _different(portion.ordered, np.int32(first), room=self._distinct)
            portion = portion._replace(different=different, base=first)
        self._counts, found = _count_window(
            self._counts,
            portion.different,
            *self._known,
            np.int32(first - portion.base),
            self._graph_bits,
            size=size,
            **self._form,
        )
        return _Pending(portion, first, size, found)

    def _settle(self, pending: _Pending | None) -> None:
        """Counts what was not known of a window, and the portion's other windows."""
        while pending is not None:
            portion, first, size, found = pending
            number, several, missing = fetched(found.numbers, (1, 1, 0))
            if missing > NEW:  # then nothing was counted
                self._classifier.of_forms(np.asarray(found.forms)[:several])
                # Now they are known: the same window again counts all of it.
                self._learn()
                pending = self._window(portion, first, size)
                continue
            if missing:
                forms, apart = jax.device_get((found.new, found.apart))
                self._late.append((self._classifier.of_forms(forms[:missing]), apart[:, :missing]))
                self._learn()
            first += size
            # The rest of a portion that has more different codes than expected.
            pending = self._window(portion, first, size) if first < portion.base + number else None

    def _learn(self) -> None:
        """Takes over what the classifier knows, and makes room for counts of all classes."""
        forms, index = self._classifier.known
        room = power_of_four(forms.size, KNOWN)
        # All ones, which is no form, keeps the row ascending.
        padded = np.full(room, np.iinfo(np.uint64).max), np.zeros(room, np.int32)
        for whole, part in zip(padded, (forms, index), strict=True):
            whole[: part.size] = part
        self._known = put64(padded, self._device)
        classes, width = len(self._classifier), self._counts.shape[1]
        if width <= classes:
            # Room beyond the classes there are, so that few new ones do not compile again.
            more = power_of_four(classes + 1, self._width) - width
            wider = np.pad(np.asarray(self._counts), ((0, 0), (0, more)))
            self._counts = put64(wider, self._device)


def _ordered(codes: jax.Array, weights: jax.Array | None) -> _Ordered:
    if codes.ndim == 2:
        codes = (codes[0].astype(jnp.uint64) << 32) | codes[1].astype(jnp.uint64)
    before = None
    if weights is None:
        codes = jnp.sort(codes)
    else:
        # A weight of 0 is no code: sorted last, it has no number.
        codes, weights = lax.sort((jnp.where(weights > 0, codes, all_ones(codes.dtype)), weights), num_keys=1)
        before = jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum(weights)])
    order = jnp.cumsum(first_ones(codes), dtype=jnp.int32) - 1
    # All ones at the end, if there are any, are one more value but no code.
    number = order[-1] + (codes[-1] != all_ones(codes.dtype)).astype(jnp.int32)
    return _Ordered(codes, before, order, number)


@partial(jit64, static_argnames="room")
def _different(ordered: _Ordered, first: jax.Array, *, room: int) -> _Different:
    """The different codes from one on."""
    codes = ordered.codes
    # Where each begins, and where the one after the last does: past all codes there is nothing more.
    place = jnp.where(first_ones(codes) & (ordered.order >= first), ordered.order - first, room + 1)
    end = (codes != all_ones(codes.dtype)).sum(dtype=jnp.int32)
    lane = jnp.arange(codes.shape[0], dtype=jnp.int32)
    start = jnp.full(room + 1, end).at[place].set(lane, mode="drop")
    # How often: the distance between beginnings, in places or in weight; 0 past the last.
    ends = start.astype(jnp.int64) if ordered.before is None else take(ordered.before, start)
    found = take(codes, jnp.minimum(start[:-1], codes.shape[0] - 1)).astype(jnp.uint64)
    return _Different(found, ends[1:] - ends[:-1], ordered.number - first)


@partial(jit64, static_argnames=("length", "room"))
def _begun(
    codes: jax.Array, weights: jax.Array | None, used: jax.Array, *, length: int, room: int
) -> tuple[_Ordered, _Different]:
    """The first codes in order, ``used`` of at most ``length``, and the first different ones: all that depends on how
    many codes there are."""
    some = jnp.arange(length, dtype=jnp.int32) < used
    codes = jnp.where(some, codes[..., :length], all_ones(codes.dtype))
    ordered = _ordered(codes, None if weights is None else weights[:length])
    return ordered, _different(ordered, jnp.int32(0), room=room)


@partial(jit64, static_argnames="bits")
def _in_order(codes: jax.Array, *, bits: int) -> _Ordered:
    """Codes of so many bits (all ones for none): sorted as narrow as they are, which takes half of the time."""
    return _ordered(codes.astype(jnp.uint32) if bits < 32 else codes, None)


@partial(jit64, static_argnames=("form", "nodes", "room"))
def _grouped(ordered: _Ordered, first: jax.Array, *, form: Codes, nodes: int, room: int) -> _Different:
    """The different normal forms of the different codes from one on, as many as there is room for."""
    found = _different(ordered, first, room=room)
    part = min(room, NORMAL_AT_ONCE)

    def normal(number: jax.Array, forms: jax.Array) -> jax.Array:
        at = number * part  # slices that would end past the room end with it
        some = normal_codes(jnp, lax.dynamic_slice_in_dim(found.codes, at, part), form, nodes)
        return lax.dynamic_update_slice_in_dim(forms, some, at, 0)

    # Some at a time: what tells the nodes of one subgraph apart takes as much room as hundreds of codes.
    # A fixed number of times: to ask a GPU how often would keep what comes after this waiting.
    forms = lax.fori_loop(jnp.int32(0), jnp.int32(-(-room // part)), normal, found.codes)
    return _different(_ordered(forms, found.times), jnp.int32(0), room=room)


def grouped_codes(codes: jax.Array, form: Codes, nodes: int) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Begins to count codes on a device (uint64 ``[L]``, all ones for none).

    Returns:
      What waits for it: gives the different normal forms, uint64 ascending, and how often each occurs, int64.
    """
    # Many codes are alike: an eighth of them are as many different ones as there will be.
    room = min(codes.shape[0], max(codes.shape[0] // 8, NORMAL_AT_ONCE))
    bits = nodes * form.label_bits + nodes * (nodes - 1) // 2 * form.state_bits
    ordered = _in_order(codes, bits=bits)

    def begun(first: int) -> _Different:
        return _grouped(ordered, np.int32(first), form=form, nodes=nodes, room=room)

    def ended(found: _Different) -> tuple[np.ndarray, np.ndarray]:
        # Whole arrays: to cut them on the device would wait for what it does by now.
        return tuple(np.asarray(x)[: int(found.number)] for x in found[:2])  # pyright: ignore[reportReturnType]

    def counted() -> tuple[np.ndarray, np.ndarray]:
        parts = [ended(one)]
        parts += [ended(begun(first)) for first in range(room, int(ordered.number), room)]
        if len(parts) == 1:
            return parts[0]
        forms, times = (np.concatenate(x) for x in zip(*parts, strict=True))
        order = np.argsort(forms)
        return merged_codes(forms[order], times[order])

    one = begun(0)
    return counted


def _numbered(forms: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The distinct ones of some forms (all ones for none), ascending; which of them each is, int32, -1 for none; and
    how many there are. A sort that remembers places, ranks among the sorted, and a scatter back to the places."""
    size = forms.shape[0]
    ascending, place = lax.sort((forms, jnp.arange(size, dtype=jnp.int32)), num_keys=1)
    some = ascending != all_ones(forms.dtype)
    begins = some & first_ones(ascending)
    rank = jnp.cumsum(begins, dtype=jnp.int32) - 1
    # Back to the places they came from: each place gets its own rank.
    which = jnp.zeros(size, jnp.int32).at[place].set(jnp.where(some, rank, -1), unique_indices=True)
    distinct = jnp.full(size, all_ones(forms.dtype)).at[jnp.where(begins, rank, size)].set(ascending, mode="drop")
    return distinct, which, begins.sum(dtype=jnp.int32)


@partial(jit64, donate_argnums=0, static_argnames=("size", "codes", "nodes"))
def _count_window(
    counts: jax.Array,
    different: _Different,
    known: jax.Array,
    index: jax.Array,
    first: jax.Array,
    graph_bits: jax.Array,
    *,
    size: int,
    codes: Codes,
    nodes: int,
) -> tuple[jax.Array, _Window]:
    """Add ``size`` different codes from one on, as far as their forms are known, to counts ``[graphs, width]``.

    Args:
      known, index: forms, ascending, then all ones; and their classes.
    """
    found, times = (lax.dynamic_slice_in_dim(x, first, size) for x in (different.codes, different.times))
    real = jnp.arange(size, dtype=jnp.int32) < different.number - first
    code, graph = found >> graph_bits, found & ((jnp.uint64(1) << graph_bits) - jnp.uint64(1))
    graph = graph.astype(jnp.int32)
    # What each code adds to, and, where it is of two candidates with an edge, what it takes from.
    # The host's rules, of `HostCounts._classes`.
    old, edge = last_pair(codes, nodes)
    joined = real & (code & old != 0) & (code & edge != 0) & (nodes > 2)
    # The form of each code, and of the same pair without its edge.
    both = normal_codes(jnp, jnp.concatenate([code, code & ~edge]), codes, nodes)
    both = jnp.where(jnp.concatenate([real, joined]), both, all_ones(both.dtype))
    forms, which, several = _numbered(both)
    # Which forms are known: the others get numbers among the new ones.
    # Past the last known form stands one that is no other's: the comparison decides.
    at = jnp.minimum(jnp.searchsorted(known, forms, method="scan_unrolled"), known.size - 1)
    is_new = (jnp.arange(forms.size, dtype=jnp.int32) < several) & (take(known, at) != forms)
    missing, place = is_new.sum(dtype=jnp.int32), jnp.cumsum(is_new, dtype=jnp.int32) - 1
    # At most NEW places: what is beyond is counted as missing, and then nothing is.
    new = jnp.full(NEW, all_ones(forms.dtype)).at[jnp.where(is_new, place, NEW)].set(forms, mode="drop")
    # Known forms are counted by class, new ones by their number; out of bounds is nowhere.
    apart = jnp.zeros((counts.shape[0], NEW), jnp.int64)
    # The same codes twice: added to their own class, taken from that of the pair without an edge.
    for form, sign in zip(which.reshape(2, -1), (1, -1), strict=True):
        # Too many new forms: nothing is counted, and the window comes again.
        some, form = (form >= 0) & (missing <= NEW), jnp.maximum(form, 0)
        late = take(is_new, form)
        known_to, new_to = (jnp.where(some & here, graph, counts.shape[0]) for here in (~late, late))
        counts = counts.at[known_to, take(index, take(at, form))].add(sign * times, mode="drop")
        apart = apart.at[new_to, take(place, form)].add(sign * times, mode="drop")
    return counts, _Window(for_host(jnp.stack([different.number, several, missing])), forms, new, apart)
