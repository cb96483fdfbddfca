"""Counting subgraphs by class from their codes, many at a time, on the host or on a device."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels.census import Dyads, all_ones
from jaxmotif.kernels.choice import for_host, power_of_four
from jaxmotif.kernels.expand import first_ones, take
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.motifs.classes import Classifier, normal_codes
from jaxmotif.motifs.dyads import Alphabet

FEW = 1 << 12  # normal forms fetched together with their number
KNOWN = 1 << 14  # normal forms that a device knows the classes of, at first
NEW = 1 << 8  # those it does not know that are counted apart, at most
MERGE_AT = 1 << 23  # (code, count) entries held on the host before they are merged


Ordered = tuple[Any, Any, Any, Any]  # what :func:`_ordered` gives


class _Pending(NamedTuple):
    """Codes of which the first ``size`` different ones were counted as far as known; the rest is as
    :func:`_count_known` gives it."""

    size: int
    ordered: Ordered
    numbers: Any
    new: tuple[Any, Any]


class Tally:
    """Adds up codes as :mod:`jaxmotif.kernels.census` makes them.

    Codes of pairs of nodes with an edge between them also take one pair without an edge back: all pairs were counted
    as if they had none.

    Args:
      dyads: where the codes come from; size: nodes of a subgraph.
      classifier: asked for the class of every new code.
      distinct: as in :class:`jaxmotif.motifs.enumerate.Sizes`.
    """

    def __init__(self, dyads: Dyads, size: int, classifier: Classifier, distinct: int):
        self._graph_bits, self._size, self._classifier, self._distinct = dyads.graph_bits, size, classifier, distinct
        self._graphs = (dyads.offsets.shape[0] - 1) // max(dyads.n, 1)
        bits = sum(dyads.new_bits(i) for i in range(size)) + dyads.graph_bits
        self.wide = bits > 31
        """Whether codes take two words."""
        self._old = np.uint64((1 << dyads.state_bits * (size - 2)) - 1)
        self._edge = np.uint64(((1 << dyads.state_bits) - 1) << dyads.state_bits * (size - 2))
        self._how = {
            "graph_bits": dyads.graph_bits, "old": self._old, "edge": self._edge, "alphabet": classifier.alphabet,
            "nodes": size,
        }  # fmt: skip
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        # On a device: counts, known forms and their classes, what has not been looked at, and counts of new forms.
        self._on_device: Any = None
        self._known: tuple[Any, ...] = ()
        self._pending: _Pending | None = None
        self._late: list[tuple[np.ndarray, np.ndarray]] = []
        self._expected: dict[int, int] = {}  # different codes among so many

    def add(self, codes: Any, weights: Any = None) -> None:
        """Count codes, uint32 ``[L]`` or, when :attr:`wide`, ``[2, L]`` (high words first); all ones for none.

        Args:
          weights: int64 ``[L]``, how often each is to be counted.
        """
        if self._distinct:
            with wide_ints():
                self._add_on_device(codes, weights)
            return
        words = np.asarray(codes)
        if words.ndim == 2:
            words = (words[0].astype(np.uint64) << np.uint64(32)) | words[1]
        some = words != np.iinfo(words.dtype).max
        if weights is None:
            words, times = np.sort(words[some]), None
        else:
            times = np.asarray(weights)
            some &= times > 0
            order = np.argsort(words[some], kind="stable")
            words, times = words[some][order], times[some][order]
        self._parts.append(_merged(words, times))
        if sum(part[0].size for part in self._parts) > MERGE_AT:
            self._merge()

    def counts(self) -> np.ndarray:
        """int64 ``[graphs, classes]``."""
        if self._on_device is not None:
            return self._counted_on_device()
        self._merge()
        codes, times = self._parts[0] if self._parts else (np.zeros(0, np.uint64), np.zeros(0, np.int64))
        codes, graph = codes >> np.uint64(self._graph_bits), codes & np.uint64((1 << self._graph_bits) - 1)
        begins = _begins(codes)
        which = np.cumsum(begins) - 1
        index, without = (table[which] for table in self._classes(codes[begins]))
        classes = len(self._classifier)
        counts = np.zeros(self._graphs * classes, np.int64)
        cell = graph.astype(np.int64) * classes
        np.add.at(counts, cell + index, times)
        joined = without >= 0
        np.subtract.at(counts, (cell + without)[joined], times[joined])
        return counts.reshape(self._graphs, classes)

    def _classes(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The class of each code (distinct, ascending), and of the same pair without its edge, or -1."""
        joined = (codes & self._old != 0) & (codes & self._edge != 0)
        if self._size == 2:
            joined[:] = False
        both = np.concatenate([codes, codes[joined] & ~self._edge])
        found = self._classifier(both)
        without = np.full(codes.size, -1, np.int64)
        without[joined] = found[codes.size :]
        return found[: codes.size], without

    def _merge(self) -> None:
        if len(self._parts) > 1:
            codes = np.concatenate([part[0].astype(np.uint64) for part in self._parts])
            counts = np.concatenate([part[1] for part in self._parts])
            order = np.argsort(codes, kind="stable")
            self._parts = [_merged(codes[order], counts[order])]
        elif self._parts:
            self._parts = [(self._parts[0][0].astype(np.uint64), self._parts[0][1])]

    def _add_on_device(self, codes: Any, weights: Any) -> None:
        """Counts the forms that are known without waiting for the device, then looks at what came before."""
        if not self._known:
            self._learn()
        size = self._expected.get(codes.shape[-1])
        if size is None:
            self._count_all(_ordered(codes, weights), 0)
            return
        self._on_device, *rest = _count_known(self._on_device, codes, weights, *self._known, size=size, **self._how)
        last, self._pending = self._pending, _Pending(size, *rest)
        self._settle(last)

    def _settle(self, pending: _Pending | None) -> None:
        """Counts what was not known, and what was too much."""
        if pending is None:
            return
        number, missing = np.asarray(pending.numbers).tolist()
        first = 0 if missing > NEW else pending.size
        if 0 < missing <= NEW:
            forms, counts = jax.device_get(pending.new)
            self._late.append((self._classifier.of_forms(forms[:missing]), counts[:, :missing]))
            self._learn()
        if first < number:
            self._count_all(pending.ordered, first)

    def _count_all(self, ordered: Ordered, first: int) -> None:
        """Counts different codes from one on, whose forms the host looks at."""
        number, length = int(ordered[-1]), ordered[0].size
        most = min(self._distinct, length)
        self._expected[length] = _capacity(number, most)
        size = _capacity(number - first, most)
        for start in range(first, number, size):
            graph, times, forms, which, several, few = _forms(*ordered, np.int32(start), size=size, **self._how)
            several, few = jax.device_get((several, few))
            room = _capacity(int(several), 2 * size)
            if several > few.size:
                few = np.asarray(forms[:room])
            index = np.zeros(room, np.int32)
            index[:several] = self._classifier.of_forms(few[:several])
            self._learn()
            self._on_device = _count(self._on_device, graph, times, which, index)

    def _learn(self) -> None:
        """Takes over what the classifier knows, and makes room for counts of all classes."""
        forms, index = self._classifier.known
        room = power_of_four(forms.size, KNOWN)
        padded = np.full(room, np.iinfo(np.uint64).max), np.zeros(room, np.int32)
        for whole, part in zip(padded, (forms, index), strict=True):
            whole[: part.size] = part
        self._known = jax.device_put(padded)
        width = 1 << max(8, 2 * (len(self._classifier).bit_length() + 1) // 2)
        if self._on_device is None:
            self._on_device = jnp.zeros((self._graphs, width), jnp.int64)
        elif self._on_device.shape[1] < width:
            self._on_device = jnp.pad(self._on_device, ((0, 0), (0, width - self._on_device.shape[1])))

    def _counted_on_device(self) -> np.ndarray:
        with wide_ints():
            self._settle(self._pending)
            self._pending = None
        counts = np.asarray(self._on_device)[:, : len(self._classifier)]
        if not self._late:
            return counts
        classes = np.concatenate([index for index, _ in self._late])
        late = np.concatenate([times for _, times in self._late], axis=1)
        order = np.argsort(classes, kind="stable")
        classes, late = _merged(classes[order], late[:, order].T)
        counts = counts.copy()
        counts[:, classes] += late.T
        return counts


def _capacity(number: int, most: int) -> int:
    """A size for so many: few different ones, so few compilations."""
    return min(most, power_of_four(number, FEW))


def _begins(codes: np.ndarray) -> np.ndarray:
    return np.concatenate([np.ones(1, bool), codes[1:] != codes[:-1]])[: codes.size]


def _merged(codes: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct codes of sorted ones, and how often each occurs, or the sums of their counts."""
    begins = np.flatnonzero(_begins(codes))
    if counts is None:
        return codes[begins], np.diff(np.append(begins, codes.size))
    return codes[begins], np.add.reduceat(counts, begins) if begins.size else counts


@jax.jit
def _ordered(codes: Any, weights: Any) -> Ordered:
    """Codes in order; the sum of the weights before each and of all, int64 ``[L + 1]``; the number of each among the
    different ones; how many these are."""
    if codes.ndim == 2:
        codes = (codes[0].astype(jnp.uint64) << 32) | codes[1].astype(jnp.uint64)
    before = None
    if weights is None:
        codes = jnp.sort(codes)
    else:
        codes, weights = lax.sort((jnp.where(weights > 0, codes, all_ones(codes.dtype)), weights), num_keys=1)
        before = jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum(weights)])
    order = jnp.cumsum(first_ones(codes), dtype=jnp.int32) - 1
    return codes, before, order, order[-1] + (codes[-1] != all_ones(codes.dtype)).astype(jnp.int32)


@partial(jax.jit, static_argnames=("size", "graph_bits", "old", "edge", "alphabet", "nodes"))
def _forms(
    codes: Any, before: Any, order: Any, number: Any, first: Any,
    *, size: int, graph_bits: int, old: np.uint64, edge: np.uint64, alphabet: Alphabet, nodes: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Of ``size`` different codes from one on: the graph of each, and how often it occurs; the different normal forms,
    ascending, ``[2 * size]``; which of them each has, and the same pair of nodes without its edge, int32
    ``[2, size]``, or -1; how many forms there are, and the first few."""
    lane = jnp.arange(codes.shape[0], dtype=jnp.int32)
    place = jnp.where(first_ones(codes) & (order >= first), order - first, size + 1)
    start = jnp.full(size + 1, (codes != all_ones(codes.dtype)).sum(dtype=jnp.int32)).at[place].set(lane, mode="drop")
    real = jnp.arange(size, dtype=jnp.int32) < number - first
    ends = start.astype(jnp.int64) if before is None else take(before, start)
    times = jnp.where(real, ends[1:] - ends[:-1], 0)
    own = take(codes, jnp.minimum(start[:-1], codes.shape[0] - 1)).astype(jnp.uint64)
    graph, own = (own & ((1 << graph_bits) - 1)).astype(jnp.int32), own >> graph_bits

    joined = real & (own & old != 0) & (own & edge != 0)
    both = normal_codes(jnp, jnp.concatenate([own, own & ~edge]), alphabet, nodes)
    both = jnp.where(jnp.concatenate([real, joined & (nodes > 2)]), both, all_ones(both.dtype))
    ordered, place = lax.sort((both, jnp.arange(both.size, dtype=jnp.int32)), num_keys=1)
    some = ordered != all_ones(both.dtype)
    begins = some & first_ones(ordered)
    number = jnp.cumsum(begins, dtype=jnp.int32) - 1
    which = jnp.zeros(both.size, jnp.int32).at[place].set(jnp.where(some, number, -1), unique_indices=True)
    forms = jnp.zeros_like(both).at[jnp.where(begins, number, both.size)].set(ordered, mode="drop")
    return graph, times, forms, which.reshape(2, -1), begins.sum(dtype=jnp.int32), forms[:FEW]


@partial(jax.jit, donate_argnums=0)
def _count(counts: Any, graph: Any, times: Any, which: Any, index: Any) -> Any:
    """Add what :func:`_forms` found to counts ``[graphs, width]``, given the classes of the forms."""
    for forms, sign in ((which[0], 1), (which[1], -1)):
        at = jnp.where(forms >= 0, graph, counts.shape[0]), take(index, jnp.maximum(forms, 0))
        counts = counts.at[at].add(sign * times, mode="drop")
    return counts


@partial(jax.jit, donate_argnums=0, static_argnames=("size", "graph_bits", "old", "edge", "alphabet", "nodes"))
def _count_known(
    counts: Any, codes: Any, weights: Any, known: Any, index: Any, *, size: int, **how: Any
) -> tuple[Any, Ordered, Any, tuple[Any, Any]]:
    """Add the first ``size`` different codes, as far as their forms are known (ascending, then all ones; their
    classes), to the counts. Returns these; the codes in order; the number of codes and how many forms are new, int32
    ``[2]``; and up to :data:`NEW` of these forms, with counts ``[graphs, NEW]`` of their own. If there are more,
    nothing is added."""
    ordered = _ordered(codes, weights)
    graph, times, forms, which, several, _ = _forms(*ordered, jnp.int32(0), size=size, **how)
    at = jnp.minimum(jnp.searchsorted(known, forms, method="scan_unrolled"), known.size - 1)
    is_new = (jnp.arange(forms.size, dtype=jnp.int32) < several) & (take(known, at) != forms)
    missing, place = is_new.sum(dtype=jnp.int32), jnp.cumsum(is_new, dtype=jnp.int32) - 1
    new = jnp.full(NEW, all_ones(forms.dtype)).at[jnp.where(is_new, place, NEW)].set(forms, mode="drop")
    apart = jnp.zeros((counts.shape[0], NEW), jnp.int64)
    for form, sign in ((which[0], 1), (which[1], -1)):
        some, form = (form >= 0) & (missing <= NEW), jnp.maximum(form, 0)
        late = take(is_new, form)
        known_to, new_to = (jnp.where(some & here, graph, counts.shape[0]) for here in (~late, late))
        counts = counts.at[known_to, take(index, take(at, form))].add(sign * times, mode="drop")
        apart = apart.at[new_to, take(place, form)].add(sign * times, mode="drop")
    return counts, ordered, for_host(jnp.stack([ordered[-1], missing])), (new, apart)
