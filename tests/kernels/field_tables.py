"""The field GF(2^8) by tables, and bit slices of bytes, with which tests compare the package's own forms."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.kernels._gf256 import PLANES

POLYNOMIAL = 0x11D
"""The polynomial of the field, whose bit ``d`` is the coefficient of x^d."""


@cache
def tables() -> tuple[np.ndarray, np.ndarray]:
    """Return the powers and the logarithms of the generator 2.

    Returns:
      ``powers``, int64 ``[510]``, with ``powers[e] = 2**e``, and ``logs``, int64 ``[256]``, with ``powers[logs[a]] =
      a`` for ``a`` from 1 (``logs[0]`` has no meaning).
    """
    # The powers are there twice, so that a sum of two logarithms needs no modulo 255.
    powers, logs = np.zeros(510, np.int64), np.zeros(256, np.int64)
    element = 1
    for exponent in range(255):
        powers[exponent] = powers[exponent + 255] = element
        logs[element] = exponent
        # The next power is this one times x, reduced by the polynomial. The powers of x (2) are all elements but 0.
        element <<= 1
        if element & 0x100:
            element ^= POLYNOMIAL
    return powers, logs


def multiply_bytes(a, b) -> np.ndarray:
    """Multiply field elements by the tables, in NumPy.

    Args:
      a: Integers in 0..255.
      b: Integers in 0..255, which are broadcast against ``a``.

    Returns:
      The products, uint8.

    Example:
      >>> int(multiply_bytes(0x53, 0xCA)), int(multiply_bytes(2, 0x80)) == POLYNOMIAL ^ 0x100
      (143, True)
    """
    powers, logs = tables()
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    return np.where((a == 0) | (b == 0), 0, powers[logs[a] + logs[b]]).astype(np.uint8)


def unslice_bytes(planes: jax.Array) -> jax.Array:
    """Return the elements, uint8 ``[..., 32 * W]``, of planes, uint32 ``[..., 8, W]``; undoes :func:`slice_bytes`."""
    *batch, _, words = planes.shape
    places = jnp.arange(32, dtype=jnp.uint32)
    spread = planes[..., None]
    bits = (spread >> _like(places, spread)) & jnp.uint32(1)
    weights = jnp.arange(PLANES, dtype=jnp.uint32).reshape(PLANES, 1, 1)
    elements = jnp.sum(bits << _like(weights, bits), axis=-3, dtype=jnp.uint32)
    return elements.astype(jnp.uint8).reshape(*batch, 32 * words)


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
