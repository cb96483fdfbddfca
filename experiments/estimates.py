"""Estimated censuses and motifs: whether they are unbiased, whether their intervals hold, and how fast they draw.

    python experiments/estimates.py ROW ... [--data FOLDER]

NETWORK is a bundled network, or a file (of arcs where its folder is called directed); with +0 at its end without
directions, with +3 with one of three labels at each node, drawn.
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import Rows, Table, option
from scipy import stats

from jaxmotif import (
    datasets,
    estimate_census,
    find_motifs,
    graphlet_counts,
    random_graphs,
    read_graph,
    subgraph_census,
)

# What is not public: single draws, what they are expected to hit, and how codes are grouped.
from jaxmotif.census._code_counts import grouped_codes
from jaxmotif.census._pair_states import likely_subgraphs
from jaxmotif.graph import Graph
from jaxmotif.graph.synthetic import rmat
from jaxmotif.motifs._estimate import expected_hits
from jaxmotif.motifs._proposals import LIMITS, Draws, Sampler
from jaxmotif.patterns import named_pattern

rows = Rows(__doc__)

FIRST_SEED = 1000
"""Seeds before this one are those with which the estimates were made to be right."""
BANDS = ((0, 1), (1, 10), (10, 100), (100, 1000), (1000, np.inf))
"""Hits expected of a class, by which intervals are told apart."""


def load(name: str) -> Graph:
    """Read or load a network, and leave out directions or draw labels as its name says."""
    name, _, labels = name.partition("+")
    graph = read_graph(name, directed="/directed/" in name) if "/" in name else datasets.load(name)
    if not labels:
        return graph
    drawn = None if labels == "0" else np.random.default_rng(0).integers(0, int(labels), graph.n)
    return Graph.from_edges(graph.edge_list(), graph.n, graph.directed and labels != "0", drawn)


def shown(name: str) -> str:
    """Return the name of a network without its folder."""
    path, plus, labels = name.partition("+")
    return path.split("/")[-1].split(".")[0] + plus + labels


def parts(run: str, numbers: int) -> list[Any]:
    """Split ``NETWORK:NUMBER:NUMBER``; a network may hold colons, and numbers may be written 1e9."""
    name, *rest = run.rsplit(":", numbers)
    return [name, *(int(float(number)) for number in rest)]


class Exact:
    """The exact census of a graph, and what estimates are compared with it."""

    def __init__(self, graph: Graph, size: int):
        counts = subgraph_census(graph, size).as_dict()
        self.classes, self.truth = list(counts), np.array(list(counts.values()))
        near = [named_pattern(text, graph.directed).adjacency for text in self.classes]
        self.near = np.array([one | one.T for one in near])

    def compared(self, found: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
        """Compare an estimate.

        Returns:
          For each class hits (0: none), hits expected, those of one occurrence, its row in the estimate (-1: none); and
          the p-value of chi-square.
        """
        harness.check("classes that the census lacks", set(found.classes) - set(self.classes), set())
        rate, row = expected_hits(self.near, found.samples, found.maps), {c: i for i, c in enumerate(found.classes)}
        at = np.array([row.get(text, -1) for text in self.classes])
        hits, expected, samples = np.where(at < 0, 0, found.hits[at]), rate * self.truth, sum(found.samples)
        often = expected >= 5
        # The rare classes together, and the maps that are no subgraphs, are cells too.
        seen = np.append(hits[often], [hits[~often].sum(), samples - hits.sum()])
        cells = np.append(expected[often], [expected[~often].sum(), samples - expected.sum()])
        some = cells > 1e-9 * samples
        p = stats.chi2.sf(((seen - cells) ** 2 / np.where(some, cells, 1))[some].sum(), some.sum() - 1)
        return hits, expected, rate, at, float(p)


# ---- unbiased, with intervals that hold


@rows(option("runs", nargs="+", metavar="NETWORK:SAMPLES"))
def unbiased(options: argparse.Namespace) -> None:
    """Tell the p-value of a chi-square of one estimate for each of sizes 3 to 8 that an exact census reaches.

    In brackets: how many classes there are.
    """
    most = 2 * 10**8 if harness.backend() == "cpu" else 10**11
    table = Table("network", "draws", *map(str, range(3, 9)))
    for run in options.runs:
        name, samples = parts(run, 1)
        graph, cells = load(name), []
        for size in range(3, 9):
            if likely_subgraphs(graph, size) < most:
                exact = Exact(graph, size)
                p = exact.compared(estimate_census(graph, size, samples, key=FIRST_SEED + size))[-1]
                cells.append(f"{p:.3f} ({len(exact.classes)})")
                if len(exact.classes) > 10_000:  # the next have ten times as many, whose names take long
                    break
        table.row(shown(name), samples, *cells, *[""] * (6 - len(cells)))


@rows(option("runs", nargs="+", metavar="NETWORK:SIZE:SAMPLES:SEEDS"))
def coverage(options: argparse.Namespace) -> None:
    """Compare estimates of some seeds with the exact census.

    A chi-square of the hits of all classes and of the maps that are no subgraph (its p-values over the seeds against
    the uniform distribution, and the least), the class farthest from what is expected over all seeds, and how many
    intervals hold the exact count, by the hits expected.
    """
    table = Table("network | size | classes | draws | seeds | KS | least p | z | total | intervals that hold")
    for run in options.runs:
        name, size, samples, seeds = parts(run, 3)
        graph = load(name)
        exact = Exact(graph, size)
        truth, p_values, inside, totals, hits, expected = exact.truth, [], [], [], [], np.zeros(0)
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            found = estimate_census(graph, size, samples, key=seed)
            drawn, expected, rate, at, p = exact.compared(found)
            low, high = np.where(at < 0, 0, found.low[at]), np.where(at < 0, -np.log(0.025) / rate, found.high[at])
            hits.append(drawn)
            p_values.append(p)
            inside.append((low <= truth) & (truth <= high))
            totals.append(found.total_low <= truth.sum() <= found.total_high)
        inside, hits = np.array(inside), np.array(hits)
        cells = []
        for a, b in BANDS:
            band = (expected >= a) & (expected < b)
            if band.any():
                cells.append(f"{a}-{b}: {inside[:, band].mean():.3f} ({band.sum()})")
        if (missed := hits == 0).any():
            cells.append(f"not drawn: {inside[missed].mean():.4f} of {missed.sum()}")
        often = expected * seeds >= 5
        z = (hits.sum(axis=0) - seeds * expected)[often] / np.sqrt(seeds * expected[often])
        figures = f"{stats.kstest(p_values, 'uniform').pvalue:.3f}", f"{min(p_values):.4f}", f"{np.abs(z).max():.2f}"
        table.row(shown(name), size, len(truth), samples, seeds, *figures, f"{np.mean(totals):.3f}", ", ".join(cells))


@rows(option("runs", nargs="+", metavar="NETWORK:SIZE:SAMPLES", help="NETWORK may be the scale of an R-MAT graph"))
def against(options: argparse.Namespace) -> None:
    """Compare one estimate with the graphlet counts of a large graph, sizes 4 and 5."""
    for run in options.runs:
        name, size, samples = parts(run, 2)
        graph = rmat(int(name)) if name.isdecimal() else load(name)
        counted, found = graphlet_counts(graph, size=size).table(), estimate_census(graph, size, samples)
        exact = dict(zip(map(str, counted["id"]), counted["count"], strict=True))
        truth = np.array([float(exact[str(number)]) for number in found.table()["id"]])
        expected = found.hits * truth / found.counts
        z = (found.hits - expected) / np.sqrt(expected)
        print(f"{graph}, size {size}, {samples:,} draws: {z.size} classes, farthest {np.abs(z).max():.2f} sigma")


# ---- speed


@rows(
    option("scale", nargs="?", type=int, help="of an R-MAT graph (default: 14, on a GPU 20)"),
    option("sizes", nargs="*", type=int, default=[5, 8]),
    option("--draws", type=int, help="of each kind of tree (default: 2^18, on a GPU 2^26)"),
)
def speed(options: argparse.Namespace) -> None:
    """Time the parts of an estimate of an R-MAT graph: tables, draws, codes grouped, and a whole one.

    The bars on an H200: 450 million draws a second of size 5, 200 of size 8, tables 10 ms.
    """
    device = jax.devices()[0]
    on_cpu = harness.backend() == "cpu"
    graph, number = rmat(options.scale or (14 if on_cpu else 20)), options.draws or 1 << (18 if on_cpu else 26)
    print(graph)
    for size in options.sizes:
        draws = Draws(graph, size, (number,) * len(LIMITS), 1)
        sampler, prepared = Sampler(draws, device, None), 0.0
        for _ in range(2):  # the first compiles
            sampler.take(None, draws.seed)
            _, prepared, _ = harness.once(lambda sampler=sampler: (sampler.graphs.dyads, sampler.index))
        print(f"size {size}: prepared in {1e3 * prepared:.0f} ms", flush=True)
        for which, limit in enumerate(LIMITS):
            codes = None
            for codes, _ in sampler.maps(which, 0, sampler.lanes):  # compiles
                grouped_codes(codes, sampler.graphs.dyads.codes, size)()
            sampler._held = None
            _, tables, _ = harness.once(lambda sampler=sampler, limit=limit: sampler.tables(limit))

            def draw(sampler: Sampler = sampler, which: int = which, before: Any = codes) -> Any:
                for codes, _ in sampler.maps(which, 0, number):
                    jax.block_until_ready(before)  # the next are under way
                    before = codes
                return before

            codes, wall, cpu = harness.once(draw)
            grouping = grouped_codes(codes, sampler.graphs.dyads.codes, size)
            several, taken, _ = harness.once(grouping)
            print(
                f"size {size}, limit {limit}: tables {1e3 * tables:.1f} ms, {number / wall / 1e6:.3g} M draws/s, "
                f"{number / cpu / 1e6:.3g} M per CPU s; {sampler.lanes:,} codes grouped ({several[0].size:,}) in "
                f"{1e3 * taken:.1f} ms",
                flush=True,
            )
        for turn in ("first", "again"):
            found, wall, cpu = harness.once(partial(estimate_census, graph, size, 3 * number))
            print(f"size {size}, whole, {turn}: {wall:.2f} s ({cpu:.2f} CPU s), {found}", flush=True)


def large(scale: int, factor: int) -> Graph:
    """Make an R-MAT graph, on the device where that takes a minute on the host."""
    on_device = scale > 20 and factor == 16
    graph, seconds, _ = harness.once(
        lambda: Graph.from_edges(harness.rmat_edges(scale)) if on_device else rmat(scale, factor)
    )
    print(f"{graph} made in {seconds:.1f} s", flush=True)
    return graph


large_runs = option("runs", nargs="+", metavar="SCALE:EDGE_FACTOR:SIZE:SAMPLES[:DEVICES]")


def large_run(run: str) -> list[Any]:
    """Parse the numbers of a run of a large estimate; None devices are all there are."""
    numbers = [int(float(number)) for number in run.split(":")]
    return [*numbers, *[None] * (5 - len(numbers))]


@rows(large_runs)
def whole(options: argparse.Namespace) -> None:
    """Time two estimates from an R-MAT graph to a table of classes and intervals on disk.

    The bars on an H200: 8 s for 10^9 draws of size 8 at scale 20, 20 s for those of size 7 at scale 24.
    """
    for run in options.runs:
        scale, factor, size, samples, devices = large_run(run)
        graph = large(scale, factor)
        for turn in ("first", "again"):
            with tempfile.TemporaryDirectory() as folder:
                found, estimated, _ = harness.once(partial(estimate_census, graph, size, samples, devices=devices))
                _, written, _ = harness.once(lambda f=found, d=folder: f.to_pandas().to_csv(Path(d) / "classes.csv"))
            print(
                f"size {size}, {devices or 'all'} devices, {turn}: {estimated + written:.2f} s, {estimated:.2f} of "
                f"them until written; {found}; sha256 of the hits {sha256(found.hits.tobytes()).hexdigest()[:16]}",
                flush=True,
            )


KILLED = """
import jaxmotif, logging, sys
from hashlib import sha256
from estimates import large, large_run
logging.disable(30)
scale, factor, size, samples, devices = large_run(sys.argv[1])
checkpoint = sys.argv[2] if len(sys.argv) > 2 else None
found = jaxmotif.estimate_census(large(scale, factor), size, samples, devices=devices, checkpoint=checkpoint)
print(sha256(found.hits.tobytes()).hexdigest()[:16])
"""


@rows(large_runs)
def killed(options: argparse.Namespace) -> None:
    """Kill an estimate when its first checkpoint is there, and go on: the hits must be those of one left alone."""
    where = {"cwd": harness.HERE, "env": os.environ | {"PYTHONPATH": str(harness.HERE.parent)}}
    for run in options.runs:
        call = [sys.executable, "-c", KILLED, run]
        with tempfile.TemporaryDirectory() as folder:
            first = subprocess.Popen([*call, folder], stdout=subprocess.DEVNULL, **where)
            kept, sizes = Path(folder) / "estimate.checkpoint", set()
            while first.poll() is None and len(sizes) < 2:  # that of the beginning holds nothing
                sizes |= {kept.stat().st_size} if kept.exists() else set()
                time.sleep(0.05)
            first.kill()
            print(f"killed: {first.wait()}, checkpoint of {kept.stat().st_size:,} bytes", flush=True)
            for given in ([folder], []):
                begun = time.perf_counter()
                hits = subprocess.run([*call, *given], stdout=subprocess.PIPE, text=True, **where).stdout.split()[-1]
                what, seconds = "gone on" if given else "from the beginning", time.perf_counter() - begun
                print(f"{what}: {seconds:.2f} s with the graph, sha256 of the hits {hits}", flush=True)


# ---- motifs by estimates


motif_arguments = (
    option("network", metavar="NETWORK"),
    option("size", type=int),
)


@rows(*motif_arguments, option("--draws", nargs="+", type=float, default=[1e4, 1e5, 1e6, 1e7]), name="motif-accuracy")
def motif_accuracy(options: argparse.Namespace) -> None:
    """Compare motifs by estimates with exact ones, for more and more draws."""
    graph = load(options.network)
    exact = find_motifs(graph, options.size, 100, 1)
    row = {name: i for i, name in enumerate(exact.classes)}
    b = exact.significance
    table = Table(
        "draws | mean^2 of count, mean / error | classes | noise / sd | sd | z: slope, rms of difference | verdict"
    )
    for draws in options.draws:
        found = find_motifs(graph, options.size, 100, 1, estimate=int(draws))
        at, a = np.array([row[name] for name in found.classes]), found.significance
        # Of classes that are drawn often enough for their errors to be known, and differ between random graphs.
        ok = (found.counts > 10 * found.error**2 / np.maximum(found.counts, 1)) & (b.sd[at] > 0) & (b.mean[at] > 10)
        at, pick = at[ok], np.flatnonzero(ok)
        error, random_error = np.asarray(found.error)[pick], np.asarray(found.random_error)[pick]
        off = np.mean(((found.counts[pick] - exact.counts[at]) / error) ** 2)
        far = np.mean(((a.mean[pick] - b.mean[at]) / (random_error / 10)) ** 2)
        z, wanted = a.z[pick], b.z[at]
        slope, rms = (z * wanted).sum() / (wanted**2).sum(), np.sqrt(np.mean((z - wanted) ** 2))
        same = np.mean((found.is_motif == exact.is_motif[[row[c] for c in found.classes]])[pick])
        table.row(
            f"{draws:.0e}",
            f"{off:.2f}, {far:.2f}",
            pick.size,
            f"{np.median(random_error / b.sd[at]):.2f}",
            f"{np.median(a.sd[pick] / b.sd[at]):.2f}",
            f"{slope:.2f}, {rms:.2f} of {np.sqrt(np.mean(wanted**2)):.1f}",
            f"{same:.2f}",
        )


@rows(*motif_arguments, option("runs", type=int), name="motif-p")
def motif_p(options: argparse.Namespace) -> None:
    """Test whether p is uniform where the null model holds: its random graphs in the place of the graph."""
    rng, p, z = np.random.default_rng(0), {}, {}
    for number, one in enumerate(random_graphs(load(options.network), options.runs, 77)):
        found = find_motifs(one, options.size, 39, number, estimate=20_000)
        for i, name in enumerate(found.classes):
            tied = (found.random_counts[:, i] == found.counts[i]).sum()
            p.setdefault(name, []).append(found.significance.p_high[i] - rng.random() * (tied + 1) / 40)
            z.setdefault(name, []).append(found.significance.z[i])
    often = [name for name, values in p.items() if len(values) == options.runs]
    tests = [stats.kstest(p[name], "uniform").pvalue for name in often]
    spread = [np.nanstd(z[name]) for name in often]
    print(f"{options.runs} graphs, {len(often)} classes met in all: KS p of p_high {min(tests):.3g} to ", end="")
    print(f"{max(tests):.3g}, median {np.median(tests):.2f}; sd of z {min(spread):.2f} to {max(spread):.2f}")


@rows(*motif_arguments, option("draws", type=float), option("graphs", type=int), name="motif-speed")
def motif_speed(options: argparse.Namespace) -> None:
    """Time motifs by estimates, twice."""
    graph, draws = load(options.network), int(options.draws)
    for number in range(2):
        call = partial(find_motifs, graph, options.size, options.graphs, number, estimate=draws)
        found, wall, cpu = harness.once(call)
        graphs = 1 + options.graphs + found.mixing.graphs
        print(
            f"{found}: {wall:.2f} s, {cpu:.2f} CPU s; {1e3 * wall / graphs:.1f} ms a graph, "
            f"{graphs * draws / wall / 1e6:.2f} M draws/s",
            flush=True,
        )


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    rows.main()
