"""Degree-preserving random moves of a graph's edges, many at a time, exactly uniform in the long run.

Edges are numbered, and the number is called the edge's *label*. (It has nothing to do with a graph's node and edge
labels.) A state is a list of dyads by label, and each dyad has at most one label. There are two sorts of labels. An
*arc* always keeps its tail, and moves permute the heads. A *pair*, which is two opposite arcs or an undirected edge,
has two equal ends. No step changes in-, out- and pair-degrees. The states of many chains lie one after another in one
row of *lanes*, arcs before pairs. The number of labels in a chain and the number of chains are data, so that one
program serves graphs of all sizes. No random draw depends on where a chain lies.

In a step of pair switches, each label has a partner, by an involution that does not depend on the state. Two partners
exchange their heads if and only if each of their two old and two new dyads is touched by nothing else. The dyads that
are *touched* are the present dyads of all labels and the new dyads of all proposals. This multiset is the same after
the step, so that for fixed random bits the step undoes itself, and leaves the uniform distribution exactly as it is.
Dyads are compared by a hash with a fresh salt, and a collision is symmetric too.

Between nodes of high degree, many proposals touch the same dyad and block each other. Fewer of them are tried there
(:func:`_tried`).

Every few steps, triples of arcs turn their heads cyclically under the same rule. Half of the triples follow a
path s > x > y > t, and the others are any three arcs. This includes the reversal of directed 3-cycles.

Small graphs are often dense, and these moves leave some ensembles of dense graphs in pieces. The chains of small graphs
therefore walk, too (:mod:`jaxmotif.kernels._walking`).

Few switches keep the lengths of edges. Where these are kept, labels therefore have partners, in three of four steps,
that stand near them in an order that no move changes: that of their tails in space.

Two restrictions keep more than degrees. *Groups* divide the labels, and heads are exchanged only within a group.
*Kinds* belong to dyads, and a move is proposed only if the kinds of its old dyads, taken together, are those of its new
ones. Both are the same for a move and its reverse, so that everything above still holds.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from jaxmotif.arrays._compile import target
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._scatter import all_occur, count_at, side_by_side, sum_between

TRIPLES_EVERY = 4  # steps from one round of triples (and one walk) to the next
ARCS_PER_TRIPLE = 16  # arcs for each triple of either kind
SLOTS_PER_LABEL = 20  # hash slots; with more of them, fewer moves are rejected by chance
FOCUS_EVERY = 4  # one in this many steps is focused, where there are focused steps
TRIED = 0.9375  # the part of the proposals that are tried, away from nodes of high degree
DEGREE_BITS = 21  # bits of each of the three degrees in one word
MOST_DEGREE = 2 ** (DEGREE_BITS - 1) - 1  # so that the sum of two degrees fits; larger degrees count as this one
BLOCK_BITS = 15  # bits of a node's block, two of which fit an int32


class Groups(NamedTuple):
    """Groups of labels that exchange heads only with each other and that stand together.

    Attributes:
      first: The first label of each label's group, int32 ``[labels or more]``.
      size: The number of labels of each label's group, int32 ``[labels or more]``.
      turns: Whether a pair may be read backwards, bool ``[labels or more]``.
    """

    first: Array
    size: Array
    turns: Array


class Kinds(NamedTuple):
    """Kinds of dyads, by the blocks of their nodes or by their lengths.

    Attributes:
      place: The block of every node, int32 ``[1, nodes or more]``, or its position, int64 ``[axes, nodes or more]``.
      limits: ``None`` for blocks. Otherwise the limits of squared lengths, int64 ``[bins]``; the kind of a dyad is the
        number of limits that its squared length reaches.
    """

    place: Array
    limits: Array | None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Fixed:
    """Properties that no move changes; arrays are padded, and their padding is never read.

    Attributes:
      by_tail: int32 ``[arcs or more]``, the arc labels grouped by tail.
      starts: int32 ``[nodes + 1 or more]``, where each group of ``by_tail`` begins.
      arcs: int32 scalar, how many arcs there are.
      pairs: int32 scalar, how many pairs there are.
      nodes: int32 scalar, how many nodes there are.
      slow: bool ``[arcs or more]``, the labels of the kinds that move slowly; they alone are proposed in focused steps.
      focus: bool scalar, whether one step of ``FOCUS_EVERY`` is focused.
      ordered: static; whether (u, v) and (v, u) are different dyads, so that both may be held.
      groups: groups of labels that exchange heads only with each other. With ``None`` all arcs are one group, and all
        pairs are another.
      kinds: kinds of dyads, if moves keep how many dyads there are of each kind; else ``None``.
      labelled: static; whether labels of the graph's edges ride along, so that graphs with the same arcs may differ.
    """

    by_tail: Array
    starts: Array
    arcs: Array
    pairs: Array
    nodes: Array
    slow: Array
    focus: Array
    ordered: bool = dataclasses.field(metadata={"static": True})
    groups: Groups | None = None
    kinds: Kinds | None = None
    labelled: bool = dataclasses.field(default=False, metadata={"static": True})


class Ends(NamedTuple):
    """The states of chains: the tail and the head of every label, int32. The ends of a pair may change places."""

    tail: Array
    head: Array


class Lanes(NamedTuple):
    """The label that each lane holds; the arrays are ``[lanes]``, int32 but for ``live``.

    Attributes:
      chain: The chain of each lane.
      label: The number of the label in its chain.
      base: The first lane of the chain.
      live: Whether the lane holds a label, bool.
    """

    chain: Array
    label: Array
    base: Array
    live: Array


class Accepted(NamedTuple):
    """The numbers of moves that chains made.

    Attributes:
      switches: int64 ``[chains]``, pair switches.
      triples: int32 ``[chains]``, turns of triples.
      walked: int32 ``[chains]``, moves of walks.
      of_pairs: int64 ``[chains]``, how many of these were moves of pairs.
      moved: int32 ``[lanes]``, how often each label was given another end; a walk counts once.
    """

    switches: Array
    triples: Array
    walked: Array
    of_pairs: Array
    moved: Array


def whole_rounds(steps: int) -> int:
    """Round a number of steps up to whole rounds, each of which has a move of triples and a walk."""
    return -(-steps // TRIPLES_EVERY) * TRIPLES_EVERY


def lanes_of(labels: Array, lanes: int, used: Array) -> Lanes:
    """Divide lanes among the first ``used`` chains, which have ``labels`` labels each."""
    chain = jnp.arange(lanes, dtype=jnp.int32) // jnp.maximum(labels, 1)
    return labels_of(jnp.where(chain < used, chain, 0), labels, used)


def labels_of(chain: Array, labels: Array, used: Array) -> Lanes:
    """Find the label in each lane, given the lane's chain; lanes past the ``used`` chains are not live, and get 0."""
    lane, base = jnp.arange(chain.shape[0], dtype=jnp.int32), chain * labels
    live = lane < used * labels
    return Lanes(chain, jnp.where(live, lane - base, 0), base, live)


