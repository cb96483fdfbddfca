"""Many small graphs: from edge arrays to results, in CPU seconds, with the programs that were compiled.

    python experiments/batches.py

Prints the table of experiments/results/batches_cpu.md. Graphs are trees in which a node hangs on one of the three
before it, with three (or eight) more edges: as large as molecules.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import jaxmotif
from jaxmotif.graph import Graphs

SETS = {"100,000 of 18 to 28 nodes": (100_000, 18, 29, 3), "20,000 of 20 to 60 nodes": (20_000, 20, 61, 8)}


def small_graphs(count: int, least: int, stop: int, more: int) -> list[np.ndarray]:
    """An edge array ``[E, 2]`` for each graph."""
    rng = np.random.default_rng(0)
    n = rng.integers(least, stop, count)
    node = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    below = np.maximum(0, node - rng.integers(1, 4, node.size))
    owner = np.concatenate([np.repeat(np.arange(count), n), np.repeat(np.arange(count), more)])
    ends = (rng.random((2, count * more)) * np.repeat(n, more)).astype(np.int64)
    edges = np.concatenate([np.stack([below, node]), ends], axis=1)[:, (order := np.argsort(owner, kind="stable"))].T
    return np.split(edges, np.cumsum(np.bincount(owner[order]))[:-1])


def main() -> None:
    compiled: list[str] = []

    def hear(event: str, duration_secs: float, **_: object) -> None:
        if event.endswith("backend_compile_duration"):
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(hear)
    ring = [(i, (i + 1) % 6) for i in range(6)]
    jobs: dict[str, Callable[[Any], Any]] = {
        "built": Graphs.from_edges,
        "17 counts": jaxmotif.graphlet_counts,
        "15 orbits of each node": jaxmotif.node_orbits,
        "17 columns of each edge": jaxmotif.edge_graphlets,
        "classes of 4 nodes": lambda given: jaxmotif.subgraph_census(given, 4),
        "triangles by matching": lambda given: jaxmotif.count_matches("triangle", given),
        "rings of six by matching": lambda given: jaxmotif.count_matches(ring, given),
    }
    print("| graphs | from edge arrays to | first call | second call | programs |\n|---|---|---|---|---|")
    for title, sizes in SETS.items():
        given = small_graphs(*sizes)
        for label, job in jobs.items():
            compiled.clear()
            seconds = []
            for _ in range(2):
                started = time.process_time()
                job(given)
                seconds.append(time.process_time() - started)
            print(f"| {title} | {label} | {seconds[0]:.2f} | {seconds[1]:.2f} | {len(compiled)} |", flush=True)


if __name__ == "__main__":
    main()
