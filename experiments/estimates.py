"""Estimated censuses: whether they are unbiased, whether their intervals hold, and how fast they draw.

    python experiments/estimates.py coverage NETWORK:SIZE:SAMPLES:SEEDS ...
    python experiments/estimates.py unbiased NETWORK:SAMPLES ...
    python experiments/estimates.py speed [SCALE [SIZE ...]]
    python experiments/estimates.py against NETWORK:SIZE:SAMPLES ...
    python experiments/estimates.py whole SCALE:EDGE_FACTOR:SIZE:SAMPLES[:DEVICES] ...
    python experiments/estimates.py killed SCALE:EDGE_FACTOR:SIZE:SAMPLES[:DEVICES] ...

``coverage`` compares estimates of some seeds with the exact census: a chi-square of the hits of all classes and of the
maps that are no subgraph (its p-values over the seeds against the uniform distribution), and how many intervals hold
the exact count, by the hits expected. NETWORK is a bundled one or a file (of arcs where its
folder is called directed); with +0 at its end without directions, with +3 with one of three labels at each node, drawn.
``unbiased`` is one estimate of each of sizes 3 to 8 that an exact census reaches: the p-values of that chi-square.
``speed`` draws from an R-MAT graph of 2^SCALE nodes (default 14, on a GPU 20; sizes 5 and 8): seconds for the tables,
draws a second of each kind of tree, what an accelerator takes to group their codes, and a whole estimate.
``against`` compares one estimate with `graphlet_counts` (sizes 4 and 5), NETWORK also the scale of an R-MAT graph.
``whole`` times two estimates from an R-MAT graph to a table of classes and intervals on disk. ``killed`` begins one
with checkpoints, kills it, and goes on: the hits are those of one that was not killed.
"""

import logging
import os
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import jax
import numpy as np
from large_calls import rmat_edges
from scipy import stats

from jaxmotif import datasets, estimate_census, graphlet_counts, read_graph, subgraph_census
from jaxmotif.census._code_counts import grouped_codes
from jaxmotif.census._pair_states import likely_subgraphs
from jaxmotif.graph import Graph
from jaxmotif.graph.synthetic import rmat
from jaxmotif.motifs._estimate import expected_hits
from jaxmotif.motifs._proposals import LIMITS, Draws, Proposal, Sampler
from jaxmotif.patterns import named_pattern

FIRST_SEED = 1000  # not those with which the estimates were made to be right
BANDS = ((0, 1), (1, 10), (10, 100), (100, 1000), (1000, np.inf))


def load(name):
    name, _, labels = name.partition("+")
    graph = read_graph(name, directed="/directed/" in name) if "/" in name else datasets.load(name)
    if not labels:
        return graph
    drawn = None if labels == "0" else np.random.default_rng(0).integers(0, int(labels), graph.n)
    return Graph.from_edges(graph.edge_list(), graph.n, graph.directed and labels != "0", drawn)


def called(name):
    path, plus, labels = name.partition("+")
    return path.split("/")[-1].split(".")[0] + plus + labels


class Exact:
    """The exact census of a graph, and what estimates are compared with it."""

    def __init__(self, graph, size):
        counts = subgraph_census(graph, size).as_dict()
        self.classes, self.truth = list(counts), np.array(list(counts.values()))
        near = [named_pattern(text, graph.directed).adjacency for text in self.classes]
        self.near = np.array([one | one.T for one in near])

    def compared(self, found):
        """Of an estimate: hits of each class (0: none), hits expected, those of one occurrence, row in the estimate
        (-1: none), and the p-value of chi-square."""
        assert set(found.classes) <= set(self.classes)
        rate, row = expected_hits(self.near, found.samples, found.maps), {c: i for i, c in enumerate(found.classes)}
        at = np.array([row.get(text, -1) for text in self.classes])
        hits, expected, samples = np.where(at < 0, 0, found.hits[at]), rate * self.truth, sum(found.samples)
        often = expected >= 5
        # The rare classes together, and the maps that are no subgraphs, are cells too.
        seen = np.append(hits[often], [hits[~often].sum(), samples - hits.sum()])
        cells = np.append(expected[often], [expected[~often].sum(), samples - expected.sum()])
        some = cells > 1e-9 * samples
        p = stats.chi2.sf(((seen - cells) ** 2 / np.where(some, cells, 1))[some].sum(), some.sum() - 1)
        return hits, expected, rate, at, p


