"""Algorithms 1 to 6 of the hybrid graphlet paper as loops for a CPU, compiled by numba, in all of its threads.

What they count is said in graphlets_algorithms.py. Line 5 of Algorithm 6 looks for the word 1, and not for the 2 that
is printed there (docs/corrections.md).
"""

from __future__ import annotations

import numba
import numpy as np
from graphlets_algorithms import Counts, Sorted


def count_by_table(graph: Sorted, cliques: bool, cycles: bool) -> Counts:
    """Count with the table psi: Algorithm 1, and Algorithms 5 and 6 where they are asked for."""
    return Counts(*_by_table(*graph, cliques, cycles, numba.get_num_threads()).sum(axis=0).tolist())


@numba.njit(parallel=True)
def _by_table(offsets, near, edges, cliques, cycles, parts):
    result = np.zeros((parts, 3), np.int64)
    most = np.diff(offsets).max()
    for part in numba.prange(parts):
        psi = np.zeros(offsets.size - 1, np.int64)
        common, stars = np.empty(most, np.int32), np.empty(most, np.int32)
        for e in range(part, len(edges), parts):
            v, u = edges[e]
            # The words of an edge are its own, so that the table need not be cleared.
            words = 3 * e
            for w in near[offsets[v] : offsets[v + 1]]:
                if w != u:
                    psi[w] = words + 1
            num_common = num_stars = 0
            for w in near[offsets[u] : offsets[u + 1]]:
                if w == v:
                    continue
                if psi[w] == words + 1:
                    common[num_common] = w
                    num_common += 1
                    psi[w] = words + 3
                else:
                    stars[num_stars] = w
                    num_stars += 1
                    psi[w] = words + 2
            result[part, 0] += num_common
            if cliques:
                for w in common[:num_common]:
                    for r in near[offsets[w] : offsets[w + 1]]:
                        result[part, 1] += psi[r] == words + 3
                    psi[w] = 0
            if cycles:
                for w in stars[:num_stars]:
                    for r in near[offsets[w] : offsets[w + 1]]:
                        result[part, 2] += psi[r] == words + 1
                    psi[w] = 0
    return result


def count_by_search(graph: Sorted, cliques: bool, cycles: bool) -> Counts:
    """Count by binary searches: Algorithm 2, and Algorithms 3 and 4 where they are asked for."""
    return Counts(*_by_search(*graph, cliques, cycles, numba.get_num_threads()).sum(axis=0).tolist())


@numba.njit
def _is_near(offsets, near, node, wanted):
    low, high = offsets[node], offsets[node + 1]
    while low < high:
        middle = (low + high) // 2
        if near[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < offsets[node + 1] and near[low] == wanted


@numba.njit(parallel=True)
def _by_search(offsets, near, edges, cliques, cycles, parts):
    result = np.zeros((parts, 3), np.int64)
    most = np.diff(offsets).max()
    for part in numba.prange(parts):
        common, stars = np.empty(most, np.int32), np.empty(most, np.int32)
        for e in range(part, len(edges), parts):
            v, u = edges[e]
            num_common = num_stars = 0
            for w in near[offsets[u] : offsets[u + 1]]:
                if w == v:
                    continue
                if _is_near(offsets, near, w, v):
                    common[num_common] = w
                    num_common += 1
                else:
                    stars[num_stars] = w
                    num_stars += 1
            result[part, 0] += num_common
            if cliques:
                for i in range(num_common):
                    for j in range(i + 1, num_common):
                        result[part, 1] += _is_near(offsets, near, common[j], common[i])
            if cycles:
                at = 0
                for r in near[offsets[v] : offsets[v + 1]]:
                    # S_v is the neighbours of v without T, which is ascending as they are.
                    while at < num_common and common[at] < r:
                        at += 1
                    if r == u or (at < num_common and common[at] == r):
                        continue
                    for w in stars[:num_stars]:
                        result[part, 2] += _is_near(offsets, near, w, r)
    return result
