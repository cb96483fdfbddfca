"""Queries that fall apart, counted whole and in pieces: cliques that share a node, in a random target.

Run: python experiments/matching_pieces.py [--nodes N] [--density P] [--seconds S]
"""

import argparse
import itertools
import time

import jax
import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches
from jaxmotif.patterns import Pattern


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--density", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of each search")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    edges = np.argwhere(np.triu(rng.random((args.nodes, args.nodes)) < args.density, 1))
    target = Graph.from_edges(edges, args.nodes, node_labels=rng.integers(0, 3, args.nodes))
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, {target}, 3 labels\n")
    print("| query | pieces | matches | status | candidates | CPU s | s |\n|---|---|---|---|---|---|---|")
    for size in (3, 4):
        cliques = ([*range(size)], [*range(size - 1, 2 * size - 1)])
        edges = [pair for nodes in cliques for pair in itertools.combinations(nodes, 2)]
        for name, labels in (
            ("of two labels", [1] * (size - 1) + [0] + [2] * (size - 1)),
            ("of one label", [0] * (2 * size - 1)),
        ):
            query = Pattern.from_edges(edges, node_labels=labels)
            for pieces in (False, True):
                for _ in range(2):  # the first call compiles
                    clock, used = time.perf_counter(), time.process_time()
                    found = count_matches(query, target, time_limit=args.seconds, search=Search(pieces=pieces))
                    clock, used = time.perf_counter() - clock, time.process_time() - used
                print(
                    f"| two {size}-cliques at a node, {name} | {pieces} | {found.count:,} | {found.status} "
                    f"| {found.positions:,} | {used:.2f} | {clock:.2f} |", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