# ---- pairs


def degrees_of(fixed: Fixed, where: Lanes, ends: Ends) -> Array:
    """Return the degrees of all nodes, which are the same in every chain and stay so.

    Returns:
      How many arcs leave each node, how many enter it, and how many pairs it has: three numbers in one word, the first
      in the lowest bits; int64 ``[nodes or more]``.
    """
    nodes = 2 * fixed.by_tail.shape[0]  # a label has two ends
    of_first, is_pair = where.live & (where.chain == 0), where.label >= fixed.arcs

    def number(side: Array, counted: Array) -> Array:
        return jnp.zeros(nodes, jnp.int64).at[jnp.where(of_first & counted, side, nodes)].add(1, mode="drop")

    paired = number(ends.tail, is_pair) + number(ends.head, is_pair)
    out, into, paired = (
        jnp.minimum(x, MOST_DEGREE) for x in (number(ends.tail, ~is_pair), number(ends.head, ~is_pair), paired)
    )
    return out | into << DEGREE_BITS | paired << 2 * DEGREE_BITS


def shifts_of(fixed: Fixed, salts: Array) -> Array | None:
    """Draw the number to which the labels of two partners add up, for each chain and step.

    It is drawn here, once for each chain, since inside a step XLA would repeat the division in each lane.

    Args:
      fixed: the properties that no move changes.
      salts: uint32 ``[steps, chains, 4 or more]``, random words.

    Returns:
      The sums among the chain's arcs and among its pairs, int32 ``[steps, chains, 2]``; ``None`` where groups of labels
      have sums of their own.
    """
    if fixed.groups is not None:
        return None
    return jnp.stack([scaled(salts[..., 0], fixed.arcs), scaled(salts[..., 1], fixed.pairs)], axis=-1)


