"""Walks of small graphs through graphs that are not simple, by which chains reach graphs that switches do not reach.

In dense graphs the moves of :mod:`jaxmotif.kernels._switching` leave some ensembles in pieces, because arcs and pairs
block each other. Here the two parts of a graph, its one-way arcs (which keep in- and out-degrees) and its pairs (which
keep degrees), switch independently and may collide for a while. A dyad then has more than one of these three: an arc,
the opposite arc and a pair. The excess over one is its number of *collisions*. An **excursion** starts at a graph
without collisions. It takes one elementary move at a time (a switch of two arcs, a turn of three arcs along a path, or
a switch of two pairs), never has more than two collisions at once, and ends when there are none again.

A move has the probability of its reverse, except that a move which adds collisions is refused with a probability that
depends on their number alone (Metropolis, weight ``rise ** collisions``). Hence an excursion from x to y has the
probability of the reversed one, and the uniform distribution over graphs without collisions is stationary. A walk is a
fixed number of excursions. A walk that takes too long is given up and the chain stays where the walk began, which is
symmetric too. (This is a trace chain: a reversible chain that is looked at only while it is in some of its states.)
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from jaxmotif.kernels._expand import take
from jaxmotif.kernels._switching import Ends, Fixed, Lanes, arc_from, mix, once, one_group, same_kinds, scaled

WALK_NODES, WALK_LABELS = 32, 256
"""Most nodes, and most labels, of a graph whose chains walk. In larger graphs an excursion hardly ever ends."""

COLLISIONS = 2
"""Most collisions at a time. With at most one, some ensembles of 5 nodes would be left in pieces, as
experiments/motifs_uniformity.py shows by listing them."""

PATIENCE = 16  # moves that are tried for each excursion, on average, before a walk is given up
ARC, BACK, PAIR = 1, 2, 4  # the holders of a dyad (u < v): the arc u > v, the arc v > u, the pair
_BITS = WALK_NODES.bit_length() - 1


class _Move(NamedTuple):
    """Move of each chain, which changes up to three labels.

    Attributes:
      active: bool ``[3, chains]``, which of the three labels the move changes.
      lane: int32 ``[3, chains]``, the lanes of the labels.
      mirrored: bool ``[3, chains]``, whether a label is read backwards.
      tail: int32 ``[3, chains]``, the tails of the labels.
      head: int32 ``[3, chains]``, the heads of the labels.
      new_head: int32 ``[3, chains]``, their heads after the move.
      of_pairs: bool ``[chains]``, whether the labels are pairs.
    """

    active: Array
    lane: Array
    mirrored: Array
    tail: Array
    head: Array
    new_head: Array
    of_pairs: Array


class _Walk(NamedTuple):
    """State of the walks of all chains.

    Attributes:
      ends: int32 ``[lanes]``, both ends of each label in one number.
      held: int32, the holders of each dyad.
      collisions: int32 ``[chains]``, the collisions of each chain.
      left: int32 ``[chains]``, the excursions left to each chain.
      moves: int32 ``[2, chains]``, the moves made, of arcs and of pairs.
      tried: int32, how many moves each chain tried.
    """

    ends: Array
    held: Array
    collisions: Array
    left: Array
    moves: Array
    tried: Array


def walk(fixed: Fixed, where: Lanes, ends: Ends, salts: Array, used: Array) -> tuple[Ends, Array]:
    """Walk once in every chain.

    Args:
      fixed: the properties that no move changes.
      where: the chain of each lane.
      ends: the states.
      salts: uint32 ``[chains, 4]``, random words.
      used: int32, how many chains there are.

    Returns:
      The new states, and the moves of arcs and of pairs that each chain made, int32 ``[2, chains]``.
    """
    chains = salts.shape[0]
    chain = jnp.arange(chains, dtype=jnp.int32)
    labels = fixed.arcs + fixed.pairs
    # There are most excursions where few dyads are free. In sparse graphs switches are enough.
    dyads = fixed.nodes * (fixed.nodes - 1) // (1 if fixed.ordered else 2)
    number = 4 + 12 * labels // jnp.maximum(dyads, 1)
    # The weight of a state is rise ** collisions, which is smaller in larger graphs, where an excursion hardly ends.
    rise = jnp.minimum(0.5, 8.0 / labels.astype(jnp.float32))
    cells = chains * WALK_NODES**2
    cell, holder = _cell(fixed, where.chain, ends.tail, ends.head, where.label >= fixed.arcs)
    # No walk begins with a collision, so that each dyad has at most one holder, and the sum is that holder.
    held = jnp.zeros(cells + 1, jnp.int32).at[jnp.where(where.live, cell, cells)].add(holder)

    def step(now: _Walk) -> _Walk:
        # Each move that is tried has eight numbers of its own, so that no two moves draw the same word.
        counter = jnp.uint32(8) * now.tried.astype(jnp.uint32)
        words = counter + jnp.arange(6, dtype=jnp.uint32)[:, None]
        words = once(fixed, mix(mix(words, salts[:, 0][None]), salts[:, 1][None]))
        move, proposed = _propose(fixed, chain * labels, now.ends, words)
        collisions, cell, change = _outcome(fixed, chain, now, move)
        more = collisions - now.collisions
        chance = jnp.where(more > 1, rise * rise, jnp.where(more > 0, rise, 1.0))
        # A float32 holds 24 bits exactly.
        lucky = (words[5] >> 8).astype(jnp.float32) < chance * 2**24
        made = once(fixed, proposed & (collisions <= COLLISIONS) & lucky & (now.left > 0))
        collisions = jnp.where(made, collisions, now.collisions)
        # Labels that do not move get an index past the end, which is dropped.
        lane = jnp.where(made[None] & move.active, move.lane, now.ends.shape[0])
        new = _packed(
            jnp.where(move.mirrored, move.new_head, move.tail), jnp.where(move.mirrored, move.tail, move.new_head)
        )
        return _Walk(
            now.ends.at[lane].set(new, mode="drop"),
            now.held.at[cell].add(jnp.where(made[None], change, 0)),
            # A move refused where nothing collides counts, too, as an excursion that stays where it is.
            collisions,
            now.left - _ones((now.left > 0) & (collisions == 0)),
            now.moves + _ones(made[None] & (jnp.stack([~move.of_pairs, move.of_pairs]))),
            now.tried + 1,
        )

    none = jnp.zeros(chains, jnp.int32)
    left = jnp.where(chain < used, number, 0)
    begin = _Walk(_packed(ends.tail, ends.head), held, none, left, jnp.stack([none, none]), jnp.int32(0))
    end = lax.while_loop(lambda now: (now.tried < PATIENCE * number) & jnp.any(now.left > 0), step, begin)
    done = end.left == 0
    # A walk that is given up is undone as a whole, because keeping part of it would not be symmetric.
    stays = ~take(done, where.chain)
    tail, head = (jnp.where(stays, old, new) for old, new in zip(ends, _unpacked(end.ends), strict=True))
    return Ends(tail, head), jnp.where(done[None], end.moves, 0)


def _ones(which: Array) -> Array:
    return which.astype(jnp.int32)


def _packed(tail: Array, head: Array) -> Array:
    return (tail << _BITS) | head


def _unpacked(ends: Array) -> tuple[Array, Array]:
    return ends >> _BITS, ends & (WALK_NODES - 1)


def _propose(fixed: Fixed, base: Array, ends: Array, words: Array) -> tuple[_Move, Array]:
    """Draw a random move for every chain, and return it with whether it is possible.

    A move is drawn as often as the move that undoes it. Its labels are random, or they are arcs along a path, as in the
    turns of triples.
    """
    arcs, pairs = fixed.arcs, fixed.pairs
    kind = words[0] & 7
    of_pairs = (pairs >= 2) & ((kind >= 5) | (arcs < 2))
    # Three of eight kinds switch pairs, two turn triples, and three switch arcs. No move changes these odds, so that
    # the draw stays symmetric.
    of_three = ~of_pairs & (arcs >= 3) & ((kind == 3) | (kind == 4))
    first = jnp.where(of_pairs, arcs, 0)
    size = jnp.where(of_pairs, pairs, arcs)
    i, j = (first + scaled(word, size) for word in words[1:3])
    # The lower bits of an end are the head.
    follows, goes_on = arc_from(fixed, take(ends, base + i) & (WALK_NODES - 1), words[2])
    j = once(fixed, jnp.where(of_three, follows, j))
    k, ends_well = arc_from(fixed, take(ends, base + j) & (WALK_NODES - 1), words[3])
    lane = once(fixed, base[None] + jnp.stack([i, j, jnp.where(of_three, k, i)]))
    tail, head = _unpacked(once(fixed, take(ends, lane)))
    no = jnp.zeros_like(of_pairs)
    second = of_pairs & (words[4] & 1 == 1)  # the second pair is read backwards, or not
    if fixed.groups is not None:
        second = second & take(fixed.groups.turns, j)
    mirrored = jnp.stack([no, second, no])
    tail, head = jnp.where(mirrored, head, tail), jnp.where(mirrored, tail, head)
    new_head = jnp.stack([head[1], jnp.where(of_three, head[2], head[0]), head[0]])
    # Labels are drawn with replacement, for a move as for its reverse. Labels that coincide make no move.
    path = goes_on & ends_well & (lane[0] != lane[1]) & (lane[1] != lane[2]) & (lane[0] != lane[2])
    switch = (lane[0] != lane[1]) & (tail[0] != tail[1]) & (head[0] != head[1]) & (of_pairs | (arcs >= 2))
    proposed = jnp.where(of_three, path, switch)
    # A move of two labels has the first label again in the third place, where it keeps its head.
    if fixed.groups is not None:
        proposed = proposed & one_group(fixed.groups, jnp.stack([i, j, jnp.where(of_three, k, i)]))
    if fixed.kinds is not None:
        new = jnp.stack([new_head[0], new_head[1], jnp.where(of_three, new_head[2], head[2])])
        proposed = proposed & same_kinds(fixed.kinds, of_pairs, tail, head, new)
    return _Move(jnp.stack([~no, ~no, of_three]), lane, mirrored, tail, head, new_head, of_pairs), proposed


def _outcome(fixed: Fixed, chain: Array, now: _Walk, move: _Move) -> tuple[Array, Array, Array]:
    """Return what a move would lead to.

    The labels leave their dyads one by one and arrive at their new dyads one by one, since several may share a dyad.

    Returns:
      The number of collisions, which is large where two arcs or two pairs would become one or there would be a loop;
      the cells ``[6, chains]`` of the dyads that change; and what is added to these.
    """
    is_pair = move.lane - (chain * (fixed.arcs + fixed.pairs))[None] >= fixed.arcs
    u, v, is_pair, active = (
        jnp.concatenate(x) for x in ([move.tail] * 2, [move.head, move.new_head], [is_pair] * 2, [move.active] * 2)
    )
    cell, holder = _cell(fixed, chain[None], u, v, is_pair)
    cell = once(fixed, cell)
    change = once(fixed, jnp.where(active, jnp.concatenate([-holder[:3], holder[3:]]), 0))
    held = once(fixed, take(now.held, cell))
    collisions = now.collisions
    # A label that leaves ends a collision if others stay, and a label that arrives makes one if others are there.
    for i in range(6):
        by = held[i]
        for j in range(i):
            by = by + change[j] * _ones(cell[j] == cell[i])
        if i < 3:
            collisions = collisions - _ones(active[i] & (by & (by - 1) != 0))
        else:
            refused = (by & holder[i] != 0) | (u[i] == v[i])
            # The number passes COLLISIONS even if the other labels end some, so that such a move is never made.
            collisions = collisions + _ones(active[i]) * (_ones(by != 0) + 2 * COLLISIONS * _ones(refused))
    return once(fixed, collisions), cell, change


def _cell(fixed: Fixed, chain: Array, u: Array, v: Array, is_pair: Array) -> tuple[Array, Array]:
    """Return the cell of a dyad among those of all chains, and which holder a label there is: ARC, BACK or PAIR."""
    forward = jnp.ones(u.shape, bool) if fixed.ordered else u <= v
    low, high = jnp.where(forward, u, v), jnp.where(forward, v, u)
    cell = (chain * fixed.nodes + low) * fixed.nodes + high
    return cell, jnp.where(is_pair, PAIR, jnp.where(forward, ARC, BACK))
