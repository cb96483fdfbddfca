"""Bits, rows and sizes: against loops, at the borders of words, on NumPy and on JAX arrays."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays import _bits as bits
from jaxmotif.arrays import _rows as rows
from jaxmotif.arrays import _sizes as sizes
from jaxmotif.arrays._compile import Target, compiling_for, jit64


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 65])
@pytest.mark.parametrize("xp", [np, jnp])
def test_packing(n, xp):
    mask = np.random.default_rng(n).random((3, 2, n)) < 0.5
    expected = [[[sum(1 << i % 32 for i in np.flatnonzero(row) if i // 32 == w) for w in range(bits.words_for(n))]
                 for row in block] for block in mask.tolist()]  # fmt: skip
    pack, unpack = (jax.jit(f) if xp is jnp else f for f in (bits.pack_bits, bits.unpack_bits))
    words = pack(xp.asarray(mask))
    assert isinstance(words, type(xp.asarray(mask)))
    assert words.dtype == np.uint32
    assert words.tolist() == expected
    again = np.asarray(unpack(words))
    assert again.shape == (3, 2, 32 * bits.words_for(n))
    assert (again[..., :n] == mask).all()
    assert not again[..., n:].any()


def test_single_bits():
    x = jnp.array([0, 1, 31, 32, 33, 63])
    assert bits.bit_of(x).tolist() == [1, 2, 2**31, 1, 2, 2**31]
    word = jnp.uint32(2**31 + 2)
    assert bits.has_bit(word, x).tolist() == [False, True, True, False, True, True]


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_ones(dtype):
    words = np.random.default_rng(0).integers(0, 2**32, 500, dtype=np.uint64).astype(np.uint32)
    words[:3] = 0, 2**32 - 1, 2**31
    found = bits.ones(jnp.asarray(words.view(dtype)))
    assert found.dtype == jnp.int32
    assert found.tolist() == [int(word).bit_count() for word in words]


def test_pair_keys_sort_by_both_and_give_the_lower_back():
    high, low = np.array([2, 1, 1, 2**31 - 1], np.int32), np.array([0, 7, 2**31 - 1, 5], np.int32)
    keys = bits.pair_key(high, low)
    assert np.argsort(keys).tolist() == [1, 2, 0, 3]
    assert bits.low_word(keys).tolist() == low.tolist()
    again = jit64(lambda a, b: bits.low_word(bits.pair_key(a, b)))(jnp.asarray(high), jnp.asarray(low))
    assert again.tolist() == low.tolist()


@pytest.mark.parametrize("lengths", [[], [0], [3], [0, 2, 0, 0, 4, 1, 0]])
def test_rows(lengths):
    total = sum(lengths)
    expected = [row for row, length in enumerate(lengths) for _ in range(length)]
    for xp in (np, jnp):
        compiled = jax.jit if xp is jnp else lambda function, **_: function
        offsets = compiled(rows.offsets_from)(xp.asarray(lengths, dtype=np.int32))
        assert offsets.dtype == np.int32
        assert offsets.tolist() == [sum(lengths[:row]) for row in range(len(lengths) + 1)]
        found = compiled(rows.row_of, static_argnums=1)(offsets, total + 3)
        assert found.dtype == np.int32
        assert found.tolist() == expected + [max(len(lengths) - 1, 0)] * 3
        entries = xp.asarray(expected[::-1] + [len(lengths)] * 2, dtype=np.int32)  # two of padding
        assert compiled(rows.offsets_of, static_argnums=1)(entries, len(lengths)).tolist() == offsets.tolist()


@pytest.mark.parametrize("n", [40, 10**9])
def test_renumber(n):
    ids = np.random.default_rng(1).integers(0, 40, (9, 2)) * (n // 40)
    places, kept = rows.renumber(ids, n)
    assert kept.tolist() == sorted(set(ids.ravel().tolist()))
    assert (kept[places] == ids).all()


def test_sizes_are_the_nearest_of_their_series():
    for x in range(200):
        assert sizes.power_of_two(x, 4) == min(2**i for i in range(2, 9) if 2**i >= x)
        assert sizes.floor_power_of_two(x) == max([2**i for i in range(9) if 2**i <= x], default=1)
        assert sizes.power_of_four(x, 3) == min(3 * 4**i for i in range(6) if 3 * 4**i >= x)


@pytest.mark.parametrize("accelerated", [False, True])
def test_graphs_have_room_in_their_classes(accelerated):
    """An accelerator has three classes for all but the largest graphs."""
    few = {(2**17, 2**20), (2**18, 2**21), (2**18, 2**22)}
    for nodes, slots in itertools.product([0, 1, 1024, 1025, 2**17, 2**17 + 1, 2**18, 2**18 + 1, 10**6], repeat=2):
        slots *= 16
        room = sizes.graph_class(nodes, slots, accelerated)
        assert room[0] >= nodes
        assert room[1] >= slots
        if accelerated:
            holding = [one for one in few if nodes <= one[0] and slots <= one[1]]
            assert room == min(holding, default=(sizes.bucket_size(nodes), sizes.bucket_size(slots)))


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_equal_integers_stay_in_order(platform):
    keys = np.random.default_rng(2).integers(0, 5, 40).astype(np.int32)
    with compiling_for(Target(platform)):
        order = jit64(rows.stable_order)(jnp.asarray(keys))
    assert order.dtype == np.int32
    assert order.tolist() == sorted(range(40), key=keys.tolist().__getitem__)
