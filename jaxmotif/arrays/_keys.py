"""Random keys, however they are given."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import jax
import numpy as np

if TYPE_CHECKING:
    from chex import PRNGKey


def as_key(key: int | PRNGKey | None) -> PRNGKey:
    """Return a random key from a seed, from a key, or from nothing (seed 0).

    Args:
      key: ``None``, an integer, ``jax.random.key(seed)``, or the two words of ``jax.random.PRNGKey(seed)``.

    Raises:
      TypeError: for anything else.
      ValueError: for an integer beyond 64 bits, or several keys.

    Example:
      >>> bool(as_key(7) == jax.random.key(7)), bool(as_key(jax.random.key(7)) == jax.random.key(7))
      (True, True)
    """
    if isinstance(key, jax.Array) and jax.numpy.issubdtype(key.dtype, jax.dtypes.prng_key):
        if key.shape:
            raise ValueError(f"key must be one key, got keys of shape {key.shape}: take one of them, or give a seed")
        return key
    if isinstance(key, jax.Array | np.ndarray) and key.shape == (2,) and key.dtype == np.uint32:
        return jax.random.wrap_key_data(key, impl="threefry2x32")
    try:
        seed = 0 if key is None else operator.index(key)
    except TypeError:
        raise TypeError(f"key must be an integer seed or jax.random.key(seed), got {key!r}") from None
    if not -(2**31) <= seed < 2**64:
        raise ValueError(f"a seed must be at least -2**31 and less than 2**64, got {seed}")
    # The words themselves: outside its 64-bit mode JAX drops the upper half of a seed without a word, and inside it a
    # negative seed has another one. Nor is a program compiled for it.
    seed = seed % 2**32 if seed < 0 else seed
    return jax.random.wrap_key_data(np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32), impl="threefry2x32")  # pyright: ignore[reportArgumentType]
