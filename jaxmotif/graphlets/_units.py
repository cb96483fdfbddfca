"""Exact matrix products of whole numbers, in the number format that a device multiplies fastest.

No other module chooses this format.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxmotif.arrays._compile import target


class Units(NamedTuple):
    """The types of the factors and of the sums of a matrix product, and how many bits of a whole number each holds."""

    factors: jnp.dtype
    factor_bits: int
    sums: jnp.dtype
    sum_bits: int


def units() -> Units:
    """Return the number formats in which the current platform multiplies matrices.

    Tensor cores take bfloat16; the matrix units of a TPU take whole numbers, which they multiply twice as fast.
    """
    kinds = {"cpu": (jnp.float32, 24, jnp.float32, 24), "tpu": (jnp.int8, 7, jnp.int32, 31)}
    factors, bits, sums, sum_bits = kinds.get(target().platform, (jnp.bfloat16, 8, jnp.float32, 24))
    return Units(jnp.dtype(factors), bits, jnp.dtype(sums), sum_bits)


def times(x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the matrix product of numbers from 0 to 127, whose sums are below 2^24, as int32."""
    unit = units()
    x, y = x.astype(unit.factors), y.astype(unit.factors)
    return jnp.matmul(x, y, preferred_element_type=unit.sums).astype(jnp.int32)


def join(x: jax.Array, y: jax.Array, most: int) -> jax.Array:
    """Return the exact product of a matrix of zeros and ones and one of larger numbers, which is split into limbs.

    Args:
      x: zeros and ones ``[..., D, D]``; numbers up to 127 where all sums are below 2^24.
      y: int32 ``[..., D, E]``, below ``most``.
      most: static bound of ``y``.

    Returns:
      The product, int32 if that holds all sums, else int64.
    """
    unit, wide = units(), (y.shape[-2] - 1).bit_length()
    limb, need = min(unit.factor_bits, unit.sum_bits - wide), (most - 1).bit_length()
    kind = jnp.int32 if need + wide < 32 else jnp.int64
    left, total = x.astype(unit.factors), jnp.zeros((*x.shape[:-1], y.shape[-1]), kind)
    for low in range(0, need, limb):
        part = ((y >> low) & ((1 << limb) - 1)).astype(unit.factors)
        total += jnp.matmul(left, part, preferred_element_type=unit.sums).astype(kind) << low
    return total
