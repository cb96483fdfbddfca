"""Small ensembles of graphs with given degrees, enumerated without the library, and what each move makes of a graph."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

Arcs = frozenset[tuple[int, int]]


class Ensemble(NamedTuple):
    """All graphs with certain degrees; ``edges``: of one; ``pieces``: that elementary moves leave them in."""

    keep: str
    directed: bool
    nodes: int
    edges: list[tuple[int, int]]
    members: list[Arcs]
    pieces: int


def degrees_of(arcs: Arcs, keep: str) -> Counter:
    """What the null model keeps, as a multiset of (node, kind)."""
    kept = Counter()
    for u, v in arcs:
        if keep == "bidegree" and (v, u) in arcs:
            kept[u, "both"] += 1
        else:
            kept[u, "out"] += 1
            kept[v, "in"] += 1
    return kept


def more_of(arcs: Arcs, kept: str, of: list, keep: str) -> Counter:
    """What is kept beside degrees: by label at every node, by two blocks, or by the square of the length of an arc;
    ``of``: the label, block or position of every node."""
    found = Counter()
    for u, v in arcs:
        both = keep == "bidegree" and (v, u) in arcs
        if kept == "labels":
            found[u, "out", of[v], both] += 1
            found[v, "in", of[u], both] += 1
        elif kept == "blocks":
            found[of[u], of[v], both] += 1
        else:
            found[sum((a - b) ** 2 for a, b in zip(of[u], of[v], strict=True)), both] += 1
    return found


WAYS = ((), (0,), (1,), (0, 1))


def all_with_same_degrees(arcs: Arcs, n: int, keep: str, directed: bool = True, limit: int = 10**9) -> set[Arcs]:
    """Every graph with these degrees, dyad by dyad, giving up a branch that takes more than a node has; of an
    undirected one both arcs of every edge. More than ``limit`` end the search."""
    found: set[Arcs] = set()
    places = {(node, kind): 3 * node + k for node in range(n) for k, kind in enumerate(("in", "out", "both"))}
    left = [0] * len(places)
    for of, number in degrees_of(arcs, keep).items():
        left[places[of]] = number
    ways = WAYS if directed else (WAYS[0], WAYS[3])
    dyads = []  # of every pair and way: its arcs, and the places of what they take
    for pair in combinations(range(n), 2):
        made = [tuple(pair if w == 0 else pair[::-1] for w in way) for way in ways]
        dyads.append([(new, [places[of] for of in degrees_of(frozenset(new), keep).elements()]) for new in made])
    # A node that meets no later one must have all that is wanted of it.
    ends = [3 * u if v == n - 1 else None for u, v in combinations(range(n), 2)]

    def extend(number: int, graph: tuple):
        if len(found) > limit:
            return
        if number == len(dyads):
            if not any(left):
                found.add(frozenset(graph))
            return
        end = ends[number]
        for new, taken in dyads[number]:
            for place in taken:
                left[place] -= 1
            done = end is None or not any(left[end : end + 3])
            if done and all(left[place] >= 0 for place in taken):
                extend(number + 1, graph + new)
            for place in taken:
                left[place] += 1

    extend(0, ())
    return found


def ensembles(number: int, seed: int = 1, largest: int = 60) -> Iterator[Ensemble]:
    """So many random ensembles of 2 to ``largest`` members: two thirds directed bidegree, the rest directed degree and
    undirected; 4 to 6 nodes, sparse and dense; of the bidegree ones at least every second is one that elementary
    moves leave in pieces."""
    rng = np.random.default_rng(seed)
    kinds = [("bidegree", True), ("bidegree", True), ("degree", True), ("bidegree", True), ("bidegree", True),
             ("degree", False)]  # fmt: skip
    for index in range(number):
        keep, directed = kinds[index % len(kinds)]
        n = 4 + index // len(kinds) % 3
        while True:
            weights = np.array(((1, 1, 1, 1), (1, 2, 2, 2), (0, 1, 1, 1), (4, 1, 1, 1))[rng.integers(4)], float)
            ways = rng.choice(4, n * (n - 1) // 2, p=weights / weights.sum())
            if not directed:
                ways = 3 * (ways > 1)
            arcs = frozenset(
                pair if way == 0 else pair[::-1]
                for pair, which in zip(combinations(range(n), 2), ways, strict=True)
                for way in WAYS[which]
            )
            members = sorted(all_with_same_degrees(arcs, n, keep, directed, largest), key=sorted)
            if not 2 <= len(members) <= largest:
                continue
            pieces, left = 0, set(members)
            while left:
                left -= set(reachable(next(iter(left)), keep, directed))
                pieces += 1
            if keep == "bidegree" and index % 2 == 0 and pieces == 1:
                continue
            yield Ensemble(keep, directed, n, sorted(arcs), members, pieces)
            break


class Restricted(NamedTuple):
    """Those of an :class:`Ensemble` that keep something else, ``kept``, of the nodes, ``of``."""

    kept: str
    of: list
    keep: str
    directed: bool
    nodes: int
    edges: list[tuple[int, int]]
    members: list[Arcs]


def restricted(kept: str, number: int, seed: int = 1, largest: int = 60) -> Iterator[Restricted]:
    """So many random ones of 2 to ``largest`` members: 4 to 6 nodes of two labels or blocks, or on a grid of 4 by 4; of
    distances, each square of a length is a class of its own."""
    rng = np.random.default_rng(seed)
    while number:
        keep, directed = (("bidegree", True), ("degree", True), ("degree", False))[number % 3]
        n = int(rng.integers(4, 7))
        weights = np.array(((1, 1, 1, 1), (1, 2, 2, 2), (0, 1, 1, 1), (4, 1, 1, 1))[rng.integers(4)], float)
        ways = rng.choice(4, n * (n - 1) // 2, p=weights / weights.sum())
        if not directed:
            ways = 3 * (ways > 1)
        pairs = zip(combinations(range(n), 2), ways, strict=True)
        arcs = frozenset(pair if way == 0 else pair[::-1] for pair, which in pairs for way in WAYS[which])
        of = rng.integers(0, 4, (n, 2)).tolist() if kept == "distances" else rng.integers(0, 2, n).tolist()
        of = [tuple(place) for place in of] if kept == "distances" else of
        everything = all_with_same_degrees(arcs, n, keep, directed, 2000)
        wanted = more_of(arcs, kept, of, keep)
        members = sorted((one for one in everything if more_of(one, kept, of, keep) == wanted), key=sorted)
        if len(everything) <= 2000 and 2 <= len(members) <= largest:
            number -= 1
            edges = [(u, v) for u, v in sorted(arcs) if directed or u < v]
            yield Restricted(kept, of, keep, directed, n, edges, members)


def reachable(arcs: Arcs, keep: str, directed: bool = True) -> list[Arcs]:
    """The graphs that pair switches and turns of three arcs' heads lead to, by breadth-first search."""
    seen, todo = {arcs}, [arcs]
    while todo:
        for other in _moves(todo.pop(), keep, directed):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return sorted(seen, key=sorted)


