"""Runs of the sieve on given devices: padded shapes, memory, blocks in steps, and the subsets split over the mesh."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

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


class Sieve:
    """The sieve for motifs of one size, on given devices and in given memory (bytes for the rows of a block)."""

    def __init__(self, size: int, devices: tuple[jax.Device, ...], memory: int | None = None):
        self.size = size
        self.mesh = device_mesh(devices)
        self.backend: Backend = kernel_backend(devices[0])
        self._memory = memory
        self._device = next(device for device in devices if device.process_index == jax.process_index())

    def values(
        self,
        host: Host,
        key: jax.Array,
        resume: Position | None = None,
        on_step: Callable[[Position], None] = lambda position: None,
        sizes: tuple[int, int] | None = None,
    ) -> np.ndarray:
        """One run: the sieve's value at each vertex, uint8 ``[n]``.

        Args:
          host: the graph.
          key: a random key; with the same key and sizes the values are the same on any devices.
          resume: where an earlier run of the same host and key had come to.
          on_step: called after every step.
          sizes: padded numbers of vertices and slots; the host's :func:`capacities` when not given.
        """
        vertices, slots = sizes or capacities(host)
        offsets = np.pad(host.offsets, (0, vertices - host.n), mode="edge")
        targets = np.pad(host.targets, (0, slots - host.targets.shape[0]))
        shades = np.pad(host.shades, (0, vertices - host.n))
        pieces = sieve_rows.max_pieces(slots) if sieve_rows.num_pieces(np.diff(host.offsets)).any() else 0
        static = {"size": self.size, "backend": self.backend, "mesh": self.mesh}
        arrays = everywhere((offsets, targets, shades, jax.random.key_data(key)), self.mesh)
        draw = _draw(*arrays, impl=jax.random.key_impl(key), pieces=pieces, **static)

        done, total = resume if resume is not None else (0, np.zeros(draw.labels.shape, np.uint32))
        total = everywhere(total, self.mesh)
        end, devices = polynomials.num_words(self.size), self.mesh.size
        words = self._block_words(vertices, -(-end // devices), pieces)
        while done < end:
            block = min(words, done & -done) if done else words
            a_step = max(1, int(_STEP_WORK[self.backend] / (block * self._work(vertices, slots))))
            blocks = min(a_step, -(-(end - done) // (block * devices)))
            stop = min(done + blocks * block * devices, end)
            span = np.array([done // block, blocks, stop // block], np.int32)
            total = _advance(draw, total, everywhere(span, self.mesh), words=block, **static)
            done = stop
            on_step(Position(done, total))
        return np.asarray(_values(total, draw.rank, size=self.size))[: host.n]

    def _work(self, vertices: int, slots: int) -> float:
        """Word operations for one word of subsets, roughly."""
        return 60.0 * slots * sum(sieve_round.num_forms(self.size)) + 60.0 * vertices * self.size**2

    def _block_words(self, vertices: int, share: int, pieces: int) -> int:
        """Words a block: enough to fill the device, few enough for its memory, no more than a device's share."""
        words = polynomials.block_words(self.size, vertices, self.backend)
        rows = self.size * vertices + (self.size // 2) * pieces
        memory = self._free_memory() if self._memory is None else self._memory
        while words > 1 and (words >= 2 * share or 32 * rows * words > memory):
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
