"""GF(2^8): the tables against school arithmetic, and everything bit-sliced against the tables, on all pairs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.kernels import _gf256 as gf256
from tests.kernels import field_tables
from tests.kernels.field_tables import multiply_bytes

PAIRS = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
A, B = (side.reshape(-1).astype(np.uint8) for side in PAIRS)


@pytest.fixture(scope="module")
def products():
    return multiply_bytes(A, B)


slice_bytes, unslice_bytes = jax.jit(gf256.slice_bytes), jax.jit(field_tables.unslice_bytes)


def planes(elements):
    return list(np.asarray(slice_bytes(elements)))


def elements(planes):
    return np.asarray(unslice_bytes(np.stack(planes)))


def test_tables_are_polynomial_multiplication(products):
    expected = np.zeros(A.shape, np.int64)
    for bit in range(8):
        expected ^= np.where(B >> bit & 1, A.astype(np.int64) << bit, 0)
    for degree in range(14, 7, -1):
        expected ^= np.where(expected >> degree & 1, field_tables.POLYNOMIAL << (degree - 8), 0)
    np.testing.assert_array_equal(products, expected)


def test_field_axioms_on_all_pairs(products):
    table = products.reshape(256, 256)
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(table[1], np.arange(256))
    assert not table[0].any()
    # Every nonzero element permutes the nonzero elements, hence inverses and no zero divisors.
    np.testing.assert_array_equal(np.sort(table[1:, 1:]), np.broadcast_to(np.arange(1, 256), (255, 255)))
    for c in (2, 3, 0x1D, 0x8E, 0xFF):
        np.testing.assert_array_equal(table[table, c], table[np.arange(256)[:, None], table[:, c]])
        np.testing.assert_array_equal(table[A ^ B, c], table[A, c] ^ table[B, c])


@pytest.mark.parametrize("shape", [(32,), (64,), (2, 3, 96)])
def test_slicing_round_trip(shape):
    original = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    sliced = slice_bytes(original)
    assert sliced.shape == (*shape[:-1], 8, shape[-1] // 32)
    assert sliced.dtype == jnp.uint32
    np.testing.assert_array_equal(unslice_bytes(sliced), original)
    back = np.random.default_rng(1).integers(0, 2**32, sliced.shape, dtype=np.uint32)
    np.testing.assert_array_equal(slice_bytes(unslice_bytes(back)), back)


def test_slice_layout():
    original = np.arange(256, dtype=np.uint8)[::-1].copy()
    sliced = np.asarray(slice_bytes(original))
    for place, plane in ((0, 0), (37, 5), (255, 7), (100, 2)):
        assert sliced[plane, place // 32] >> (place % 32) & 1 == original[place] >> plane & 1


def test_slicing_refuses_part_words():
    with pytest.raises(ValueError, match="got 33.*multiple of 32"):
        gf256.slice_bytes(jnp.zeros(33, jnp.uint8))


@pytest.mark.parametrize("dtype", [jnp.uint32, jnp.int32])
def test_multiply_all_pairs(products, dtype):
    x, y = ([jax.lax.bitcast_convert_type(word, dtype) for word in planes(side)] for side in (A, B))
    out = [jax.lax.bitcast_convert_type(word, jnp.uint32) for word in jax.jit(gf256.multiply)(x, y)]
    np.testing.assert_array_equal(elements(out), products)


def test_multiply_add_all_pairs(products):
    total = np.random.default_rng(2).integers(0, 256, A.shape, dtype=np.uint8)
    out = jax.jit(gf256.multiply_add)(planes(total), planes(A), planes(B))
    np.testing.assert_array_equal(elements(out), total ^ products)


def test_multiply_is_the_same_circuit_in_numpy(products):
    np.testing.assert_array_equal(elements(gf256.multiply(planes(A), planes(B))), products)


def test_expand_is_linear_and_products_are_termwise(products):
    x, y = gf256.expand(planes(A)), gf256.expand(planes(B))
    assert len(x) == len(y) == gf256.TERMS
    together = gf256.expand(planes(A ^ B))
    for a, b, both in zip(x, y, together, strict=True):
        np.testing.assert_array_equal(a ^ b, both)
    np.testing.assert_array_equal(elements(gf256.collapse([a & b for a, b in zip(x, y, strict=True)])), products)


def test_scalar_products_in_the_term_domain(products):
    """Every scalar times all 256 elements, selected by the bits of the expanded scalar."""
    everything = gf256.expand(planes(np.arange(256, dtype=np.uint8)))
    words = gf256.expand_scalars(jnp.arange(256, dtype=jnp.uint8))
    assert int(words.max()) < 2**gf256.TERMS

    @jax.vmap
    def times(word):
        terms = [word_of & gf256.selection(word, r) for r, word_of in enumerate(everything)]
        return field_tables.unslice_bytes(jnp.stack(gf256.collapse(terms)))

    np.testing.assert_array_equal(jax.jit(times)(words), products.reshape(256, 256))


def test_sums_stay_in_the_term_domain():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 256, (5, 64), dtype=np.uint8)
    scalars = rng.integers(0, 256, 5, dtype=np.uint8)
    total = [np.zeros(2, np.uint32)] * gf256.TERMS
    for value, word in zip(values, np.asarray(gf256.expand_scalars(jnp.asarray(scalars))), strict=True):
        terms = gf256.expand(planes(value))
        total = [t ^ (x & gf256.selection(word, r)) for r, (t, x) in enumerate(zip(total, terms, strict=True))]
    expected = np.bitwise_xor.reduce(multiply_bytes(values, scalars[:, None]))
    np.testing.assert_array_equal(elements(gf256.collapse(total)), expected)
