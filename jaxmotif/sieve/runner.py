"""Runs of the sieve on given devices: padded shapes, memory, and the subsets divided into units of blocks."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.devices.job import Job, places, run_job
from jaxmotif.devices.ledger import Arrays, Store, xored
from jaxmotif.devices.memory import check_budget, compiled_bytes
from jaxmotif.devices.select import Devices, select_devices
from jaxmotif.devices.spans import Span
from jaxmotif.kernels import sieve_round, sieve_rows
from jaxmotif.kernels.choice import Backend, kernel_backend
from jaxmotif.sieve import polynomials
from jaxmotif.sieve.prune import Host

_STEP_WORK = {"xla": 4e9, "pallas-triton": 2e12}
"""Word operations a unit for each kernel: a fraction of a second, so that progress shows and Ctrl-C works."""

_ITEMS = 2**12  # at most so many, each of as many words of subsets; what is done is known by items


class Placed(NamedTuple):
    """A graph on the devices: for each, offsets, targets and shades, padded; its true size; room for pieces of long
    rows."""

    arrays: tuple[tuple[jax.Array, jax.Array, jax.Array], ...]
    n: int
    pieces: int


class Sieve:
    """The sieve for motifs of one size, on given devices and in given memory (bytes, on each).

    Attributes:
      notes: what had to be done differently in the runs so far, in words.
    """

    def __init__(self, size: int, devices: Devices = None, memory: int | None = None):
        self.size = size
        self.selection = select_devices(devices)
        self.notes: tuple[str, ...] = ()
        self._where = places(self.selection, helper_workers=1)
        used = [self.selection.main, *(place.device for place in self._where)]
        self._devices = tuple(dict.fromkeys(used))
        self._memory = memory

    def place(self, host: Host, sizes: tuple[int, int] | None = None) -> Placed:
        """Pads a graph and puts it on the devices.

        Args:
          host: the graph.
          sizes: padded numbers of vertices and slots; the host's :func:`capacities` when not given.
        """
        vertices, slots = sizes or capacities(host)
        arrays = (
            _padded(host.offsets, vertices + 1, "edge"),
            _padded(host.targets, slots, "constant"),
            _padded(host.shades, vertices, "constant"),
        )
        cut = bool(sieve_rows.num_pieces(np.diff(host.offsets)).any())
        pieces = sieve_rows.max_pieces(slots) if cut else 0
        return Placed(tuple(jax.device_put(arrays, device) for device in self._devices), host.n, pieces)

    def values(
        self,
        placed: Placed,
        key: jax.Array,
        number: int = 1,
        store: Store | None = None,
        show: bool = False,
    ) -> np.ndarray:
        """One run: the sieve's value at each vertex, uint8 ``[n]``.

        Args:
          placed: the graph.
          key: a random key; with the same key and padded sizes the values are the same on any devices.
          number: of the run, in the name of its checkpoint and on the meter.
          store: where to keep checkpoints.
          show: show a meter.
        """
        draws: dict[jax.Device, polynomials.Draw] = {}
        for device, arrays in zip(self._devices, placed.arrays, strict=True):
            same = next((other for other in draws if other.platform == device.platform), None)
            if same is None:
                data = jax.device_put(jax.random.key_data(key), device)
                static = {
                    "impl": jax.random.key_impl(key), "pieces": placed.pieces, "size": self.size,
                    "backend": kernel_backend(device),
                }  # fmt: skip
                if self._memory is not None:
                    check_budget(self._memory, compiled_bytes(_draw, *arrays, data, **static), "the random values")
                draws[device] = _draw(*arrays, data, **static)
            else:
                draws[device] = jax.device_put(draws[same], device)
        main = draws[self.selection.main]
        words = polynomials.num_words(self.size)
        items = min(words, _ITEMS)
        parts = self._parts(main.rows, words)

        def make(device: jax.Device) -> _Hand:
            block = self._block_words(placed, draws[device], device, max(1, words // parts))
            return _Hand(draws[device], device, words // items, block)

        starts = np.arange(items + 1, dtype=np.int64) * ((1 << self.size) // items)
        job = Job(f"sieve-{number}", starts, parts, xored, "subsets", f"sieving, run {number}")
        done = run_job(job, make, self._where, self.selection, store, show)
        self.notes += done.notes
        total = jax.device_put(done.found["total"], self.selection.main)
        return np.asarray(_values(total, main.rank, size=self.size))[: placed.n]

    def _parts(self, rows: sieve_rows.Rows, words: int) -> int:
        """Units: short enough to be heard between, several for each device where there is work for that."""
        forms = sum(sieve_round.num_forms(self.size))
        work = 60.0 * rows.targets.shape[0] * forms + 60.0 * rows.vertices * self.size**2  # for one word, roughly
        devices = len(self.selection.devices)
        least = int(words * work / _STEP_WORK[kernel_backend(self.selection.main)])
        most = max(least, 8 * devices) if least and devices > 1 else max(least, devices)
        return min(words, _ITEMS, 1 << (most - 1).bit_length())

    def _block_words(self, placed: Placed, draw: polynomials.Draw, device: jax.Device, share: int) -> int:
        """Words a block: enough to fill the device, few enough for its memory, no more than a unit's."""
        rows, backend = draw.rows, kernel_backend(device)
        words = min(share, polynomials.block_words(self.size, rows.vertices, backend))
        of_word = 32 * (self.size * rows.vertices + (self.size // 2) * rows.pieces)
        graph = _nbytes(placed.arrays[self._devices.index(device)])
        room = _free_memory(device) if self._memory is None else self._memory - graph - _nbytes(draw)
        while words > 1 and of_word * words > room:
            words //= 2
        if self._memory is None:
            return words
        total, blocks = jax.device_put((np.zeros(draw.labels.shape, np.uint32), np.zeros(2, np.int32)), device)
        while True:
            needed = graph + compiled_bytes(_advance, draw, total, blocks, words=words, backend=backend)
            if needed <= self._memory or words == 1:
                check_budget(self._memory, needed, "the random values and the smallest block of subsets")
                return words
            words //= 2


class _Hand:
    """The XOR over the blocks that one worker has done, on its device."""

    def __init__(self, draw: polynomials.Draw, device: jax.Device, words_per_item: int, block: int):
        self._draw, self._device, self._item, self._block = draw, device, words_per_item, block
        self._start()

    def _start(self) -> None:
        self._total = jax.device_put(np.zeros(self._draw.labels.shape, np.uint32), self._device)

    def step(self, span: Span) -> None:
        at, end = span.first * self._item, span.stop * self._item
        total = self._total
        while at < end:  # blocks lie at multiples of their size: smaller ones where the span has other bounds
            block = min(self._block, at & -at or self._block, 1 << ((end - at).bit_length() - 1))
            stop = end // block * block if block == self._block else at + block
            blocks = jax.device_put(np.array([at // block, stop // block], np.int32), self._device)
            total = _advance(self._draw, total, blocks, words=block, backend=kernel_backend(self._device))
            at = stop
        self._total = jax.block_until_ready(total)

    def collect(self) -> Arrays:
        found = {"total": np.asarray(self._total)}
        self._start()
        return found

    def halve(self) -> str | None:
        if self._block == 1:
            return None
        self._block //= 2
        self._start()
        return f"blocks of {self._block} words"


def _nbytes(arrays: Any) -> int:
    return sum(x.nbytes for x in jax.tree.leaves(arrays))


def _free_memory(device: jax.Device) -> int:
    """Half of what a device has free, or 2 GiB where it does not say."""
    stats = device.memory_stats() or {}
    if "bytes_limit" not in stats:
        return 2 << 30
    return (stats["bytes_limit"] - stats.get("bytes_in_use", 0)) // 2


def capacities(host: Host) -> tuple[int, int]:
    """Padded numbers of vertices and slots."""
    return padded(host.n, 32), padded(host.targets.shape[0], 256)


def padded(count: int, least: int) -> int:
    """Capacity for a count: at most an eighth more, so that graphs of about one size share a compilation.

    Example:
      >>> [padded(count, 32) for count in (1, 100, 1000, 1024, 20480)]
      [32, 104, 1024, 1024, 20480]
    """
    step = max(1, (1 << max(count - 1, 0).bit_length()) // 16)
    return max(least, -(-count // step) * step)


def _padded(array: np.ndarray, size: int, mode: Literal["edge", "constant"]) -> np.ndarray:
    return array if array.shape[0] == size else np.pad(array, (0, size - array.shape[0]), mode=mode)


@partial(jax.jit, static_argnames=("impl", "pieces", "size", "backend"))
def _draw(offsets, targets, shades, key_data, *, impl, pieces: int, size: int, backend: Backend):
    key = jax.random.wrap_key_data(key_data, impl=impl)
    return polynomials.draw(offsets, targets, shades, key, size, pieces, backend)


@partial(jax.jit, static_argnames=("words", "backend"))
def _advance(draw, total, blocks, *, words: int, backend: Backend):
    return total ^ polynomials.accumulate(draw, blocks[0], blocks[1], words, backend)


@partial(jax.jit, static_argnames=("size",))
def _values(total, rank, *, size):
    return polynomials.values(total, rank, size)
