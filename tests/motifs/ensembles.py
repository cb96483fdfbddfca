"""Small ensembles of graphs with given degrees, enumerated without the library, and what each move makes of a graph."""

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np

Arcs = frozenset[tuple[int, int]]


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


def all_with_same_degrees(arcs: Arcs, n: int, keep: str) -> set[Arcs]:
    """Every digraph with these degrees, by trying all (n of at most 4)."""
    wanted = degrees_of(arcs, keep)
    found = set()
    for states in product(((), (0,), (1,), (0, 1)), repeat=n * (n - 1) // 2):
        graph = frozenset(
            pair if way == 0 else pair[::-1]
            for pair, state in zip(combinations(range(n), 2), states, strict=True)
            for way in state
        )
        if len(graph) == len(arcs) and degrees_of(graph, keep) == wanted:
            found.add(graph)
    return found


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


def counts_of(samples, states: list[Arcs]) -> np.ndarray:
    """How often each state was drawn; a sample outside the list is an error."""
    index = {state: i for i, state in enumerate(states)}
    drawn = Counter(samples)
    counts = np.zeros(len(states), np.int64)
    for arcs, number in drawn.items():
        counts[index[arcs]] = number
    return counts
