"""The engine of a census on an accelerator: codes stay on the device, and the counts of their normal forms leave it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import end_rehearsal, fetched
from jaxmotif.arrays._compile import for_host, jit64, put64
from jaxmotif.arrays._rows import first_of_each
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.census import _engine as shared
from jaxmotif.census._code_counts import CodeCounts, Portion, grouped_forms, sort_portion
from jaxmotif.census._pair_states import CensusGraphs
from jaxmotif.kernels import _subgraphs as kernel
from jaxmotif.kernels._subgraphs import Candidates, Dyads, Rows, Runs, Walks, all_ones

LEAST_DISTINCT = 1 << 16  # least number of different codes looked at together: fewer take as long
LEAST_SORTED = 1 << 20  # least number of codes sorted together: fewer take as long

_WeightedCodes = tuple[jax.Array, jax.Array | None]

_Pending = tuple[tuple[int, bool], Callable[[], tuple[CodeCounts, int]]]
"""The kind of a portion (its room, and whether codes count once), and a function that waits for its forms."""


class DeviceEngine(shared.CensusEngine):
    """The engine for accelerators, which count codes by their normal forms, so that the host has few to classify.

    While the host classifies the forms of one portion of codes, the device counts the next portion.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        (self._device,) = self.graphs.dyads.offsets.sharding.device_set
        self._no_code: Any = put64(np.uint32(kernel.NO_CODE), self._device)
        # Codes looked at together, by the kind of a portion: about as many as its first portion had different ones.
        # Codes of pairs have fewer distinct values than others.
        self._window_size: dict[tuple[int, bool], int] = {}
        self._pending: _Pending | None = None
        self._pairs = _CodeBuffer(self, self.sizes.candidates, weighted=True)
        self._visits = _CodeBuffer(self, self.sizes.codes, weighted=False)

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
        forms = grouped_forms(
            _sort_portion(codes, weights, np.int32(number), length=length, room=self.sizes.distinct),
            self._dyads.codes,  # static: programs are compiled for an alphabet, not for a graph
            self.size,
            self._window_size.get(kind, min(self.sizes.distinct, LEAST_DISTINCT)),
            self.graphs.graph_bits,
            signed=self.size > 2,
            # A rehearsal goes on with a second, larger window if there may be many different codes.
            likely=4 * LEAST_DISTINCT if _many_classes(self.graphs, self.size) else 1,
        )
        # This portion is under way before the host looks at the last one.
        last, self._pending = self._pending, (kind, forms)
        self._settle(last)

    def counts(self) -> np.ndarray:
        for buffer in (self._pairs, self._visits):
            buffer.hand_over()
        self._settle(self._pending)
        end_rehearsal()
        self._pending = None
        return super().counts()

    def classes_of(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.classifier.of_forms(codes), np.full(codes.size, -1)

    def new_buffer(self, room: int, weighted: bool) -> _WeightedCodes:
        """Make room for codes, and for their weights."""
        return _full(self._no_code, self._wide, weighted, room)

    def _settle(self, pending: _Pending | None) -> None:
        """Wait for the forms of a portion, and classify those that are new."""
        if pending is not None:
            kind, finish = pending
            part, different = finish()
            self._window_size.setdefault(kind, min(self.sizes.distinct, power_of_four(different, LEAST_DISTINCT)))
            forms = part[0] >> np.uint64(self.graphs.graph_bits)
            self.classifier.of_forms(forms[first_of_each(forms)])
            self.keep(part)


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


def _many_classes(graphs: CensusGraphs, size: int) -> bool:
    """Return whether there may be more than about a thousand classes.

    An undirected graph without labels has 853 classes of 7 nodes, a directed one 199 of 4.
    """
    codes = graphs.dyads.codes
    return codes.label_bits > 0 or size > (4 if codes.state_bits > 1 else 7)


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
def _sort_portion(codes: jax.Array, weights: jax.Array | None, used: jax.Array, *, length: int, room: int) -> Portion:
    """Sort the first ``used`` codes of at most ``length``; all that depends on their number is in this program."""
    real = jnp.arange(length, dtype=jnp.int32) < used
    codes = jnp.where(real, codes[..., :length], all_ones(codes.dtype))
    return sort_portion(codes, None if weights is None else weights[:length], room)
