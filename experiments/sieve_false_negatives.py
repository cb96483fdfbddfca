"""How often one run misses a vertex that lies in a match, against the bound (2 k - 1) / 2^8.

The experiment that the paper (SEA 2018) says is missing. Every graph is so colored that all of its vertices are known
to lie in a match; thousands of copies stand side by side, and a vertex is missed when its value is zero. A uniform
field element would be zero once in 256 times.
Usage: python experiments/sieve_false_negatives.py [--sizes 1,2,4,8] [--copies 2000] [--runs 4]
"""

from __future__ import annotations

import argparse

import jax
import numpy as np
from sieve_common import heading, host_graph, row

from jaxmotif.sieve._runner import Sieve
from jaxmotif.sieve._search import run_bound


def shape_edges(shape: str, size: int) -> list[tuple[int, int]]:
    if shape == "path":
        return [(i, i + 1) for i in range(size - 1)]
    if shape == "star":
        return [(0, i) for i in range(1, size)]
    if shape == "clique":
        return [(i, j) for i in range(size) for j in range(i)]
    return [((i - 1) // 2, i) for i in range(1, size)]  # binary tree


def misses(shape: str, one_color: bool, size: int, copies: int, runs: int) -> tuple[int, int]:
    """Vertices missed, and vertices tried. Each copy is one match: all colors alike, or all different."""
    edges = np.array(shape_edges(shape, size), np.int64).reshape(-1, 2)
    first = np.arange(copies)[:, None] * size
    host = host_graph((first + edges[:, 0]).ravel(), (first + edges[:, 1]).ravel(), size * copies, size)
    if not one_color:
        host = host._replace(shades=np.tile(np.uint32(1) << np.arange(size, dtype=np.uint32), copies))
    sieve = Sieve(size, (jax.devices()[0],))
    placed = sieve.place(host)
    zeros = sum(int((sieve.values(placed, jax.random.key(run)) == 0).sum()) for run in range(runs))
    return zeros, size * copies * runs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1,2,3,4,6,8,10")
    parser.add_argument("--copies", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=4)
    options = parser.parse_args()
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}\n")
    heading("match", "colors", "k", "vertices tried", "missed", "rate", "bound", "rate over 1/256")
    for size in map(int, options.sizes.split(",")):
        for shape in ("path", "star", "tree", "clique"):
            for one_color in (True, False):
                missed, tried = misses(shape, one_color, size, options.copies, options.runs)
                rate, colors = missed / tried, "one" if one_color else f"{size}"
                row(shape, colors, size, tried, missed, f"{rate:.5f}", f"{run_bound(size):.5f}", f"{rate * 256:.2f}")


if __name__ == "__main__":
    main()
