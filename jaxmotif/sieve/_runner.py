"""Runs of the sieve on several devices: padded shapes, memory, and the subsets divided into units of blocks."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import jax
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.devices._job import Job, JobOptions, Task, run_job, workers_on
from jaxmotif.devices._memory import check_budget, compiled_bytes, default_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, xored
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.kernels import _sieve_round as sieve_round
from jaxmotif.kernels import _sieve_rows as sieve_rows
from jaxmotif.kernels._sieve_rows import Rows
from jaxmotif.sieve import _polynomials as polynomials
from jaxmotif.sieve._prune import ColoredGraph

_STEP_WORK = {"cpu": 4e9, "accelerator": 2e12}
"""Word operations of a unit, which take a fraction of a second, so that progress shows and Ctrl-C works."""

_UNIT_WORDS = {"cpu": 8, "accelerator": 32}
"""Fewest words of a unit. The words share the work of preparing a vertex's neighbours; too few leave lanes idle."""

_ITEMS = 2**12  # most items of a job, each of equally many words; checkpoints record which items are done


Uploaded: TypeAlias = tuple[tuple[jax.Array, jax.Array, jax.Array], ...]
"""For each device offsets, targets and shades of a graph, padded."""


class Placed(NamedTuple):
    """A graph on the devices.

    Attributes:
      arrays: for each device the adjacency rows, the number of each vertex in them, and its shades.
      n: the true number of vertices.
    """

    arrays: tuple[tuple[Rows, jax.Array, jax.Array], ...]
    n: int


