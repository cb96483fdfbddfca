"""Census, random graphs and discovery on a GPU: right against stored counts, and how fast.

    python experiments/motifs_gpu.py [--data FOLDER]

FOLDER holds the networks as NAME.edges and census.json. Every line is the second call (compiled).
"""

import argparse
import json
import time
from functools import partial

import jax
import numpy as np
from networks import data_folder, parse_with_data

from jaxmotif.graph import Graph, read_graph
from jaxmotif.motifs import find_motifs, random_graphs, subgraph_census

DISCOVERY = (
    ("yeast", 3, 1000), ("yeast", 4, 1000), ("celegans_cect_varshney", 4, 1000), ("yeast", 5, 100), ("yeast", 6, 1000),
)  # fmt: skip


def clock(label, run, repeat=3):
    started = time.perf_counter()
    result = run()
    cold = time.perf_counter() - started
    best = min(timed(run) for _ in range(repeat))
    print(f"{label:55} first {cold:8.2f} s   best {best:8.4f} s", flush=True)
    return result, best


def timed(run):
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def main(data):
    print(jax.__version__, jax.devices()[0].device_kind)
    graphs = {p.stem: read_graph(p, directed=True) for p in sorted(data.glob("*.edges"))}
    stored = json.loads((data / "census.json").read_text())["graphs"]
    for name, sizes in stored.items():
        for size, want in sizes.items():
            found, seconds = clock(f"census {name} {size}", partial(subgraph_census, graphs[name], int(size)))
            right = found.as_dict() == want["classes"]
            print(f"    equal {right}  {found.total} subgraphs  {found.total / seconds / 1e9:.3f} G/s", flush=True)
    rng = np.random.default_rng(0)
    arcs = np.unique(rng.integers(0, 17_179, (124_700, 2)), axis=0)
    large = Graph.from_edges(arcs[arcs[:, 0] != arcs[:, 1]][:124_599], 17_179, directed=True)
    key = jax.random.key(0)
    for name, graph in (("yeast", graphs["yeast"]), ("17,179 nodes, 124,599 arcs", large)):
        for step in ("reject", "global"):
            attempts = 20 if step == "reject" else 5
            label = f"1000 random graphs of {name}, {step}, {attempts} attempts"
            run = partial(random_graphs, graph, 1000, key, step=step, attempts=attempts)
            found, _ = clock(label, run, 1)
            print(f"    accepted {found.acceptance:.3f}", flush=True)
    for name, size, num in DISCOVERY:
        found, _ = clock(f"motifs {name} k={size} r={num}", partial(find_motifs, graphs[name], size, num, key), 2)
        s = found.significance
        for label in ("030T feed-forward loop", "bi-fan"):
            if label in found.names:
                i = found.names.index(label)
                print(f"    {label}: {found.counts[i]} against {s.mean[i]:.2f} +- {s.sd[i]:.2f}, z {s.z[i]:.1f}")


if __name__ == "__main__":
    main(data_folder(parse_with_data(argparse.ArgumentParser(description=__doc__), bare=True).data, "directed"))