def unbiased(name, samples):
    graph, cells = load(name), []
    most = 2 * 10**8 if jax.devices()[0].platform == "cpu" else 10**11
    for size in range(3, 9):
        if likely_subgraphs(graph, size) < most:
            exact = Exact(graph, size)
            p = exact.compared(estimate_census(graph, size, samples, seed=FIRST_SEED + size))[-1]
            cells.append(f"{p:.3f} ({len(exact.classes)})")
            if len(exact.classes) > 10_000:  # the next have ten times as many, whose names take long
                break
    print(f"| {called(name)} | {samples} | {' | '.join(cells + [''] * (6 - len(cells)))} |", flush=True)


def coverage(name, size, samples, seeds):
    graph = load(name)
    exact = Exact(graph, size)
    truth, p_values, inside, totals, hits, expected = exact.truth, [], [], [], [], np.zeros(0)
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        found = estimate_census(graph, size, samples, seed=seed)
        drawn, expected, rate, at, p = exact.compared(found)
        low, high = np.where(at < 0, 0, found.low[at]), np.where(at < 0, -np.log(0.025) / rate, found.high[at])
        hits.append(drawn)
        p_values.append(p)
        inside.append((low <= truth) & (truth <= high))
        totals.append(found.total_low <= truth.sum() <= found.total_high)
    inside, hits = np.array(inside), np.array(hits)
    parts = []
    for a, b in BANDS:
        band = (expected >= a) & (expected < b)
        if band.any():
            parts.append(f"{a}-{b}: {inside[:, band].mean():.3f} ({band.sum()})")
    if (missed := hits == 0).any():
        parts.append(f"not drawn: {inside[missed].mean():.4f} of {missed.sum()}")
    pooled = (hits.sum(axis=0) - seeds * expected)[expected * seeds >= 5] / np.sqrt(
        seeds * expected[expected * seeds >= 5]
    )
    print(
        f"| {called(name)} | {size} | {len(truth)} | {samples} | {seeds} | "
        f"{stats.kstest(p_values, 'uniform').pvalue:.3f} | {min(p_values):.4f} | {np.abs(pooled).max():.2f} | "
        f"{np.mean(totals):.3f} | {', '.join(parts)} |",
        flush=True,
    )


def speed(scale, sizes):
    device = jax.devices()[0]
    graph = rmat(scale)
    number = 1 << (26 if device.platform != "cpu" else 18)
    print(f"{graph} on {device.device_kind}")
    for size in sizes:
        draws = Draws(graph, size, tuple(Proposal(limit, number) for limit in LIMITS), 1)
        sampler, prepared = Sampler(draws, device, None), []
        for _ in range(2):  # the first compiles
            sampler.take(None, draws.seed)
            begun = time.perf_counter()
            jax.block_until_ready((sampler.graphs.dyads, sampler.index))
            prepared.append(time.perf_counter() - begun)
        print(f"size {size}: prepared in {1e3 * prepared[1]:.0f} ms", flush=True)
        for which, limit in enumerate(LIMITS):
            for codes, _ in sampler.maps(which, 0, sampler.lanes):  # compiles
                grouped_codes(codes, sampler.graphs.alphabet.codes, size)()
            sampler._held = None
            begun = time.perf_counter()
            jax.block_until_ready(sampler.tables(limit))
            tables = time.perf_counter() - begun
            begun, cpu = time.perf_counter(), time.process_time()
            before = codes
            for codes, _ in sampler.maps(which, 0, number):
                jax.block_until_ready(before)  # the next are under way
                before = codes
            jax.block_until_ready(codes)
            wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
            begun = time.perf_counter()
            several = grouped_codes(codes, sampler.graphs.alphabet.codes, size)()[0].size
            print(
                f"size {size}, limit {limit}: tables {1e3 * tables:.1f} ms, {number / wall / 1e6:.3g} M draws/s, "
                f"{number / cpu / 1e6:.3g} M per CPU s; {sampler.lanes:,} codes grouped ({several:,}) in "
                f"{1e3 * (time.perf_counter() - begun):.1f} ms",
                flush=True,
            )
        for turn in ("first", "again"):
            begun, cpu = time.perf_counter(), time.process_time()
            found = estimate_census(graph, size, 3 * number)
            wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
            print(f"size {size}, whole, {turn}: {wall:.2f} s ({cpu:.2f} CPU s), {found}", flush=True)