class Sieve:
    """A sieve for motifs of one size, on some devices and in limited memory (bytes, on each).

    Attributes:
      notes: sentences on what had to be done differently in the runs so far.
    """

    def __init__(self, size: int, devices: Devices = None, memory: int | None = None):
        self.size = size
        self.selection = select_devices(devices)
        self.notes: tuple[str, ...] = ()
        self._workers = workers_on(self.selection, helper_workers=1)
        used = [self.selection.main, *(worker.device for worker in self._workers)]
        self._devices = tuple(dict.fromkeys(used))
        self._memory = memory

    def upload(self, graph: ColoredGraph, sizes: tuple[int, int] | None = None) -> Uploaded:
        """Pad a graph, and put its arrays on the devices.

        Args:
          graph: the graph.
          sizes: padded numbers of vertices and slots; the graph's :func:`capacities` by default.
        """
        vertices, slots = sizes or capacities(graph)
        offsets, targets = graph.tree_slots()
        arrays = (
            _padded(offsets, vertices + 1, "edge"),
            _padded(targets, slots, "constant"),
            _padded(graph.shades, vertices, "constant"),
        )
        return tuple(jax.device_put(arrays, device) for device in self._devices)

    def place(self, graph: ColoredGraph, uploaded: Uploaded | None = None) -> Placed:
        """Order a graph's rows for the sieve on the devices, where its arrays may have been uploaded."""
        uploaded = self.upload(graph) if uploaded is None else uploaded
        has_pieces = bool(sieve_rows.num_pieces(np.diff(graph.tree_slots()[0])).any())
        pieces = sieve_rows.max_pieces(uploaded[0][1].shape[0]) if has_pieces else 0
        planned = [(*_plan(offsets, targets, pieces=pieces), shades) for offsets, targets, shades in uploaded]
        return Placed(tuple(planned), graph.n)

    def values(self, placed: Placed, key: jax.Array, number: int = 1, options: JobOptions | None = None) -> np.ndarray:
        """Run the sieve once, and return its value at each vertex, uint8 ``[n]``.

        Args:
          placed: the graph.
          key: a random key; the same key gives the same values on any devices.
          number: the number of the run, in the name of its checkpoint and on the meter.
          options: what to keep and to show, on the devices of the sieve; by default nothing.
        """
        rows = placed.arrays[0][0]
        programs = "sieve", self.selection.main, self.size, self._memory, rows.pieces, rows.targets.shape
        run = partial(self._run, placed, key, number, options or JobOptions(self.selection))
        return rehearsed(run, self.selection.main, programs)

    def _run(self, placed: Placed, key: jax.Array, number: int, options: JobOptions) -> np.ndarray:
        draws: dict[jax.Device, polynomials.Draw] = {}
        for device, arrays in zip(self._devices, placed.arrays, strict=True):
            data = jax.device_put(jax.random.key_data(key), device)
            static = {"impl": jax.random.key_impl(key), "size": self.size}
            if self._memory is not None:
                check_budget(self._memory, compiled_bytes(_draw, arrays, data, **static), "the random values")
            draws[device] = polynomials.Draw(*arrays[:2], *_draw(arrays, data, **static))
        main = draws[self.selection.main]
        words = polynomials.num_words(self.size)
        # Items are stretches of subsets. They do not depend on the blocks, and so neither does a checkpoint.
        items = min(words, _ITEMS)
        parts = self._parts(main.rows, words)

        def make(device: jax.Device) -> _Task:
            block = self._block_words(draws[device], device, max(1, words // parts))
            return _Task(draws[device], device, words // items, block)

        starts = np.arange(items + 1, dtype=np.int64) * ((1 << self.size) // items)
        job = Job(f"sieve-{number}", starts, parts, xored, "subsets", f"sieving, run {number}")
        done = run_job(job, make, options, self._workers)
        self.notes += done.notes
        total = jax.device_put(done.found["total"], self.selection.main)
        return np.asarray(_by_vertex(total, main.rank))[: placed.n]

    def _parts(self, rows: sieve_rows.Rows, words: int) -> int:
        """Return how many units there are: each is short, and there are several for each device if the work allows."""
        forms = sum(sieve_round.num_forms(self.size))
        work = 60.0 * rows.targets.shape[0] * forms + 60.0 * rows.vertices * self.size**2  # for one word, roughly
        devices = len(self.selection.devices)
        kind = "accelerator" if target_of(self.selection.main).is_accelerator else "cpu"
        most = words // _UNIT_WORDS[kind]
        parts = min(int(words * work / _STEP_WORK[kind]), most)
        if parts and devices > 1:
            parts = max(parts, min(8 * devices, most))
        return min(words, _ITEMS, 1 << (max(parts, devices) - 1).bit_length())

    def _block_words(self, draw: polynomials.Draw, device: jax.Device, share: int) -> int:
        """Return the words of a block: enough to fill the device, few enough for its memory, at most ``share``."""
        rows = draw.rows
        words = min(share, polynomials.block_words(self.size, rows.vertices, target_of(device)))
        # A word takes eight planes of four bytes, in k rows for every vertex and at most k / 2 sums for every piece.
        bytes_of_word = 32 * (self.size * rows.vertices + (self.size // 2) * rows.pieces)
        room = default_memory(device) if self._memory is None else self._memory - _nbytes(draw)
        # A GPU's kernels are at most a tenth faster with more than eight words, which is not worth most of its memory.
        few = 8 if target_of(device).fused else words
        while words > 1 and bytes_of_word * words > (room if words <= few else room // 4):
            words //= 2
        if self._memory is None:
            return words
        total, blocks = jax.device_put((np.zeros(rows.vertices, np.uint8), np.zeros(2, np.int32)), device)
        # The estimate is checked by what XLA says: blocks are halved until the program fits.
        while True:
            needed = compiled_bytes(_advance, draw, total, blocks, words=words)
            if needed <= self._memory or words == 1:
                check_budget(self._memory, needed, "the random values and the smallest block of subsets")
                return words
            words //= 2


class _Task(Task):
    """The task of one worker: the XOR over the blocks that it has done, on its device."""

    def __init__(self, draw: polynomials.Draw, device: jax.Device, words_per_item: int, block: int):
        self._draw, self._device, self._item, self._block = draw, device, words_per_item, block
        self._start()

    def _start(self) -> None:
        self._total = jax.device_put(np.zeros(self._draw.rows.vertices, np.uint8), self._device)

    def step(self, span: Span) -> None:
        at, end = span.first * self._item, span.stop * self._item
        total = self._total
        while at < end:
            # A block begins at a multiple of its size, so that blocks at the ends of a span may be smaller.
            block = min(self._block, at & -at or self._block, 1 << ((end - at).bit_length() - 1))
            stop = end // block * block if block == self._block else at + block
            blocks = jax.device_put(np.array([at // block, stop // block], np.int32), self._device)
            total = _advance(self._draw, total, blocks, words=block)
            at = stop
        # The host waits, so that the meter and limits of time see the true progress.
        self._total = jax.block_until_ready(total)

    def collect(self) -> Arrays:
        sums = {"total": np.asarray(self._total)}
        self._start()
        return sums

    def halve(self) -> str | None:
        if self._block == 1:
            return None
        self._block //= 2
        # The steps since the last collection are done again.
        self._start()
        return f"blocks of {self._block} words"


def _nbytes(arrays: object) -> int:
    """Return the bytes of all arrays of a tree, none of which may be a placeholder of a rehearsal."""
    return sum(x.nbytes for x in jax.tree.leaves(arrays))


def capacities(graph: ColoredGraph) -> tuple[int, int]:
    """Return padded numbers of vertices and slots."""
    return max(32, bucket_size(graph.n)), max(256, bucket_size(_num_slots(graph)))


def smaller_capacities(graph: ColoredGraph, whole: tuple[int, int]) -> tuple[int, int]:
    """Return capacities for a part of a graph: those of the whole, divided by 16 as often as the part still fits.

    So all parts of a graph share few programs, and a ball in a large graph takes no longer than one in a small graph.
    To divide below 256 vertices would save less time than another program costs.
    """
    vertices, slots = whole
    while vertices // 16 >= max(graph.n, 256) and slots // 16 >= _num_slots(graph):
        vertices, slots = vertices // 16, slots // 16
    return vertices, slots


def _num_slots(graph: ColoredGraph) -> int:
    """Return the number of slots along which trees grow."""
    return graph.targets.shape[0] if graph.arcs is None else int(np.count_nonzero(graph.arcs))


def _padded(array: np.ndarray, size: int, mode: Literal["edge", "constant"]) -> np.ndarray:
    """Pad an array to a size."""
    return array if array.shape[0] == size else np.pad(array, (0, size - array.shape[0]), mode=mode)


_plan = jit64(sieve_rows.plan_rows, static_argnames="pieces")


@jit64(static_argnames=("impl", "size"))
def _draw(
    arrays: tuple[Rows, jax.Array, jax.Array], key_data: jax.Array, *, impl: Hashable, size: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Draw the labels and keys of a run, from a key as data; a program that returned the rows too would copy them."""
    drawn = polynomials.draw(*arrays, jax.random.wrap_key_data(key_data, impl=impl), size)
    return drawn.labels, drawn.first, drawn.later


@jit64(static_argnames="words", donate_argnames="total")
def _advance(draw: polynomials.Draw, total: jax.Array, blocks: jax.Array, *, words: int) -> jax.Array:
    """Add some blocks to the XOR so far."""
    return total ^ polynomials.accumulate(draw, blocks[0], blocks[1], words)


@jit64
def _by_vertex(total: jax.Array, rank: jax.Array) -> jax.Array:
    """Return the values of the rows in the order of the vertices."""
    return total[rank]
