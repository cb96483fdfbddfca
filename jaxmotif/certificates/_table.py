"""Tables of counts for certificates.

A table is first fixed by the sums of its columns and its hash. Only then do random weights and rows follow from a seed,
for which it shows sums and rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._exact import join_sums, split_sum
from jaxmotif.arrays._fetch import fetch_int64, is_on_accelerator
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.kernels._sha256 import hash_leaves
from jaxmotif.verify import _modular as modular

MOST_LEAVES = 2**20
"""The largest number of leaves that a device hashes, since it numbers their words in 32 bits."""


class HostTable:
    """A table in host memory.

    Args:
      counts: integers of any dtype, none negative, ``[rows, columns]``.
    """

    def __init__(self, counts: np.ndarray):
        self._counts, self.shape = counts, counts.shape

    def fix(self) -> tuple[list[int], str]:
        """Return the sum of each column, and the hash of the table."""
        return [modular.exact_sum(column) for column in self._counts.T], modular.digest(self._counts)

    def show(self, seed: bytes, rows: Sequence[int]) -> tuple[list[int], list[list[int]]]:
        """Return the sums of the columns with the weights of a seed, modulo P, and some rows."""
        weights = modular.row_weights(seed, len(self._counts))
        return modular.weighted_sums(weights, self._counts), self._counts[rows].tolist()


class DeviceTable:
    """A table on a device. The device hashes the leaves of the table and sums its columns; the host joins the hashes.

    Args:
      counts: int64, none negative, ``[rows or more, columns]``.
      rows: how many rows count.
    """

    def __init__(self, counts: jax.Array, rows: int):
        self._counts, self._rows, self.shape = counts, np.int32(rows), (rows, counts.shape[1])
        self._halves, self._leaves = jax.block_until_ready(_fix(counts, self._rows))

    def fix(self) -> tuple[list[int], str]:
        """Return the sum of each column, and the hash of the table."""
        number = -(-8 * self.shape[0] * self.shape[1] // modular.LEAF)
        leaves = np.asarray(self._leaves)[:number].tobytes()
        return join_sums(np.asarray(self._halves)).tolist(), modular.join_leaves(self.shape, 8, leaves)

    def show(self, seed: bytes, rows: Sequence[int]) -> tuple[list[int], list[list[int]]]:
        """Return the sums of the columns with the weights of a seed, modulo P, and some rows."""
        factors = modular.row_factors(seed, self.shape[0])
        side = np.int32(factors.shape[1])
        room = ((0, 0), (0, bucket_size(int(side)) - int(side)))  # so that graphs of a class share the program
        halves, shown = _show(self._counts, self._rows, np.pad(factors, room), side, np.asarray(rows, np.int32))
        return (join_sums(np.asarray(halves)) % modular.P).tolist(), np.asarray(shown).tolist()


def certified_table(counts: jax.Array | np.ndarray, rows: int, whole: bool) -> HostTable | DeviceTable:
    """Return a table of counts in the form that a certificate needs, on the device or in host memory.

    Args:
      counts: int64 or Python integers, none negative, ``[rows or more, columns]``.
      rows: how many rows count; further ones are padding.
      whole: whether the certificate shows all rows, so that the table is fetched anyway.
    """
    fits = counts.size * 8 <= MOST_LEAVES * modular.LEAF
    if fits and not whole and is_on_accelerator(counts):
        try:
            return DeviceTable(counts, rows)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
    return HostTable(fetch_int64(counts, rows))


def _real(counts: jax.Array, rows: jax.Array) -> jax.Array:
    """Return a table with zeros in its padding."""
    return jnp.where(jnp.arange(counts.shape[0], dtype=jnp.int32)[:, None] < rows, counts, jnp.int64(0))


@jit64
def _fix(counts: jax.Array, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
    counts = _real(counts, rows)
    # The checker hashes each number with its highest byte first, so its high half comes first here too.
    words = jnp.stack([counts >> 32, counts], axis=-1).astype(jnp.uint32).reshape(-1)
    words = jnp.pad(words, (0, -words.size % (modular.LEAF // 4))).reshape(-1, modular.LEAF // 4)
    hashes = lax.bitcast_convert_type(hash_leaves(words, modular.LEAF_END).T, jnp.uint8)
    # A device has the lowest byte first.
    return for_host(jnp.stack(split_sum(counts, axis=0))), for_host(hashes[..., ::-1])


@jit64
def _show(
    counts: jax.Array, rows: jax.Array, factors: jax.Array, side: jax.Array, shown: jax.Array
) -> tuple[jax.Array, jax.Array]:
    row = jnp.arange(counts.shape[0], dtype=jnp.int32)
    # Rows beyond the last one have no factor; they are zeros.
    weights = modular.multiply(factors[0][row % side], factors[1].at[row // side].get(mode="clip"))
    residues = _real(counts, rows).astype(jnp.uint64) % np.uint64(modular.P)
    products = modular.multiply(weights[:, None], residues).astype(jnp.int64)
    return for_host(jnp.stack(split_sum(products, axis=0))), for_host(counts[shown])
