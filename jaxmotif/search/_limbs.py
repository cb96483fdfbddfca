"""Integers of any size for each lane, to count the ways to map the leaves of one partial match.

The numbers are nonnegative, and the host knows a bound for them (:mod:`jaxmotif.matching.planner._leaves`). Up to 64
bits they are int64. Larger ones are rows of 32-bit *limbs*, lowest first, as many as the bound requires. Inclusion and
exclusion adds and subtracts products, all modulo ``2^(32 limbs)``. Numbers on the way may wrap, but the result is
within the bound and therefore exact. Leaves for which no number of limbs suffices are searched like other nodes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import jax
import jax.numpy as jnp
from jax import lax

SPARE_BITS = 12
"""Bits of a count that must stay free, for a sign and so that 1024 lanes can be added up within the limbs."""

LEAF_LIMBS = (2, 4, 8, 16)
"""Possible numbers of limbs for the ways to map all leaves of one partial match. The fewest that hold them are taken,
since more are slower; there are few choices, since each is compiled anew. Leaves that would need more than the most
are searched one by one."""

Limbs = tuple[jax.Array, ...]


class Int64Counts:
    """Arithmetic with counts of up to 64 bits, int64 per lane, which are enough for most searches."""

    def from_int32(self, x: jax.Array) -> jax.Array:
        """Convert int32."""
        with jax.enable_x64(True):
            return lax.convert_element_type(x, jnp.int64)

    def multiply(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Multiply, modulo 2^64."""
        with jax.enable_x64(True):
            return lax.mul(x, y)

    def add(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Add, modulo 2^64."""
        with jax.enable_x64(True):
            return lax.add(x, y)

    def scale(self, x: jax.Array, factor: jax.Array) -> jax.Array:
        """Multiply by int32 factors."""
        return self.multiply(x, self.from_int32(factor))

    def sums(self, x: jax.Array) -> list[jax.Array]:
        """Sum along the last axis, and return a uint32 array for each limb."""
        with jax.enable_x64(True):
            # This does not overflow: each of the 1024 numbers has SPARE_BITS free.
            return self.low_words(x.sum(axis=-1))

    def low_words(self, x: jax.Array) -> list[jax.Array]:
        """Return the lowest two limbs, uint32 per lane."""
        with jax.enable_x64(True):
            high = lax.shift_right_logical(x, jnp.full_like(x, 32))
            return [x.astype(jnp.uint32), high.astype(jnp.uint32)]


class LimbCounts:
    """Arithmetic with counts of any number of limbs, which are a tuple of uint32 per lane, lowest first."""

    def __init__(self, limbs: int):
        self.limbs = limbs

    def from_int32(self, x: jax.Array) -> Limbs:
        """Convert int32, in two's complement: the sign fills all higher limbs."""
        sign = lax.bitcast_convert_type(lax.shift_right_arithmetic(x, jnp.full_like(x, 31)), jnp.uint32)
        return (lax.bitcast_convert_type(x, jnp.uint32), *[sign] * (self.limbs - 1))

    def multiply(self, x: Limbs, y: Limbs) -> Limbs:
        """Multiply limb by limb, as on paper, modulo ``2^(32 limbs)``."""
        parts = [(*[jnp.zeros_like(y[i])] * i, *self._scale(x[: self.limbs - i], y[i])) for i in range(len(y))]
        return functools.reduce(self.add, parts)

    def add(self, x: Limbs, y: Limbs) -> Limbs:
        """Add, modulo ``2^(32 limbs)``."""
        with jax.enable_x64(True):
            sums = (a.astype(jnp.uint64) + b.astype(jnp.uint64) for a, b in zip(x, y, strict=True))
            return tuple(_carried(sums, jnp.zeros_like(x[0]).astype(jnp.uint64)))

    def scale(self, x: Limbs, factor: jax.Array) -> Limbs:
        """Multiply by int32 factors, which are read as unsigned.

        A negative factor occurs only in a product that also has a factor 0.
        """
        return self._scale(x, lax.bitcast_convert_type(factor, jnp.uint32))

    def sums(self, x: Limbs) -> list[jax.Array]:
        """Sum along the last axis, and return a uint32 array for each limb."""
        with jax.enable_x64(True):
            # The sum of up to 2^31 lanes of 32 bits and a carry fits 64 bits.
            return list(_carried((limb.astype(jnp.uint64).sum(axis=-1) for limb in x), jnp.uint64(0)))

    def low_words(self, x: Limbs) -> list[jax.Array]:
        """Return the lowest two limbs, uint32 per lane."""
        return list(x[:2])

    def _scale(self, x: Limbs, limb: jax.Array) -> Limbs:
        """Multiply by one limb; the product of two limbs and a carry fits 64 bits."""
        with jax.enable_x64(True):
            limb = limb.astype(jnp.uint64)
            return tuple(_carried((a.astype(jnp.uint64) * limb for a in x), jnp.zeros_like(limb)))


def _carried(sums: Iterable[jax.Array], carry: jax.Array) -> Iterator[jax.Array]:
    """Carry from limb to limb, uint64, lowest first, and yield the limbs as uint32; the last carry is dropped."""
    for limb in sums:
        carry = limb + carry
        yield carry.astype(jnp.uint32)
        carry = carry >> jnp.uint64(32)


def counts_of(limbs: int) -> Int64Counts | LimbCounts:
    """Return the arithmetic for counts of a number of limbs."""
    return Int64Counts() if limbs <= 2 else LimbCounts(limbs)


def limbs_for(ways: int) -> int | None:
    """Return how many limbs, of :data:`LEAF_LIMBS`, hold a number of ways to map leaves.

    The result is ``None`` if even the most limbs do not. The ways to map the leaves of one partial match are at most
    the product, over the leaves, of the most candidates that each can have. With this product as ``ways``, no lane can
    overflow.

    Example:
      >>> limbs_for(2**52), limbs_for(2**52 + 1), limbs_for(5000**8), limbs_for(2**600)
      (2, 4, 4, None)
    """
    return next((limbs for limbs in LEAF_LIMBS if ways <= 2 ** (32 * limbs - SPARE_BITS)), None)


def carry_over(sums: jax.Array) -> jax.Array:
    """Carry from limb to limb, uint64 ``[L]``, so that each but the last one is below ``2^32``."""
    carry, result = jnp.uint64(0), []
    for limb in range(sums.shape[0] - 1):
        carry = sums[limb] + carry
        result.append(carry & jnp.uint64(2**32 - 1))
        carry = carry >> jnp.uint64(32)
    # The last one takes whatever is carried: it has 64 bits, and the host's bound says that they suffice.
    return jnp.stack([*result, sums[-1] + carry])
