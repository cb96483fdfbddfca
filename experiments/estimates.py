"""Estimated censuses: whether they are unbiased, whether their intervals hold, and how fast they draw.

    python experiments/estimates.py coverage NETWORK:SIZE:SAMPLES:SEEDS ...
    python experiments/estimates.py speed [SCALE [SIZE ...]]
    python experiments/estimates.py against NETWORK:SIZE:SAMPLES ...
    python experiments/estimates.py whole SCALE:EDGE_FACTOR:SIZE:SAMPLES[:DEVICES] ...

``coverage`` compares estimates of some seeds with the exact census: a chi-square of the hits of all classes and of the
maps that are no subgraph (its p-values over the seeds against the uniform distribution), and how many intervals hold
the exact count, by the hits expected. NETWORK is a bundled one or a file (of arcs where its
folder is called directed).
``speed`` draws from an R-MAT graph of 2^SCALE nodes (default 14, on a GPU 20; sizes 5 and 8): seconds for the tables,
draws a second of each kind of tree, and of a whole estimate.
``against`` compares one estimate with `graphlet_counts` (sizes 4 and 5), NETWORK also the scale of an R-MAT graph.
``whole`` times two estimates from an R-MAT graph to a table of classes and intervals on disk.
"""

import logging
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
from scipy import stats

from jaxmotif import datasets, estimate_census, graphlet_counts, read_graph, subgraph_census
from jaxmotif.graph.synthetic import rmat
from jaxmotif.motifs._estimate import expected_hits
from jaxmotif.motifs._proposals import LIMITS, Draws, Proposal, Sampler
from jaxmotif.patterns import named_pattern

BANDS = ((0, 1), (1, 10), (10, 100), (100, 1000), (1000, np.inf))


def load(name):
    return read_graph(name, directed="/directed/" in name) if "/" in name else datasets.load(name)


def coverage(name, size, samples, seeds):
    graph = load(name)
    exact = subgraph_census(graph, size).as_dict()
    truth = np.array(list(exact.values()))
    near = np.array([named_pattern(text, graph.directed).adjacency for text in exact])
    p_values, inside, totals, hits, expected = [], [], [], [], np.zeros(0)
    for seed in range(seeds):
        found = estimate_census(graph, size, samples, seed=seed)
        assert set(found.classes) <= set(exact)
        rate = expected_hits(near | near.transpose(0, 2, 1), found.samples, found.maps)
        expected, row = rate * truth, {text: i for i, text in enumerate(found.classes)}
        at = np.array([row.get(text, -1) for text in exact])
        hits.append(np.where(at < 0, 0, found.hits[at]))
        low, high = np.where(at < 0, 0, found.low[at]), np.where(at < 0, -np.log(0.025) / rate, found.high[at])
        inside.append((low <= truth) & (truth <= high))
        totals.append(found.total_low <= truth.sum() <= found.total_high)
        often = expected >= 5
        seen = np.append(hits[-1][often], [hits[-1][~often].sum(), samples - hits[-1].sum()])
        cells = np.append(expected[often], [expected[~often].sum(), samples - expected.sum()])
        some = cells > 1e-9
        p_values.append(stats.chi2.sf(((seen - cells) ** 2 / np.where(some, cells, 1))[some].sum(), some.sum() - 1))
    inside, hits = np.array(inside), np.array(hits)
    parts = []
    for a, b in BANDS:
        band = (expected >= a) & (expected < b)
        if band.any():
            parts.append(f"{a}-{b}: {inside[:, band].mean():.3f} ({band.sum()})")
    pooled = (hits.sum(axis=0) - seeds * expected)[expected * seeds >= 5] / np.sqrt(
        seeds * expected[expected * seeds >= 5]
    )
    print(
        f"| {name.split('/')[-1].split('.')[0]} | {size} | {len(exact)} | {samples} | {seeds} | "
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
        sampler = Sampler(draws, device, None)
        for which, limit in enumerate(LIMITS):
            for codes, _ in sampler.maps(which, 0, sampler.lanes):  # compiles
                jax.block_until_ready(codes)
            sampler._held = None
            begun = time.perf_counter()
            jax.block_until_ready(sampler.tables(limit))
            tables = time.perf_counter() - begun
            begun, cpu = time.perf_counter(), time.process_time()
            for codes, _ in sampler.maps(which, 0, number):
                jax.block_until_ready(codes)
            wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
            print(
                f"size {size}, limit {limit}: tables {1e3 * tables:.1f} ms, {number / wall / 1e6:.3g} M draws/s, "
                f"{number / cpu / 1e6:.3g} M per CPU s",
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


def whole(scale, factor, size, samples, devices=None):
    graph = rmat(scale, factor)
    for turn in ("first", "again"):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            found = estimate_census(graph, size, samples, devices=devices)
            found.to_pandas().to_csv(Path(folder) / "classes.csv")
            wall = time.perf_counter() - begun
        print(f"{graph}, size {size}, {devices or 'all'} devices, {turn}: {wall:.2f} s, {found}", flush=True)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    if sys.argv[1] == "against":
        for spec in sys.argv[2:]:
            network, *numbers = spec.rsplit(":", 2)
            against(network, *(int(float(number)) for number in numbers))
        sys.exit()
    if sys.argv[1] == "whole":
        for spec in sys.argv[2:]:
            whole(*(int(float(number)) for number in spec.split(":")))
        sys.exit()
    if sys.argv[1] == "coverage":
        for spec in sys.argv[2:]:
            network, *numbers = spec.rsplit(":", 3)
            coverage(network, *(int(float(number)) for number in numbers))
    else:
        numbers = [int(text) for text in sys.argv[2:]]
        speed(numbers[0] if numbers else 14 if jax.devices()[0].platform == "cpu" else 20, numbers[1:] or [5, 8])
