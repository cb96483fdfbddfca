"""Counts of any size, per lane: how many ways there are to map the leaves of one partial match.

They are nonnegative, and the host knows a bound for them (:mod:`jaxmotif.matching.planner._leaves`). Up to 64 bits they
are int64; beyond, rows of 32-bit *limbs*, lowest first, as many as the bound asks for. Sums of products with signs, as
inclusion and exclusion has them, are taken modulo ``2^(32 limbs)``: whatever wraps on the way wraps back, since the end
is within the bound. So a count is exact, or its search is not planned with leaves.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

SPARE_BITS = 12
"""Bits of a count that must be free, so that a block of 1024 lanes can be added up within its limbs (and a sign)."""


Limbs = tuple[jax.Array, ...]


class Int64Counts:
    """Counts of up to 64 bits, int64 per lane: all that most searches need."""

    limbs = 2

    def of(self, x: jax.Array) -> jax.Array:
        """From int32."""
        with jax.enable_x64(True):
            return lax.convert_element_type(x, jnp.int64)

    def multiply(self, x: jax.Array, y: jax.Array) -> jax.Array:
        with jax.enable_x64(True):
            return lax.mul(x, y)

    def add(self, x: jax.Array, y: jax.Array) -> jax.Array:
        with jax.enable_x64(True):
            return lax.add(x, y)

    def scaled(self, x: jax.Array, factor: jax.Array) -> jax.Array:
        """Times int32 factors."""
        return self.multiply(x, self.of(factor))

    def sums(self, x: jax.Array) -> list[jax.Array]:
        """Sums along the last axis, a uint32 array for each limb."""
        with jax.enable_x64(True):
            # No overflow: SPARE_BITS are free in each of the 1024 numbers.
            total = x.sum(axis=-1)
            high = lax.shift_right_logical(total, jnp.full_like(total, 32))
            return [total.astype(jnp.uint32), high.astype(jnp.uint32)]

    def low_words(self, x: jax.Array) -> list[jax.Array]:
        """The lowest two limbs, uint32 per lane."""
        with jax.enable_x64(True):
            high = lax.shift_right_logical(x, jnp.full_like(x, 32))
            return [x.astype(jnp.uint32), high.astype(jnp.uint32)]


class LimbCounts:
    """Counts of any number of limbs: a tuple of uint32 per lane, lowest first."""

    def __init__(self, limbs: int):
        self.limbs = limbs

    def of(self, x: jax.Array) -> Limbs:
        """From int32; negative ones as their complement."""
        # The sign goes on in all higher limbs: two's complement.
        sign = lax.bitcast_convert_type(lax.shift_right_arithmetic(x, jnp.full_like(x, 31)), jnp.uint32)
        return (lax.bitcast_convert_type(x, jnp.uint32), *[sign] * (self.limbs - 1))

    def multiply(self, x: Limbs, y: Limbs) -> Limbs:
        """Limb by limb, as on paper; what is beyond the last limb is left out."""
        # What is beyond the last limb is left out: all is modulo 2^(32 limbs).
        parts = [(*[jnp.zeros_like(y[i])] * i, *self._scale(x[: self.limbs - i], y[i])) for i in range(len(y))]
        return functools.reduce(self.add, parts)

    def add(self, x: Limbs, y: Limbs) -> Limbs:
        with jax.enable_x64(True):
            carry, result = jnp.zeros_like(x[0]).astype(jnp.uint64), []
            for a, b in zip(x, y, strict=True):
                carry = a.astype(jnp.uint64) + b.astype(jnp.uint64) + carry
                result.append(carry.astype(jnp.uint32))
                carry = carry >> jnp.uint64(32)
            return tuple(result)

    def scaled(self, x: Limbs, factor: jax.Array) -> Limbs:
        """Times int32 factors; negative ones are anything, of products that are 0."""
        # Nonnegative: the same bits unsigned.
        return self._scale(x, lax.bitcast_convert_type(factor, jnp.uint32))

    def sums(self, x: Limbs) -> list[jax.Array]:
        """Sums along the last axis, a uint32 array for each limb."""
        with jax.enable_x64(True):
            carry, result = jnp.uint64(0), []
            for limb in x:  # up to 2^31 lanes of 32 bits and a carry fit 64
                carry = limb.astype(jnp.uint64).sum(axis=-1) + carry
                result.append(carry.astype(jnp.uint32))
                carry = carry >> jnp.uint64(32)
            return result

    def low_words(self, x: Limbs) -> list[jax.Array]:
        return list(x[:2])

    def _scale(self, x: Limbs, limb: jax.Array) -> Limbs:
        """Times one limb: a product of two and a carry fit 64 bits."""
        with jax.enable_x64(True):
            limb = limb.astype(jnp.uint64)
            carry, result = jnp.zeros_like(limb), []
            for a in x:
                carry = a.astype(jnp.uint64) * limb + carry
                result.append(carry.astype(jnp.uint32))
                carry = carry >> jnp.uint64(32)
            return tuple(result)


def counts_of(limbs: int) -> Int64Counts | LimbCounts:
    """The arithmetic for counts of so many limbs."""
    return Int64Counts() if limbs <= 2 else LimbCounts(limbs)


def carried(sums: jax.Array) -> jax.Array:
    """Limbs that have grown, uint64 ``[L]``, brought back below ``2^32``, but for the last, which has 64 bits."""
    carry, result = jnp.uint64(0), []
    for limb in range(sums.shape[0] - 1):
        carry = sums[limb] + carry
        result.append(carry & jnp.uint64(2**32 - 1))
        carry = carry >> jnp.uint64(32)
    # The last takes what comes: it has 64 bits, and the bound says that they suffice.
    return jnp.stack([*result, sums[-1] + carry])
