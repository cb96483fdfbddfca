"""Random weights from a seed, the hash of a table, and sums modulo the prime 2^61 - 1."""

import hashlib
from functools import reduce
from math import isqrt
from typing import Any

import numpy as np

# A Mersenne prime: 2^61 is 1 modulo P, so that remainders are shifts and sums.
P = 2**61 - 1

# The number of bytes of a leaf, and the text that is hashed behind each leaf. The hash of a table has another text at
# its end, so that no leaf can pass for a table.
LEAF, LEAF_END = 8192, b"leaf"


def random_weights(seed: bytes, purpose: str, count: int) -> np.ndarray:
    """Return ``count`` random residues modulo P, uint64 from 0 to P (P stands for 0, too), which the seed decides."""
    state = int.from_bytes(hashlib.sha256(seed + purpose.encode()).digest(), "little")
    return np.random.PCG64(state).random_raw(count) >> np.uint64(3)


def row_factors(seed: bytes, rows: int) -> np.ndarray:
    """Return random residues, uint64 ``[2, side]``; row ``i`` has the weight ``[0, i % side] * [1, i // side]``."""
    return random_weights(seed, "rows", 2 * isqrt(rows) + 2).reshape(2, -1)


def row_weights(seed: bytes, rows: int) -> np.ndarray:
    """Return the weights of the rows of a table, uint64 ``[rows]``, each one a product of two random residues."""
    inner, outer = row_factors(seed, rows)
    return multiply(outer[:, None], inner).ravel()[:rows]


def random_rows(seed: bytes, rows: int, count: int) -> list[int]:
    """Return the numbers of rows that are drawn as witnesses, independently of each other."""
    return (random_weights(seed, "witnesses", count) % np.uint64(max(rows, 1))).tolist()


def digest(table: np.ndarray) -> str:
    """Return the hash of a table of integers of any dtype: a SHA-256 of the SHA-256 of its leaves of 8,192 bytes.

    The numbers of the table are written one after another with the highest byte first. Each takes 64 bits, or the
    multiple of 64 bits that the largest number needs. Zeros fill the last leaf.
    """
    wide = table.ravel().tolist() if table.dtype == object else []
    size = 8 * max((number.bit_length() // 64 + 1 for number in wide), default=1)
    content = b"".join(number.to_bytes(size, "big", signed=True) for number in wide) or table.astype(">i8").tobytes()
    leaves = (content[start : start + LEAF].ljust(LEAF, b"\0") for start in range(0, len(content), LEAF))
    return join_leaves(table.shape, size, b"".join(hashlib.sha256(leaf + LEAF_END).digest() for leaf in leaves))


def join_leaves(shape: tuple[int, ...], size: int, hashes: bytes) -> str:
    """Return the hash of a table from its shape, the bytes of a number, and the hashes of its leaves."""
    return hashlib.sha256(f"{shape}, numbers of {size} bytes\n".encode() + hashes + b"root").hexdigest()


def weighted_sums(weights: np.ndarray, table: np.ndarray) -> list[int]:
    """Return the sum of each column modulo P, with residues as weights of the rows."""
    return [exact_sum(multiply(weights, (column % P).astype(np.uint64))) % P for column in table.T]


def multiply(a: Any, b: Any) -> Any:
    """Return the products of residues modulo P, uint64, for arrays of any library."""
    low, half = np.uint64(2**31 - 1), np.uint64(31)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    middle = a_high * b_low + a_low * b_high
    upper, rest = middle >> np.uint64(30), middle & np.uint64(2**30 - 1)
    # high * 2^62 + middle * 2^31 + low, where 2^61 counts as 1. The sum is below 2^64.
    return (np.uint64(2) * (a_high * b_high) + upper + (rest << half) + a_low * b_low) % np.uint64(P)


def exact_sum(values: np.ndarray) -> int:
    """Return the sum of fewer than 2^31 integers, none negative, of any dtype."""
    return int((values & (2**32 - 1)).sum()) + (int((values >> 32).sum()) << 32)


def add_groups(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sums modulo P of groups of residues, each of which ends where the next one starts."""
    low, high = (np.add.reduceat(half, starts) for half in (values & np.uint64(2**32 - 1), values >> np.uint64(32)))
    return (multiply(high % np.uint64(P), np.uint64(2**32)) + low % np.uint64(P)) % np.uint64(P)


def sum_of_products(weights: list[np.ndarray], maps: np.ndarray) -> int:
    """Return the sum over maps of the products of the weights of their images, modulo P.

    Args:
      weights: for each query node residues ``[n]``.
      maps: the images of the query nodes, integers ``[maps, query nodes]``.
    """
    images = maps.T.astype(np.int64)
    return exact_sum(reduce(multiply, (weight[image] for weight, image in zip(weights, images, strict=True)))) % P
