"""Flat positions back to lists, against numpy.repeat."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.kernels._expand import FlatWork, blocks_of, expand, find, flat_work

LISTS = 24


def _lengths(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 40, LISTS) * (rng.random(LISTS) < 0.6)
    lengths[rng.integers(LISTS)] = 150  # much longer than a block
    return lengths.astype(np.int32)


CASES = {
    **{f"random {seed}": _lengths(seed) for seed in range(3)},
    "ones": np.ones(LISTS, np.int32),
    "last alone": np.eye(LISTS, dtype=np.int32)[-1] * 33,
    "nothing": np.zeros(LISTS, np.int32),
}


@functools.cache
def _expand(block):
    return jax.jit(functools.partial(expand, block=block))


pytestmark = pytest.mark.usefixtures("wide")


@pytest.mark.parametrize("lengths", CASES.values(), ids=CASES)
def test_lists_are_laid_out_in_order(lengths):
    for work in (flat_work(np, lengths), jax.jit(functools.partial(flat_work, jnp))(lengths)):
        real = np.flatnonzero(lengths)
        assert work.items.dtype == np.int32
        assert work.starts.dtype == np.int64
        assert work.items[: real.size].tolist() == real.tolist()
        ends = np.cumsum(lengths[real]).tolist()
        assert work.starts.tolist() == [0, *ends, *[sum(lengths)] * (LISTS - real.size)]
        assert int(work.total) == sum(lengths)


@pytest.mark.parametrize("block", [1, 8, 64])
@pytest.mark.parametrize("lengths", CASES.values(), ids=CASES)
def test_expands_every_block(lengths, block):
    """Blocks begin and end anywhere in a list, and the last is cut short by ``stop``, which need not be the end."""
    work = jax.device_put(flat_work(np, lengths))
    items = np.repeat(np.arange(LISTS), lengths)
    offsets = np.concatenate([np.arange(x) for x in lengths])
    total = len(items)
    rng = np.random.default_rng(block)
    for first, stop in [(0, total), (max(total - 3, 0), total), *np.sort(rng.integers(0, total + 1, (12, 2)))]:
        item, offset, valid = map(np.asarray, _expand(block)(work, np.int64(first), np.int64(stop)))
        here = slice(first, min(first + block, stop))
        count = here.stop - here.start
        assert valid.tolist() == [True] * count + [False] * (block - count)
        np.testing.assert_array_equal(item[valid], items[here])
        np.testing.assert_array_equal(offset[valid], offsets[here])
        assert ((item >= 0) & (item < LISTS)).all()


def test_positions_beyond_32_bits():
    lengths = np.array([2**30, 3, 2**30, 2**30 - 1, 5, 1, 2**30, 2, 2**30, 2**20], np.int64)
    ends = np.cumsum(lengths)
    work = FlatWork(np.arange(10, dtype=np.int32), np.concatenate([[0], ends]))
    for first in [0, 2**30 - 4, *(ends[1:-1] - 3), 2**31 - 1, 2**32 + 5, ends[-1] - 5]:
        stop = min(first + 7, ends[-1])
        item, offset, valid = map(np.asarray, _expand(8)(work, np.int64(first), np.int64(stop)))
        position = np.arange(first, stop)
        expected = np.searchsorted(ends, position, side="right")
        assert valid.tolist() == [x < len(position) for x in range(8)]
        np.testing.assert_array_equal(item[valid], expected)
        np.testing.assert_array_equal(offset[valid], position - (ends - lengths)[expected])


def test_vmaps():
    works = [flat_work(np, lengths) for lengths in CASES.values()]
    first = np.array([3, 0, 11, 23, 30, 0])
    stop = np.array([9, 100, 40, 24, 33, 0])
    batch = jax.tree.map(lambda *x: np.stack(x), *works)
    found = jax.jit(jax.vmap(functools.partial(expand, block=8)))(batch, first, stop)
    for i, work in enumerate(works):
        for a, b in zip(found, _expand(8)(work, first[i], stop[i]), strict=True):
            np.testing.assert_array_equal(a[i], b)


def test_find_is_searchsorted():
    rng = np.random.default_rng(0)
    values = np.sort(rng.integers(0, 50, 30).astype(np.int32))
    low, high = np.sort(rng.integers(0, 31, (2, 200)), axis=0).astype(np.int32)
    wanted = rng.integers(-1, 51, 200).astype(np.int32)
    at, there = jax.jit(functools.partial(find, steps=5))(jnp.asarray(values), low, high, wanted)
    expected = [a + np.searchsorted(values[a:b], x) for a, b, x in zip(low, high, wanted, strict=True)]
    np.testing.assert_array_equal(at, expected)
    assert there.tolist() == [x in values[a:b] for a, b, x in zip(low, high, wanted, strict=True)]


@pytest.mark.parametrize("block", [1, 2, 3, 1024])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_blocks_of_positions(dtype, block):
    most = min(np.iinfo(dtype).max, (2**31 - 1) * block)
    positions = np.array([-5, 0, 1, block - 1, block, block + 1, 10 * block + 1, most - 1, most], dtype)
    found = blocks_of(jnp.asarray(positions), block)
    assert found.dtype == np.int32
    assert found.tolist() == [-(-max(int(x), 0) // block) for x in positions]
