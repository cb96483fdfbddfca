"""Cliques of a network, counted by a plain loop for a CPU that numba compiles, in all of its threads.

    python experiments/clique_loop.py NETWORK SIZE .. [--data FOLDER]

It shares nothing with jaxmotif but the reading of the network, and is what counts of large cliques are checked against.
Nodes are ordered by degree. The nodes that come after a node and are joined to it have a row of bits each, which says
which of the others they are joined to; cliques grow by the nodes that are in all rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from jaxmotif.graph.synthetic import rmat


def _declare_ones(typing_context: Any, word: Any) -> tuple[Any, Callable]:
    """Tell numba of a function that counts the bits that are set in a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> ir.Value:
        return builder.ctpop(arguments[0])

    return numba.uint64(word), generate


_ones: Any = intrinsic(_declare_ones)


def count_cliques(edges: np.ndarray, nodes: int, size: int) -> int:
    """Count the cliques of at least three nodes; edges are integers ``[E, 2]``, each given once."""
    place = np.argsort(np.argsort(np.bincount(edges.reshape(-1), minlength=nodes), kind="stable"))
    tail, head = np.sort(place[edges], axis=1).T
    order = np.lexsort((head, tail))
    offsets = np.append(0, np.cumsum(np.bincount(tail, minlength=nodes)))
    return int(_count(offsets, head[order].astype(np.int32), size).sum())


@numba.njit(parallel=True)
def _count(offsets, near, size):
    counts = np.zeros(offsets.size - 1, np.int64)
    for v in numba.prange(offsets.size - 1):
        after = near[offsets[v] : offsets[v + 1]]
        words = (after.size + 63) // 64
        rows = np.zeros((after.size, words), np.uint64)
        for i in range(after.size):
            for w in near[offsets[after[i]] : offsets[after[i] + 1]]:
                j = np.searchsorted(after, w)
                if j < after.size and after[j] == w:
                    rows[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
        # Level d has the candidates for the node after the first d + 1; the last node is counted by its bits.
        inside = np.zeros((size, words), np.uint64)
        for i in range(after.size):
            inside[0, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
        at = np.zeros(size, np.int64)
        level = 0
        while level >= 0:
            i = at[level]
            if i == after.size:
                level -= 1
                continue
            at[level] += 1
            if not (inside[level, i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
                continue
            if level == size - 3:
                total = 0
                for k in range(words):
                    total += np.int64(_ones(inside[level, k] & rows[i, k]))
                counts[v] += total
            else:
                for k in range(words):
                    inside[level + 1, k] = inside[level, k] & rows[i, k]
                level += 1
                at[level] = i + 1
    return counts


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("network", help="a name in the data folder, or rmat-SCALE of the row `plain` of matching.py")
parser.add_argument("sizes", type=int, nargs="+")
parser.add_argument("--data", type=Path, default=harness.DATA)


def main(options: argparse.Namespace) -> None:
    """Print how many cliques of each size a network has."""
    name = options.network
    graph = rmat(int(name[5:]), 16) if name.startswith("rmat-") else harness.undirected(options.data, name)
    for size in options.sizes:
        print(name, size, f"{count_cliques(graph.edge_list(), graph.n, size):,}", flush=True)


if __name__ == "__main__":
    main(parser.parse_args())
