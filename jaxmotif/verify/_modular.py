"""Random weights from a seed, the hash of a table, and sums modulo the prime 2^61 - 1."""

import hashlib
from collections.abc import Callable

import numpy as np

P = 2**61 - 1
"""A Mersenne prime: 2^61 is 1 modulo P, so that remainders are shifts and sums."""

BLOCK = 2**14
"""Rows of a table that are hashed together."""


def random_words(seed: bytes, purpose: str, count: int) -> np.ndarray:
    """Return random 64-bit words, the same ones for the same seed and purpose, uint64 ``[count]``."""
    return np.random.PCG64(int.from_bytes(hashlib.sha256(seed + purpose.encode()).digest(), "little")).random_raw(count)


def random_weights(seed: bytes, purpose: str, count: int) -> np.ndarray:
    """Return random residues modulo P (which stands for 0, too), uint64 ``[count]``."""
    return random_words(seed, purpose, count) >> np.uint64(3)


def random_rows(seed: bytes, rows: int, count: int) -> list[int]:
    """Return the numbers of rows that are drawn as witnesses, independently of each other."""
    return (random_words(seed, "witnesses", count) % np.uint64(max(rows, 1))).tolist()


def digest(table: np.ndarray, each: Callable = map) -> str:
    """Return a SHA-256 of a table of integers: that of the hashes of its blocks.

    Args:
      table: integers of any dtype.
      each: ``map``, or the like of a pool of threads.
    """
    blocks = (table[first : first + BLOCK] for first in range(0, len(table), BLOCK))
    return hashlib.sha256(b"".join([repr(table.shape).encode(), *each(_hash_block, blocks)])).hexdigest()


def _hash_block(block: np.ndarray) -> bytes:
    """Return the SHA-256 of integers as uint32 or int64, whichever holds them first, or else as text."""
    for kind in ("<u4", "<i8"):
        try:
            narrow = np.ascontiguousarray(block, kind)
        except OverflowError:
            continue
        if (narrow == block).all():
            return hashlib.sha256(narrow.data).digest()
    return hashlib.sha256(repr(block.tolist()).encode()).digest()


def weighted_sums(weights: np.ndarray, table: np.ndarray) -> list[int]:
    """Return the sum of each column modulo P, with residues as weights of the rows."""
    columns = [multiply(weights, (column % P).astype(np.uint64)) for column in table.T]
    return [int(add_up(column, np.array([0, len(column)]))[0]) for column in columns]


def multiply(a: np.ndarray, b: np.ndarray | np.uint64) -> np.ndarray:
    """Return the products of residues modulo P, uint64."""
    low, half = np.uint64(2**31 - 1), np.uint64(31)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    middle = a_high * b_low + a_low * b_high
    upper, rest = middle >> np.uint64(30), middle & np.uint64(2**30 - 1)
    # high * 2^62 + middle * 2^31 + low, where 2^61 counts as 1. The sum is below 2^64.
    return (np.uint64(2) * (a_high * b_high) + upper + (rest << half) + a_low * b_low) % np.uint64(P)


def add_up(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the sums modulo P of stretches of fewer than 2^31 residues: each ends where the next one begins."""
    sums = []
    for half in (values & np.uint64(2**32 - 1), values >> np.uint64(32)):
        before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(half)])
        sums.append(np.diff(before[offsets]) % np.uint64(P))
    return (multiply(sums[1], np.uint64(2**32)) + sums[0]) % np.uint64(P)


def sum_of_products(weights: list[np.ndarray], maps: np.ndarray) -> int:
    """Return the sum over maps of the products of the weights of their images, modulo P.

    Args:
      weights: for each query node residues ``[n]``.
      maps: the images of the query nodes, integers ``[maps, query nodes]``.
    """
    products = np.ones((len(maps), 1), np.uint64)
    for weight, images in zip(weights, maps.T, strict=True):
        products = multiply(products, weight[images.astype(np.int64)][:, None])
    return weighted_sums(np.ones(len(maps), np.uint64), products)[0]