def switch_pairs(
    fixed: Fixed, where: Lanes, degrees: Array, ends: Ends, salts: Array, shifts: Array | None, focused: Array
) -> tuple[Ends, Array]:
    """Take one step of pair switches in all chains.

    Args:
      fixed: the properties that no move changes.
      where: the chain of each lane.
      degrees: what :func:`degrees_of` returns.
      ends: the states of the chains.
      salts: uint32 ``[chains, 4]``, random words.
      shifts: what :func:`shifts_of` returns for this step.
      focused: bool scalar, whether slow labels alone are proposed. Whether a label is slow never changes, and the two
        labels of a proposal are both slow or neither is, so that a focused step is as symmetric as any other.

    Returns:
      The new states, and bool ``[lanes]``, which labels moved.
    """
    is_pair = where.label >= fixed.arcs
    across = _partners(fixed, where, is_pair, salts, shifts)
    partner = once(fixed, where.base + jnp.where(where.live, across, 0))
    # The random bits of the lower label count for both, so that the two agree.
    driver = jnp.minimum(where.label, across)
    salt = take(salts[:, 2], where.chain)
    coin = mix(driver.astype(jnp.uint32), salt)
    mirrored = is_pair & (where.label != driver) & (coin >> 31 == 1)  # the second pair is read backwards
    if fixed.groups is not None:
        mirrored = mirrored & take(fixed.groups.turns, where.label)
    if fixed.kinds is not None and fixed.kinds.limits is not None:
        mirrored = mirrored & ~_pairs_near(where, salts)  # since it is the tails that are near each other
    tail, head = _mirrored(ends, mirrored)
    # The move exchanges heads, and tails stay with their labels.
    other_tail, new_head = take(tail, partner), take(head, partner)
    loop = (tail == new_head) | (other_tail == head)
    idle = (where.label == across) | loop | (tail == other_tail) | (head == new_head)
    proposed = where.live & ~idle & (~focused | take(fixed.slow, where.label))
    proposed = once(fixed, proposed & _tried(fixed, degrees, coin, (tail, other_tail), (head, new_head)))
    if fixed.kinds is not None:
        tails, heads = jnp.stack([tail, other_tail]), jnp.stack([head, new_head])
        proposed = proposed & same_kinds(fixed.kinds, is_pair, tails, heads, heads[::-1])
    made = _decide_alone(fixed, where, tail, head, new_head, proposed, partner, salt)
    return Ends(*_mirrored(Ends(tail, jnp.where(made, new_head, head)), mirrored)), made


