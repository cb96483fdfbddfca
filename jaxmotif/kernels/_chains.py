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
"""States, and the moves made so far: switches and others by lane, turns by pair of triples, walks by chain."""


@jit64(static_argnames="lanes")
def begin_chains(fixed: Fixed, ends: Ends, origin: Array, used: Array, *, lanes: int) -> Ends:
    """Put each of the first ``used`` chains at a state, as :func:`run_chains` does; the other arguments are the same.

    Chains that begin may all start at the same state; those that go on have states of their own.
    """
    labels = fixed.arcs + fixed.pairs
    where = switching.lanes_of(labels, lanes, used)
    start = take(origin, where.chain) * labels + where.label
    return Ends(*(take(x, start) for x in ends))


@jit64(static_argnames=("lanes", "walks"))
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
      key: with the same key a chain's steps are the same, in whatever company and however divided into calls.
      which: int32 ``[chains]``, the chains' numbers.
      used: int32, how many of them there are; the others are padding.
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
    keys = jax.vmap(lambda number: jax.random.fold_in(key, number))(which)

    def salts_of(index: Array) -> Array:
        # The words depend on the number of the step alone, and not on how a run is divided into calls.
        words = 8 if walks else 4
        return jax.vmap(lambda key: jax.random.bits(jax.random.fold_in(key, index), (words,), jnp.uint32))(keys)

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
        # The words of all steps of a round at once, because a few of them take as long as many.
        salts = jax.vmap(salts_of)(begin + jnp.arange(TRIPLES_EVERY, dtype=jnp.int32))
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
        # Word 2 is the salt of the hashes of both; every other word serves one kind of move.
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
    # Both labels of a pair count their switch: by lane, since sums by chain cost more than the moves. The arcs of a
    # chain stand before its pairs.
    base = jnp.minimum(jnp.arange(chains, dtype=jnp.int32), used) * labels
    inside = (jnp.arange(chains, dtype=jnp.int32) < used).astype(jnp.int32)
    begins = jnp.stack([base, base + inside * fixed.arcs], axis=1).reshape(-1)
    of_arcs, of_pairs = (sum_between(switches, jnp.append(begins, used * labels)) // 2).reshape(chains, 2).T
    triples = switching.turns_by_chain(fixed, turned, chains, used)
    made = of_arcs + of_pairs, triples, walked.sum(axis=0), of_pairs + walked[1]
    return ends, Accepted(*map(for_host, made), moved=switches + others)
