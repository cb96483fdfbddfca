"""GF(2^8): the tables against school arithmetic, and everything bit-sliced against the tables, on all pairs."""

import itertools

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


slice_bytes, unslice_bytes = jax.jit(field_tables.slice_bytes), jax.jit(field_tables.unslice_bytes)


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
        field_tables.slice_bytes(jnp.zeros(33, jnp.uint8))


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


def selected(terms, scalar):
    """The terms of some elements times a scalar, which is the highest byte of a word."""
    masks = gf256.expand(gf256.masks(scalar << jnp.uint32(24)))
    return [term & mask for term, mask in zip(terms, masks, strict=True)]


def test_scalar_products_in_the_term_domain(products):
    """Every scalar times all 256 elements."""
    everything = gf256.expand(planes(np.arange(256, dtype=np.uint8)))

    @jax.vmap
    def times(scalar):
        return field_tables.unslice_bytes(jnp.stack(gf256.collapse(selected(everything, scalar))))

    found = jax.jit(times)(jnp.arange(256, dtype=jnp.uint32))
    np.testing.assert_array_equal(found, products.reshape(256, 256))


def test_sums_stay_in_the_term_domain():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 256, (5, 64), dtype=np.uint8)
    scalars = rng.integers(0, 256, 5, dtype=np.uint8)
    total = [np.zeros(2, np.uint32)] * gf256.TERMS
    for value, scalar in zip(values, scalars, strict=True):
        terms = selected(gf256.expand(planes(value)), jnp.uint32(scalar))
        total = [t ^ x for t, x in zip(total, terms, strict=True)]
    expected = np.bitwise_xor.reduce(multiply_bytes(values, scalars[:, None]))
    np.testing.assert_array_equal(elements(gf256.collapse(total)), expected)


def test_random_elements_are_those_of_their_formula():
    """The generator by whole numbers of Python: an odd word of 32 bits is scaled to 1..255."""
    rng = np.random.default_rng(4)
    counters, keys = rng.integers(0, 2**32, 500, np.uint32), rng.integers(0, 2**32, (2, 500), np.uint32)
    expected = []
    for counter, (one, two) in zip(counters.tolist(), keys.T.tolist(), strict=True):
        word = (counter ^ counter >> 17) * 0xED5AD4BB % 2**32
        word = (word ^ word >> 11 ^ one) * 0xAC4C1B51 % 2**32
        word = ((word ^ word >> 15 ^ two) * 2 * 0x31848BAB + 1) % 2**32
        expected.append(1 + 255 * word // 2**32)
    found = np.asarray(jax.jit(gf256.random_elements)(jnp.asarray(counters), jnp.asarray(keys)))
    np.testing.assert_array_equal(found >> 24, expected)


def test_random_elements_are_uniform_nonzero_and_independent():
    """Chi-squared, five standard deviations: elements, pairs of near and far counters, and pairs of keys."""
    counters = jnp.arange(2**20, dtype=jnp.uint32)
    keys = np.random.default_rng(5).integers(0, 2**32, (2, 2), np.uint32)
    one, two = (np.asarray(jax.jit(gf256.random_elements)(counters, jnp.asarray(key))) >> 24 for key in keys)
    assert one.min() == 1
    assert one.max() == 255
    pairs = [(one[:-apart], one[apart:]) for apart in (1, 2, 20, 2**10, 2**16, 2**19)]
    for counts in (np.bincount(one, minlength=256)[1:], *(pair_counts(*pair) for pair in (*pairs, (one, two)))):
        expected, free = counts.sum() / counts.size, counts.size - 1
        assert ((counts - expected) ** 2 / expected).sum() < free + 5 * np.sqrt(2 * free)


def pair_counts(one, two):
    """How often each pair of nonzero elements comes."""
    return np.bincount((one - 1) * 255 + two - 1, minlength=255**2)


def test_no_element_is_drawn_too_often():
    """The bound (2 k - 1) / 256 of a run leaves room for as much above 1 / 255 as 2^31 odd words make it."""
    # Word x goes to 1 + 255 x // 2^32; the words of one element are a range, half of which are odd.
    ends = [-(-value * 2**32 // 255) for value in range(256)]
    most = max((stop // 2) - (first // 2) for first, stop in itertools.pairwise(ends))
    for size in range(2, 31):
        assert 1 - (1 - most / 2**31) ** (2 * size - 1) <= (2 * size - 1) / 256
