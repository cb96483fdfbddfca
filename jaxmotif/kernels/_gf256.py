"""The field GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11D): tables, bit slices, and the 27-term transform.

Bit-sliced, 32 elements take eight 32-bit words, their *planes*: bit ``p`` of plane ``b`` is bit ``b`` of element
``p``. Sums are XORs of planes and products are AND-XOR circuits, so a vector unit multiplies 32 elements a lane at
once. The functions on planes take and return plain sequences of words (arrays of any one integer dtype and shape),
and so serve NumPy, XLA and Pallas alike.

Products with one scalar for all 32 elements are cheapest in the *27-term domain*, three levels of Karatsuba's
splitting: ``expand`` maps 8 planes to 27 words by XORs alone, a scalar becomes 27 bits by the same map, a product is
27 selections, a sum of products stays in the domain, and ``collapse`` maps it back to 8 planes once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

POLYNOMIAL = 0x11D
PLANES = 8
TERMS = 27

Words = Sequence[Any]
"""Word arrays of one shape and dtype: 8 planes, or 27 terms."""


# The plain table form: the oracle.


@cache
def tables() -> tuple[np.ndarray, np.ndarray]:
    """Powers and logarithms of the generator 2.

    Returns:
      ``(powers, logs)``: int64 ``[510]`` with ``powers[e] = 2**e``, and int64 ``[256]`` with ``powers[logs[a]] = a``
      for ``a`` from 1 (``logs[0]`` means nothing).
    """
    # Twice over: a sum of two logarithms then needs no modulo 255.
    powers, logs = np.zeros(510, np.int64), np.zeros(256, np.int64)
    element = 1
    for exponent in range(255):
        powers[exponent] = powers[exponent + 255] = element
        logs[element] = exponent
        # Times x, then reduced by the polynomial: the powers of x (2) are all elements but 0.
        element <<= 1
        if element & 0x100:
            element ^= POLYNOMIAL
    return powers, logs


def multiply_bytes(a, b) -> np.ndarray:
    """Products of field elements by the tables (NumPy).

    Args:
      a, b: integer arrays in 0..255, broadcast against each other.

    Returns:
      uint8 array of products.

    Example:
      >>> int(multiply_bytes(0x53, 0xCA)), int(multiply_bytes(2, 0x80)) == POLYNOMIAL ^ 0x100
      (143, True)
    """
    powers, logs = tables()
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    return np.where((a == 0) | (b == 0), 0, powers[logs[a] + logs[b]]).astype(np.uint8)


# Bit slices.


def slice_bytes(elements: jax.Array) -> jax.Array:
    """Bit-slices field elements, 32 at a time.

    Args:
      elements: uint8 ``[..., 32 * W]``.

    Returns:
      uint32 ``[..., 8, W]``: plane ``b`` of word ``w`` holds in bit ``p`` bit ``b`` of element ``32 w + p``.

    Raises:
      ValueError: when the last axis is not a multiple of 32.

    Example:
      >>> import jax.numpy as jnp
      >>> slice_bytes(jnp.full(32, 5, jnp.uint8))[:, 0].tolist() == [2**32 - 1, 0, 2**32 - 1] + [0] * 5
      True
    """
    *batch, length = elements.shape
    if length % 32:
        raise ValueError(f"slicing takes whole words of 32 elements, got {length}; pad with zeros to a multiple of 32")
    groups = elements.reshape(*batch, 1, length // 32, 32).astype(jnp.uint32)
    planes = jnp.arange(PLANES, dtype=jnp.uint32).reshape(PLANES, 1, 1)
    places = jnp.arange(32, dtype=jnp.uint32)
    bits = (groups >> _like(planes, groups)) & jnp.uint32(1)
    # Each bit has a place of its own: the sum is a union.
    return jnp.sum(bits << _like(places, bits), axis=-1, dtype=jnp.uint32)


def unslice_bytes(planes: jax.Array) -> jax.Array:
    """The inverse of :func:`slice_bytes`: uint32 ``[..., 8, W]`` to uint8 ``[..., 32 * W]``."""
    *batch, _, words = planes.shape
    places = jnp.arange(32, dtype=jnp.uint32)
    spread = planes[..., None]
    bits = (spread >> _like(places, spread)) & jnp.uint32(1)
    weights = jnp.arange(PLANES, dtype=jnp.uint32).reshape(PLANES, 1, 1)
    elements = jnp.sum(bits << _like(weights, bits), axis=-3, dtype=jnp.uint32)
    return elements.astype(jnp.uint8).reshape(*batch, 32 * words)


def _like(small: jax.Array, large: jax.Array) -> jax.Array:
    """``small`` with leading axes of one, as strict rank promotion asks."""
    return small.reshape((1,) * (large.ndim - small.ndim) + small.shape)


# Arithmetic on planes.


def multiply(x: Words, y: Words) -> list:
    """Products of bit-sliced elements: 8 planes each, 8 planes out (64 ANDs, then reduction)."""
    return _reduce(_convolve(x, y))


def multiply_add(total: Words, x: Words, y: Words) -> list:
    """``total + x y`` on planes."""
    return [t ^ p for t, p in zip(total, multiply(x, y), strict=True)]


def _convolve(x: Words, y: Words) -> list:
    """The 15 coefficients of the product of two polynomials with 8."""
    coefficients = []
    for degree in range(2 * PLANES - 1):
        # x^d gathers the products of coefficients i and d - i, both in 0..7.
        low = max(0, degree - PLANES + 1)
        terms = [x[i] & y[degree - i] for i in range(low, min(degree, PLANES - 1) + 1)]
        coefficients.append(_xor(terms))
    return coefficients


def _reduce(coefficients: Words) -> list:
    """15 coefficients modulo the field polynomial: x^d = x^(d-8) (x^4 + x^3 + x^2 + 1)."""
    planes = list(coefficients)
    # From the top: what x^14 adds reaches x^10, which then is reduced in its turn.
    for degree in range(2 * PLANES - 2, PLANES - 1, -1):
        for shift in (0, 2, 3, 4):
            planes[degree - PLANES + shift] = planes[degree - PLANES + shift] ^ planes[degree]
    return planes[:PLANES]


def _xor(terms: Words):
    total = terms[0]
    for term in terms[1:]:
        total = total ^ term
    return total


# The 27-term domain.


def expand(planes: Words) -> list:
    """8 planes to the 27 terms of three-level Karatsuba (19 XORs)."""
    if len(planes) == 1:
        return list(planes)
    half = len(planes) // 2
    low, high = planes[:half], planes[half:]
    # The parts of one half, of the other, and of their sum: 3 products of half the size instead of 4.
    return expand(low) + expand(high) + expand([a ^ b for a, b in zip(low, high, strict=True)])


def collapse(terms: Words) -> list:
    """27 terms of a product, or of a sum of products, to 8 planes."""
    return _reduce(_recombine(terms, PLANES))


def _recombine(terms: Words, size: int) -> list:
    """Karatsuba's recombination: 3^l products of the parts to the 2 size - 1 coefficients of the whole."""
    if size == 1:
        return list(terms)
    third, half = len(terms) // 3, size // 2
    low, high, both = (_recombine(terms[i * third : (i + 1) * third], half) for i in range(3))
    # (l + h)(l' + h') less l l' and h h' is the middle; to subtract is to add, is XOR.
    middle = [a ^ b ^ c for a, b, c in zip(low, high, both, strict=True)]
    coefficients: list = [None] * (2 * size - 1)
    for offset, part in ((0, low), (size, high), (half, middle)):
        for i, word in enumerate(part):
            before = coefficients[offset + i]
            coefficients[offset + i] = word if before is None else before ^ word
    return coefficients


