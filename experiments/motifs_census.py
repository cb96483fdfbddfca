"""The census of every stored network and size against the stored counts, timed (second call, compiled).

    python experiments/motifs_census.py DATA [LARGEST]

DATA holds the directed networks as NAME.edges and census.json; larger censuses than LARGEST subgraphs are passed over.
"""

import json
import sys
import time
from pathlib import Path

import jax

from jaxmotif.graph import read_graph
from jaxmotif.motifs import subgraph_census

if __name__ == "__main__":
    data, largest = Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1e12
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}\n")
    print("| network | k | subgraphs | classes | equal | s | M/s |\n|---|---|---|---|---|---|---|")
    for name, sizes in json.loads((data / "census.json").read_text())["graphs"].items():
        graph = read_graph(data / f"{name}.edges", directed=True)
        for size, want in sizes.items():
            if want["total"] > largest:
                continue
            subgraph_census(graph, int(size))
            started = time.perf_counter()
            found = subgraph_census(graph, int(size))
            seconds = time.perf_counter() - started
            equal = found.as_dict() == want["classes"]
            print(
                f"| {name} | {size} | {found.total} | {len(found.classes)} | {equal} | {seconds:.3f} "
                f"| {found.total / seconds / 1e6:.1f} |", flush=True,
            )  # fmt: skip
