"""Dense graphs counted by products of matrices, beside the sparse passes: the same counts, and how long both take.

    python experiments/dense.py [--nodes 1000,2000,5000] [--p 0.1,0.5,0.9] [--door graphlet_counts] [--seconds 20]

Public calls, the best of three after the first. The sparse passes are left out where they would take longer than that.
"""

from __future__ import annotations

import argparse
import time

import jax
import numpy as np

import jaxmotif
from jaxmotif.graph import synthetic
from jaxmotif.graphlets import _products as products

_STEPS_A_SECOND = {"cpu": 2.5e7, "gpu": 1.1e10}  # of the sparse passes: pairs of edges at a node


def main() -> None:
    parser = argparse.ArgumentParser(description="Dense graphs, by products of matrices and without")
    parser.add_argument("--nodes", default="1000,2000,5000")
    parser.add_argument("--p", default="0.1,0.5,0.9")
    parser.add_argument("--door", default="graphlet_counts")
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    door, choose, device = getattr(jaxmotif, options.door), products.choose, jax.devices()[0]
    print(f"{options.door} on {device.device_kind}, ms: chosen; first, best; sparse passes; equal")
    for n in map(int, options.nodes.split(",")):
        for p in map(float, options.p.split(",")):
            graph = synthetic.erdos_renyi(n, p=p, seed=0)
            chosen = choose(graph, "graph" if options.door == "graphlet_counts" else "edge", device, None) is not None
            by_products, first, best = _timed(lambda g=graph: door(g))
            pairs = float((graph.degrees.astype(np.float64) ** 2).sum())
            line = f"n={n} p={p}: {chosen}; {first:.0f} {best:.1f};"
            if pairs / _STEPS_A_SECOND["cpu" if device.platform == "cpu" else "gpu"] * 4 < options.seconds:
                products.choose = lambda *_: None
                sparse, _, took = _timed(lambda g=graph: door(g))
                products.choose = choose
                same = sparse.counts == by_products.counts and np.array_equal(np.asarray(sparse), by_products)
                line += f" {took:.1f}; {'equal' if same else 'DIFFERENT'}"
            print(line, flush=True)


def _timed(call):
    def once():
        started = time.perf_counter()
        return call(), 1000 * (time.perf_counter() - started)

    runs = [once() for _ in range(4)]
    return runs[0][0], runs[0][1], min(took for _, took in runs[1:])


if __name__ == "__main__":
    main()
