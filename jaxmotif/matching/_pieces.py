"""Counts of queries that fall apart into two sides: each side is counted alone, and products of counts are added up.

Let the sides A and B of a query be connected only through a cut S, which is no node, one node, or two joined nodes. For
each image of S, every one of the ``n_A`` maps of S and A goes with every one of the ``n_B`` maps of S and B, unless
both use the same target node outside S. The pairs of maps that do are the maps of smaller queries, in which nodes of A
and B are merged (Chen, Qian: DecoMine, ASPLOS 2023):

    n(Q) = sum over images of S of n_A n_B - sum over M of n(Q / M),

where M runs over all nonempty sets of pairs (a, b), in which no node occurs twice and the labels of a and b allow the
same image. The maps of each side are added up by the images of S as participation counts are. So the work is that of
the two sides, and not that of all pairs of their maps.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.matching._divided import count_on_device
from jaxmotif.matching.planner._plan import Matching, Plan
from jaxmotif.matching.planner._tally import Found
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._ruled import RuledPattern
from jaxmotif.search._deadline import NO_DEADLINE, Deadline, TimeIsUp
from jaxmotif.search._run import SearchProgress

MOST_NODES = 64
"""Most nodes of a query that is tried in pieces."""

MOST_MERGED = 64
"""Most smaller queries that are counted besides the two sides."""

PATIENCE, TRIED = 5.0, 30.0
"""Seconds after which a count is tried in pieces, and seconds that this may take, with compiling."""

MOST_COUNT = 2**63 - 1
"""Most maps of a side, so that sums modulo 2^64 are exact."""

Pairs = tuple[tuple[int, int], ...]


class Cut(NamedTuple):
    """A cut of a query, and the two sides that it leaves.

    Attributes:
      nodes: the query nodes of the cut.
      sides: the query nodes of each side, without the cut.
      merged: sets of pairs, a node of one side and a node of the other, that may have the same image.
    """

    nodes: tuple[int, ...]
    sides: tuple[list[int], list[int]]
    merged: list[Pairs]


class _Counted(Exception):
    """The pieces were counted while the search of the whole went on."""

    def __init__(self, standing: SearchProgress):
        super().__init__()
        self.standing = standing


def count_alone(
    matching: Matching, plan: Plan, device: jax.Device, report: Callable[[int], None]
) -> tuple[SearchProgress, tuple[str, ...]]:
    """Count on one device: as a whole, or in pieces if the options ask for them or the search takes long.

    Args:
      matching: the query, the target and the options.
      plan: the search of the whole query.
      device: where to count.
      report: called now and then with the number of candidates tested since.
    """
    pattern, options = matching.pattern, matching.options
    search, deadline, started = options.search, options.deadline, time.perf_counter()
    # Rules, and non-edges of induced matches, may concern a node of each side, and no side alone could test them.
    plain = not isinstance(pattern, RuledPattern) and not options.induced and search.max_steps is None
    may = plain and options.memory is None and pattern.num_nodes <= MOST_NODES
    waits = search.pieces is None and may

    def in_pieces(deadline: Deadline) -> SearchProgress | None:
        # Unless the user asks for pieces, they are tried only where there are no smaller queries to subtract, since
        # those may take as long as the whole.
        most = MOST_MERGED if search.pieces else 0
        try:
            cut = choose_cut(pattern, plan.order, options.wildcard, matching.allowed, most, deadline)
            until = dataclasses.replace(matching, options=dataclasses.replace(options, deadline=deadline))
            found = None if cut is None else count_in_pieces(until, cut, device)
        except TimeIsUp:
            return None
        # The multiplier says how many maps there are for each that symmetry leaves.
        return None if found is None else found._replace(count=found.count // plan.multiplier)

    def watch(more: int) -> None:
        nonlocal waits
        report(more)
        if waits and time.perf_counter() - started > PATIENCE:
            waits = False
            if (found := in_pieces(deadline.within(TRIED))) is not None:
                raise _Counted(found)

    try:
        if search.pieces and may and (found := in_pieces(deadline)) is not None:
            raise _Counted(found)
        return count_on_device(matching, plan, device, search.max_steps, watch)
    except _Counted as done:
        return done.standing, ("counted in pieces",)


def choose_cut(
    pattern: Pattern,
    core: Sequence[int],
    wildcard: int | None,
    allowed: np.ndarray | None = None,
    most_merged: int = MOST_MERGED,
    deadline: Deadline = NO_DEADLINE,
) -> Cut | None:
    """Return the cut whose smaller side has the most searched nodes; ``None`` if no cut leaves some in both sides.

    Args:
      pattern: the query.
      core: the query nodes that are searched; the others are counted in closed form.
      wildcard: a label that stands for any label.
      allowed: bool ``[k, n]``, given domains, or ``None``.
      most_merged: the most smaller queries that the cut may take.
      deadline: when to stop.

    Example:
      >>> bowtie = Pattern.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)], node_labels=[1, 1, 1, 2, 1])
      >>> choose_cut(bowtie, [0, 2, 3], None)
      Cut(nodes=(2,), sides=([0, 1], [3, 4]), merged=[((0, 4),), ((1, 4),)])
    """
    edges = np.argwhere(np.triu(pattern.neighbors)).tolist()
    found, most = None, 0
    for nodes in [(), *((s,) for s in range(pattern.num_nodes)), *map(tuple, edges)]:
        deadline.check()
        rest = [v for v in range(pattern.num_nodes) if v not in nodes]
        parts = [[rest[i] for i in part] for part in pattern.relabel(rest).components()]
        work = [len({*part} & {*core}) for part in parts]
        if len(parts) < 2 or min(max(work), sum(work) - max(work)) <= most:
            continue
        large = parts[work.index(max(work))]
        sides = large, [v for v in rest if v not in large]
        rivals = [(a, b) for a, b in itertools.product(*sides) if _can_merge(pattern, a, b, wildcard, allowed)]
        merged = list(itertools.islice(_matchings(rivals), most_merged + 1))
        if len(merged) <= most_merged:
            found, most = Cut(nodes, sides, merged), min(max(work), sum(work) - max(work))
    return found


def count_in_pieces(matching: Matching, cut: Cut, device: jax.Device) -> SearchProgress | None:
    """Return the maps of a query by a cut; ``None`` if a side has too many, or the deadline of the options passes."""
    pattern, options, allowed = matching.pattern, matching.options, matching.allowed
    # In a side, symmetry may exchange the ends of a cut edge, whose images are ordered.
    symmetry = options.search.symmetry and len(cut.nodes) < 2
    # The order given, if any, is one of the whole query.
    whole = dataclasses.replace(options.search, pieces=False, symmetry=symmetry, order="ri")
    steps = tested = 0
    images: list[dict[int, int]] = []
    for side in cut.sides:
        ids = [*cut.nodes, *side]
        domains = None if allowed is None else allowed[ids]
        how = dataclasses.replace(options, search=whole)
        part = Matching(pattern.relabel(ids), matching.target, how, domains)
        found = _count_images(part, len(cut.nodes), device)
        if found is None:
            return None
        counts, standing = found
        images.append(counts)
        steps, tested = steps + standing.steps, tested + standing.positions
    total = sum(count * images[1].get(image, 0) for image, count in images[0].items())
    for pairs in cut.merged if total else ():
        smaller = merge(pattern, pairs, options.wildcard, allowed)
        if smaller is None:
            continue
        options.deadline.check()
        # The smaller query may be counted in pieces in turn.
        how = dataclasses.replace(options, search=dataclasses.replace(options.search, pieces=None, order="ri"))
        part = Matching(smaller[0], matching.target, how, smaller[1])
        plan = part.plan(device)
        one, _ = count_alone(part, plan, device, lambda _: None)
        if one.status != "done":
            return None
        total, steps, tested = total - one.count * plan.multiplier, steps + one.steps, tested + one.positions
    return SearchProgress(total, tested, steps, "done")


def _count_images(matching: Matching, cut: int, device: jax.Device) -> tuple[dict[int, int], SearchProgress] | None:
    """Count the maps of one side of a cut, by the images of the cut.

    Args:
      matching: a query whose first nodes are the cut.
      cut: the number of nodes of the cut, 0 to 2.
      device: where to search.

    Returns:
      The number of maps by image, and the search. An image is the number of a node, or of two nodes the number of the
      first times n plus that of the second. ``None`` if there are too many maps, or time is over.
    """
    n = matching.target.n
    # In a directed query the arc between the two nodes of the cut may go either way.
    part = (1, 0) if cut == 2 and not matching.pattern.adjacency[0, 1] else tuple(range(cut))
    tally = (None, "node", "edge")[cut]
    options = dataclasses.replace(matching.options, tally=tally, parts=(part,) if cut else None)
    # If the node is a leaf, there are two searches: the first only counts, and the last one adds up.
    matching = dataclasses.replace(matching, options=options, number=-1)
    plan = matching.plan(device)
    found, _ = count_on_device(matching, plan, device)
    maps = found.count * plan.multiplier
    if found.status != "done" or (cut and maps > MOST_COUNT):
        return None
    if not cut or plan.ready is None or found.tally is None:
        return ({0: maps} if maps else {}), found
    sums = Found(found.tally.view(np.int64), plan.ready.operands, np.asarray(plan.ids))
    [(_, added)] = plan.tally.orbits
    counts: dict[int, int] = {}
    for cells in added:
        if cut == 1:
            images, column = np.arange(n), sums.by_node(cells, matching.target)
        else:
            tails, heads, column = sums.lists(cells)
            first, second = (heads, tails) if cells.turned != (part == (1, 0)) else (tails, heads)
            images = first.astype(np.int64) * n + second
        some = np.flatnonzero(column)
        for image, count in zip(images[some].tolist(), column[some].tolist(), strict=True):
            counts[image] = counts.get(image, 0) + count
    # Each map found stands for `multiplier` maps, in which automorphisms exchange the parts added up.
    return {image: count * plan.multiplier // len(added) for image, count in counts.items()}, found


def merge(
    pattern: Pattern, pairs: Pairs, wildcard: int | None, allowed: np.ndarray | None
) -> tuple[Pattern, np.ndarray | None] | None:
    """Merge the nodes of each pair of a query into one, and return the smaller query with its domains.

    The result is ``None`` if an edge would need two labels.

    Example:
      >>> path = Pattern.from_edges([(0, 1), (1, 2)])
      >>> merge(path, ((0, 2),), None, None)[0].adjacency.tolist()
      [[False, True], [True, False]]
    """
    adjacency, domains = pattern.adjacency.copy(), None if allowed is None else allowed.copy()
    labels = None if pattern.node_labels is None else pattern.node_labels.copy()
    values = np.zeros(adjacency.shape, np.int64) if pattern.edge_labels is None else pattern.edge_labels.copy()
    for a, b in pairs:
        if labels is not None and labels[a] == wildcard:
            labels[a] = labels[b]
        if domains is not None:
            domains[a] &= domains[b]
        # Rows, then columns: what goes out of b, and what comes in, is joined to a.
        for arcs, label in ((adjacency, values), (adjacency.T, values.T)):
            free = np.zeros((2, len(arcs)), bool) if wildcard is None else label[[a, b]] == wildcard
            if (arcs[a] & arcs[b] & (label[a] != label[b]) & ~free.any(axis=0)).any():
                return None
            taken = arcs[b] & (~arcs[a] | free[0])
            label[a, taken] = label[b, taken]
            arcs[a] |= arcs[b]
    kept = [v for v in range(pattern.num_nodes) if v not in {b for _, b in pairs}]
    smaller = Pattern(adjacency, labels, None if pattern.edge_labels is None else values, pattern.directed)
    return smaller.relabel(kept), None if domains is None else domains[kept]


def _can_merge(pattern: Pattern, a: int, b: int, wildcard: int | None, allowed: np.ndarray | None) -> bool:
    labels = pattern.node_labels
    alike = labels is None or labels[a] == labels[b] or wildcard in (labels[a], labels[b])
    return bool(alike and (allowed is None or (allowed[a] & allowed[b]).any()))


def _matchings(pairs: Sequence[tuple[int, int]]) -> Iterator[Pairs]:
    """Yield all nonempty sets of pairs in which no node occurs twice."""
    for i, (a, b) in enumerate(pairs):
        yield ((a, b),)
        for more in _matchings([(c, d) for c, d in pairs[i + 1 :] if c != a and d != b]):
            yield ((a, b), *more)