def against(name, size, samples):
    graph = rmat(int(name)) if name.isdecimal() else load(name)
    counted, found = graphlet_counts(graph, size=size).table(), estimate_census(graph, size, samples)
    exact = dict(zip(map(str, counted["id"]), counted["count"], strict=True))
    truth = np.array([float(exact[str(number)]) for number in found.table()["id"]])
    expected = found.hits * truth / found.counts
    z = (found.hits - expected) / np.sqrt(expected)
    print(
        f"{graph}, size {size}, {samples:,} draws: {z.size} classes, farthest {np.abs(z).max():.2f} sigma", flush=True
    )


def large(scale, factor):
    """An R-MAT graph; made on the device where that takes a minute on the host."""
    begun = time.perf_counter()
    graph = Graph.from_edges(rmat_edges(scale)) if scale > 20 and factor == 16 else rmat(scale, factor)
    print(f"{graph} made in {time.perf_counter() - begun:.1f} s", flush=True)
    return graph


def whole(scale, factor, size, samples, devices=None):
    graph = large(scale, factor)
    for turn in ("first", "again"):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            found = estimate_census(graph, size, samples, devices=devices)
            estimated = time.perf_counter() - begun
            found.to_pandas().to_csv(Path(folder) / "classes.csv")
            wall = time.perf_counter() - begun
        print(
            f"size {size}, {devices or 'all'} devices, {turn}: {wall:.2f} s, {estimated:.2f} of them until written; "
            f"{found}; sha256 of the hits {sha256(found.hits.tobytes()).hexdigest()[:16]}",
            flush=True,
        )


def killed(scale, factor, size, samples, devices=None):
    """Killed (-9) when its first checkpoint is there, and called again, in processes of their own."""
    code = (
        "import jaxmotif, logging, sys; from hashlib import sha256; from estimates import large; logging.disable(30);"
        f"found = jaxmotif.estimate_census(large({scale}, {factor}), {size}, {samples}, devices={devices}, "
        "checkpoint=sys.argv[1] if sys.argv[1:] else None); print(sha256(found.hits.tobytes()).hexdigest()[:16])"
    )
    with tempfile.TemporaryDirectory() as folder:
        call, here = [sys.executable, "-c", code], Path(__file__).resolve().parent
        where = {"cwd": here, "env": os.environ | {"PYTHONPATH": str(here.parent)}}
        first = subprocess.Popen([*call, folder], stdout=subprocess.DEVNULL, **where)
        kept = Path(folder) / "estimate.checkpoint"
        sizes = set()  # that of the beginning holds nothing
        while first.poll() is None and len(sizes) < 2:
            sizes |= {kept.stat().st_size} if kept.exists() else set()
            time.sleep(0.05)
        first.kill()
        print(f"killed: {first.wait()}, checkpoint of {kept.stat().st_size:,} bytes", flush=True)
        for given in (folder,), ():
            begun = time.perf_counter()
            hits = subprocess.run([*call, *given], stdout=subprocess.PIPE, text=True, **where).stdout.split()[-1]
            what = "gone on" if given else "from the beginning"
            print(f"{what}: {time.perf_counter() - begun:.2f} s with the graph, sha256 of the hits {hits}", flush=True)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    if sys.argv[1] == "against":
        for spec in sys.argv[2:]:
            network, *numbers = spec.rsplit(":", 2)
            against(network, *(int(float(number)) for number in numbers))
        sys.exit()
    if sys.argv[1] == "unbiased":
        for spec in sys.argv[2:]:
            network, samples = spec.rsplit(":", 1)
            unbiased(network, int(float(samples)))
        sys.exit()
    if sys.argv[1] in ("whole", "killed"):
        for spec in sys.argv[2:]:
            (whole if sys.argv[1] == "whole" else killed)(*(int(float(number)) for number in spec.split(":")))
        sys.exit()
    if sys.argv[1] == "coverage":
        for spec in sys.argv[2:]:
            network, *numbers = spec.rsplit(":", 3)
            coverage(network, *(int(float(number)) for number in numbers))
    else:
        numbers = [int(text) for text in sys.argv[2:]]
        speed(numbers[0] if numbers else 14 if jax.devices()[0].platform == "cpu" else 20, numbers[1:] or [5, 8])
