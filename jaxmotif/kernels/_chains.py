"""Chains of degree-preserving moves, which take all moves of :mod:`_switching` and :mod:`_walking` step by step."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from jaxmotif.arrays._compile import for_host, jit64, target
from jaxmotif.kernels import _switching as switching
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._scatter import sum_between
from jaxmotif.kernels._switching import FOCUS_EVERY, TRIPLES_EVERY, Accepted, Ends, Fixed, Lanes
from jaxmotif.kernels._walking import walk

Moves = tuple[Ends, Array, Array, Array, Array]
"""States and the moves so far: switches by lane, other moves by lane, turns as in ``no_turns``, walks by chain."""

Words = tuple[Array, Array]
"""The two words of keys, or of what is encrypted, uint32 of shapes that are broadcast."""


@jit64(static_argnames="lanes")
def begin_chains(fixed: Fixed, ends: Ends, origin: Array, used: Array, *, lanes: int) -> Ends:
    """Put each of the first ``used`` chains at a state, as :func:`run_chains` does; the other arguments are the same.

    Chains that begin may all start at the same state; those that go on have states of their own.
    """
    labels = fixed.arcs + fixed.pairs
    where = switching.lanes_of(labels, lanes, used)
    start = take(origin, where.chain) * labels + where.label
    return Ends(*(take(x, start) for x in ends))


def _threefry(key: Words, words: Words) -> Words:
    """Encrypt pairs of words by Threefry-2x32 of 20 rounds (Salmon et al., SC 2011), as JAX's random numbers do.

    The rounds are written out here, so that they become part of one loop over all pairs. JAX's own primitive is a loop
    over rounds, and three such loops took a quarter of the time to compile a chain.
    """
    keys = *key, key[0] ^ key[1] ^ jnp.uint32(0x1BD11BDA)
    x, y = words[0] + keys[0], words[1] + keys[1]
    for i in range(5):
        turns = ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]
        x, y = _four_rounds(x, y, keys[(i + 1) % 3], keys[(i + 2) % 3] + jnp.uint32(i + 1), *map(jnp.uint32, turns))
    return x, y


# JAX traces a compiled function once for all its calls. To trace these rounds one by one took a sixth of the time that
# it takes to trace a program of chains.
@jax.jit
def _four_rounds(x: Array, y: Array, first: Array, second: Array, *turns: Array) -> Words:
    """Do four rounds of Threefry, and add two words of the key."""
    for turn in turns:
        x = x + y
        y = (y << turn | y >> jnp.uint32(32) - turn) ^ x
    return x + first, y + second


def _folded(key: Words, numbers: Array) -> Words:
    """Return the words of ``jax.random.fold_in(key, number)``, for keys and int32 numbers that are broadcast."""
    return _threefry(key, (jnp.zeros_like(numbers, jnp.uint32), numbers.astype(jnp.uint32)))


def _salts(keys: Words, steps: Array, number: int) -> Array:
    """Return random words for steps of chains, as ``jax.random.bits(jax.random.fold_in(key, step), (number,))`` does.

    Args:
      keys: the words of the keys of the chains, ``[chains]`` each.
      steps: int32 ``[steps]``.
      number: words of a chain and step.

    Returns:
      uint32 ``[steps, chains, number]``.
    """
    x, y = _folded((keys[0][None], keys[1][None]), steps[:, None])
    x, y = _folded((x[..., None], y[..., None]), jnp.arange(number, dtype=jnp.int32)[None, None])
    return x ^ y


# A step is some thirty short loops. With 8,192 lanes one thread takes half as much CPU time as two, and ends a tenth
# earlier; from some 50,000 lanes on, threads gain.
@jit64(one_thread=2**19, static_argnames=("lanes", "walks"))
def run_chains(
    fixed: Fixed,
    ends: Ends,
    origin: Array,
    key: Array,
    which: Array,
    used: Array,
    first: Array,
    count: Array,
    *,
    lanes: int,
    walks: bool,
) -> tuple[Ends, Accepted]:
    """Take the steps ``first .. first + count`` of some chains.

    Args:
      fixed: the properties that no move changes.
      ends: states, one after another, and padding.
      origin: int32 ``[chains]``, the state at which each chain starts.
      key: a random key. With the same key a chain takes the same steps, whichever chains run beside it and however the
        steps are divided into calls.
      which: int32 ``[chains]``, the chains' numbers.
      used: int32, how many of the entries are chains; the others are padding.
      first: int32 scalar, the first step, at a whole round of ``TRIPLES_EVERY`` steps.
      count: int32 scalar, the number of steps, whole rounds.
      lanes: static, room for the labels of all chains.
      walks: static, whether chains walk.

    Returns:
      The states ``[lanes]``, and the numbers of moves: those by chain in the host's memory.
    """
    chains = which.shape[0]
    labels = fixed.arcs + fixed.pairs
    where = switching.lanes_of(labels, lanes, used)
    ends = begin_chains(fixed, ends, origin, used, lanes=lanes)
    degrees = switching.degrees_of(fixed, where, ends)
    first_word, second_word = jax.random.key_data(key)[:2]  # Further words of other generators repeat these.
    keys = _folded((first_word, second_word), which)

    def where_at(index: Array) -> Lanes:
        if not target().is_accelerator:
            return where
        # An accelerator reads these arrays more slowly than it computes them from the chains, but XLA would compute
        # them only once if it knew that no step changes them.
        labels_now, used_now, _ = lax.optimization_barrier((labels, used, index))
        return switching.labels_of(where.chain, labels_now, used_now)

    # The steps of a round are a loop of known length, which a GPU runs without asking the host. A branch that is taken
    # every fourth step would copy the states in the three other steps.
    def round_(number: Array, carry: Moves) -> Moves:
        ends, switches, others, turned, walked = carry
        begin = number * TRIPLES_EVERY
        # The words of all steps of a round at once, because a few of them take as long as many. They depend on the
        # number of the step alone, and not on how a run is divided into calls.
        steps = begin + jnp.arange(TRIPLES_EVERY, dtype=jnp.int32)
        salts = _salts(keys, steps, 8 if walks else 4)
        shifts = switching.shifts_of(fixed, salts)

        def switched(i: Array, carry: tuple[Ends, Array]) -> tuple[Ends, Array]:
            ends, switches = carry
            # Which steps are focused depends on their number alone, never on the state: each of them keeps the uniform
            # distribution, and so does whatever sequence of them.
            focused = fixed.focus & ((begin + i) % FOCUS_EVERY == 0)
            ends, made = switching.switch_pairs(
                fixed, where_at(i), degrees, ends, salts[i, :, :4], None if shifts is None else shifts[i], focused
            )
            return ends, switches + made.astype(jnp.int32)

        ends, switches = lax.fori_loop(0, TRIPLES_EVERY, switched, (ends, switches))
        salts = salts[-1]
        # Word 2 is the salt of hashes, for switches and for turns; every other word serves one kind of move.
        before = ends
        ends, turns = switching.turn_triples(fixed, where_at(begin), ends, salts[:, :4], used)
        others = others + (ends.head != before.head).astype(jnp.int32)
        if not walks:
            return ends, switches, others, turned + turns, walked
        before = ends
        ends, moves = walk(fixed, where, ends, salts[:, 4:], used)
        changed = (ends.tail != before.tail) | (ends.head != before.head)
        return ends, switches, others + changed.astype(jnp.int32), turned + turns, walked + moves

    none = jnp.zeros(lanes, jnp.int32)
    begin = ends, none, none, switching.no_turns(lanes, chains), jnp.zeros((2, chains), jnp.int32)
    first, stop = first // TRIPLES_EVERY, (first + count) // TRIPLES_EVERY
    ends, switches, others, turned, walked = lax.fori_loop(first, stop, round_, begin)
    # Both partners have counted a switch, hence the half. They counted it by lane, since a sum by chain in each step
    # would cost more than the moves. The arcs of a chain stand before its pairs.
    base = jnp.minimum(jnp.arange(chains, dtype=jnp.int32), used) * labels
    inside = (jnp.arange(chains, dtype=jnp.int32) < used).astype(jnp.int32)
    begins = jnp.stack([base, base + inside * fixed.arcs], axis=1).reshape(-1)
    by_part = sum_between(switches.astype(jnp.int64), jnp.append(begins, used * labels))
    of_arcs, of_pairs = (by_part // 2).reshape(chains, 2).T
    triples = switching.turns_by_chain(fixed, turned, chains, used)
    made = of_arcs + of_pairs, triples, walked.sum(axis=0), of_pairs + walked[1].astype(jnp.int64)
    return ends, Accepted(*map(for_host, made), moved=switches + others)
