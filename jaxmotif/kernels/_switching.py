"""Degree-preserving random moves of a graph's edges, many at a time, exactly uniform in the long run.

A state is a list of labelled dyads, each held by one label at most. An *arc* label keeps its tail for ever and moves
permute the heads; a *pair* label has two equal ends. Whatever a step does, in-, out- and pair-degrees stay. The states
of many chains lie one after another in one row of *lanes*, arcs before pairs: how long a chain is, and how many
there are, is data, so that one program serves graphs of all sizes; no draw depends on where a chain lies.

Two forms of the pair-switch step, both of which leave the uniform distribution exactly as it is:

- ``reject``: labels are paired by an involution that does not look at the state. A pair exchanges its heads if and
  only if each of its two old and two new dyads is touched by nothing else, where *touched* are the present dyads of all
  labels and the new dyads of all proposals. That multiset is the same after the step, so for fixed random
  bits the step undoes itself. Dyads are compared by a hash with fresh salt: a collision is symmetric too.
- ``global``: the same proposals one after another, each legal if its new dyads are free at its time (Allendorf, Meyer,
  Penschuck, Tran: Parallel global edge switching for the uniform sampling of simple graphs with prescribed
  degrees, 2022). The sequential outcome is the fixed point of a few parallel rounds over one sort.

Now and then, triples of arcs turn their heads cyclically under the rule of ``reject``: half of the triples follow a
path s > x > y > t, the others are any three. That contains the reversal of directed 3-cycles.

In small graphs, where dense ones are many and these moves leave some of their ensembles in pieces, chains walk, too
(:mod:`jaxmotif.kernels._walking`).

Two restrictions keep more than degrees. *Groups* divide the labels for ever: heads are exchanged within a group alone.
*Kinds* are of dyads: a move is proposed only if the kinds of its old dyads, together, are those of its new ones.
Neither looks at anything that a move and its reverse see differently, so all that is said above still holds.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import target
from jaxmotif.kernels._expand import first_ones, take
from jaxmotif.kernels._scatter import all_occur, count_at, sum_between

if TYPE_CHECKING:
    from jax import Array

Step = Literal["reject", "global"]
TRIPLES_EVERY = 4  # steps from one round of triples (and one walk) to the next
ARCS_PER_TRIPLE = 16  # of either kind of triples
SLOTS_PER_LABEL = 20  # hash slots: more of them, fewer chance rejections
FOCUS_EVERY = 4  # steps of which one is focused, where some are
TRIED_OF = 16  # proposals of which some are tried
BLOCK_BITS = 15  # of a node's block: two of them in an int32


class Groups(NamedTuple):
    """Labels that exchange heads with each other alone, which stand together: of each label, ``[labels or more]``, the
    first of its group and how many these are, int32; and of a pair whether it may be read backwards, bool."""

    first: Array
    size: Array
    turns: Array


class Kinds(NamedTuple):
    """What kind of dyad two nodes make.

    Attributes:
      place: int32 ``[1, nodes or more]``, the block of every node; or int64 ``[axes, nodes or more]``, where it is.
      limits: of blocks ``None``; else int64 ``[bins]``: a dyad's kind is how many of these its squared length reaches.
    """

    place: Array
    limits: Array | None


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("by_tail", "starts", "arcs", "pairs", "nodes", "slow", "focus", "tried", "groups", "kinds"),
    meta_fields=("ordered",),
)  # fmt: skip
@dataclasses.dataclass(frozen=True, eq=False)
class Fixed:
    """What no move changes; arrays are padded, and their padding is never read.

    Attributes:
      by_tail: int32 ``[arcs or more]``, the arc labels grouped by tail; starts: int32 ``[nodes + 1 or more]``, where
        each group begins.
      arcs, pairs, nodes: int32 scalars, how many there are.
      slow: bool ``[arcs or more]``, the labels of the kinds that move slowly; they alone are proposed in focused steps.
      focus: bool scalar, whether one step of ``FOCUS_EVERY`` is focused.
      tried: int32 scalar, how many of ``TRIED_OF`` proposals are tried, at most 15.
      ordered: static; whether (u, v) and (v, u) are different dyads, so that both may be held.
      groups, kinds: what else is kept, ``None`` where it is nothing.
    """

    by_tail: Array
    starts: Array
    arcs: Array
    pairs: Array
    nodes: Array
    slow: Array
    focus: Array
    tried: Array
    ordered: bool
    groups: Groups | None = None
    kinds: Kinds | None = None


class Ends(NamedTuple):
    """States: the tail and the head of every label, int32; of a pair either end is either."""

    tail: Array
    head: Array


class Lanes(NamedTuple):
    """Whose label a lane holds: all int32 but ``live``, ``[lanes]``.

    Attributes:
      chain: in which chain; label: which of its labels; base: the chain's first lane.
      live: whether there is such a chain.
    """

    chain: Array
    label: Array
    base: Array
    live: Array


class Accepted(NamedTuple):
    """The numbers of moves that chains made.

    Attributes:
      switches, triples, walked: int32 ``[chains]``, pair switches, turns of triples, and moves of walks.
      of_pairs: int32 ``[chains]``, how many of these were moves of pairs.
      moved: int32 ``[lanes]``, how often each label was given another end; a walk counts once.
    """

    switches: Array
    triples: Array
    walked: Array
    of_pairs: Array
    moved: Array


def whole_rounds(steps: int) -> int:
    """At least so many steps, in whole rounds: each has its triples and its walk."""
    return -(-steps // TRIPLES_EVERY) * TRIPLES_EVERY


def lanes_of(fixed: Fixed, lanes: int, used: Array) -> Lanes:
    """The division of so many lanes among the first ``used`` chains."""
    labels = fixed.arcs + fixed.pairs
    lane = jnp.arange(lanes, dtype=jnp.int32)
    chain = lane // jnp.maximum(labels, 1)
    live = chain < used
    chain = jnp.where(live, chain, 0)
    return Lanes(chain, jnp.where(live, lane - chain * labels, 0), chain * labels, live)


# ---- pairs


def switch_pairs(
    fixed: Fixed, where: Lanes, ends: Ends, salts: Array, focused: Array, step: Step
) -> tuple[Ends, Array]:
    """Take one step of pair switches in all chains.

    Args:
      fixed, where, ends: the chains and their states.
      salts: uint32 ``[chains, 4]``, random words.
      focused: bool scalar, whether slow labels alone are proposed. Whether a label is slow never changes, and the two
        labels of a proposal are both slow or neither is, so that a focused step is as symmetric as any other.
      step: how switches are decided.

    Returns:
      The new states, and bool ``[lanes]``, which labels moved.
    """
    is_pair = where.label >= fixed.arcs
    across = _partners(fixed, where, is_pair, salts)
    partner = once(fixed, where.base + jnp.where(where.live, across, 0))
    # The lower label draws for both, so that the two agree.
    driver = jnp.minimum(where.label, across)
    salt = take(salts[:, 2], where.chain)
    coin = mix(driver.astype(jnp.uint32), salt)
    mirrored = is_pair & (where.label != driver) & (coin >> 31 == 1)  # the second pair is read backwards
    if fixed.groups is not None:
        mirrored = mirrored & take(fixed.groups.turns, where.label)
    tail, head = _mirrored(ends, mirrored)
    # The move exchanges heads: tails stay with their labels.
    other_tail, new_head = take(tail, partner), take(head, partner)
    loop = (tail == new_head) | (other_tail == head)
    # At least one proposal in 16 is left out, so that a chain has no period; more where proposals clash.
    idle = (
        (where.label == across)
        | (coin % TRIED_OF < (TRIED_OF - fixed.tried).astype(jnp.uint32))
        | loop
        | (tail == other_tail)
        | (head == new_head)
    )
    proposed = where.live & ~idle & (~focused | take(fixed.slow, where.label))
    if fixed.kinds is not None:
        tails, heads = jnp.stack([tail, other_tail]), jnp.stack([head, new_head])
        proposed = proposed & same_kinds(fixed.kinds, is_pair, tails, heads, heads[::-1])
    if step == "reject":
        made = _decide_alone(fixed, where, tail, head, new_head, proposed, partner, salt)
    else:
        made = _decide_in_turn(fixed, where, tail, head, new_head, proposed, partner, driver)
    return Ends(*_mirrored(Ends(tail, jnp.where(made, new_head, head)), mirrored)), made


def _partners(fixed: Fixed, where: Lanes, is_pair: Array, salts: Array) -> Array:
    """The involution i <-> c - i among the labels of each group of a chain: nobody idle but its fixed points."""
    if fixed.groups is None:  # the arcs, and the pairs
        first, size = jnp.where(is_pair, fixed.arcs, 0), jnp.where(is_pair, fixed.pairs, fixed.arcs)
        # One draw for arcs and one for pairs, of each chain.
        shifts = jnp.stack([scaled(salts[:, 0], fixed.arcs), scaled(salts[:, 1], fixed.pairs)], axis=1).reshape(-1)
        shift = take(shifts, 2 * where.chain + is_pair.astype(jnp.int32))
    else:
        first, size = take(fixed.groups.first, where.label), take(fixed.groups.size, where.label)
        shift = scaled(mix(first.astype(jnp.uint32), take(salts[:, 0], where.chain)), size)
    across = shift - (where.label - first)
    # Modulo the labels of its group, back among all labels.
    return jnp.where(across < 0, across + size, across) + first


def same_kinds(kinds: Kinds, is_pair: Array, tail: Array, head: Array, new_head: Array) -> Array:
    """Whether the dyads of labels, two or three along the first axis, have the same kinds with their new heads as with
    the old, in whatever order."""
    old, new = (_ascending(_kind(kinds, is_pair, tail, h)) for h in (head, new_head))
    return jnp.stack([a == b for a, b in zip(old, new, strict=True)]).all(axis=0)


def _kind(kinds: Kinds, is_pair: Array, u: Array, v: Array) -> Array:
    if kinds.limits is None:
        a, b = take(kinds.place[0], u), take(kinds.place[0], v)
        # A pair has no direction.
        low, high = jnp.where(is_pair, jnp.minimum(a, b), a), jnp.where(is_pair, jnp.maximum(a, b), b)
        return (low << BLOCK_BITS) | high
    # Whole numbers: the same on every device.
    length = jnp.zeros(u.shape, jnp.int64)
    for axis in kinds.place:
        length = length + (take(axis, u) - take(axis, v)) ** 2
    return (kinds.limits.reshape(-1, *(1,) * u.ndim) <= length[None]).sum(axis=0, dtype=jnp.int32)


def _ascending(rows: Array) -> list[Array]:
    """Two or three rows, in order at every place."""
    found = [rows[i] for i in range(rows.shape[0])]
    for i, j in ((0, 1), (1, 2), (0, 1))[: 1 if len(found) == 2 else 3]:
        found[i], found[j] = jnp.minimum(found[i], found[j]), jnp.maximum(found[i], found[j])
    return found


def _mirrored(ends: Ends, mirrored: Array) -> tuple[Array, Array]:
    return jnp.where(mirrored, ends.head, ends.tail), jnp.where(mirrored, ends.tail, ends.head)


def _decide_alone(
    fixed: Fixed, where: Lanes, tail: Array, head: Array, new_head: Array, proposed: Array, partner: Array, salt: Array
) -> Array:  # fmt: skip
    # Slots of the dyads, by a hash with this step's salt.
    old, new = (once(fixed, slots(fixed, where.chain, tail, h, salt)) for h in (head, new_head))
    nowhere = SLOTS_PER_LABEL * tail.shape[0]
    # Sums that wrap (on a CPU at 2**16) are the same before and after a move: the step stays symmetric.
    # A lane's two side by side: both are of one chain, whose counters a GPU's cache holds for a while.
    touched = jnp.stack([jnp.where(where.live, old, nowhere), jnp.where(proposed, new, nowhere)], axis=-1)
    alone = proposed & all_occur(nowhere, [touched], [old, new], [1, 1], _most_touches(fixed))
    # Both labels move or none does.
    return alone & take(alone, partner)


def _decide_in_turn(
    fixed: Fixed, where: Lanes, tail: Array, head: Array, new_head: Array, proposed: Array, partner: Array,
    driver: Array,
) -> Array:  # fmt: skip
    lanes = tail.shape[0]
    lane = jnp.arange(2 * lanes, dtype=jnp.int32)
    # Room for a driver and one more, 0 being the start.
    time_bits = fixed.by_tail.shape[0].bit_length()
    nodes = fixed.nodes.astype(jnp.int64)

    # The events of a dyad in order: who holds it at the start (time 0), then who asks for it, by time (driver + 1). A
    # proposal's two labels have one driver and ask for different dyads, so no two events of a dyad have one time.
    def event(h: Array, time: Array) -> Array:
        a, b = _in_order(fixed, tail, h)
        dyad = (where.chain.astype(jnp.int64) * nodes + a.astype(jnp.int64)) * nodes + b.astype(jnp.int64)
        return (dyad << time_bits) | time.astype(jnp.int64)

    last = np.iinfo(np.int64).max
    holds = jnp.where(where.live, event(head, jnp.zeros_like(driver)), last)
    asks = jnp.where(proposed, event(new_head, driver + 1), last)
    events, order = lax.sort((jnp.concatenate([holds, asks]), lane), num_keys=1)
    place = jnp.zeros(2 * lanes, jnp.int32).at[order].set(lane)  # where each event went
    start = lax.cummax(jnp.where(first_ones(events >> time_bits), lane, 0))  # where its dyad's events begin
    who, asking = order % lanes, order >= lanes
    asking = asking & take(proposed, who)
    # The first event of a dyad is its holder's, if it has one: time 0.
    held = ~take(asking, start)
    holder = take(who, start)
    # The holder makes way only if it moves, and only for those that ask after its own time.
    leaves_first = ~held | (take(driver, holder) < take(driver, who))

    # Begin with all proposals made; a proposal stays if its dyads are free given those before it. Its fate depends on
    # earlier ones alone, so after round r all up to the r-th of every conflict are decided as if one by one.
    def round_(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        made, _ = carry
        arrived = (take(made, who) & asking).astype(jnp.int32)
        # Equal at two events of a dyad where nobody came in between.
        before = jnp.cumsum(arrived, dtype=jnp.int32) - arrived
        free = leaves_first & (~held | take(made, holder)) & (before == take(before, start))
        legal = take(free, place[lanes:]) & proposed
        legal = legal & take(legal, partner)
        return legal, jnp.any(legal != made)

    made, _ = lax.while_loop(lambda carry: carry[1], round_, (proposed, jnp.bool_(True)))
    return made


# ---- triples


def turn_triples(
    fixed: Fixed, where: Lanes, ends: Ends, salts: Array, used: Array
) -> tuple[Ends, Array]:  # fmt: skip
    """Heads of triples of arcs turn cyclically: new states, and how many triples of each chain did ``[chains]``.

    Of ``A`` arcs ``A / 16`` follow a path and as many are any three (one of each at least).
    """
    lanes, chains = ends.tail.shape[0], salts.shape[0]
    labels, arcs = fixed.arcs + fixed.pairs, jnp.maximum(fixed.arcs, 1)
    # A chain's share of the groups, whatever the others are.
    number = jnp.maximum(1, fixed.arcs // ARCS_PER_TRIPLE)
    group = jnp.arange(lanes // ARCS_PER_TRIPLE + chains, dtype=jnp.int32)
    chain, own = group // number, group % number
    live = (chain < used) & (fixed.arcs >= 3)
    chain = jnp.where(live, chain, 0)
    salt = take(salts[:, 3], chain)
    draw = [mix((own * 8 + i).astype(jnp.uint32), salt) for i in range(7)]
    paths, follows, whole = _paths(fixed, ends, chain * labels, draw[:3])
    anywhere = jnp.stack([scaled(bits, arcs) for bits in draw[3:6]])
    # A quarter is left out and names no labels, so that a chain of few arcs is not blocked by its other triples.
    taken = jnp.concatenate([live & (draw[6] & 3 > 0), live & (draw[6] & 12 > 0)])
    members = jnp.concatenate([paths, anywhere], axis=1)
    named = jnp.concatenate([follows, jnp.ones_like(anywhere, bool)], axis=1) & taken[None]
    whole = jnp.concatenate([whole, jnp.ones_like(whole)]) & taken
    chain = jnp.concatenate([chain, chain])
    at = (chain * labels)[None] + members
    tail, head = take(ends.tail, at), take(ends.head, at)
    # Each takes the head of the next.
    turned = jnp.concatenate([head[1:], head[:1]])
    # Arcs of one tail, or of one head, would only exchange their labels.
    same = (tail == tail[:1]).all(axis=0) | (head == head[:1]).all(axis=0)
    proposed = whole & (tail != turned).all(axis=0) & ~same
    if fixed.groups is not None:
        proposed = proposed & one_group(fixed.groups, members)
    if fixed.kinds is not None:
        proposed = proposed & same_kinds(fixed.kinds, jnp.zeros_like(proposed), tail, head, turned)

    # The rule of reject for groups of three: a group turns if its labels are named by no other group, and its old and
    # new dyads are touched by nothing but itself. What is named and touched is the same after the turn: a path s > x >
    # y > t is drawn as often as s > y > x > t, and any three as often as in the order that turns them back.
    uses = count_at(lanes, _by_chain(jnp.where(named, at, lanes)))
    slot = partial(slots, fixed, chain[None], tail, salt=take(salts[:, 2], chain)[None])
    mine = once(fixed, jnp.concatenate([slot(head), slot(turned)]))  # else hashed 36 times, to be compared
    old, new = mine[:3], mine[3:]
    nowhere = SLOTS_PER_LABEL * lanes
    present = slots(fixed, where.chain, ends.tail, ends.head, take(salts[:, 2], where.chain))
    touched = [jnp.where(where.live, present, nowhere), _by_chain(jnp.where(proposed[None], new, nowhere))]
    # A group may touch a dyad several times itself; nobody else may.
    by_me = (mine[:, None] == mine[None]).sum(axis=1, dtype=jnp.int32)
    distinct = [(x[0] != x[1]) & (x[1] != x[2]) & (x[0] != x[2]) for x in (old, new)]
    free = all_occur(nowhere, touched, list(mine), list(by_me), _most_touches(fixed))
    made = proposed & (take(uses, at) == 1).all(axis=0) & free & distinct[0] & distinct[1]
    heads = ends.head.at[_by_chain(jnp.where(made[None], at, lanes))].set(_by_chain(turned), mode="drop")
    both = made.astype(jnp.int32).reshape(2, -1).sum(axis=0, dtype=jnp.int32)
    begins = jnp.minimum(jnp.arange(chains + 1, dtype=jnp.int32), used) * number
    return Ends(ends.tail, heads), sum_between(both, begins)


def one_group(groups: Groups, labels: Array) -> Array:
    """Whether labels along the first axis are all of one group."""
    first = take(groups.first, labels)
    return (first == first[:1]).all(axis=0)


def _by_chain(triples: Array) -> Array:
    """Values of triples, ``[3, 2 K]`` the K paths before the others, in an order by chain: a GPU then writes to one
    chain's part of an array after another's, which its cache holds for a while, instead of six times to all of it."""
    return triples.reshape(3, 2, -1).transpose(2, 0, 1).reshape(-1)


def _paths(fixed: Fixed, ends: Ends, base: Array, draw: list[Array]) -> tuple[Array, Array, Array]:
    """Labels ``[3, K]`` of arcs s > x, x > y, y > t, which of them exist, and which paths are whole.

    Drawn with probability 1 / (A out(x) out(y)); the turned path s > y > x > t has the same, so the draw is symmetric.
    """
    first = scaled(draw[0], fixed.arcs)
    second, goes_on = arc_from(fixed, take(ends.head, base + first), draw[1])
    third, ends_well = arc_from(fixed, take(ends.head, base + second), draw[2])
    whole = goes_on & ends_well
    return jnp.stack([first, second, third]), jnp.stack([jnp.ones_like(whole), goes_on, whole]), whole


def arc_from(fixed: Fixed, node: Array, bits: Array) -> tuple[Array, Array]:
    """The label of a random arc from each node, and whether it has one (else some label)."""
    start, stop = take(fixed.starts, node), take(fixed.starts, node + 1)
    at = start + scaled(bits, stop - start)
    return take(fixed.by_tail, jnp.minimum(at, jnp.maximum(fixed.arcs - 1, 0))), stop > start


def _most_touches(fixed: Fixed) -> int:
    """A dyad of a chain is touched by each of its labels twice at most."""
    return 2 * fixed.by_tail.shape[0]


def once(fixed: Fixed, x: Array) -> Array:
    """The same array, computed once: XLA's fusions for a CPU would compute it again for each of the arrays made of it,
    and optimization barriers are taken away before. What a condition gives is left alone."""
    if target().is_accelerator:
        return lax.optimization_barrier(x)
    return lax.cond(fixed.arcs >= 0, lambda x: x, lambda x: jnp.zeros_like(x), x)  # always; XLA does not know


# ---- hashing


def mix(x: Array, salt: Array) -> Array:
    """uint32 to uint32: two multiply-shift rounds."""
    x = (x ^ salt) * jnp.uint32(0x9E3779B1)
    x = (x ^ (x >> 15)) * jnp.uint32(0x85EBCA77)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE3D)
    return x ^ (x >> 16)


def scaled(bits: Array, size: Array) -> Array:
    """Random bits to ``0 .. size``, int32; as even as 32 bits can be without a 64-bit product: by remainder."""
    return (bits % jnp.maximum(size, 1).astype(jnp.uint32)).astype(jnp.int32)


def _in_order(fixed: Fixed, u: Array, v: Array) -> tuple[Array, Array]:
    return (u, v) if fixed.ordered else (jnp.minimum(u, v), jnp.maximum(u, v))


def slots(fixed: Fixed, chain: Array, u: Array, v: Array, salt: Array) -> Array:
    """Hash slots of dyads, of 20 for each label of the chain: those of different chains are different."""
    a, b = _in_order(fixed, u, v)
    hashed = mix(mix(a.astype(jnp.uint32), salt) + b.astype(jnp.uint32), salt ^ jnp.uint32(0x5BD1E995))
    size = (SLOTS_PER_LABEL * (fixed.arcs + fixed.pairs)).astype(jnp.uint64)
    own = ((hashed.astype(jnp.uint64) * size) >> 32).astype(jnp.int32)  # even, without a division
    return chain * size.astype(jnp.int32) + own
