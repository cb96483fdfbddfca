"""Matching orders, in which a search maps the nodes of a pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmotif.patterns._pattern import Pattern


def greatest_constraint_first(
    pattern: Pattern, domain_sizes: Sequence[int] | np.ndarray | None = None, last: Sequence[int] = ()
) -> list[int]:
    """Return RI's order, in which the next node is the one with the most edges to nodes already placed.

    Ties go to the node with more neighbours that touch a placed node, then with more neighbours that do not, then to
    the smaller domain, then (RI leaves this open) to the neighbour of the node placed first, then to the lower id. The
    first node of each component is one of largest degree, with ties decided likewise. Where two nodes are next to an
    early node and a third node is next to both, the two come first: the symmetry that exchanges them is then tested
    before the candidates of the third.

    Args:
      pattern: the pattern.
      domain_sizes: integers ``[k]``, how many target nodes each node can map to.
      last: nodes that come after all others, and are put into order by the same rule.

    Reference:
      Bonnici, Giugno, Pulvirenti, Shasha, Ferro: A subgraph isomorphism algorithm and its application to biochemical
      data, BMC Bioinformatics 2013.

    Example:
      >>> greatest_constraint_first(Pattern.from_edges([(0, 1), (1, 2), (2, 3), (2, 4), (3, 4)]))
      [2, 3, 4, 1, 0]
    """
    k = pattern.num_nodes
    sizes = np.zeros(k, np.int64) if domain_sizes is None else np.asarray(domain_sizes, np.int64)
    # Patterns are so small that a NumPy call for each step would take many times as long as these lists.
    neighbours: list[list[int]] = [[] for _ in range(k)]
    for u, x in np.argwhere(pattern.neighbors).tolist():
        neighbours[u].append(x)
    mutual = (pattern.adjacency & pattern.adjacency.T).tolist() if pattern.directed else None
    # One key decides. From its highest bits it holds: edges to placed nodes, neighbours that touch a placed node, other
    # neighbours, how small the domain is, and how early the first placed neighbour came.
    bits = max(k - 1, 1).bit_length()
    rank = np.unique(-sizes, return_inverse=True)[1].reshape(-1).tolist()
    joined, shared, beyond, smaller = [1 << field * bits for field in (4, 3, 2, 1)]
    key = [len(neighbours[v]) * beyond + rank[v] * smaller + (k - 1) for v in range(k)]
    first_key = [len(neighbours[v]) * beyond + rank[v] for v in range(k)]  # decides the first node of a component
    placed, fresh = [False] * k, [True] * k  # a fresh node has no neighbour that is placed
    late = set(last)
    order: list[int] = []
    for free in ([v for v in range(k) if v not in late], sorted(late)):
        while free:
            v = max(free, key=key.__getitem__)
            if fresh[v]:
                v = max(free, key=first_key.__getitem__)
            free.remove(v)
            touched = beyond if fresh[v] else shared
            for x in neighbours[v]:
                key[x] += joined * (2 if mutual is not None and mutual[v][x] else 1) - touched
                if fresh[x]:
                    fresh[x] = False
                    key[x] -= len(order)
                    if not placed[x]:
                        for y in neighbours[x]:
                            key[y] += shared - beyond
            placed[v] = True
            order.append(v)
    return order
