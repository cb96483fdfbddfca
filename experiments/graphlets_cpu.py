"""CPU speed beside the single-thread CPU seconds of other counters, and the time of a first call.

    python experiments/graphlets_cpu.py [--data FOLDER] [NETWORK ...]

Runs in a process that sees no GPU. Times are warm seconds of the front doors, from a graph to results on the host;
"CPU s" adds up the cores. "First" is the first call in the process for a network of that padded size.
"""

from __future__ import annotations

import json
import time

import jax
from graphlets_common import arguments, check, machine, network, print_table, verified
from networks import data_folder

import jaxmotif

NETWORKS = (
    "internet-as", "web-spam", "facebook_combined", "wiki-Vote", "twitch-DE", "email-Enron", "ca-AstroPh",
    "socfb-MIT8", "pgd-C500-9", "syn-er-1k-150k", "soc-Slashdot0902", "socfb-Cornell5", "web-cnr-2000",
)  # fmt: skip


def main() -> None:
    options = arguments(__doc__, NETWORKS)
    jax.config.update("jax_platforms", "cpu")
    known = verified(options.data)
    peers = json.loads((data_folder(options.data, "undirected") / "graphlets.json").read_text())["graphs"]
    rows = []
    for name in options.networks:
        graph = network(name, options.data)
        row = [name, graph.m]
        for front_door in (jaxmotif.graphlet_counts, jaxmotif.edge_graphlets):
            started = time.perf_counter()
            check(name, front_door(graph, devices="cpu").counts, known)
            first = time.perf_counter() - started
            walls, cpus = [], []
            for _ in range(3):
                wall, cpu = time.perf_counter(), time.process_time()
                front_door(graph, devices="cpu")
                walls.append(time.perf_counter() - wall)
                cpus.append(time.process_time() - cpu)
            row += [first, min(walls), min(cpus)]
        seconds = peers[name]["cpu_s"]
        four = {tool: s for tool, s in seconds.items() if "5" not in tool}
        best = min(four, key=lambda tool: four[tool])
        row += [seconds.get("pgd", "-"), f"{four[best]:.3g} ({best})"]
        rows.append(row)
        print(rows[-1], flush=True)
    print(machine())
    print_table(
        "Seconds on a CPU",
        ("network", "edges", "counts: first", "counts", "CPU s", "per edge: first", "per edge", "CPU s", "PGD CPU s",
         "best CPU s"),
        rows,
    )  # fmt: skip


if __name__ == "__main__":
    main()