def expand_scalars(elements: jax.Array) -> jax.Array:
    """Scalars as selection words: uint8 in, uint32 out, whose bit ``r`` selects term ``r``."""
    wide = elements.astype(jnp.uint32)
    bits = [(wide >> jnp.uint32(b)) & jnp.uint32(1) for b in range(PLANES)]
    # The map is linear over bits, so that the same XORs expand a scalar's 8 bits.
    return _xor([bit << jnp.uint32(r) for r, bit in enumerate(expand(bits))])


def selection(words: jax.Array, term: int) -> jax.Array:
    """All ones where bit ``term`` of int32 or uint32 ``words`` is set, else zero; same dtype."""
    # To the sign and back by an arithmetic shift, which spreads it: no comparison, no multiplication.
    signed = lax.bitcast_convert_type(words, jnp.int32)
    mask = lax.shift_right_arithmetic(signed << jnp.int32(31 - term), jnp.int32(31))
    return lax.bitcast_convert_type(mask, words.dtype)


def label_sums(labels, words):
    """The label sums of equation (3) for a run of subsets, 32 subsets a word, without a table of subsets.

    Bit ``p`` of word ``w`` stands for the subset whose binary digits are ``32 w + p``; a plane of the sum is there the
    parity of (the subset AND the label's plane).

    Args:
      labels: uint32, one plane of every label ``zeta_l``: bit ``l`` belongs to element ``l`` of the subsets.
      words: uint32, which words; broadcast against ``labels``.

    Returns:
      uint32, one plane of the sums.
    """
    # The five lowest digits of a subset are its place in the word: known patterns.
    low = jnp.zeros_like(labels)
    for place, pattern in enumerate(_PLACES):
        low = low ^ (selection(labels, place) & jnp.asarray(pattern, jnp.uint32))
    # All digits above are the word's number: one parity for its 32 subsets.
    high = (labels >> jnp.uint32(5)) & words
    for shift in (16, 8, 4, 2, 1):  # the parity of the bits; Triton has no population count of blocks
        high = high ^ (high >> jnp.uint32(shift))
    return low ^ selection(high, 0)


_PLACES = (0xAAAAAAAA, 0xCCCCCCCC, 0xF0F0F0F0, 0xFF00FF00, 0xFFFF0000)
"""Bit ``p`` of pattern ``l`` is binary digit ``l`` of ``p``."""
