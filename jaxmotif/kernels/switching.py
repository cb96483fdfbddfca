"""Degree-preserving random moves of a graph's edges, many at a time, exactly uniform in the long run.

A state is a list of labelled dyads, each held by one label at most. An *arc* label keeps its tail for ever and moves
permute the heads; a *pair* label has two equal ends. Whatever a step does, in-, out- and pair-degrees stay.

Two forms of the pair-switch step, both of which leave the uniform distribution exactly as it is:

- ``reject``: labels are paired by an involution that does not look at the state. A pair exchanges its heads if and
  only if each of its two old and two new dyads is touched by nothing else, where *touched* are the present dyads of all
  labels and the new dyads of all proposals. That multiset is the same after the step, so for fixed random bits
  the step undoes itself. Dyads are compared by a hash with fresh salt: a collision is symmetric too.
- ``global``: the same proposals one after another, each legal if its new dyads are free at its time (Allendorf, Meyer,
  Penschuck, Tran: Parallel global edge switching for the uniform sampling of simple graphs with prescribed
  degrees, 2022). The sequential outcome is the fixed point of a few parallel rounds over one sort.

Now and then, triples of arcs turn their heads cyclically under the rule of ``reject``: half of the triples follow a
path s > x > y > t, the others are any three. That contains the reversal of directed 3-cycles.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import first_ones, take
from jaxmotif.kernels.scatter import count_at, sum_at
from jaxmotif.kernels.wide import wide_ints

Step = Literal["reject", "global"]
TRIPLES_EVERY = 4  # steps from one round of triples to the next
SLOTS_PER_LABEL = 16  # hash slots: more of them, fewer chance rejections


@partial(jax.tree_util.register_dataclass, data_fields=("tail", "by_tail", "starts"), meta_fields=("ordered",))
@dataclasses.dataclass(frozen=True, eq=False)
class Fixed:
    """What no move changes.

    Attributes:
      tail: int32 ``[A]``, the tails of the arc labels.
      by_tail: int32 ``[A]``, the arc labels grouped by tail; starts: int32 ``[n + 1]``, where each group begins.
      ordered: static; whether (u, v) and (v, u) are different dyads, so that both may be held.
    """

    tail: Any
    by_tail: Any
    starts: Any
    ordered: bool


class Ends(NamedTuple):
    """A state: the heads of the arc labels, int32 ``[A]``, and the two ends of the pair labels, int32 ``[P]`` each."""

    head: Any
    left: Any
    right: Any


class Accepted(NamedTuple):
    """How many moves were proposed and made, int32 scalars."""

    attempts: Any
    switches: Any
    triples: Any


def hash_slots(labels: int) -> int:
    """The size of the hash table for so many labels."""
    return 1 << max(4, (SLOTS_PER_LABEL * labels - 1).bit_length())


def switch_steps(
    fixed: Fixed, ends: Ends, key: jax.Array, first: Any, count: Any, *, step: Step, backend: Backend
) -> tuple[Ends, Accepted]:
    """Take the steps ``first .. first + count`` of one chain.

    Args:
      fixed, ends: the chain's state.
      key: the chain's key; with the same key the steps are the same however they are divided into calls.
      first, count: int32 scalars.
      step: static, how pair switches are decided.
      backend: static.
    """

    def body(index: Any, carry: tuple[Ends, Accepted]) -> tuple[Ends, Accepted]:
        ends, total = carry
        salts = jax.random.bits(jax.random.fold_in(key, index), (8,), jnp.uint32)
        ends, attempts, switches = _switch(fixed, ends, salts, step, backend)
        triples = jnp.int32(0)
        if fixed.tail.shape[0] >= 3:
            head, triples = lax.cond(
                index % TRIPLES_EVERY == TRIPLES_EVERY - 1,
                lambda ends: _turn(fixed, ends, salts, backend),
                lambda ends: (ends.head, jnp.int32(0)),
                ends,
            )
            ends = ends._replace(head=head)
        return ends, Accepted(total.attempts + attempts, total.switches + switches, total.triples + triples)

    zero = jnp.int32(0)
    return lax.fori_loop(first, first + count, body, (ends, Accepted(zero, zero, zero)))


# ---- pairs


def _switch(fixed: Fixed, ends: Ends, salts: Any, step: Step, backend: Backend) -> tuple[Ends, Any, Any]:
    arcs, pairs = fixed.tail.shape[0], ends.left.shape[0]
    if max(arcs, pairs) < 2:
        return ends, jnp.int32(0), jnp.int32(0)
    arc_across, pair_across = _across(arcs, salts[0]), _across(pairs, salts[1])

    def across(values: Any) -> Any:
        """Each label's partner's value."""
        return jnp.concatenate([arc_across(values[:arcs]), pair_across(values[arcs:])])

    label = jnp.arange(arcs + pairs, dtype=jnp.int32)
    partner = across(label)
    driver = jnp.minimum(label, partner)
    coin = _mix(driver.astype(jnp.uint32), salts[2])
    mirrored = (label >= arcs) & (label != driver) & (coin >> 31 == 1)  # the second pair is read backwards
    tail, head = jnp.concatenate([fixed.tail, ends.left]), jnp.concatenate([ends.head, ends.right])
    tail, head = jnp.where(mirrored, head, tail), jnp.where(mirrored, tail, head)
    other_tail, new_head = across(tail), across(head)
    loop = (tail == new_head) | (other_tail == head)
    idle = (label == partner) | (coin & 15 == 0) | loop | (tail == other_tail) | (head == new_head)
    decide = _decide_alone if step == "reject" else _decide_in_turn
    made = decide(fixed, tail, head, new_head, ~idle, driver, across, salts, backend)
    head = jnp.where(made, new_head, head)
    tail, head = jnp.where(mirrored, head, tail), jnp.where(mirrored, tail, head)
    moved = Ends(head[:arcs], tail[arcs:], head[arcs:])
    return moved, jnp.int32(arcs // 2 + pairs // 2), made.sum(dtype=jnp.int32) // 2


def _across(size: int, salt: Any) -> Any:
    """The involution ``i <-> c - i`` modulo ``size``, ``c`` from the salt: nobody idle but fixed points, no gather."""
    if size == 0:
        return lambda values: values
    shift = (salt % jnp.uint32(size)).astype(jnp.int32)

    def across(values: Any) -> Any:
        back = values[::-1]
        return lax.dynamic_slice(jnp.concatenate([back, back]), (shift,), (size,))

    return across


def _decide_alone(fixed, tail, head, new_head, proposed, driver, across, salts, backend) -> Any:
    slots = hash_slots(tail.shape[0])
    old, new = (_slot(fixed, tail, h, salts, slots) for h in (head, new_head))
    touched = jnp.concatenate([old, jnp.where(proposed, new, slots)])
    touches = count_at(slots, touched, backend)
    alone = proposed & (take(touches, old) == 1) & (take(touches, new) == 1)
    return alone & across(alone)


def _decide_in_turn(fixed, tail, head, new_head, proposed, driver, across, salts, backend) -> Any:
    labels = tail.shape[0]
    time_bits = labels.bit_length()
    with wide_ints():
        # Events of a dyad in order: who holds it at the start (time 0), then who asks for it, by time (driver + 1).
        def event(h: Any, time: Any) -> Any:
            a, b = (tail, h) if fixed.ordered else (jnp.minimum(tail, h), jnp.maximum(tail, h))
            n = np.int64(fixed.starts.shape[0] - 1)
            return ((a.astype(jnp.int64) * n + b.astype(jnp.int64)) << time_bits) | time.astype(jnp.int64)

        asks = jnp.where(proposed, event(new_head, driver + 1), np.iinfo(np.int64).max)
        events = jnp.concatenate([event(head, jnp.zeros_like(driver)), asks])
        label = jnp.arange(2 * labels, dtype=jnp.int32) % labels
        is_ask = jnp.concatenate([jnp.zeros(labels, bool), proposed])
        events, order = lax.sort((events, jnp.arange(2 * labels, dtype=jnp.int32)), num_keys=1)
        dyad = events >> time_bits
        begins = first_ones(dyad)
    place = jnp.zeros(2 * labels, jnp.int32).at[order].set(jnp.arange(2 * labels, dtype=jnp.int32))
    start = lax.cummax(jnp.where(begins, jnp.arange(2 * labels, dtype=jnp.int32), 0))
    who, asking = label[order], is_ask[order]
    held = ~asking[start]
    holder = who[start]
    leaves_first = ~held | (driver[holder] < driver[who])

    def round_(carry: Any) -> Any:
        made, _ = carry
        arrived = (made[who] & asking).astype(jnp.int32)
        before = jnp.cumsum(arrived, dtype=jnp.int32) - arrived
        free = leaves_first & (~held | made[holder]) & (before == before[start])
        legal = free[place[labels:]] & proposed
        legal = legal & across(legal)
        return legal, jnp.any(legal != made)

    made, _ = lax.while_loop(lambda carry: carry[1], round_, (proposed, jnp.bool_(True)))
    return made


# ---- triples


def _turn(fixed: Fixed, ends: Ends, salts: Any, backend: Backend) -> tuple[Any, Any]:
    """Heads of triples of arcs turn cyclically: new heads, and how many triples did."""
    arcs = fixed.tail.shape[0]
    number = max(1, arcs // 16)
    lanes = jnp.arange(number, dtype=jnp.uint32)
    draw = [_mix(lanes + jnp.uint32(i * number), salts[5]) for i in range(7)]
    paths, follows, whole = _paths(fixed, ends, draw[:3])
    anywhere = jnp.stack([_scaled(bits, arcs) for bits in draw[3:6]])
    taken = jnp.concatenate([draw[6] & 3 > 0, draw[6] & 12 > 0])  # a group left out is no group at all
    labels = jnp.concatenate([paths, anywhere], axis=1)
    named = jnp.concatenate([follows, jnp.ones_like(anywhere, bool)], axis=1) & taken[None]
    whole = jnp.concatenate([whole, jnp.ones(number, bool)]) & taken
    tail, head = take(fixed.tail, labels), take(ends.head, labels)
    turn = jnp.concatenate([head[1:], head[:1]])
    proposed = whole & (tail != turn).all(axis=0)

    uses = count_at(arcs, jnp.where(named, labels, arcs).reshape(-1), backend)
    slots = hash_slots(arcs + ends.left.shape[0])
    slot = partial(_slot, fixed, salts=salts[3:], slots=slots)
    old, new = slot(tail, head), slot(tail, turn)
    present = jnp.concatenate([slot(fixed.tail, ends.head), slot(ends.left, ends.right)])
    asked = jnp.where(proposed[None], new, slots).reshape(-1)
    touched = jnp.concatenate([present, asked])
    touches = count_at(slots, touched, backend)
    mine = jnp.concatenate([old, new])
    by_me = (mine[:, None] == mine[None]).sum(axis=1, dtype=jnp.int32)
    distinct = [(x[0] != x[1]) & (x[1] != x[2]) & (x[0] != x[2]) for x in (old, new)]
    free = (take(touches, mine).astype(jnp.int32) == by_me).all(axis=0)
    made = proposed & (take(uses, labels) == 1).all(axis=0) & free & distinct[0] & distinct[1]
    index = jnp.where(made[None], labels, arcs).reshape(-1)
    change = sum_at(arcs, index, (turn - head).reshape(-1), backend)[:arcs]  # no arc turns with two triples
    return ends.head + change, made.sum(dtype=jnp.int32)


def _paths(fixed: Fixed, ends: Ends, draw: Any) -> tuple[Any, Any, Any]:
    """Labels ``[3, K]`` of arcs s > x, x > y, y > t, which of them exist, and which paths are whole.

    Drawn with probability 1 / (A out(x) out(y)); the turned path s > y > x > t has the same, so the draw is symmetric.
    """
    arcs = fixed.tail.shape[0]

    def follow(node: Any, bits: Any) -> tuple[Any, Any]:
        start, stop = take(fixed.starts, node), take(fixed.starts, node + 1)
        at = start + _scaled(bits, stop - start)
        return take(fixed.by_tail, jnp.minimum(at, arcs - 1)), stop > start

    first = _scaled(draw[0], arcs)
    second, goes_on = follow(take(ends.head, first), draw[1])
    third, ends_well = follow(take(ends.head, second), draw[2])
    whole = goes_on & ends_well
    return jnp.stack([first, second, third]), jnp.stack([jnp.ones_like(whole), goes_on, whole]), whole


# ---- hashing


def _mix(x: Any, salt: Any) -> Any:
    """uint32 to uint32: two multiply-shift rounds."""
    x = (x ^ salt) * jnp.uint32(0x9E3779B1)
    x = (x ^ (x >> 15)) * jnp.uint32(0x85EBCA77)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE3D)
    return x ^ (x >> 16)


def _scaled(bits: Any, size: Any) -> Any:
    """Random bits to ``0 .. size``, int32; as even as 32 bits can be without a 64-bit product: by remainder."""
    return (bits % jnp.maximum(jnp.asarray(size), 1).astype(jnp.uint32)).astype(jnp.int32)


def _slot(fixed: Fixed, u: Any, v: Any, salts: Any, slots: int) -> Any:
    a, b = (u, v) if fixed.ordered else (jnp.minimum(u, v), jnp.maximum(u, v))
    h = _mix(a.astype(jnp.uint32), salts[3]) + b.astype(jnp.uint32)
    return (_mix(h, salts[4]) & jnp.uint32(slots - 1)).astype(jnp.int32)
