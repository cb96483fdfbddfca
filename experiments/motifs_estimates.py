"""Motifs by estimates: how near to exact ones, whether p is uniform under the hypothesis, and how long they take.

    python experiments/motifs_estimates.py accuracy GRAPH K        # against exact motifs, for more and more draws
    python experiments/motifs_estimates.py uniform GRAPH K RUNS    # graphs of the null model in the graph's place
    python experiments/motifs_estimates.py speed GRAPH K N R       # twice; a GPU: K 6, N 1e6, R 100

GRAPH: a file of arcs, or a bundled network; --undirected reads it so.
"""

import argparse
import logging
import time

import numpy as np
from scipy import stats

from jaxmotif import datasets, find_motifs, random_graphs, read_graph
from jaxmotif.graph import Graph


def accuracy(graph, size):
    exact = find_motifs(graph, size, 100, 1)
    row = {name: i for i, name in enumerate(exact.classes)}
    b = exact.significance
    print("draws | mean^2 of count, mean / error | noise / sd | sd | z: slope, rms of difference | same verdict")
    for draws in (10_000, 100_000, 1_000_000, 10_000_000):
        found = find_motifs(graph, size, 100, 1, estimate=draws)
        at, a = np.array([row[name] for name in found.classes]), found.significance
        # Of classes that are drawn often enough for their errors to be known, and differ between random graphs.
        ok = (found.counts > 10 * found.error**2 / np.maximum(found.counts, 1)) & (b.sd[at] > 0) & (b.mean[at] > 10)
        at, pick = at[ok], np.flatnonzero(ok)
        error, random_error = np.asarray(found.error)[pick], np.asarray(found.random_error)[pick]
        off = np.mean(((found.counts[pick] - exact.counts[at]) / error) ** 2)
        far = np.mean(((a.mean[pick] - b.mean[at]) / (random_error / 10)) ** 2)
        noise = np.median(random_error / b.sd[at])
        z, wanted = a.z[pick], b.z[at]
        same = np.mean((found.is_motif == exact.is_motif[[row[c] for c in found.classes]])[pick])
        print(
            f"{draws:.0e} | {off:.2f}, {far:.2f} ({pick.size} classes) | {noise:.2f} | "
            f"{np.median(a.sd[pick] / b.sd[at]):.2f} | {(z * wanted).sum() / (wanted**2).sum():.2f}, "
            f"{np.sqrt(np.mean((z - wanted) ** 2)):.2f} of {np.sqrt(np.mean(wanted**2)):.1f} | {same:.2f}",
            flush=True,
        )


def uniform(graph, size, runs):
    rng, p, z = np.random.default_rng(0), {}, {}
    for number, one in enumerate(random_graphs(graph, runs, 77)):
        found = find_motifs(one, size, 39, number, estimate=20_000)
        for i, name in enumerate(found.classes):
            tied = (found.random_counts[:, i] == found.counts[i]).sum()
            p.setdefault(name, []).append(found.significance.p_high[i] - rng.random() * (tied + 1) / 40)
            z.setdefault(name, []).append(found.significance.z[i])
    often = [name for name, values in p.items() if len(values) == runs]
    tests = [stats.kstest(p[name], "uniform").pvalue for name in often]
    spread = [np.nanstd(z[name]) for name in often]
    print(
        f"{runs} graphs, {len(often)} classes met in all: KS p of p_high {min(tests):.3g} .. {max(tests):.3g}", end=""
    )
    print(f", median {np.median(tests):.2f}; sd of z {min(spread):.2f} .. {max(spread):.2f}")


def speed(graph, size, draws, num):
    for number in range(2):
        cpu, wall = time.process_time(), time.perf_counter()
        found = find_motifs(graph, size, num, number, estimate=draws)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        graphs = 1 + num + found.mixing.graphs
        print(
            f"{found}: {wall:.2f} s, {cpu:.2f} CPU s; {1e3 * wall / graphs:.1f} ms a graph, "
            f"{graphs * draws / wall / 1e6:.2f} M draws/s",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("accuracy", "uniform", "speed"))
    parser.add_argument("graph")
    parser.add_argument("numbers", nargs="+", type=float)
    parser.add_argument("--undirected", action="store_true")
    args = parser.parse_args()
    logging.getLogger("jaxmotif").setLevel(logging.ERROR)
    bundled = args.graph in datasets.names()
    graph = datasets.load(args.graph) if bundled else read_graph(args.graph, directed=not args.undirected)
    if args.undirected and graph.directed:
        graph = Graph.from_edges(graph.edge_list(), graph.n)
    {"accuracy": accuracy, "uniform": uniform, "speed": speed}[args.what](graph, *map(int, args.numbers))


if __name__ == "__main__":
    main()
