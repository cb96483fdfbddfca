"""64-bit exact integers, whether or not the user has switched JAX to 64 bits (contract: exact or flagged).

JAX truncates int64 to int32 outside its x64 mode, which ``jax.enable_x64`` opens for a block of code, inside or outside
a trace, without touching the global switch; :class:`Int64` carries the results across the boundary as two uint32 words,
which every mode keeps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


@partial(jax.tree_util.register_dataclass, data_fields=("words",), meta_fields=())
@dataclasses.dataclass(frozen=True, eq=False)
class Int64:
    """Exact signed 64-bit integers of shape ``S`` as uint32 words ``[*S, 2]``, low word first.

    Example:
      >>> import numpy as np
      >>> w = Int64.of(np.array([2**40 + 3, -1]))
      >>> w.tolist(), w[0].tolist()
      ([1099511627779, -1], 1099511627779)
      >>> w.astype("float32").tolist()
      [1099511627776.0, -1.0]
    """

    words: jax.Array

    @classmethod
    def of(cls, values) -> Int64:
        """From int64 (or narrower) values; call in that mode when they are traced int64."""
        with jax.enable_x64(True):
            return cls(lax.bitcast_convert_type(jnp.asarray(values, jnp.int64), jnp.uint32))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.words.shape[:-1]

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Int64]:
        return (self[i] for i in range(len(self)))  # JAX has no end of its own: an index beyond the last is the last

    def __getitem__(self, index: Any) -> Int64:
        """The values at an index, as of any array."""
        index = index if isinstance(index, tuple) else (index,)
        whole = () if any(part is ... for part in index) else (...,)
        return Int64(self.words[(*index, *whole, slice(None))])  # the last axis is that of the words

    def tolist(self) -> Any:
        """The values as Python integers, in lists (host only)."""
        return self.to_numpy().tolist()

    def astype(self, dtype) -> jax.Array:
        """The values in a floating dtype, correctly rounded from 64 bits for float32 and narrower."""
        if not jnp.issubdtype(jnp.dtype(dtype), jnp.floating):
            raise TypeError(f"Int64.astype takes a floating dtype, got {dtype}; use to_numpy() for exact integers")
        with jax.enable_x64(True):
            return lax.convert_element_type(lax.bitcast_convert_type(self.words, jnp.int64), dtype)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.to_numpy(), dtype=dtype, copy=None if copy is False else copy)

    def to_numpy(self) -> np.ndarray:
        """The values as NumPy int64 (host only)."""
        return np.ascontiguousarray(np.asarray(self.words)).view(np.int64)[..., 0]
