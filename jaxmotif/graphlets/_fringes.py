r"""Closed forms that count the maps of a plain pattern with a small core and a fringe, found on the host.

The *core* is a clique of up to three query nodes. All other nodes are *fringe*: no two of them are joined, and all
their neighbours are in the core. Fringe nodes with the same neighbours are of one *type*.

Once the core is mapped, a fringe node may go to any target node that is adjacent to the images of all its neighbours.
These target nodes are the candidates of its type, and the ``m_j`` nodes of a type j take different ones. Types may
compete for target nodes, so they are placed one after the other. A class c is a set of types that are placed later than
type j: a candidate of type j is in class c if these types, and no other later ones, may take it as well. By inclusion
and exclusion the size of a class is a signed sum of numbers ``I(r)``, where ``I(r)`` is the number of target nodes
adjacent to the images of all core nodes in the set r. The number of ways to place all fringe nodes is

.. math:: \sum \prod_j \frac{m_j!}{\prod_c k_c!} \prod_c (size(j, c) - used(j, c)) (size(j, c) - used(j, c) - 1) \dots

The sum is over all ways to divide the nodes of each type j among the classes, ``k_c`` of them to class c. For class c
the last product has ``k_c`` factors, and ``used(j, c)`` is the number of its nodes that earlier types have taken. No
term is negative.

Reference: the fringes of Fringe-SGC (SC 2025), which has a region for each set of core nodes instead of classes.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

MOST_NODES = 32
"""Largest number of nodes of a pattern for which a closed form is looked for."""

MOST_CORE = 3
"""Largest number of nodes of a core: the passes visit each triangle with all ``I(r)`` at hand, but no larger clique."""

MOST_TERMS = 2**11
"""Largest number of terms of a closed form; with more terms, a search takes less time."""

SIZES = 2**MOST_CORE - 1
"""Number of non-empty sets of core nodes; the bits of ``r + 1`` say which core nodes are in set number r."""


class Factor(NamedTuple):
    """A falling product ``(size - less) (size - less - 1) ..`` of ``taken`` factors, where size is a sum of ``I(r)``.

    Attributes:
      size: the coefficient of each ``I(r)`` in the sum, :data:`SIZES` integers.
      less: the number of candidates that were taken before.
      taken: the number of factors.
    """

    size: tuple[int, ...]
    less: int
    taken: int


class ClosedForm(NamedTuple):
    """A pattern as a core and its fringe.

    Attributes:
      core: the core's nodes.
      fringe: the other nodes.
      terms: the coefficient of each product of factors. The sum of all terms, for all cliques of the target that have
        the size of the core, is the number of maps.
    """

    core: tuple[int, ...]
    fringe: tuple[int, ...]
    terms: dict[tuple[Factor, ...], int]


@functools.lru_cache(256)
def closed_form(rows: tuple[tuple[bool, ...], ...]) -> ClosedForm | None:
    """Return the closed form of a connected pattern with the smallest core; ``None`` if it has none.

    Args:
      rows: the symmetric adjacency matrix.

    Example:
      >>> diamond = closed_form(((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 0), (1, 1, 0, 0)))
      >>> diamond.core, diamond.fringe, diamond.terms
      ((0, 1), (2, 3), {(Factor(size=(0, 0, 1, 0, 0, 0, 0), less=0, taken=2),): 2})
    """
    adjacency = np.array(rows, bool)
    nodes = range(len(adjacency))
    if not 2 <= len(adjacency) <= MOST_NODES:
        return None
    for size in range(1, MOST_CORE + 1):
        for core in itertools.combinations(nodes, size):
            fringe = tuple(v for v in nodes if v not in core)
            joined = adjacency[np.ix_(core, core)].sum() == size * (size - 1)
            if joined and fringe and not adjacency[np.ix_(fringe, fringe)].any():
                near = [sum(1 << i for i, u in enumerate(core) if adjacency[u, v]) for v in fringe]
                terms = _over_turns(size, near)
                return None if terms is None else ClosedForm(core, fringe, terms)
    return None


def _over_turns(core: int, near: Sequence[int]) -> dict[tuple[Factor, ...], int] | None:
    """Return the terms for all orders in which the core may be mapped to a clique, or ``None`` if they are too many.

    Equal terms are merged.

    Args:
      core: the number of core nodes.
      near: the neighbours of each fringe node, as bits of core nodes.
    """
    types = sorted(Counter(near).items(), key=lambda item: (-item[0].bit_count(), item))
    found: Counter[tuple[Factor, ...]] = Counter()
    placed = list(itertools.islice(_place(types), MOST_TERMS + 1))
    if len(placed) > MOST_TERMS:
        return None
    for turn in itertools.permutations(range(core)):
        # Core node i is mapped to node turn[i] of the clique, and so the set r of core nodes to the set moved[r].
        moved = [sum(1 << turn[i] for i in range(core) if r + 1 >> i & 1) - 1 for r in range(2**core - 1)]
        for coefficient, factors in placed:
            term = []
            for factor in factors:
                size = [0] * SIZES
                for r, to in enumerate(moved):
                    size[to] = factor.size[r]
                term.append(Factor(tuple(size), factor.less, factor.taken))
            found[tuple(sorted(term))] += coefficient
    return dict(found) if len(found) <= MOST_TERMS else None


def _place(
    types: Sequence[tuple[int, int]], at: int = 0, used: tuple[tuple[frozenset[int], int], ...] = ()
) -> Iterator[tuple[int, tuple[Factor, ...]]]:
    """Yield the terms of the types from number ``at`` on, each a coefficient and factors.

    Args:
      types: the neighbours of each type in the core, as bits, and how many nodes are of it.
      at: the type to place next.
      used: for target nodes that are taken already, the types that could take them (the one that did and later ones),
        and how many such nodes there are.
    """
    if at == len(types):
        yield 1, ()
        return
    near, number = types[at]
    later = range(at + 1, len(types))
    classes = []
    for chosen in _subsets(later):
        size = _class_size(types, near, chosen, [j for j in later if j not in chosen])
        if any(size):
            classes.append((frozenset(chosen), size))
    for split in _compositions(number, len(classes)):
        ways, factors, now = math.factorial(number), [], list(used)
        for (chosen, size), taken in zip(classes, split, strict=True):
            ways //= math.factorial(taken)
            if taken:
                less = sum(k for where, k in used if at in where and where.intersection(later) == chosen)
                factors.append(Factor(size, less, taken))
                now.append((chosen | {at}, taken))
        for coefficient, rest in _place(types, at + 1, tuple(now)):
            yield ways * coefficient, (*factors, *rest)


def _class_size(
    types: Sequence[tuple[int, int]], near: int, chosen: Sequence[int], others: Sequence[int]
) -> tuple[int, ...]:
    """Return the size of a class of candidates as coefficients of ``I(r)``.

    The class has the target nodes adjacent to the core nodes ``near`` that all ``chosen`` types may take as well, and
    none of the ``others``.
    """
    size = [0] * SIZES
    for more in _subsets(others):
        union = functools.reduce(lambda union, j: union | types[j][0], (*chosen, *more), near)
        size[union - 1] += (-1) ** len(more)
    return tuple(size)


def _subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.chain.from_iterable(itertools.combinations(items, n) for n in range(len(items) + 1))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as an ordered sum of parts that may be 0."""
    for bars in itertools.combinations(range(total + parts - 1), parts - 1):
        yield tuple(b - a - 1 for a, b in itertools.pairwise((-1, *bars, total + parts - 1)))
