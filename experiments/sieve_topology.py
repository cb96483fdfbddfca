"""Time on hosts of different shape: Figure 3, and real networks with a planted motif that must be found again.

Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs (SEA 2018). The paper's own code takes up to three
times as long on power-law hosts as on regular ones of the same number of edges.
Usage: python experiments/sieve_topology.py [--logs 14,16] [--size 10] [--sizes 12,16] [--networks NAME,...]
"""

from __future__ import annotations

import argparse
import time

import jax
import numpy as np
from sieve_common import cliques, heading, multiplications, power_law, real, regular, row, seconds

from jaxmotif import Graph
from jaxmotif.sieve import find_color_motif

SHAPES = {
    "regular, d = 20": regular,
    "cliques, d = 40": cliques,
    "power law, -0.5": lambda n, size: power_law(n, size, -0.5),
    "power law, -1.0": lambda n, size: power_law(n, size, -1.0),
}


def compare(n: int, size: int) -> None:
    base = None
    for name, make in SHAPES.items():
        host = make(n // 2 if make is cliques else n, size)
        best, _ = seconds(host, size)
        edge = best / host.targets.size
        base = base or edge
        degree = int(np.diff(host.offsets).max())
        row(name, n, size, host.targets.size // 2, degree, f"{best:.4f}", f"{edge / base:.2f}")


def plant(name: str, size: int, seed: int = 0) -> None:
    """A one-color motif on a random connected set, as in the paper; all other vertices have another color."""
    rng = np.random.default_rng(seed)
    host = real(name, size)
    chosen: list[int] = [int(rng.integers(host.n))]
    while len(chosen) < size:
        vertex = int(rng.choice(chosen))
        near = int(rng.choice(host.targets[host.offsets[vertex] : host.offsets[vertex + 1]]))
        chosen += [near] * (near not in chosen)
    colors = np.full(host.n, 1)
    colors[chosen] = 0
    sources = np.repeat(np.arange(host.n), np.diff(host.offsets))
    graph = Graph.from_edges(np.stack([sources, host.targets], 1)[sources < host.targets], host.n)
    begin = time.perf_counter()
    result = find_color_motif(graph, colors, {0: size}, key=seed)
    found = time.perf_counter() - begin
    best, _ = seconds(host, size)
    right = result.vertices.tolist() == sorted(chosen) and result.matches == [tuple(sorted(chosen))]
    verdict = "found" if right else "WRONG"
    rate = f"{multiplications(host, size) / best / 1e9:.0f}"
    row(name, host.n, host.targets.size // 2, size, verdict, f"{found:.2f}", f"{best:.4f}", rate)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--logs", default="12")
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--sizes", default="10,12")
    parser.add_argument("--networks", default="celegans_metabolic,ca-AstroPh")
    options = parser.parse_args()
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}\n")
    print("Figure 3: one run, labels to answers; every vertex may take every shade\n")
    heading("host", "n", "k", "edges", "largest degree", "s", "time an edge over regular")
    for log in options.logs.split(","):
        compare(1 << int(log), options.size)
    for size in options.sizes.split(","):
        compare(1 << 10, int(size))
    print("\nReal networks: the planted motif, then one run with every vertex in play\n")
    heading("network", "n", "edges", "k", "planted motif", "s", "run s", "10^9 mult/s, paper's count")
    for name in options.networks.split(","):
        plant(name, options.size)


if __name__ == "__main__":
    main()
