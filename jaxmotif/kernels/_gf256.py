"""The field GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11D): bit slices, the 27-term transform, random elements.

In bit-sliced form 32 elements take eight 32-bit words, their *planes*: bit ``p`` of plane ``b`` is bit ``b`` of element
``p``. Sums are XORs of planes, and products are circuits of ANDs and XORs, so that each lane of a vector unit
multiplies 32 elements at once. The functions on planes take and return sequences of words, which are arrays of one
integer dtype and shape, and serve NumPy, XLA and Pallas alike.

Products with one scalar for all 32 elements are cheapest in the *27-term domain*, which is three levels of Karatsuba's
splitting. ``expand`` maps 8 planes to 27 words by XORs alone, and the same map makes 27 masks of a scalar's 8. A
product is 27 selections, and a sum of products stays in the domain. ``collapse`` maps the sum back to 8 planes at the
end.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

PLANES = 8
"""Number of planes, which is the number of bits of an element."""

TERMS = 27
"""Number of terms of the 27-term domain."""

Words = Sequence[Any]
"""Arrays of words of one shape and dtype: 8 planes, or 27 terms."""


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
        coefficients.append(reduce(operator.xor, terms))
    return coefficients


def _reduce(coefficients: Words) -> list:
    """Reduce 15 coefficients modulo the polynomial of the field, by x^d = x^(d-8) (x^4 + x^3 + x^2 + 1)."""
    planes = list(coefficients)
    # The highest degree comes first, because x^14 adds to x^10, which must itself be reduced.
    for degree in range(2 * PLANES - 2, PLANES - 1, -1):
        for shift in (0, 2, 3, 4):
            planes[degree - PLANES + shift] = planes[degree - PLANES + shift] ^ planes[degree]
    return planes[:PLANES]


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


def masks(words: Array) -> list:
    """Return masks of scalars in the highest bytes of words, uint32: plane ``b`` is all ones where bit ``b`` is set."""
    return [selection(words, 24 + b) for b in range(PLANES)]


def expand_elements(words: Array) -> Array:
    """Map scalars in the highest bytes of words, uint32, to words whose bit ``r`` selects term ``r`` of a product."""
    # The map is linear over bits, so that the same XORs expand the 8 bits of a scalar.
    return reduce(operator.xor, (mask & jnp.uint32(1 << r) for r, mask in enumerate(expand(masks(words)))))


def selection(words: Array, bit: int) -> Array:
    """Return all ones where a bit of words, int32 or uint32, is set and else zero, in the same dtype."""
    # A shift moves the bit to the sign, which is spread, so that nothing is compared or multiplied.
    signed = lax.bitcast_convert_type(words, jnp.int32)
    return lax.bitcast_convert_type(spread_sign(signed << jnp.int32(31 - bit)), words.dtype)


@jax.jit
def spread_sign(words: Array) -> Array:
    """Return all ones where words, int32, are negative and else zero; our own PTX has an instruction for it."""
    return lax.shift_right_arithmetic(words, jnp.int32(31))


@jax.jit
def add_selected(total: Array, term: Array, mask: Array) -> Array:
    """Return the total with a term where the mask selects it; our own PTX has an instruction for it."""
    return total ^ (term & mask)


def random_elements(counters, key) -> Array:
    """Draw nonzero elements by a counter-based generator, an element for each counter and key.

    The multiplications and shifts are those of Wellons's ``triple32`` (Prospecting for Hash Functions, 2018), the last
    one doubled, with a word of the key before the second and the third. The highest byte is uniform over the 255
    nonzero elements up to 2^-31. Elements are drawn where they are used, which takes less than to load them; what
    depends on the counter alone is shared by all keys.

    Args:
      counters: The counters, uint32.
      key: Two random words, uint32, which are broadcast against ``counters``.

    Returns:
      Words, uint32, whose highest bytes are the elements; see :func:`masks`.

    Example:
      >>> import jax.numpy as jnp
      >>> words = random_elements(jnp.arange(1000, dtype=jnp.uint32), jnp.array([12, 34], jnp.uint32))
      >>> int(jnp.min(words >> 24)), int(jnp.max(words >> 24))
      (1, 255)
    """
    mixed = (counters ^ (counters >> jnp.uint32(17))) * jnp.uint32(0xED5AD4BB)
    mixed = (mixed ^ (mixed >> jnp.uint32(11)) ^ key[0]) * jnp.uint32(0xAC4C1B51)
    # One of 2^31 odd words; 255 / 256 of it, and 2^24 - 1 more, is never below 2^24.
    odd = (mixed ^ (mixed >> jnp.uint32(15)) ^ key[1]) * jnp.uint32(2 * 0x31848BAB) + jnp.uint32(1)
    return odd - (odd >> jnp.uint32(8)) + jnp.uint32(2**24 - 1)


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
