"""SHA-256 of many messages of one length, each of which is a lane (FIPS 180-4, sections 4.1.2, 5.3.3 and 6.2)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmotif.kernels._lane_body import Read, each_lane

_LANES = 64  # lanes of a tile; few, so that the tiles of a large table keep all of a GPU busy until the end

Words = tuple[Array, ...]


_PRIMES = np.array([n for n in range(2, 312) if all(n % m for m in range(2, n))])  # the first 64


def _fractions(roots: np.ndarray) -> np.ndarray:
    """Return the first 32 bits of the fractions of numbers below 32, whose float64 have 48 bits there; uint32."""
    return (roots % 1 * 2**32).astype(np.uint32)


_START, _ROUNDS = _fractions(np.sqrt(_PRIMES[:8])), _fractions(np.cbrt(_PRIMES))


def hash_leaves(words: Array, end: bytes) -> Array:
    """Return the SHA-256 of messages that end alike, int32 ``[8, L]``: the eight words of each, the highest first.

    Args:
      words: the messages up to their end, uint32 ``[L, W]``; in a word the first byte is the highest, and W is a
        multiple of 16.
      end: the last bytes of all messages, at most 52 and a multiple of 4.
    """
    leaves, length = words.shape
    # Messages are padded by a one, zeros, and their length in bits (section 5.1.1).
    last = end.ljust(60, b"\0") + (32 * length + 8 * len(end)).to_bytes(4, "big")
    padding = np.frombuffer(last, ">u4").astype(np.uint32)
    padding[len(end) // 4] = 2**31
    room = -(-leaves // _LANES) * _LANES
    # One word of all messages after the other, so that neighbouring lanes read neighbouring words.
    by_word = jnp.pad(words.T, ((0, 0), (0, room - leaves)))
    by_word = jnp.concatenate([by_word, jnp.broadcast_to(padding[:, None], (16, room))])
    lane = jnp.arange(room, dtype=jnp.int32)
    arrays = by_word.reshape(-1), jnp.asarray(_ROUNDS), jnp.array([length // 16 + 1, room], jnp.int32)
    return jnp.stack(each_lane(_hash, arrays, lane, outputs=8, name="sha256", lanes=_LANES))[:, :leaves]


def _hash(read: Read, arrays: tuple[Array, Array, Array], lane: Array) -> Words:
    """Hash the message of each lane."""
    words, constants, sizes = arrays

    def add_block(block: Array, state: Words) -> Words:
        first = 16 * block * read.at(sizes, 1)
        window = tuple(read.load(words, first + i * read.at(sizes, 1) + lane) for i in range(16))

        def mix(group: Array, carry: tuple[Words, Words]) -> tuple[Words, Words]:
            state, window = carry
            for i in range(16):
                state = _mix(state, read.at(constants, 16 * group + i) + window[0])
                window = (*window[1:], _schedule(window))
            return state, window

        # Sixteen rounds at a time: XLA takes minutes to compile all of them in one piece.
        mixed, _ = lax.fori_loop(jnp.int32(0), jnp.int32(4), mix, (state, window))
        return tuple(x + y for x, y in zip(state, mixed, strict=True))

    start = tuple(jnp.zeros_like(lane).astype(jnp.uint32) + jnp.uint32(word) for word in _START)
    state = lax.fori_loop(jnp.int32(0), read.at(sizes, 0), add_block, start)
    return tuple(lax.bitcast_convert_type(word, jnp.int32) for word in state)


def _mix(state: Words, word: Array) -> Words:
    """Return the state after a round, from the state before and the sum of the round's constant and word."""
    a, b, c, d, e, f, g, h = state
    added = h + (_rotated(e, 6) ^ _rotated(e, 11) ^ _rotated(e, 25)) + ((e & f) ^ (~e & g)) + word
    more = (_rotated(a, 2) ^ _rotated(a, 13) ^ _rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    return added + more, a, b, c, d + added, e, f, g


def _schedule(window: Words) -> Array:
    """Return the word sixteen rounds later, from the words of sixteen rounds."""
    early, late = window[1], window[14]
    small = _rotated(early, 7) ^ _rotated(early, 18) ^ (early >> 3)
    return window[0] + small + window[9] + (_rotated(late, 17) ^ _rotated(late, 19) ^ (late >> 10))


def _rotated(word: Array, places: int) -> Array:
    """Return 32 bits rotated to the right."""
    return (word >> places) | (word << (32 - places))
