"""Counting subgraphs by class from their codes, many at a time, on the host or on a device."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels.census import Dyads
from jaxmotif.kernels.expand import take
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.motifs.classes import Classifier

MERGE_AT = 1 << 23  # (code, count) entries held on the host before they are merged


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
        self._before = np.uint64((1 << dyads.state_bits * (size - 2)) - 1)
        self._edge = np.uint64(((1 << dyads.state_bits) - 1) << dyads.state_bits * (size - 2))
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._on_device: Any = None

    def add(self, codes: Any, weights: Any = None) -> None:
        """Count codes, uint32 ``[L]`` or, when :attr:`wide`, ``[2, L]`` (high words first); all ones for none.

        Args:
          weights: int64 ``[L]``, how often each is to be counted.
        """
        if self._distinct:
            with wide_ints():
                if self._add_on_device(codes, weights):
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
        self._merge()
        codes, times = self._parts[0] if self._parts else (np.zeros(0, np.uint64), np.zeros(0, np.int64))
        codes, graph = codes >> np.uint64(self._graph_bits), codes & np.uint64((1 << self._graph_bits) - 1)
        begins = _begins(codes)
        which = np.cumsum(begins) - 1
        index, without = (table[which] for table in self._classes(codes[begins]))
        classes = len(self._classifier.classes)
        counts = np.zeros(self._graphs * classes, np.int64)
        cell = graph.astype(np.int64) * classes
        np.add.at(counts, cell + index, times)
        joined = without >= 0
        np.subtract.at(counts, (cell + without)[joined], times[joined])
        counts = counts.reshape(self._graphs, classes)
        if self._on_device is not None:
            device = np.asarray(self._on_device)
            counts += device[:, :classes]
        return counts

    def _classes(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The class of each code (distinct, ascending), and of the same pair without its edge, or -1."""
        joined = (codes & self._before != 0) & (codes & self._edge != 0)
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

    def _add_on_device(self, codes: Any, weights: Any) -> bool:
        """Whether few enough different codes were among them."""
        codes, before, order, found, number = _distinct(codes, weights, self._graph_bits, self._distinct)
        number = int(number)
        if number > self._distinct:
            return False
        some = min(self._distinct, 1 << max(number - 1, 0).bit_length())  # few different sizes, so few compilations
        distinct = np.asarray(found[:some])[:number].astype(np.uint64)
        real = distinct.size - (number > 0 and bool(distinct[-1] >= np.iinfo(found.dtype).max >> self._graph_bits))
        index = np.full((2, some), -1, np.int32)
        index[:, :real] = self._classes(distinct[:real])
        width = 1 << max(8, 2 * (len(self._classifier.classes).bit_length() + 1) // 2)
        if self._on_device is None:
            self._on_device = jnp.zeros((self._graphs, width), jnp.int64)
        elif self._on_device.shape[1] < width:
            self._on_device = jnp.pad(self._on_device, ((0, 0), (0, width - self._on_device.shape[1])))
        self._on_device = _count(self._on_device, codes, before, order, index, self._graph_bits)
        return True


def _begins(codes: np.ndarray) -> np.ndarray:
    return np.concatenate([np.ones(1, bool), codes[1:] != codes[:-1]])[: codes.size]


def _merged(codes: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct codes of sorted ones, and how often each occurs, or the sums of their counts."""
    begins = np.flatnonzero(_begins(codes))
    if counts is None:
        return codes[begins], np.diff(np.append(begins, codes.size))
    return codes[begins], np.add.reduceat(counts, begins) if begins.size else counts


@partial(jax.jit, static_argnames=("graph_bits", "distinct"))
def _distinct(codes: Any, weights: Any, graph_bits: int, distinct: int) -> tuple[Any, ...]:
    """Codes in order; counts before each and in all, int64 ``[L + 1]``; the number of each among the distinct ones
    (graphs not told apart); these, ``[distinct]``; and how many they are."""
    if codes.ndim == 2:
        codes = (codes[0].astype(jnp.uint64) << 32) | codes[1].astype(jnp.uint64)
    if weights is None:
        codes, before = jnp.sort(codes), jnp.arange(codes.shape[0] + 1, dtype=jnp.int64)
    else:
        codes = jnp.where(weights > 0, codes, jnp.array(jnp.iinfo(codes.dtype).max, codes.dtype))
        codes, weights = lax.sort((codes, weights), num_keys=1)
        before = jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum(weights)])
    plain = codes >> graph_bits
    begins = jnp.concatenate([jnp.ones(1, bool), plain[1:] != plain[:-1]])
    order = jnp.cumsum(begins, dtype=jnp.int32) - 1
    place = jnp.where(begins, order, distinct)
    found = jnp.zeros(distinct, codes.dtype).at[place].set(plain, mode="drop")
    return codes, before, order, found, order[-1] + 1


@partial(jax.jit, donate_argnums=0, static_argnames="graph_bits")
def _count(counts: Any, codes: Any, before: Any, order: Any, index: Any, graph_bits: int) -> Any:
    """Add what :func:`_distinct` found to counts ``[graphs, width]``, given the classes of the distinct codes."""
    graphs, width = counts.shape
    change, one = codes[1:] != codes[:-1], jnp.ones(1, bool)
    real = codes != jnp.array(jnp.iinfo(codes.dtype).max, codes.dtype)
    edges = (jnp.concatenate([change, one]), before[1:]), (jnp.concatenate([one, change]), -before[:-1])
    graph = (codes & ((1 << graph_bits) - 1)).astype(jnp.int64)
    cells = counts.reshape(-1)
    for classes, sign in ((index[0], 1), (index[1], -1)):
        group = take(classes, jnp.minimum(order, classes.shape[0] - 1))
        cell = graph * width + group.astype(jnp.int64)
        for edge, value in edges:
            at = jnp.where(edge & real & (group >= 0), cell, graphs * width)
            cells = cells.at[at].add(sign * value, mode="drop")
    return cells.reshape(graphs, width)
