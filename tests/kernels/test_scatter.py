"""Scatters with a position that is left out, in both forms."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target, compiling_for
from jaxmotif.kernels._scatter import accumulator, add_at, all_occur, count_at, put_at, sum_between

SIZE = 5
INDEX = np.array([3, 5, 0, 3, 5, 4, 3], np.int32)


@pytest.fixture(params=["cpu", "tpu"], autouse=True)
def platform(request):
    """The two ways to leave a position out."""
    with compiling_for(Target(request.param)):
        yield


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_add(dtype):
    with jax.enable_x64(True):
        start = accumulator(SIZE, jnp.dtype(dtype))
        values = np.arange(1, 8).astype(dtype) + (2**40 if dtype == "int64" else 0)
        found = add_at(start, jnp.asarray(INDEX), jnp.asarray(values))
    assert found.dtype == dtype
    expected = np.zeros(SIZE + 1, dtype)
    np.add.at(expected, INDEX, values)
    np.testing.assert_array_equal(np.asarray(found)[:SIZE], expected[:SIZE])


def test_put_is_whole():
    values = (np.arange(1, 8) << 40) + np.arange(1, 8)
    with jax.enable_x64(True):
        found = np.asarray(put_at(accumulator(SIZE, jnp.int64), jnp.asarray(INDEX), jnp.asarray(values)))
    for place in range(SIZE):
        assert int(found[place]) in (values[place == INDEX] if place in INDEX else [0])


@pytest.mark.parametrize("most_cells", [3 * (SIZE + 1), 3 * (SIZE + 1) - 1])
def test_counts_of_several_rows(most_cells):
    """Also rows that have more cells than indices tell apart."""
    index = np.stack([INDEX, INDEX[::-1], (INDEX + 1) % (SIZE + 1)])
    counts = np.asarray(jax.jit(jax.vmap(lambda index: count_at(SIZE, index, most_cells)))(index))
    for row in range(3):
        np.testing.assert_array_equal(counts[row][:SIZE], np.bincount(index[row], minlength=SIZE)[:SIZE])


@pytest.mark.parametrize("platform", ["cpu"], indirect=True)
@pytest.mark.parametrize("size", [2**30 - 2, 2**30 - 1])
def test_no_count_has_more_cells_than_indices_tell_apart(size):
    """Two rows just below and just above that; the program is read, because its arrays would take gigabytes."""
    program = jax.make_jaxpr(jax.vmap(lambda index: count_at(size, index)))(jax.ShapeDtypeStruct((2, 7), np.int32))
    [cells] = re.findall(r"\[(\d+)\] = scatter-add", str(program))
    assert int(cells) <= 2**31 - 1


@pytest.mark.parametrize("most", [2**16, 2**16 + 1])
@pytest.mark.parametrize("many", [255, 256, 2**16 - 1])
def test_all_occur(most, many):
    """Also a position that fills its part of a word, and one that does not fit there: neither reaches its neighbour."""
    index = np.concatenate([np.full(many, 2), np.repeat([1, 8], 9), [0, 4, 4], np.full(2**16 - many, 8)])
    asked, times = np.arange(8, dtype=np.int32), np.array([1, 9, many, 0, 2, 0, 0, 0], np.int32)

    @jax.jit
    def ask(index, times):
        touched = [index[:7], index[7:].reshape(-1, 2)]
        return all_occur(8, touched, [asked, asked[::-1]], [times, times[::-1]], most)

    index = index.astype(np.int32)
    assert (index.size - 7) % 2 == 0
    assert ask(index, times).tolist() == [True] * 8
    for more in (-1, 1):
        assert ask(index, times + np.int32(more)).tolist() == [False] * 8


def test_all_occur_beyond_two_bytes():
    """A position that occurs oftener than two bytes tell: neither it nor its neighbour is mistaken."""
    index = jnp.asarray(np.concatenate([np.full(2**16 + 1, 2), [0, 0]]).astype(np.int32))
    asked = jnp.arange(4, dtype=jnp.int32)
    for times, expected in (([2, 0, 2**16 + 1, 0], [True] * 4), ([2, 0, 1, 1], [True, True, False, False])):
        found = all_occur(8, [index], [asked], [jnp.asarray(times, jnp.int32)], 2**17)
        assert found.tolist() == expected


@pytest.mark.parametrize("many", [2**16 - 1, 2**16, 2**16 + 1])
def test_counts_of_one_position(many):
    """Counts of two bytes, as long as none can be larger."""
    found = np.asarray(count_at(SIZE, jnp.full(many, 3, jnp.int32)))
    assert found[:SIZE].tolist() == [0, 0, 0, many, 0]


def test_sums_beyond_32_bits(wide):
    """Moves of a chain of a hundred million edges, say: running sums and sums pass 2^31."""
    values = jnp.array([2**31 - 1] * 3 + [5], jnp.int64)
    assert sum_between(values, jnp.array([0, 0, 3, 4])).tolist() == [0, 3 * (2**31 - 1), 5]
