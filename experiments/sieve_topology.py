"""Time on hosts of different shape: Figure 3, and real networks with a planted motif that must be found again.

The paper's nine networks of the Koblenz collection are not among the data; --networks nine takes one of each kind that
they have.
Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs (SEA 2018). The paper's own code takes up to three
times as long on power-law hosts as on regular ones of the same number of edges.
Usage: python experiments/sieve_topology.py [--logs 14,16] [--size 10] [--sizes 12,16] [--networks nine|NAME,...]
    [--data FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import jax
import numpy as np
from networks import parse_with_data
from sieve_common import cliques, clock, figure, heading, multiplications, power_law, real, regular, row, seconds
from sieve_scaling import numbers

from jaxmotif import Graph
from jaxmotif.sieve import find_color_motif
from jaxmotif.sieve._prune import components

SHAPES = {
    "regular, d = 20": regular,
    "cliques, d = 40": cliques,
    "power law, -0.5": lambda n, size: power_law(n, size, -0.5),
    "power law, -1.0": lambda n, size: power_law(n, size, -1.0),
}


NINE = {  # of each kind that the paper's networks have, one of ours
    "web-cnr-2000": "Google (links of pages)", "soc-Slashdot0902": "Douban (online contacts)",
    "roget": "WordNet (words)", "ca-AstroPh": "Stack Overflow (who worked on what)",
    "PGPgiantcompo": "Discogs (who goes with whom)", "wiki-Vote": "MovieLens (votes)",
    "socfb-MIT8": "Hamsterster (friends online)", "social_prison67": "Adolescent health (friends)",
    "yeastppi_listed": "Human protein (Stelzl)",
}  # fmt: skip


def compare(n: int, size: int) -> None:
    base = None
    for name, make in SHAPES.items():
        host = make(n // 2 if make is cliques else n, size)
        best, _ = seconds(host, size)
        edge = best / host.targets.size
        base = base or edge
        degree = int(np.diff(host.offsets).max())
        row(name, n, size, host.targets.size // 2, degree, f"{best:.4f}", f"{edge / base:.2f}")


def plant(data: Path, name: str, size: int, seed: int = 0) -> float:
    """A one-color motif on a random connected set, as in the paper; all other vertices have another color.

    Returns the paper's count of products a second, of a run with every vertex in play, in 10^9.
    """
    rng = np.random.default_rng(seed)
    host = real(data, name, size)
    label = components(host)
    largest = np.flatnonzero(label == np.bincount(label).argmax())
    chosen: list[int] = [int(rng.choice(largest))]
    while len(chosen) < size:
        vertex = int(rng.choice(chosen))
        near = int(rng.choice(host.targets[host.offsets[vertex] : host.offsets[vertex + 1]]))
        chosen += [near] * (near not in chosen)
    colors = np.full(host.n, 1)
    colors[chosen] = 0
    sources = np.repeat(np.arange(host.n), np.diff(host.offsets))
    graph = Graph.from_edges(np.stack([sources, host.targets], 1)[sources < host.targets], host.n)
    begin = clock()
    result = find_color_motif(graph, colors, {0: size}, key=seed)
    found = clock() - begin
    best, _ = seconds(host, size, repeats=1 if jax.devices()[0].platform == "cpu" else 3)
    right = result.vertices.tolist() == sorted(chosen) and result.matches == [tuple(sorted(chosen))]
    verdict = "found" if right else "WRONG"
    rate = multiplications(host, size) / best / 1e9
    degree = int(np.diff(host.offsets).max())
    cells = f"{found:.2f}", f"{best:.4f}", f"{rate:.1f}", NINE.get(name, "-")
    row(name, host.n, host.targets.size // 2, degree, size, verdict, *cells)
    return rate


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--logs", type=numbers, default=[12])
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--sizes", type=numbers, default=[10, 12])
    parser.add_argument("--networks", default="celegans_metabolic,ca-AstroPh")
    options = parse_with_data(parser)
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}\n")
    if options.logs or options.sizes:
        print("Figure 3: one run, labels to answers; every vertex may take every shade\n")
        heading("host", "n", "k", "edges", "largest degree", "s", "time an edge over regular")
    for log in options.logs:
        compare(1 << log, options.size)
    for size in options.sizes:
        compare(1 << 10, size)
    print("\nReal networks: the planted motif, then one run with every vertex in play\n")
    columns = "network", "n", "edges", "largest degree", "k", "planted motif", "s", "run s"
    heading(*columns, "10^9 mult/s, paper's count", "the paper's of this kind")
    names = list(NINE) if options.networks == "nine" else options.networks.split(",")
    rates = {name: plant(options.data, name, options.size) for name in names if name}
    if options.networks == "nine":
        figure(
            "sieve_networks", {f"k = {options.size}": rates}, title="One run on real networks", xlabel="network",
            ylabel="10^9 products a second, the paper's count", kind="bar",
            command=f"python experiments/sieve_topology.py --logs= --sizes= --networks nine --size {options.size}",
            paper="Figure 3: nine networks of the Koblenz collection, about alike for each edge; up to 3 times apart",
        )  # fmt: skip


if __name__ == "__main__":
    main()
