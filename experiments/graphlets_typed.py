"""Directed graphlets of 2 to 4 nodes: CPU seconds of the three doors, which agree by their sums.

    python experiments/graphlets_typed.py [NETWORK ...] [--data FOLDER]

NETWORK is one of the directed ones, or a file.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from graphlets_common import machine, print_table
from networks import directed, parse_with_data

import jaxmotif
from jaxmotif import Graph

NETWORKS = ("yeast", "ecoli_alon423", "celegans_cect_varshney")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    args = parse_with_data(parser)
    rows = []
    for path in args.networks:
        file = Path(path).is_file()
        graph = jaxmotif.read_graph(path, directed=True) if file else directed(args.data, path)
        seconds = []
        for door in (jaxmotif.graphlet_counts, jaxmotif.node_orbits, jaxmotif.edge_graphlets):
            door(graph, typed=True)
            started = time.process_time()
            found = door(graph, typed=True)
            seconds.append(time.process_time() - started)
            if door is jaxmotif.graphlet_counts:
                counts = found.counts
                plain = jaxmotif.graphlet_counts(Graph.from_edges(graph.edge_list(), graph.n)).counts
                if sum(counts.values()) != sum(n for name, n in plain.items() if "node" not in name):
                    raise SystemExit(f"{path}: directed counts do not add up to undirected ones")
            elif found.counts != counts:
                raise SystemExit(f"{path}: counts differ")
            elif door is jaxmotif.node_orbits:
                held = sum(count * nodes_of(name) for name, count in counts.items())
                if int(np.asarray(found, np.int64).sum()) != held:
                    raise SystemExit(f"{path}: orbits do not add up")
        rows.append((path.rpartition("/")[2], graph.n, graph.m, len(counts), sum(counts.values()), *seconds))
    print(machine())
    head = ("network", "nodes", "arcs", "graphlets", "subgraphs", "counts", "at nodes", "at arcs")
    print_table("CPU seconds of second calls", head, rows)


def nodes_of(name: str) -> int:
    from jaxmotif.patterns import named_pattern

    return named_pattern(name, directed=True).num_nodes


if __name__ == "__main__":
    main()
