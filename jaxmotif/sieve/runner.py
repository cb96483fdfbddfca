"""Runs of the sieve on given devices: padded shapes, memory, blocks in steps, and the subsets split over the mesh."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.devices.mesh import AXIS, device_mesh, everywhere, on_each_device
from jaxmotif.kernels import sieve_round, sieve_rows
from jaxmotif.kernels.choice import Backend, kernel_backend
from jaxmotif.sieve import polynomials
from jaxmotif.sieve.prune import Host

_STEP_WORK = {"xla": 4e9, "pallas-triton": 2e12}
"""Word operations a step of each kernel: a fraction of a second, so that progress shows and Ctrl-C works."""


class Position(NamedTuple):
    """How far a run has come: words of subsets done, and their XOR (uint32 ``[V, 8]``)."""

    words: int
    total: np.ndarray | jax.Array


class Placed(NamedTuple):
    """A graph on the devices: offsets, targets and shades, padded; its true size; room for pieces of long rows."""

    arrays: tuple[jax.Array, jax.Array, jax.Array]
    n: int
    pieces: int


class Sieve:
    """The sieve for motifs of one size, on given devices and in given memory (bytes for the rows of a block)."""

    def __init__(self, size: int, devices: tuple[jax.Device, ...], memory: int | None = None):
        self.size = size
        self.mesh = device_mesh(devices)
        self.backend: Backend = kernel_backend(devices[0])
        self._memory = memory
        self._device = next(device for device in devices if device.process_index == jax.process_index())

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
        return Placed(everywhere(arrays, self.mesh), host.n, pieces)

    def values(
        self,
        placed: Placed,
        key: jax.Array,
        resume: Position | None = None,
        on_step: Callable[[Position], None] = lambda position: None,
    ) -> np.ndarray:
        """One run: the sieve's value at each vertex, uint8 ``[n]``.

        Args:
          placed: the graph.
          key: a random key; with the same key and padded sizes the values are the same on any devices.
          resume: where an earlier run of the same graph and key had come to.
          on_step: called after every step.
        """
        static = {"size": self.size, "backend": self.backend, "mesh": self.mesh}
        key_data = everywhere(jax.random.key_data(key), self.mesh)
        draw = _draw(*placed.arrays, key_data, impl=jax.random.key_impl(key), pieces=placed.pieces, **static)

        done, total = resume if resume is not None else (0, np.zeros(draw.labels.shape, np.uint32))
        total = everywhere(total, self.mesh)
        end, devices = polynomials.num_words(self.size), self.mesh.size
        words = self._block_words(draw.rows, -(-end // devices))
        work = self._work(draw.rows)
        while done < end:
            block = min(words, done & -done) if done else words
            a_step = max(1, int(_STEP_WORK[self.backend] / (block * work)))
            blocks = min(a_step, -(-(end - done) // (block * devices)))
            stop = min(done + blocks * block * devices, end)
            span = everywhere(np.array([done // block, blocks, stop // block], np.int32), self.mesh)
            total = _advance(draw, total, span, words=block, **static)
            done = stop
            on_step(Position(done, total))
        return np.asarray(_values(total, draw.rank, size=self.size))[: placed.n]

    def _work(self, rows: sieve_rows.Rows) -> float:
        """Word operations for one word of subsets, roughly."""
        forms = sum(sieve_round.num_forms(self.size))
        return 60.0 * rows.targets.shape[0] * forms + 60.0 * rows.vertices * self.size**2

    def _block_words(self, rows: sieve_rows.Rows, share: int) -> int:
        """Words a block: enough to fill the device, few enough for its memory, no more than a device's share."""
        words = polynomials.block_words(self.size, rows.vertices, self.backend)
        held = self.size * rows.vertices + (self.size // 2) * rows.pieces
        memory = self._free_memory() if self._memory is None else self._memory
        while words > 1 and (words >= 2 * share or 32 * held * words > memory):
            words //= 2
        return words

    def _free_memory(self) -> int:
        """Half of what the device has free, or 2 GiB where it does not say."""
        stats = self._device.memory_stats() or {}
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


_STATIC = ("size", "backend", "mesh")


@partial(jax.jit, static_argnames=("impl", "pieces", *_STATIC))
def _draw(offsets, targets, shades, key_data, *, impl, pieces, size, backend, mesh):
    def draw(offsets, targets, shades, key_data):
        key = jax.random.wrap_key_data(key_data, impl=impl)
        return polynomials.draw(offsets, targets, shades, key, size, pieces, backend)

    return on_each_device(draw, mesh)(offsets, targets, shades, key_data)


@partial(jax.jit, static_argnames=("words", *_STATIC))
def _advance(draw, total, span, *, words, size, backend, mesh):
    def advance(draw, total, span):
        first = jnp.minimum(span[0] + lax.axis_index(AXIS) * span[1], span[2])
        stop = jnp.minimum(first + span[1], span[2])
        parts = lax.all_gather(polynomials.accumulate(draw, first, stop, words, backend), AXIS)
        return total ^ lax.reduce(parts, np.uint32(0), lax.bitwise_xor, (0,))

    return on_each_device(advance, mesh)(draw, total, span)


@partial(jax.jit, static_argnames=("size",))
def _values(total, rank, *, size):
    return polynomials.values(total, rank, size)
