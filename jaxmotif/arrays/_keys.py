"""Random keys, however they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np

from jaxmotif.arrays._checks import whole_number

if TYPE_CHECKING:
    from chex import PRNGKey


def as_key(key: int | PRNGKey | None) -> PRNGKey:
    """Return a random key from a seed, from a key, or from nothing (seed 0).

    Args:
      key: ``None``, an integer, ``jax.random.key(seed)``, or the words of ``jax.random.PRNGKey(seed)``, two or, of
        JAX's generator ``rbg``, four.

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
    if isinstance(key, jax.Array | np.ndarray) and key.shape in ((2,), (4,)) and key.dtype == np.uint32:
        return jax.random.wrap_key_data(key, impl="threefry2x32" if key.shape == (2,) else "rbg")
    try:
        seed = 0 if key is None else whole_number(key, "key")
    except TypeError:
        raise TypeError(f"key must be an integer seed or jax.random.key(seed), got {key!r}") from None
    if not -(2**31) <= seed < 2**64:
        raise ValueError(f"a seed must be at least -2**31 and less than 2**64, got {seed}")
    # The words themselves: outside its 64-bit mode JAX drops the upper half of a seed without a word, and inside it a
    # negative seed has another one. Nor is a program compiled for it.
    seed = seed % 2**32 if seed < 0 else seed
    return jax.random.wrap_key_data(np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32), impl="threefry2x32")  # pyright: ignore[reportArgumentType]


def generator_of(key: int | PRNGKey | None) -> np.random.Generator:
    """Return NumPy's generator for a seed or a key.

    Example:
      >>> generator_of(7).random() == np.random.default_rng(7).random() == generator_of(jax.random.key(7)).random()
      True
    """
    return np.random.default_rng(key_number(key))


def key_number(key: int | PRNGKey | None) -> int:
    """Return the words of a seed or a key as one number: 64 bits, and 128 for keys of JAX's other generators (rbg).

    Example:
      >>> key_number(7), key_number(jax.random.key(7)), key_number(jax.random.key(7, impl="rbg"))
      (7, 7, 129127208515966861319)
    """
    number = 0
    for word in np.asarray(jax.random.key_data(as_key(key))).tolist():
        number = number << 32 | word
    return number
