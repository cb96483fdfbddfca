"""The engine of a census on an accelerator: codes, counts and known forms stay on the device."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import end_rehearsal, fetched
from jaxmotif.arrays._compile import for_host, jit64, put64
from jaxmotif.arrays._fetch import fetch_int64
from jaxmotif.arrays._rows import first_of_each, pad_rows
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.census import _engine as shared
from jaxmotif.census._classes import normal_codes
from jaxmotif.census._code_counts import DistinctCodes, SortedCodes, distinct_from, sort_codes
from jaxmotif.census._pair_states import CensusGraphs, Codes, rows_height
from jaxmotif.kernels import _subgraphs as kernel
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._subgraphs import Candidates, Dyads, Rows, Runs, Walks, all_ones

FEW_KNOWN, KNOWN = 1 << 12, 1 << 16  # least room for normal forms where few classes are possible, and else
NEW = 1 << 8  # most forms that are new to the device and counted apart, in a window
LEAST_DISTINCT = 1 << 16  # least number of different codes looked at together: fewer take as long
LEAST_CLASSES, CLASSES = 1 << 10, 1 << 14  # columns of the counts at first, where few classes are possible, and else
MOST_COUNTS = 1 << 26  # most cells of the counts of all graphs at first
LEAST_SORTED = 1 << 20  # least number of codes sorted together: fewer take as long

_WeightedCodes = tuple[jax.Array, jax.Array | None]


class _Portion(NamedTuple):
    """Codes that came together.

    Attributes:
      kind: the room for the codes, and whether each counts once. Windows have a size for each kind, since codes of
        pairs have fewer distinct values than others.
      ordered: the codes, sorted.
      different: the distinct codes among them, from number ``base`` on.
      base: the number of the first distinct code in ``different``.
    """

    kind: tuple[int, bool]
    ordered: SortedCodes
    different: DistinctCodes
    base: int


class _Window(NamedTuple):
    """A range of the distinct codes of a portion, counted as far as the device knew their forms.

    Attributes:
      numbers: int32 ``[3]``: different codes from the portion's base on, forms of the window, and new ones among them.
      forms: uint64 ``[2 * size]``, the forms, ascending; they stay on the device, while the host has all else.
      new: uint64 ``[NEW]``, the new forms, as many as there is room for.
      apart: int64 ``[graphs, NEW]``, the counts of the new forms.
    """

    numbers: jax.Array
    forms: jax.Array
    new: jax.Array
    apart: jax.Array


_PendingWindow = tuple[_Portion, int, int, _Window]
"""A portion, and its window ``first .. first + size``, whose numbers the host has not read yet."""


class DeviceEngine(shared.CensusEngine):
    """The engine for accelerators, in which the host only classifies the forms that are new to the device.

    While it does so, the device counts the next portion of codes. The distinct codes of a portion are counted in
    windows. If a window has few new forms, they are counted apart from the known ones. If it has many, nothing is
    counted, and the window is counted again when the device has learned them.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        graphs, sizes = self.graphs, self.sizes
        (self._device,) = graphs.dyads.offsets.sharding.device_set
        self._graph_bits = np.uint64(graphs.graph_bits)
        # The columns grow with the classes that are met.
        rows = rows_height(graphs.count)
        self._width, self._least_known = LEAST_CLASSES, FEW_KNOWN
        if _many_classes(graphs, self.size):
            self._width, self._least_known = min(CLASSES, max(LEAST_CLASSES, MOST_COUNTS // rows)), KNOWN
        blank = np.zeros((rows, 0), np.int64), np.uint32(kernel.NO_CODE)
        self._counts, self._no_code = put64(blank, self._device)
        self._known: tuple[jax.Array, jax.Array] | None = None  # forms and their classes; None where there are more
        self._any_known = False  # whether the device has known any, so that some were counted there
        # Codes looked at together, by the kind of a portion: about as many as its first portion had different ones.
        self._window_size: dict[tuple[int, bool], int] = {}
        self._pending: _PendingWindow | None = None
        self._apart: list[tuple[np.ndarray, np.ndarray]] = []  # classes of new forms, and their counts by graph
        self._pairs = _CodeBuffer(self, sizes.candidates, weighted=True)
        self._visits = _CodeBuffer(self, sizes.codes, weighted=False)

    @staticmethod
    def open_walks(dyads: Dyads, rows: Rows, nodes: int, count: int) -> tuple[Walks, jax.Array]:
        return _walks(dyads, rows, np.array([nodes, count], np.int32))

    def room_for_candidates(self, count: int, walks: Walks) -> int:
        # Always the same, so that there is one program, and no wait for the number of positions.
        return self.sizes.candidates

    def find_candidates(self, rows: Rows, walks: Walks, first: int, count: int, block: int) -> shared.CandidateBatch:
        at = np.array([first, count], np.int32)
        candidates, runs, numbers = _added_in_runs(
            self._dyads, rows, walks, at, block=block, bits=int(self._dyads.new_bits(self.size - 2))
        )
        # A rehearsal goes on as if all rows were done at once, and filled more than one portion.
        likely = count, self.sizes.codes + 1, self.sizes.candidates + 1, 0
        stop, visits, pairs, number = fetched(numbers, likely)
        return shared.CandidateBatch(candidates, runs, stop, visits, pairs, number)

    def add_pairs(self, rows: Rows, runs: Runs, positions: int) -> None:
        self._pairs.fill(positions, partial(_gather_pairs, self._dyads, rows, runs, wide=self._wide))

    def add_visits(self, rows: Rows, candidates: Candidates, positions: int) -> None:
        self._visits.fill(positions, partial(_gather_visits, self._dyads, rows, candidates, wide=self._wide))

    def add(self, codes: jax.Array | np.ndarray, weights: jax.Array | None = None, used: int | None = None) -> None:
        room, kind = codes.shape[-1], (codes.shape[-1], weights is None)
        number = room if used is None else used
        # A short last portion is not sorted with all the room: its length is one of a few, as each is compiled for.
        length = min(room, power_of_four(number, max(room // 16, LEAST_SORTED)))
        ordered, different = _sort_portion(codes, weights, np.int32(number), length=length, room=self.sizes.distinct)
        # This portion is under way before the host looks at what was new in the last one.
        last, self._pending = self._pending, self._count(_Portion(kind, ordered, different, 0), 0)
        self._settle(last)

    def counts(self) -> np.ndarray:
        for buffer in (self._pairs, self._visits):
            buffer.hand_over()
        self._settle(self._pending)
        end_rehearsal()
        self._pending = None
        counts = np.zeros((self.graphs.count, len(self.classifier)), np.int64)
        if self._any_known:
            known = fetch_int64(self._counts, self.graphs.count)[:, : counts.shape[1]]
            counts[:, : known.shape[1]] = known
        for classes, times in self._apart:
            np.add.at(counts.T, classes, times[: self.graphs.count].T)
        return counts

    def new_buffer(self, room: int, weighted: bool) -> _WeightedCodes:
        """Make room for codes, and for their weights."""
        return _full(self._no_code, self._wide, weighted, room)

    def _count(self, portion: _Portion, first: int) -> _PendingWindow:
        """Count the known forms of a window, without waiting for it."""
        room = self.sizes.distinct
        size = self._window_size.get(portion.kind, min(room, LEAST_DISTINCT))
        if first + size > portion.base + room:
            different = distinct_from(portion.ordered, np.int32(first), room=room)
            portion = portion._replace(different=different, base=first)
        known = self._known or self._learn()
        self._counts, window = _count_window(
            self._counts,
            portion.different,
            known,
            np.int32(first - portion.base),
            self._graph_bits,
            size=size,
            codes=self.graphs.alphabet.codes,  # static: programs are compiled for an alphabet, not for a graph
            nodes=self.size,
        )
        return portion, first, size, window

    def _settle(self, pending: _PendingWindow | None) -> None:
        """Count the forms of a window that were not known, and the portion's other windows."""
        while pending is not None:
            portion, first, size, window = pending
            # A rehearsal goes on with a second, larger window if there may be many different codes.
            different = 4 * LEAST_DISTINCT if self._least_known == KNOWN else 1
            number, several, missing = fetched(window.numbers, (different, 1, 0))
            likely = min(self.sizes.distinct, power_of_four(number, LEAST_DISTINCT))
            self._window_size.setdefault(portion.kind, likely)
            if missing > NEW:
                # Nothing was counted. The device learns the forms, and then the same codes are counted in full.
                self.classifier.of_forms(np.asarray(window.forms)[:several])
                self._known = None
                pending = self._count(portion, first)
                continue
            if missing:
                forms, apart = np.asarray(window.new), np.asarray(window.apart)
                self._apart.append((self.classifier.of_forms(forms[:missing]), apart[:, :missing]))
                self._known = None
            first += size
            # A portion may have more different codes than one window holds.
            pending = self._count(portion, first) if first < portion.base + number else None

    def _learn(self) -> tuple[jax.Array, jax.Array]:
        """Send the device the forms that the classifier knows, and make room for the counts of all classes."""
        forms, index = self.classifier.known
        room = power_of_four(forms.size, self._least_known)
        # All ones, which are no form, keep the row ascending.
        padded = pad_rows(forms, room, np.iinfo(np.uint64).max), pad_rows(index.astype(np.int32), room)
        known: Any = put64(padded, self._device)
        self._known, self._any_known = known, self._any_known or forms.size > 0
        classes, width = len(self.classifier), self._counts.shape[1]
        if width <= classes:
            # There is room for more classes than are known, so that a few new ones compile nothing.
            self._counts = _add_columns(self._counts, more=power_of_four(classes + 1, self._width) - width)
        return known


class _CodeBuffer:
    """A device buffer of codes, counted when it is full.

    However many codes come at a time, one program writes them and one sorts them.

    Args:
      engine: counts the codes.
      room: how many codes are sorted together.
      weighted: whether codes have weights.
    """

    def __init__(self, engine: DeviceEngine, room: int, weighted: bool):
        self._engine, self._room, self._weighted = engine, room, weighted
        self._block = max(min(engine.sizes.block, room // 4), 1)
        self._used = 0
        self._codes: _WeightedCodes | None = None

    def fill(self, positions: int, write: Callable[..., _WeightedCodes]) -> None:
        """Write the codes at the first ``positions`` positions of some walks.

        Args:
          positions: how many positions there are.
          write: called with the buffer (which it may overwrite), int64 ``[3]`` (the first position, the number of
            blocks, and how many codes the buffer holds), and ``block=``; returns the buffer.
        """
        first = 0
        while first < positions:
            if self._used + self._block > self._room:
                self.hand_over()
            if self._codes is None:
                self._codes = self._engine.new_buffer(self._room, self._weighted)
            blocks = min(-(-(positions - first) // self._block), (self._room - self._used) // self._block)
            self._codes = write(self._codes, np.array([first, blocks, self._used]), block=self._block)
            # The next codes are written over the unused end of the last block.
            written = min(positions - first, blocks * self._block)
            first, self._used = first + written, self._used + written

    def hand_over(self) -> None:
        """Have the codes in the buffer counted."""
        if self._codes is not None and self._used:
            self._engine.add(*self._codes, used=self._used)
        self._used = 0


@partial(jit64, static_argnames="more")
def _add_columns(counts: jax.Array, *, more: int) -> jax.Array:
    return jnp.pad(counts, ((0, 0), (0, more)))


def _many_classes(graphs: CensusGraphs, size: int) -> bool:
    """Return whether there may be more than about a thousand classes.

    An undirected graph without labels has 853 classes of 7 nodes, a directed one 199 of 4.
    """
    alphabet = graphs.alphabet
    return alphabet.label_bits > 0 or size > (4 if alphabet.state_bits > 1 else 7)


@jit64
def _walks(dyads: Dyads, rows: Rows, at: jax.Array) -> tuple[Walks, jax.Array]:
    """Lay out walks; ``at`` holds the nodes of a row and the number of rows."""
    walks = kernel.open_walks(dyads, rows, at[0], at[1])
    return walks, for_host(walks.work.total)


@partial(jit64, static_argnames=("block", "bits"))
def _added_in_runs(
    dyads: Dyads, rows: Rows, walks: Walks, at: jax.Array, *, block: int, bits: int
) -> tuple[Candidates, Runs, jax.Array]:
    """Find candidates and their runs in one dispatch, so that the host waits once."""
    candidates, stop = kernel.candidates(dyads, rows, at[1], walks, at[0], block=block)
    runs = kernel.pattern_runs(jnp.sort(candidates.keys), at[0], bits=bits)
    number = runs.count.sum(dtype=jnp.int32)
    return candidates, runs, shared.numbers_for_host(stop, candidates.work.total, runs.work.total, number)


@partial(jit64, donate_argnames="buffer", static_argnames=("block", "wide"))
def _gather_visits(
    dyads: Dyads, rows: Rows, candidates: Candidates, buffer: _WeightedCodes, at: jax.Array, *, block: int, wide: bool
) -> _WeightedCodes:
    """Write the codes of candidates' neighbours after those in the buffer; ``at`` as of ``visit_blocks``."""
    return shared.visit_blocks(dyads, rows, candidates, buffer[0], at, block, wide), None


@partial(jit64, donate_argnames="buffer", static_argnames=("block", "wide"))
def _gather_pairs(
    dyads: Dyads, rows: Rows, runs: Runs, buffer: _WeightedCodes, at: jax.Array, *, block: int, wide: bool
) -> _WeightedCodes:
    """Write the codes of pairs, and how many pairs have each, after those in the buffer."""

    def body(index: jax.Array, buffer: _WeightedCodes) -> _WeightedCodes:
        offset = index * block
        codes, weights = kernel.pair_codes(dyads, rows, runs, at[0] + offset, block=block, wide=wide)
        assert buffer[1] is not None
        place = at[2] + offset
        return shared.put_codes(buffer[0], codes, place), lax.dynamic_update_slice(buffer[1], weights, (place,))

    return lax.fori_loop(jnp.int64(0), at[1], body, buffer)


@partial(jit64, static_argnums=(1, 2, 3))
def _full(code: jax.Array, wide: bool, weighted: bool, room: int) -> _WeightedCodes:
    """Fill a buffer with one code.

    The code is bound to a device, and so is the buffer, as what is written there later will be. Otherwise each size
    would be compiled for twice.
    """
    codes = jnp.full((2, room) if wide else (room,), code, jnp.uint32)
    return codes, jnp.full(room, code, jnp.int64) if weighted else None


@partial(jit64, static_argnames=("length", "room"))
def _sort_portion(
    codes: jax.Array, weights: jax.Array | None, used: jax.Array, *, length: int, room: int
) -> tuple[SortedCodes, DistinctCodes]:
    """Sort the first ``used`` codes of at most ``length``, and list their first different ones.

    All that depends on the number of codes is in this program.
    """
    real = jnp.arange(length, dtype=jnp.int32) < used
    codes = jnp.where(real, codes[..., :length], all_ones(codes.dtype))
    ordered = sort_codes(codes, None if weights is None else weights[:length])
    return ordered, distinct_from(ordered, jnp.int32(0), room=room)


def _number_forms(forms: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Give numbers to the distinct forms of an array, in which all ones stand for no form.

    A sort remembers the places, the sorted forms are ranked, and a scatter takes the ranks back to the places.

    Returns:
      The distinct forms, ascending; the number of each form among them, int32, -1 for no form; and how many there are.
    """
    size = forms.shape[0]
    ascending, place = lax.sort((forms, jnp.arange(size, dtype=jnp.int32)), num_keys=1)
    some = ascending != all_ones(forms.dtype)
    begins = some & first_of_each(ascending)
    rank = jnp.cumsum(begins, dtype=jnp.int32) - 1
    which = jnp.zeros(size, jnp.int32).at[place].set(jnp.where(some, rank, -1), unique_indices=True)
    distinct = jnp.full(size, all_ones(forms.dtype)).at[jnp.where(begins, rank, size)].set(ascending, mode="drop")
    return distinct, which, begins.sum(dtype=jnp.int32)


def signed_forms(code: jax.Array, real: jax.Array, codes: Codes, nodes: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Give numbers to the normal forms in which codes count.

    Each code adds to the count of its own form. The code of a pair of candidates with an edge also takes from the count
    of another form, that of the same pair without the edge.

    Args:
      code: uint64 ``[L]``, codes without a graph's number.
      real: bool ``[L]``, which entries are codes; the others are padding.
      codes: how subgraphs are written as codes.
      nodes: nodes of a subgraph.

    Returns:
      The distinct forms, ascending; the numbers among them of the form that each code is added to and of the one that
      it is taken from, int32 ``[2, L]``, -1 for none; and how many forms there are.
    """
    # A pair of candidates with an edge is taken from the class of the same pair without it (`HostEngine._classes`).
    old, edge = shared.last_pair(codes, nodes)
    joined = real & (code & old != 0) & (code & edge != 0) & (nodes > 2)
    both = normal_codes(jnp, jnp.concatenate([code, code & ~edge]), codes, nodes)
    both = jnp.where(jnp.concatenate([real, joined]), both, all_ones(both.dtype))
    forms, which, several = _number_forms(both)
    return forms, which.reshape(2, -1), several


@partial(jit64, donate_argnums=0, static_argnames=("size", "codes", "nodes"))
def _count_window(
    counts: jax.Array,
    different: DistinctCodes,
    known: tuple[jax.Array, jax.Array],
    first: jax.Array,
    graph_bits: jax.Array,
    *,
    size: int,
    codes: Codes,
    nodes: int,
) -> tuple[jax.Array, _Window]:
    """Add different codes to counts, as far as their forms are known.

    Args:
      counts: int64 ``[graphs, width]``.
      different: the codes.
      known: the known forms, ascending, then all ones; and their classes.
      first: the first code that is added.
      graph_bits: bits of a graph's number.
      size: how many codes are added.
      codes: how subgraphs are written as codes.
      nodes: nodes of a subgraph.
    """
    known_forms, index = known
    own, times = (lax.dynamic_slice_in_dim(x, first, size) for x in (different.codes, different.times))
    real = jnp.arange(size, dtype=jnp.int32) < different.number - first
    code, graph = own >> graph_bits, own & ((jnp.uint64(1) << graph_bits) - jnp.uint64(1))
    graph = graph.astype(jnp.int32)
    forms, which, several = signed_forms(code, real, codes, nodes)
    # Forms that are not known get numbers among the new ones. Past the last known form stands one that equals no form,
    # so that the comparison decides.
    at = jnp.minimum(jnp.searchsorted(known_forms, forms, method="scan_unrolled"), known_forms.size - 1)
    is_new = (jnp.arange(forms.size, dtype=jnp.int32) < several) & (take(known_forms, at) != forms)
    missing, place = is_new.sum(dtype=jnp.int32), jnp.cumsum(is_new, dtype=jnp.int32) - 1
    # There are at most NEW places: more new forms count as missing, and then nothing is counted.
    new = jnp.full(NEW, all_ones(forms.dtype)).at[jnp.where(is_new, place, NEW)].set(forms, mode="drop")
    # Known forms are counted by class, new ones by their number; an index out of bounds adds nothing.
    apart = jnp.zeros((counts.shape[0], NEW), jnp.int64)
    # Each code comes twice: added to its own class, and taken from that of the pair without an edge.
    for form, sign in zip(which, (1, -1), strict=True):
        # With too many new forms nothing is counted, and the window comes again.
        some, form = (form >= 0) & (missing <= NEW), jnp.maximum(form, 0)
        late = take(is_new, form)
        known_to, new_to = (jnp.where(some & here, graph, counts.shape[0]) for here in (~late, late))
        counts = counts.at[known_to, take(index, take(at, form))].add(sign * times, mode="drop")
        apart = apart.at[new_to, take(place, form)].add(sign * times, mode="drop")
    numbers = jnp.stack([different.number, several, missing])
    return counts, _Window(for_host(numbers), forms, for_host(new), for_host(apart))
