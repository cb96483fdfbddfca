"""Results that are a table of counts: NumPy integers for users, and the engine's array where that is asked for."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import jax
import numpy as np

from jaxmotif.arrays._fetch import Fetch
from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._present import Presented


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class CountTable(Presented):
    """Base of results that are a table of counts, one row an edge or a node.

    Attributes:
      columns: names of the columns.
      raw_counts: what the engine counted, ``[rows or more, columns]``, of which users see :attr:`values`: int64 on a
        device or in host memory, or Python integers.
      rows: how many rows there are; further ones in ``raw_counts`` are padding.
    """

    columns: tuple[str, ...]
    raw_counts: jax.Array | np.ndarray
    rows: int

    @cached_property
    def values(self) -> np.ndarray:
        """Table of counts in host memory, ``[rows, columns]``.

        It is int64, or Python integers (dtype ``object``) where a count, or the sum of all, needs more than 63 bits. It
        is fetched when first asked for, and cannot be written to.
        """
        begun = self.__dict__.pop("_fetch", None)
        values = (begun or Fetch.begin(self.raw_counts, self.rows)).values()
        if values.flags.writeable:
            # A view, so that what engines have at hand themselves stays as it is.
            values = values.view()
            values.flags.writeable = False
        return values

    def begin_fetch(self) -> None:
        """Begin to bring :attr:`values` to host memory, without waiting for them."""
        if "values" not in self.__dict__:
            self.__dict__["_fetch"] = Fetch.begin(self.raw_counts, self.rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of :attr:`values`."""
        return self.rows, len(self.columns)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of :attr:`values`."""
        return self.values.dtype

    def to_numpy(self) -> np.ndarray:
        """Return :attr:`values`, as ``np.asarray`` does."""
        return self.values

    def on_device(self) -> Int64:
        """Return the table as exact 64-bit integers on the device that counted, without a copy and without waiting.

        Raises:
          OverflowError: for counts that need more than 63 bits, which no array on a device holds.
        """
        if self.raw_counts.dtype == object:
            return Int64.of(self.values)
        return Int64.of_rows(self.raw_counts, self.rows)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle holds the table in host memory: JAX reads an array of 64 bits from one as an array of 32.
        state = {**self.__dict__, "raw_counts": self.values}
        state.pop("_fetch", None)
        return state

    def __dlpack__(self, **options: Any) -> Any:
        return self.on_device().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self.on_device().__dlpack_device__()

    def __jax_array__(self) -> jax.Array:
        if self.raw_counts.dtype == object:
            return super().__jax_array__()
        return self.on_device().__jax_array__()

    def _array(self) -> np.ndarray:
        return self.values
