"""Random weights from a seed, the hash of a table, and exact sums modulo the prime 2^61 - 1."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

P = 2**61 - 1
"""A Mersenne prime: 2^61 is 1 modulo P, so that remainders are shifts and sums."""


def random_words(seed: bytes, purpose: str, count: int) -> np.ndarray:
    """Return random 64-bit words, the same ones for the same seed and purpose, uint64 ``[count]``."""
    key = int.from_bytes(hashlib.sha256(seed + purpose.encode()).digest()[:16], "little")
    return np.random.Philox(key=key).random_raw(count)


def random_weights(seed: bytes, purpose: str, count: int) -> np.ndarray:
    """Return random residues modulo P, uint64 ``[count]``."""
    return random_words(seed, purpose, count) % np.uint64(P)


def random_rows(seed: bytes, rows: int, count: int) -> list[int]:
    """Return the numbers of rows that are drawn as witnesses, independently of each other."""
    return (random_words(seed, "witnesses", count) % np.uint64(max(rows, 1))).tolist()


def digest(table: np.ndarray) -> str:
    """Return a SHA-256 of a table: of those of blocks of 65,536 rows, as int64, or as text where that is too small."""
    try:
        table = np.ascontiguousarray(table.astype("<i8", copy=False))
    except OverflowError:
        return hashlib.sha256(repr(table.tolist()).encode()).hexdigest()
    blocks = [table[first : first + 2**16] for first in range(0, len(table), 2**16)]
    with ThreadPoolExecutor() as pool:
        parts = pool.map(lambda block: hashlib.sha256(block.data).digest(), blocks)
    return hashlib.sha256(b"".join([repr(table.shape).encode(), *parts])).hexdigest()


def exact_sum(values: np.ndarray) -> int:
    """Return the sum of fewer than 2^31 integers of 64 bits, exactly."""
    half = values.dtype.type(32)
    return (int((values >> half).sum()) << 32) + int((values & values.dtype.type(2**32 - 1)).sum())


def weighted_sums(weights: np.ndarray, table: np.ndarray) -> list[int]:
    """Return the weighted sum of each column modulo P, exactly.

    Weights and values are cut into pieces of 16 bits. A float64 holds the sum of 2^20 products of two pieces without
    rounding.

    Args:
      weights: uint64 ``[rows]``.
      table: int64, or Python integers, ``[rows, columns]``.
    """
    if table.dtype == object or table.min(initial=0) < 0:
        columns = table.astype(object).T.tolist()
        return [sum(w * x for w, x in zip(weights.tolist(), column, strict=True)) % P for column in columns]
    sums = [0] * table.shape[1]
    for first in range(0, len(table), 2**20):
        block, weight = np.ascontiguousarray(table[first : first + 2**20]), weights[first : first + 2**20]
        pieces = np.stack([_piece(weight, i) for i in range(4)])
        for j in range(-(-int(block.max(initial=0)).bit_length() // 16)):
            # As BLAS would do it, but without its threads, which wait for each other on a busy machine.
            for i, products in enumerate(np.einsum("ir,rc->ic", pieces, _piece(block, j))):
                sums = [total + (int(x) << 16 * (i + j)) for total, x in zip(sums, products, strict=True)]
    return [total % P for total in sums]


def _piece(values: np.ndarray, number: int) -> np.ndarray:
    return (values >> values.dtype.type(16 * number) & values.dtype.type(0xFFFF)).astype(np.float64)


def multiply(a: np.ndarray, b: np.ndarray | np.uint64) -> np.ndarray:
    """Return the products of residues modulo P, uint64."""
    low, half = np.uint64(2**31 - 1), np.uint64(31)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    middle = a_high * b_low + a_low * b_high
    upper, rest = middle >> np.uint64(30), middle & np.uint64(2**30 - 1)
    # high * 2^62 + middle * 2^31 + low, where 2^61 counts as 1. The sum is below 2^64.
    return (np.uint64(2) * (a_high * b_high) + upper + (rest << half) + a_low * b_low) % np.uint64(P)


def add_up(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sums modulo P of stretches of residues, of which each begins at one of ``starts``."""
    half = np.uint64(32)
    low = np.add.reduceat(values & np.uint64(2**32 - 1), starts)
    high = np.add.reduceat(values >> half, starts) % np.uint64(P)
    return (multiply(high, np.uint64(2**32)) + low % np.uint64(P)) % np.uint64(P)
