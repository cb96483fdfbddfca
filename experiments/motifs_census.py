"""The census of every stored network and size against the stored counts, timed (second call, compiled).

    python experiments/motifs_census.py [LARGEST] [--data FOLDER]

FOLDER holds the directed networks as NAME.edges and census.json; larger censuses than LARGEST subgraphs are passed
over.
"""

import argparse
import json
import time

import jax
from networks import data_folder, directed, parse_with_data

from jaxmotif.motifs import subgraph_census

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("largest", nargs="?", type=float, default=1e12)
    args = parse_with_data(parser, bare=True)
    data, largest = data_folder(args.data, "directed"), args.largest
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}\n")
    print("| network | k | subgraphs | classes | equal | s | M/s |\n|---|---|---|---|---|---|---|")
    for name, sizes in json.loads((data / "census.json").read_text())["graphs"].items():
        graph = directed(data, name)
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
