"""The state of any two nodes by the index of pairs, against the adjacency matrix; built on the host and on a device."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target, compiling_for, jit64, put64
from jaxmotif.kernels._pair_index import PairIndex, bits_for, device_index, hash_pairs, host_index, likely_fullest

build = jit64(device_index, static_argnames=("node_bits", "bucket_bits"))
look_up = jit64(lambda index, late, early: index.state(late, early))
N, ROOM, SLOTS = 40, 64, 1024


@pytest.mark.parametrize("with_states", [False, True])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.6])
def test_states_of_all_pairs_are_those_of_the_matrix(density, with_states):
    rng = np.random.default_rng(int(10 * density))
    matrix = np.tril(rng.random((N, N)) < density, -1) * (rng.integers(1, 9, (N, N)) if with_states else 1)
    matrix = matrix + matrix.T
    rows, near = np.nonzero(matrix)
    offsets = np.searchsorted(rows, np.arange(ROOM + 1)).astype(np.int32)
    # What stands past the last slot is no edge, whatever it is.
    padded = [np.pad(x, (0, SLOTS - near.size), constant_values=0).astype(np.int32) for x in (near, matrix[rows, near])]
    states = padded[1] if with_states else None
    bits = bits_for(ROOM, SLOTS)
    on_host = host_index(offsets, padded[0], states, *bits)
    on_device = build(*put64((offsets, padded[0], states), jax.devices()[0]), node_bits=bits[0], bucket_bits=bits[1])
    late, early = np.tril_indices(ROOM)
    full = np.pad(matrix, (0, ROOM - N))
    for *arrays, fullest in (on_host, on_device):
        assert int(fullest) == np.diff(np.asarray(arrays[0])).max()
        index = PairIndex(*put64(tuple(arrays), jax.devices()[0]), *bits, most=16)
        assert int(fullest) <= 16
        given = put64((late, early), jax.devices()[0])
        np.testing.assert_array_equal(look_up(index, *given), full[late, early])
        with compiling_for(Target("cuda")):
            np.testing.assert_array_equal(look_up(index, *given), full[late, early])
    np.testing.assert_array_equal(on_host[0], on_device[0])
    np.testing.assert_array_equal(on_host[1][: rows.size // 2], on_device[1][: rows.size // 2])


@pytest.mark.parametrize("bits", [1, 5, 31])
def test_no_two_pairs_have_one_hash(bits):
    some = np.random.default_rng(0).integers(0, 2**bits, (2, 5000))
    late, early = np.unique(some, axis=1)
    for xp in (np, jnp):
        high, low = (np.asarray(x) for x in hash_pairs(xp, late, early, bits))
        assert max(high.max(), low.max()) < 2**bits
        assert len(set(zip(high.tolist(), low.tolist(), strict=True))) == late.size


def test_edges_of_a_hub_and_of_a_grid_fill_buckets_evenly():
    star = np.stack([np.arange(1, 1 << 14), np.zeros((1 << 14) - 1, np.int64)])
    grid = np.stack([np.arange(1, 1 << 14), np.arange((1 << 14) - 1)])
    for late, early in (star, grid):
        bits, _ = bits_for(1 << 14, 1 << 15)
        high, _ = hash_pairs(np, late, early, bits)
        assert abs(np.bincount(high).max() - likely_fullest(late.size, bits)) <= 1
