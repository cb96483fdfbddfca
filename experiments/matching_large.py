"""A large uniform random target: built, filtered and searched.

Run: python experiments/matching_large.py [--nodes N] [--edges M] [--labels L] [--size K]
"""

import argparse
import time

import jax
import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.matching import count_matches
from jaxmotif.patterns import Pattern


def cut_out(rng, edges, labels, size):
    """A connected query of a random breadth-first piece of the target."""
    order = np.argsort(edges[:, 0], kind="stable")
    heads, starts = edges[order, 1], np.searchsorted(edges[order, 0], np.arange(len(labels) + 1))
    nodes = [int(rng.integers(len(labels)))]
    for v in nodes:
        for w in heads[starts[v] : starts[v + 1]].tolist():
            if w not in nodes and len(nodes) < size:
                nodes.append(w)
    at = {v: i for i, v in enumerate(nodes)}
    rows = [(at[v], at[w]) for v in nodes for w in heads[starts[v] : starts[v + 1]].tolist() if w in at]
    return Pattern.from_edges([r for r in rows if r[0] != r[1]], len(nodes), node_labels=labels[nodes])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000_000)
    parser.add_argument("--edges", type=int, default=100_000_000)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--size", type=int, default=32)
    args = parser.parse_args()
    print(jax.devices()[0].device_kind, "jax", jax.__version__, args)
    rng = np.random.default_rng(0)
    clock = time.perf_counter()
    edges = rng.integers(0, args.nodes, (args.edges, 2), dtype=np.int32)
    labels = rng.integers(0, args.labels, args.nodes, dtype=np.int32)
    query = cut_out(rng, edges, labels, args.size)
    print(f"generated in {time.perf_counter() - clock:.1f} s, {query}", flush=True)
    clock = time.perf_counter()
    target = Graph.from_edges(edges, args.nodes, node_labels=labels)
    jax.block_until_ready(target.out_targets)
    print(f"built in {time.perf_counter() - clock:.1f} s, {target}", flush=True)
    for what in ("first", "again"):
        clock = time.perf_counter()
        found = count_matches(query, target, time_limit=60)
        seconds = {phase: round(s, 4) for phase, s in found.seconds.items()}
        print(f"{what}: {found.count} matches, {found.status}, {time.perf_counter() - clock:.2f} s {seconds}")
        print("domains", found.domain_sizes.tolist(), "steps", found.steps, "tested", found.positions, flush=True)
    stats = jax.devices()[0].memory_stats() or {}
    print("peak GiB", round(stats.get("peak_bytes_in_use", 0) / 2**30, 2))


if __name__ == "__main__":
    main()