def _tried(fixed: Fixed, degrees: Array, coin: Array, tails: tuple[Array, Array], heads: tuple[Array, Array]) -> Array:
    """Decide which proposals are tried, bool ``[lanes]``: 15 of 16, and fewer between nodes of high degree.

    As not all are tried, a chain has no period, and edges between nodes of high degree move, too. If all proposals were
    tried, then about ``out(a) in(b) / arcs`` of them would touch the dyad of two nodes a and b in every step. Where
    this number is large they would block each other, and the dyad would stay for ever as the given graph has it. Of the
    proposals near such a dyad, only one in twice this number is tried. The number depends on the degrees of the four
    nodes alone, so that a move and its reverse are tried with the same probability.

    Args:
      fixed: the properties that no move changes.
      degrees: what :func:`degrees_of` returns.
      coin: uint32 ``[lanes]``, random bits, the same for both labels of a proposal.
      tails: the tails of the two labels, int32 ``[lanes]`` each.
      heads: their heads.
    """
    mask = (1 << DEGREE_BITS) - 1
    # The sums of two degrees stand for all four dyads, two old and two new ones.
    out, into, paired, other_out, other_into, other_paired = (
        ((both >> shift * DEGREE_BITS) & mask).astype(jnp.float32)
        for both in (take(degrees, one) + take(degrees, other) for one, other in (tails, heads))
        for shift in range(3)
    )
    # Products and comparisons alone give the same bits on all devices, which quotients and sums need not.
    draw = (coin & 0xFFFFFF).astype(jnp.float32)
    met = [(out * other_into, fixed.arcs)]
    if not fixed.ordered:
        met += [(other_out * into, fixed.arcs), (paired * other_paired, 2 * fixed.pairs)]
    tried = draw < TRIED * 2**24
    for number, of_labels in met:
        tried = tried & (draw * number <= 2.0**23 * of_labels.astype(jnp.float32))
    return tried


def _partners(fixed: Fixed, where: Lanes, is_pair: Array, salts: Array, shifts: Array | None) -> Array:
    """Return the partner of each label by the involution i <-> c - i in its group; only its fixed points have none."""
    if fixed.groups is None:  # All arcs are a group, and so are all pairs.
        first, size = jnp.where(is_pair, fixed.arcs, 0), jnp.where(is_pair, fixed.pairs, fixed.arcs)
        assert shifts is not None
        shift = take(shifts.reshape(-1), 2 * where.chain + is_pair.astype(jnp.int32))
    else:
        first, size = take(fixed.groups.first, where.label), take(fixed.groups.size, where.label)
        shift = scaled(mix(first.astype(jnp.uint32), take(salts[:, 0], where.chain)), size)
    across = shift - (where.label - first)
    # The partner is taken modulo the size of the group, and then numbered among all labels.
    across = jnp.where(across < 0, across + size, across) + first
    if fixed.kinds is None or fixed.kinds.limits is None:
        return across
    is_near = _pairs_near(where, salts)
    return jnp.where(is_near, _near_partners(where.label - first, size, where.chain, salts) + first, across)


def _pairs_near(where: Lanes, salts: Array) -> Array:
    """Return for each lane whether its chain pairs near labels in this step, bool: three of four steps, by chance."""
    return take(mix(salts[:, 1], salts[:, 0]) >> 30, where.chain) > 0


