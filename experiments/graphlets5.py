"""Five-node graphlets: time of the 73 node orbits and 68 edge orbits, checked against the stored answers first.

    python experiments/graphlets5.py [--data FOLDER] [NAME ...]

`first` is the first call for a graph of this size, which compiles; the others are the best of three, from a `Graph` in
memory to orbits that are ready on the device.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from pathlib import Path

import jax
import numpy as np

import jaxmotif
from jaxmotif.graphlets._five import five_node_orbits

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NAMES = ("PGPgiantcompo", "wiki-Vote", "email-Enron", "socfb-MIT8", "socfb-Cornell5", "pgd-C500-9", "soc-Slashdot0902")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    device = jax.devices()[0]
    stored = json.loads((args.data / "undirected" / "graphlets5.json").read_text())["graphs"]
    print(f"{device.device_kind}, jax {jax.__version__}\n")
    print("| network | nodes | edges | first, s | node orbits, ms | edge orbits, ms | checked |")
    print("|---|---|---|---|---|---|---|")
    for name in args.names:
        graph = jaxmotif.read_graph(args.data / "undirected" / f"{name}.edges.gz")
        known, figures = stored.get(name, {}), []
        for edges in (False, True):
            times = []
            for _ in range(4):
                clock = time.perf_counter()
                nodes, at_edges = jax.block_until_ready(five_node_orbits(graph, device, edges))
                times.append(time.perf_counter() - clock)
            figures += [times[0], 1e3 * min(times[1:])]
        values = np.ascontiguousarray(np.asarray(nodes)[: graph.n])
        checked = []
        if "sha256_node_orbits_int64" in known:
            right = hashlib.sha256(values.tobytes()).hexdigest() == known["sha256_node_orbits_int64"]
            checked.append("nodes" if right else "NODES WRONG")
        if "edge_orbit_sums" in known:
            right = [str(x) for x in np.asarray(at_edges).astype(object).sum(0)] == known["edge_orbit_sums"]
            checked.append("edges" if right else "EDGES WRONG")
        print(
            f"| {name} | {graph.n} | {graph.m} | {figures[0] + figures[2]:.1f} | {figures[1]:.1f} | {figures[3]:.1f} "
            f"| {', '.join(checked) or 'nothing stored'} |", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