def _moves(arcs: Arcs, keep: str, directed: bool):
    both = {a for a in arcs if a[::-1] in arcs} if keep == "bidegree" or not directed else set()
    single = sorted(arcs - both)
    for size in (2, 3) if directed else ():
        for chosen in permutations(single, size):
            heads = [v for _, v in chosen]
            new = [(u, v) for (u, _), v in zip(chosen, heads[1:] + heads[:1], strict=True)]
            if _fits(arcs, chosen, new, keep):
                yield (arcs - set(chosen)) | set(new)
    for (a, b), (c, d) in permutations(both, 2):
        old, new = [(a, b), (b, a), (c, d), (d, c)], [(a, d), (d, a), (c, b), (b, c)]
        if len(set(old)) == 4 and len(set(new)) == 4 and _fits(arcs, old, new, "degree"):
            yield (arcs - set(old)) | set(new)


def _fits(arcs: Arcs, old, new, keep: str) -> bool:
    """Whether new arcs are no loops, land on dyads that are free before the move, and are all different."""
    if any(u == v for u, v in new):
        return False
    if keep == "degree":
        return len(set(new)) == len(new) and not any(a in arcs for a in new)
    dyads = [frozenset(a) for a in new]
    held = {frozenset(a) for a in arcs}
    free_of_old = held - {frozenset(a) for a in old} if len(old) == 3 else held
    return len(set(dyads)) == len(dyads) and not any(d in free_of_old for d in dyads)


def drawn_sets(sample) -> Iterator[Arcs]:
    """The arcs of every random graph; of an undirected one both arcs of every edge."""
    tails, heads = (x.tolist() for x in sample.wiring.edges(sample.ends))
    for tail, head in zip(tails, heads, strict=True):
        arcs = list(zip(tail, head, strict=True))
        yield frozenset(arcs if sample.source.directed else arcs + [(v, u) for u, v in arcs])


def counts_of(samples, states: list[Arcs]) -> np.ndarray:
    """How often each state was drawn; a sample outside the list is an error."""
    index = {state: i for i, state in enumerate(states)}
    drawn = Counter(samples)
    counts = np.zeros(len(states), np.int64)
    for arcs, number in drawn.items():
        counts[index[arcs]] = number
    return counts
