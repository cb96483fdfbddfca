"""The paper's Fig. 3: random graphs of 1,000 nodes and 150,000 edges (Erdos-Renyi, Barabasi-Albert, geometric).

    python experiments/graphlets_random.py

Warm milliseconds of the front doors on the default device, and of the CPU in the same process.
"""

from __future__ import annotations

from graphlets_common import arguments, best_of, machine, network, print_table

import jaxmotif


def main() -> None:
    options = arguments(__doc__, ("er-1k", "ba-1k", "geometric-1k"))
    rows = []
    for name in options.networks:
        graph = network(name, options.data)
        ms, result = best_of(jaxmotif.graphlet_counts, graph, runs=3)
        edge_ms, by_edge = best_of(jaxmotif.edge_graphlets, graph, runs=3)
        cpu_ms, on_cpu = best_of(jaxmotif.edge_graphlets, graph, devices="cpu", runs=1)
        if not result.counts == by_edge.counts == on_cpu.counts:
            raise SystemExit(f"{name}: counts differ")
        rows.append((name, graph.m, result.counts["4-clique"], ms, edge_ms, cpu_ms))
    print(machine())
    print_table("Random graphs, ms", ("graph", "edges", "4-cliques", "counts", "per edge", "per edge, CPU"), rows)


if __name__ == "__main__":
    main()
