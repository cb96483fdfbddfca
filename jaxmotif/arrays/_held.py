"""Tables of counts that stay on their device until they are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import numpy as np

from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._present import Presented

NARROW = np.dtype(np.uint32)
"""What counts are held in where none can be larger: half the memory, and half the way to the host."""


class HeldTable(Presented):
    """Base of results that are a table of counts, a row an edge or a node.

    A subclass has ``columns``, the names; ``held``, uint32 or int64 ``[rows or more, columns]``; and ``rows``, how many
    there are: what is held after these is padding.
    """

    columns: tuple[str, ...]
    held: jax.Array | np.ndarray
    rows: int

    @property
    def dtype(self) -> np.dtype:
        """uint32 where every count fits, else int64."""
        return np.dtype(self.held.dtype)

    @cached_property
    def values(self) -> Any:
        """The table ``[rows, columns]`` on its device: a ``jax.Array`` of uint32 where every count fits, else
        :class:`~jaxmotif.arrays._int64.Int64`, which no 32-bit arithmetic of JAX can wrap. Where a count passes 64
        bits, Python integers in host memory."""
        if self.dtype == object:
            return self.to_numpy()
        return self._exact() if self.dtype == NARROW else Int64.of(self._exact())

    def to_numpy(self) -> np.ndarray:
        """The table in host memory, of :attr:`dtype`; ``np.asarray`` gives the same."""
        return np.asarray(self.held)[: self.rows]

    def _exact(self) -> jax.Array:
        """The table without padding, of its own dtype."""
        held = self.held
        with jax.enable_x64(True):
            if isinstance(held, np.ndarray):
                return jax.device_put(self.to_numpy())
            # No padding: what is held is the table.
            if held.shape[0] == self.rows:
                return held
            if next(iter(held.devices())).platform == "cpu":  # nothing to compile
                return jax.device_put(self.to_numpy(), held.sharding)
            return held[: self.rows]

    def __dlpack__(self, **options: Any) -> Any:
        return self._exact().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._exact().__dlpack_device__()  # pyright: ignore[reportAttributeAccessIssue]

    def _array(self) -> np.ndarray:
        return self.to_numpy()


def narrowed(values: np.ndarray) -> np.ndarray:
    """Counts as uint32 where all fit.

    Example:
      >>> narrowed(np.array([1, 2])).dtype, narrowed(np.array([2**40])).dtype
      (dtype('uint32'), dtype('int64'))
    """
    return values.astype(NARROW) if values.max(initial=0) < 2**32 else values
