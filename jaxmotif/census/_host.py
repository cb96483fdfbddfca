"""The engine of a census on a CPU: NumPy sorts candidates and codes, and lays out walks."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, put64
from jaxmotif.census import _engine as shared
from jaxmotif.census._code_counts import last_pair, merged_codes
from jaxmotif.kernels import _subgraphs as kernel
from jaxmotif.kernels._expand import FlatWork, flat_work
from jaxmotif.kernels._subgraphs import Candidates, Dyads, Rows, Runs, Walks


class HostEngine(shared.CensusEngine):
    """The engine for CPUs: it sorts each portion of codes, merges equal ones, and classifies them at the end."""

    @staticmethod
    def open_walks(dyads: Dyads, rows: Rows, nodes: int, count: int) -> tuple[Walks, int]:
        # A device lays out a whole table; NumPy does it for the rows in use alone.
        room, capacity = rows.nodes.shape
        members, begins = (np.asarray(x)[:nodes, :count] for x in (rows.nodes, rows.begins))
        length = np.asarray(dyads.offsets)[members + 1] - begins
        lists = np.zeros((count, room), np.int64)
        lists[:, :nodes] = np.where(np.arange(nodes)[:, None] >= np.asarray(rows.rank)[:count], length, 0).T
        items, ends = np.flatnonzero(lists), lists.cumsum()
        starts = ends[items] - lists.reshape(-1)[items]
        total = int(ends[-1])
        arrays = (
            np.pad(items.astype(np.int32), (0, room * capacity - items.size)),
            np.pad(starts, (0, room * capacity + 1 - starts.size), constant_values=total),
            np.pad(ends[room - 1 :: room], (0, capacity - count), mode="edge"),
        )
        (device,) = dyads.offsets.devices()
        on_device: list[Any] = [*put64(arrays, device)]
        return Walks(FlatWork(*on_device[:2]), on_device[2]), total

    def room_for_candidates(self, count: int, walks: Walks) -> int:
        # A small table has all its candidates looked at together, a large one as many as fit.
        positions = int(np.asarray(walks.work.starts)[-1])
        return self.sizes.fit(max(count, positions), self.sizes.candidates)

    def find_candidates(self, rows: Rows, walks: Walks, first: int, count: int, block: int) -> shared.CandidateBatch:
        at = np.array([first, count], np.int32)
        candidates, numbers = _added(self._dyads, rows, walks, at, block=block)
        bits = int(self._dyads.new_bits(self.size - 2))
        runs, pairs, number = pattern_runs(np.sort(np.asarray(candidates.keys)), first, bits)
        stop, visits = np.asarray(numbers).tolist()
        return shared.CandidateBatch(candidates, runs, stop, visits, pairs, number)

    def add_pairs(self, rows: Rows, runs: Runs, positions: int) -> None:
        block = self.sizes.fit(positions, self.sizes.candidates)
        for first in range(0, positions, block):
            self.add(*_pairs(self._dyads, rows, runs, np.int64(first), block=block, wide=self._wide))

    def add_visits(self, rows: Rows, candidates: Candidates, positions: int) -> None:
        block, first = self.sizes.fit(positions, self.sizes.block), 0
        # The empty rest of the room is cut off by a view, so the room may always be the largest.
        room = max(self.sizes.codes, block)
        while first < positions:
            blocks = -(-min(positions - first, room) // block)
            at = np.array([first, blocks])
            codes = _visits(self._dyads, rows, candidates, at, room=room, block=block, wide=self._wide)
            self.add(codes, used=blocks * block)
            first += blocks * block

    def add(self, codes: jax.Array | np.ndarray, weights: jax.Array | None = None, used: int | None = None) -> None:
        words = np.asarray(codes)[..., :used]
        if words.ndim == 2:
            words = (words[0].astype(np.uint64) << np.uint64(32)) | words[1]
        real = words != np.iinfo(words.dtype).max
        if weights is None:
            # Values alone are enough here: a plain sort is faster than one that carries places.
            words, times = np.sort(words[real]), None
        else:
            times = np.asarray(weights)[:used]
            real &= times > 0
            order = np.argsort(words[real], kind="stable")
            words, times = words[real][order], times[real][order]
        self.keep(merged_codes(words, times))

    def classes_of(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # A pair of candidates with an edge is taken from the class of the same pair without it.
        old, edge = last_pair(self._dyads.codes, self.size)
        # Subgraphs of two nodes have no pair of candidates.
        joined = (codes & old != 0) & (codes & edge != 0) & (self.size > 2)
        index = self.classifier(np.concatenate([codes, codes[joined] & ~edge]))
        without = np.full(codes.size, -1, np.int64)
        without[joined] = index[codes.size :]
        return index[: codes.size], without


def pattern_runs(keys: np.ndarray, first: int, bits: int) -> tuple[Runs, int, int]:
    """Count how often each pattern occurs among the candidates of each row.

    This is :func:`jaxmotif.kernels._subgraphs.pattern_runs` in NumPy, which works on the candidates alone and not on a
    whole block.

    Args:
      keys: unsigned ``[B]``, keys of candidates, ascending, then all ones.
      first: the row that the keys count from.
      bits: bits of a pattern.

    Returns:
      The runs, the length of their walks together, and the number of candidates.
    """
    real = keys[: np.searchsorted(keys, keys.dtype.type(np.iinfo(keys.dtype).max))]
    begins = np.flatnonzero(np.diff(real, prepend=~real[:1]))
    count = np.diff(begins, append=real.size)
    row = (real[begins] >> bits).astype(np.int32)
    pattern = (real[begins] & ((1 << bits) - 1)).astype(np.uint32)
    last = np.searchsorted(row, row, side="right") - 1
    work = flat_work(np, last - np.arange(begins.size) + (count > 1))
    room = keys.size - begins.size
    entries = row + np.int32(first), pattern, count.astype(np.int32), work.items
    fields: list[Any] = [np.pad(x, (0, room)) for x in entries]  # NumPy's arrays do as well as JAX's on a CPU
    rows, patterns, counts, items = fields
    walks = FlatWork(items, np.pad(work.starts, (0, room), mode="edge"))
    return Runs(rows, patterns, counts, walks), int(work.total), real.size


_pairs = jit64(kernel.pair_codes, quick=shared.ONE_PASS, static_argnames=("block", "wide"))


@partial(jit64, quick=shared.BLOCKS, static_argnames="block")
def _added(dyads: Dyads, rows: Rows, walks: Walks, at: jax.Array, *, block: int) -> tuple[Candidates, jax.Array]:
    """Find candidates; ``at`` holds the first row and the number of rows."""
    candidates, stop = kernel.candidates(dyads, rows, at[1], walks, at[0], block=block)
    return candidates, shared.numbers_for_host(stop, candidates.work.total)


@partial(jit64, quick=shared.BLOCKS, static_argnames=("room", "block", "wide"))
def _visits(
    dyads: Dyads, rows: Rows, candidates: Candidates, at: jax.Array, *, room: int, block: int, wide: bool
) -> jax.Array:
    """Write the codes of some blocks of positions; ``at`` holds the first position and the number of blocks."""
    # Room that is left over holds all ones.
    codes = jnp.full((2, room) if wide else (room,), kernel.NO_CODE, jnp.uint32)
    return shared.visit_blocks(dyads, rows, candidates, codes, jnp.append(at, 0), block, wide)