def _near_partners(place: Array, size: Array, chain: Array, salts: Array) -> Array:
    """Return the partner of each label, at a random number of places from it in the list of arcs or of pairs.

    The lists are ordered by where the tails of the given graph are in space. Where tails are near each other, an
    exchange of heads hardly changes lengths. The tails of arcs stay; those of pairs may change, but this order does
    not, so that the partners do not depend on the state. The number of places is drawn for each chain, from all orders
    of magnitude. The list is cut into blocks of that many labels, and each block is paired with the one after it or the
    one before it. A label without a partner is its own.
    """
    draw = [take(mix(jnp.full(salts.shape[:1], i, jnp.uint32), salts[:, 0]), chain) for i in range(3)]
    magnitude = scaled(draw[0], 32 - lax.clz(jnp.maximum(size, 1)))
    away = jnp.left_shift(1, magnitude)
    away = away + scaled(draw[1], away)
    odd = ((place + scaled(draw[2], 2 * away)) // away) & 1
    partner = place + jnp.where(odd == 1, -away, away)
    return jnp.where((partner >= 0) & (partner < size), partner, place)


def _decide_alone(
    fixed: Fixed, where: Lanes, tail: Array, head: Array, new_head: Array, proposed: Array, partner: Array, salt: Array
) -> Array:
    """Return which proposals are made, bool ``[lanes]``: those whose old and new dyads nothing else touches."""
    # The slots of dyads are hashes with the salt of this step.
    old, new = (once(fixed, slots(fixed, where.chain, tail, h, salt)) for h in (head, new_head))
    nowhere = SLOTS_PER_LABEL * tail.shape[0]
    # Counts may wrap on a CPU, at 2**16, but are the same before and after a move, so that the step stays symmetric.
    # The two dyads of a lane stand side by side, because a GPU's cache holds the counters of their chain for a while.
    touched = side_by_side(jnp.where(where.live, old, nowhere), jnp.where(proposed, new, nowhere))
    alone = proposed & all_occur(nowhere, [touched], [old, new], [1, 1], _most_touches(fixed))
    # Either both partners move or neither does.
    return alone & take(alone, partner)


def same_kinds(kinds: Kinds, is_pair: Array, tail: Array, head: Array, new_head: Array) -> Array:
    """Return whether the dyads of labels have the same kinds with their new heads as with their old heads.

    Two or three labels stand along the first axis, and the order of their kinds does not matter.
    """
    old, new = (_ascending(_kind(kinds, is_pair, tail, h)) for h in (head, new_head))
    return jnp.stack([a == b for a, b in zip(old, new, strict=True)]).all(axis=0)


def _kind(kinds: Kinds, is_pair: Array, u: Array, v: Array) -> Array:
    if kinds.limits is None:
        a, b = take(kinds.place[0], u), take(kinds.place[0], v)
        # A pair has no direction.
        low, high = jnp.where(is_pair, jnp.minimum(a, b), a), jnp.where(is_pair, jnp.maximum(a, b), b)
        return (low << BLOCK_BITS) | high
    # Lengths are integers, which are the same on every device.
    length = jnp.zeros(u.shape, jnp.int64)
    for axis in kinds.place:
        length = length + (take(axis, u) - take(axis, v)) ** 2
    return (kinds.limits.reshape(-1, *(1,) * u.ndim) <= length[None]).sum(axis=0, dtype=jnp.int32)


def _ascending(rows: Array) -> list[Array]:
    """Sort two or three rows at every place."""
    result = [rows[i] for i in range(rows.shape[0])]
    for i, j in ((0, 1), (1, 2), (0, 1))[: 1 if len(result) == 2 else 3]:
        result[i], result[j] = jnp.minimum(result[i], result[j]), jnp.maximum(result[i], result[j])
    return result


def _mirrored(ends: Ends, mirrored: Array) -> tuple[Array, Array]:
    return jnp.where(mirrored, ends.head, ends.tail), jnp.where(mirrored, ends.tail, ends.head)


# ---- triples


def turn_triples(fixed: Fixed, where: Lanes, ends: Ends, salts: Array, used: Array) -> tuple[Ends, Array]:
    """Turn the heads of triples of arcs cyclically, and return the new states and the turns, as in :func:`no_turns`.

    A chain of ``A`` arcs has ``A / 16`` triples that follow a path and as many of any three arcs, at least one of each.
    """
    lanes, chains = ends.tail.shape[0], salts.shape[0]
    labels, arcs = fixed.arcs + fixed.pairs, jnp.maximum(fixed.arcs, 1)
    # Each chain has the same number of triples, which are called groups here.
    number = _triples_each(fixed)
    group = jnp.arange(no_turns(lanes, chains).size, dtype=jnp.int32)
    chain, own = group // number, group % number
    live = (chain < used) & (fixed.arcs >= 3)
    chain = jnp.where(live, chain, 0)
    salt = take(salts[:, 3], chain)
    draw = mix((own[None] * 8 + jnp.arange(7, dtype=jnp.int32)[:, None]).astype(jnp.uint32), salt[None])
    paths, follows, whole = _paths(fixed, ends, chain * labels, draw[:3])
    anywhere = scaled(draw[3:6], arcs)
    # A quarter of the groups is left out and names no labels, so that in a chain of few arcs they do not always block
    # each other.
    taken = jnp.concatenate([live & (draw[6] & 3 > 0), live & (draw[6] & 12 > 0)])
    members = jnp.concatenate([paths, anywhere], axis=1)
    named = jnp.concatenate([follows, jnp.ones_like(anywhere, bool)], axis=1) & taken[None]
    whole = jnp.concatenate([whole, jnp.ones_like(whole)]) & taken
    chain = jnp.concatenate([chain, chain])
    at = (chain * labels)[None] + members
    tail, head = take(ends.tail, at), take(ends.head, at)
    # Each arc takes the head of the next.
    turned = jnp.concatenate([head[1:], head[:1]])
    # Arcs with the same tail, or with the same head, would only exchange their labels.
    same = (tail == tail[:1]).all(axis=0) | (head == head[:1]).all(axis=0)
    if not fixed.labelled:
        # So would two arcs with the same tail, if the third has the head of one of them.
        same |= ((tail == jnp.roll(tail, -1, axis=0)) & (head == jnp.roll(head, 1, axis=0))).any(axis=0)
    proposed = whole & (tail != turned).all(axis=0) & ~same
    if fixed.groups is not None:
        proposed = proposed & one_group(fixed.groups, members)
    if fixed.kinds is not None:
        proposed = proposed & same_kinds(fixed.kinds, jnp.zeros_like(proposed), tail, head, turned)

    # This is the rule of pair switches, for groups of three. A group turns if no other group names its labels and
    # nothing else touches its old and new dyads. The labels that are named and the dyads that are touched are the same
    # after the turn. A path s > x > y > t is drawn as often as s > y > x > t, and any three arcs as often as in the
    # order that turns them back.
    uses = count_at(lanes, _by_chain(jnp.where(named, at, lanes)))
    slot = partial(slots, fixed, chain[None], tail, salt=take(salts[:, 2], chain)[None])
    own = once(fixed, jnp.concatenate([slot(head), slot(turned)]))  # Without `once` these are hashed 36 times.
    old, new = own[:3], own[3:]
    nowhere = SLOTS_PER_LABEL * lanes
    present = slots(fixed, where.chain, ends.tail, ends.head, take(salts[:, 2], where.chain))
    touched = [jnp.where(where.live, present, nowhere), _by_chain(jnp.where(proposed[None], new, nowhere))]
    # A group may touch a dyad several times itself, and no other group may touch it.
    own_touches = (own[:, None] == own[None]).sum(axis=1, dtype=jnp.int32)
    distinct = [(x[0] != x[1]) & (x[1] != x[2]) & (x[0] != x[2]) for x in (old, new)]
    free = all_occur(nowhere, touched, [own.reshape(-1)], [own_touches.reshape(-1)], _most_touches(fixed))
    made = proposed & (take(uses, at) == 1).all(axis=0) & free.reshape(6, -1).all(axis=0) & distinct[0] & distinct[1]
    heads = ends.head.at[_by_chain(jnp.where(made[None], at, lanes))].set(_by_chain(turned), mode="drop")
    return Ends(ends.tail, heads), made.astype(jnp.int32).reshape(2, -1).sum(axis=0, dtype=jnp.int32)


def no_turns(lanes: int, chains: int) -> Array:
    """Return zeros to which turns are added: one for each path and the three arcs that are drawn beside it, int32.

    Only at the end are turns added up by chain, by :func:`turns_by_chain`.
    """
    return jnp.zeros(lanes // ARCS_PER_TRIPLE + chains, jnp.int32)


def turns_by_chain(fixed: Fixed, turns: Array, chains: int, used: Array) -> Array:
    """Add up turns, as :func:`turn_triples` returns them, by chain: int32 ``[chains]``."""
    begins = jnp.minimum(jnp.arange(chains + 1, dtype=jnp.int32), used) * _triples_each(fixed)
    return sum_between(turns, begins)


def _triples_each(fixed: Fixed) -> Array:
    """Return the number of paths, and of other triples, of each chain."""
    return jnp.maximum(1, fixed.arcs // ARCS_PER_TRIPLE)


def one_group(groups: Groups, labels: Array) -> Array:
    """Return whether labels along the first axis are all in one group."""
    first = take(groups.first, labels)
    return (first == first[:1]).all(axis=0)


def _by_chain(triples: Array) -> Array:
    """Order values of triples, ``[3, 2 K]`` with the K paths before the others, by chain.

    A GPU then writes to the parts of an array chain by chain, and its cache holds each part for a while. Otherwise it
    would write to the whole array six times.
    """
    return triples.reshape(3, 2, -1).transpose(2, 0, 1).reshape(-1)


def _paths(fixed: Fixed, ends: Ends, base: Array, draw: Array) -> tuple[Array, Array, Array]:
    """Draw paths of three arcs.

    A path is drawn with probability 1 / (A out(x) out(y)). The turned path s > y > x > t has the same probability, so
    that the draw is symmetric.

    Returns:
      The labels ``[3, K]`` of arcs s > x, x > y and y > t, which of them exist, and which paths are whole.
    """
    first = scaled(draw[0], fixed.arcs)
    second, goes_on = arc_from(fixed, take(ends.head, base + first), draw[1])
    third, ends_well = arc_from(fixed, take(ends.head, base + second), draw[2])
    whole = goes_on & ends_well
    return jnp.stack([first, second, third]), jnp.stack([jnp.ones_like(whole), goes_on, whole]), whole


def arc_from(fixed: Fixed, node: Array, bits: Array) -> tuple[Array, Array]:
    """Draw the label of an arc from each node, and return it with whether there is one; if not, it is arbitrary."""
    start, stop = take(fixed.starts, node), take(fixed.starts, node + 1)
    at = start + scaled(bits, stop - start)
    return take(fixed.by_tail, jnp.minimum(at, jnp.maximum(fixed.arcs - 1, 0))), stop > start


def _most_touches(fixed: Fixed) -> int:
    """Return how often a dyad is touched at most, which is twice by each label of its chain."""
    return 2 * fixed.by_tail.shape[0]


def once(fixed: Fixed, x: Array) -> Array:
    """Return the same array so that XLA computes it only once.

    On a CPU, XLA's fusions would compute it again for each array that depends on it. Optimization barriers are removed
    before XLA fuses operations, but the result of a condition is left alone.
    """
    if target().is_accelerator:
        return lax.optimization_barrier(x)
    # This is always true, which XLA cannot know.
    return lax.cond(fixed.arcs >= 0, lambda x: x, lambda x: jnp.zeros_like(x), x)


# ---- hashing


@jax.jit  # so that JAX traces it once for all arrays of one shape
def mix(x: Array, salt: Array) -> Array:
    """Hash uint32 to uint32 by rounds of multiplications and shifts."""
    x = (x ^ salt) * jnp.uint32(0x9E3779B1)
    x = (x ^ (x >> 15)) * jnp.uint32(0x85EBCA77)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE3D)
    return x ^ (x >> 16)


def scaled(bits: Array, size: Array) -> Array:
    """Map random bits to ``0 .. size - 1``, int32, by the remainder, which is as even as 32 bits allow."""
    return (bits % jnp.maximum(size, 1).astype(jnp.uint32)).astype(jnp.int32)


def slots(fixed: Fixed, chain: Array, u: Array, v: Array, salt: Array) -> Array:
    """Hash dyads to slots, of which a chain has 20 for each label; different chains have different slots."""
    a, b = (u, v) if fixed.ordered else (jnp.minimum(u, v), jnp.maximum(u, v))
    bits = mix(mix(a.astype(jnp.uint32), salt) + b.astype(jnp.uint32), salt ^ jnp.uint32(0x5BD1E995))
    size = (SLOTS_PER_LABEL * (fixed.arcs + fixed.pairs)).astype(jnp.uint64)
    slot = ((bits.astype(jnp.uint64) * size) >> 32).astype(jnp.int32)  # This is even, and needs no division.
    return chain * size.astype(jnp.int32) + slot
