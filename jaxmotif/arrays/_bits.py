"""Bits in words: bool arrays as uint32 words, single bits, and how many are set.

Bit ``i`` of a row is bit ``i % 32`` of its word ``i // 32``, the lowest first. NumPy arrays stay NumPy, JAX arrays and
tracers stay JAX.
"""

from __future__ import annotations

from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

ArrayT = TypeVar("ArrayT", np.ndarray, jax.Array)


def words_for(bits: int) -> int:
    """Return how many 32-bit words hold a number of bits."""
    return -(-bits // 32)


def pack_bits(mask: ArrayT) -> ArrayT:
    """Pack bool ``[.., n]`` into uint32 ``[.., words_for(n)]``; bits past the n-th are 0.

    Example:
      >>> pack_bits(np.array([[True, False, True], [False, False, False]])).tolist()
      [[5], [0]]
    """
    n = mask.shape[-1]
    words = words_for(n)
    widths = [(0, 0)] * (mask.ndim - 1) + [(0, 32 * words - n)]
    if isinstance(mask, np.ndarray):
        whole = np.pad(mask, widths) if n % 32 else mask
        # "<u4": the bytes are written lowest first, whatever the order of the machine.
        return np.packbits(whole, axis=-1, bitorder="little").view("<u4")
    bits = jnp.pad(mask, widths).reshape(*mask.shape[:-1], words, 32).astype(jnp.uint32)
    # Every bit is alone in its place, so the sum is the bitwise or.
    return (bits << lax.broadcasted_iota(jnp.uint32, bits.shape, bits.ndim - 1)).sum(axis=-1, dtype=jnp.uint32)


def unpack_bits(words: ArrayT) -> ArrayT:
    """Unpack uint32 ``[.., W]`` into bool ``[.., 32 W]``, the inverse of :func:`pack_bits`.

    Example:
      >>> np.flatnonzero(unpack_bits(np.array([5, 1], np.uint32))).tolist()
      [0, 2, 32]
    """
    if isinstance(words, np.ndarray):
        bytes_ = np.ascontiguousarray(words, "<u4").view(np.uint8)
        return np.unpackbits(bytes_, axis=-1, bitorder="little").view(bool)
    places = np.arange(32, dtype=np.uint32).reshape((1,) * words.ndim + (32,))
    bits = (words[..., None] >> places) & np.uint32(1) != 0
    return bits.reshape(*words.shape[:-1], 32 * words.shape[-1])


def bit_of(x: ArrayT) -> ArrayT:
    """Return the bit of number ``x`` within its word (which is word ``x >> 5`` of a row), uint32."""
    return np.uint32(1) << (x & 31).astype(np.uint32)


def has_bit(word: ArrayT, x: ArrayT) -> ArrayT:
    """Say whether number ``x`` is in its word, bool."""
    return ((word >> (x & 31).astype(np.uint32)) & np.uint32(1)).astype(bool)


def ones(words: jax.Array) -> jax.Array:
    """Count the bits that are set in each of uint32 or int32 words, int32; for kernel bodies.

    The bits are added up by halves, since Triton's lowering of ``lax.population_count`` fails on jax 0.11; XLA makes
    one instruction of it.

    Example:
      >>> ones(jnp.array([0, 5, 0xFFFFFFFF], jnp.uint32)).tolist()
      [0, 2, 32]
    """
    x = words if words.dtype == jnp.uint32 else lax.bitcast_convert_type(words, jnp.uint32)
    u = jnp.uint32
    x = x - ((x >> u(1)) & u(0x55555555))  # counts of 2 bits each
    x = (x & u(0x33333333)) + ((x >> u(2)) & u(0x33333333))  # counts of 4 bits each
    x = (x + (x >> u(4))) & u(0x0F0F0F0F)  # counts of 8 bits each
    return ((x * u(0x01010101)) >> u(24)).astype(jnp.int32)  # their sum, in the highest byte


def scramble(x: ArrayT) -> ArrayT:
    """Mix uint64 words, as splitmix64 does (Steele, Lea, Flood 2014); JAX: inside :func:`jit64`.

    Example:
      >>> scramble(np.array([1, 2], np.uint64)).tolist()
      [6238072747940578789, 15839785061582574730]
    """
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def pair_key(high: ArrayT, low: ArrayT) -> ArrayT:
    """Join two numbers of 32 bits to one key to sort by, uint64 (JAX: inside :func:`jit64`)."""
    return (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)


def low_word(key: ArrayT) -> ArrayT:
    """Return the lower number of a :func:`pair_key`, int32."""
    return (key & np.uint64(0xFFFFFFFF)).astype(np.int32)
