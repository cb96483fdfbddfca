"""The field GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11D): bit slices, and the 27-term transform.

In bit-sliced form 32 elements take eight 32-bit words, their *planes*: bit ``p`` of plane ``b`` is bit ``b`` of element
``p``. Sums are XORs of planes, and products are circuits of ANDs and XORs, so that each lane of a vector unit
multiplies 32 elements at once. The functions on planes take and return sequences of words, which are arrays of one
integer dtype and shape, and serve NumPy, XLA and Pallas alike.

Products with one scalar for all 32 elements are cheapest in the *27-term domain*, which is three levels of Karatsuba's
splitting. ``expand`` maps 8 planes to 27 words by XORs alone, and the same map makes 27 bits of a scalar. A product is
27 selections, and a sum of products stays in the domain. ``collapse`` maps the sum back to 8 planes at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

PLANES = 8
"""Number of planes, which is the number of bits of an element."""

TERMS = 27
"""Number of terms of the 27-term domain."""

Words = Sequence[Any]
"""Arrays of words of one shape and dtype: 8 planes, or 27 terms."""


# ---- bit slices


def slice_bytes(elements: jax.Array) -> jax.Array:
    """Slice field elements into planes, 32 elements at a time.

    Args:
      elements: The elements, uint8 ``[..., 32 * W]``.

    Returns:
      The planes, uint32 ``[..., 8, W]``. Bit ``p`` of word ``w`` of plane ``b`` is bit ``b`` of element ``32 w + p``.

    Raises:
      ValueError: The last axis is not a multiple of 32.

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
    # Each bit has a place of its own, so that the sum is a union.
    return jnp.sum(bits << _like(places, bits), axis=-1, dtype=jnp.uint32)


def _like(small: jax.Array, large: jax.Array) -> jax.Array:
    """Return ``small`` with leading axes of length one, as strict rank promotion demands."""
    return small.reshape((1,) * (large.ndim - small.ndim) + small.shape)


# ---- arithmetic on planes


def multiply(x: Words, y: Words) -> list:
    """Multiply elements in planes, by 64 ANDs and a reduction."""
    return _reduce(_convolve(x, y))


def multiply_add(total: Words, x: Words, y: Words) -> list:
    """Return ``total + x y`` for elements in planes."""
    return [t ^ p for t, p in zip(total, multiply(x, y), strict=True)]


def _convolve(x: Words, y: Words) -> list:
    """Return the 15 coefficients of the product of two polynomials that have 8 coefficients."""
    coefficients = []
    for degree in range(2 * PLANES - 1):
        # The coefficient of x^d is the sum of products of coefficients i and d - i, both in 0..7.
        low = max(0, degree - PLANES + 1)
        terms = [x[i] & y[degree - i] for i in range(low, min(degree, PLANES - 1) + 1)]
        coefficients.append(_xor(terms))
    return coefficients


def _reduce(coefficients: Words) -> list:
    """Reduce 15 coefficients modulo the polynomial of the field, by x^d = x^(d-8) (x^4 + x^3 + x^2 + 1)."""
    planes = list(coefficients)
    # The highest degree comes first, because x^14 adds to x^10, which must itself be reduced.
    for degree in range(2 * PLANES - 2, PLANES - 1, -1):
        for shift in (0, 2, 3, 4):
            planes[degree - PLANES + shift] = planes[degree - PLANES + shift] ^ planes[degree]
    return planes[:PLANES]


def _xor(terms: Words):
    total = terms[0]
    for term in terms[1:]:
        total = total ^ term
    return total


# ---- the 27-term domain


def expand(planes: Words) -> list:
    """Map 8 planes to the 27 terms of Karatsuba's splitting in three levels, by 19 XORs."""
    if len(planes) == 1:
        return list(planes)
    half = len(planes) // 2
    low, high = planes[:half], planes[half:]
    # A product then takes 3 products of half the size instead of 4: of the low halves, the high halves and the sums.
    return expand(low) + expand(high) + expand([a ^ b for a, b in zip(low, high, strict=True)])


def collapse(terms: Words) -> list:
    """Map the 27 terms of a product, or of a sum of products, to 8 planes."""
    return _reduce(_recombine(terms, PLANES))


def _recombine(terms: Words, size: int) -> list:
    """Combine 3^l products of parts to the ``2 * size - 1`` coefficients of the whole product, as Karatsuba does."""
    if size == 1:
        return list(terms)
    third, half = len(terms) // 3, size // 2
    low, high, both = (_recombine(terms[i * third : (i + 1) * third], half) for i in range(3))
    # The middle part is (l + h)(l' + h') less l l' and h h'. To subtract is to add here, which is XOR.
    middle = [a ^ b ^ c for a, b, c in zip(low, high, both, strict=True)]
    coefficients: list = [None] * (2 * size - 1)
    for offset, part in ((0, low), (size, high), (half, middle)):
        for i, word in enumerate(part):
            before = coefficients[offset + i]
            coefficients[offset + i] = word if before is None else before ^ word
    return coefficients


def expand_scalars(elements: jax.Array) -> jax.Array:
    """Map scalars, uint8, to words, uint32, whose bit ``r`` selects term ``r`` of a product."""
    wide = elements.astype(jnp.uint32)
    bits = [(wide >> jnp.uint32(b)) & jnp.uint32(1) for b in range(PLANES)]
    # The map is linear over bits, so that the same XORs expand the 8 bits of a scalar.
    return _xor([bit << jnp.uint32(r) for r, bit in enumerate(expand(bits))])


def selection(words: jax.Array, term: int) -> jax.Array:
    """Return all ones where bit ``term`` of words, int32 or uint32, is set and else zero, in the same dtype."""
    # A shift moves the bit to the sign, and an arithmetic shift spreads it, so that nothing is compared or multiplied.
    signed = lax.bitcast_convert_type(words, jnp.int32)
    mask = lax.shift_right_arithmetic(signed << jnp.int32(31 - term), jnp.int32(31))
    return lax.bitcast_convert_type(mask, words.dtype)


def label_sums(labels, words):
    """Return the label sums of equation (3) for many subsets, 32 of them in a word, without a table of subsets.

    Bit ``p`` of word ``w`` stands for the subset with the binary digits of ``32 w + p``. The plane of its sum is the
    parity of the subset AND the plane of the label.

    Args:
      labels: One plane of every label ``zeta_l``, uint32, whose bit ``l`` belongs to element ``l`` of the subsets.
      words: The numbers of the words, uint32, which are broadcast against ``labels``.

    Returns:
      One plane of the sums, uint32.
    """
    # The five lowest digits of a subset are its place in the word, so that they are known patterns.
    low = jnp.zeros_like(labels)
    for place, pattern in enumerate(_PLACES):
        low = low ^ (selection(labels, place) & jnp.asarray(pattern, jnp.uint32))
    # The digits above are the number of the word, so that its 32 subsets share one parity. The parity is taken by
    # shifts, because Triton cannot count the bits of a block.
    high = (labels >> jnp.uint32(5)) & words
    for shift in (16, 8, 4, 2, 1):
        high = high ^ (high >> jnp.uint32(shift))
    return low ^ selection(high, 0)


_PLACES = (0xAAAAAAAA, 0xCCCCCCCC, 0xF0F0F0F0, 0xFF00FF00, 0xFFFF0000)
"""Five patterns of 32 bits; bit ``p`` of pattern ``l`` is binary digit ``l`` of ``p``."""
