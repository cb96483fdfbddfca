"""What a user waits for on an accelerator: public calls from Python, warm, result in hand, each beside its bar.

    python experiments/public_calls.py [--data FOLDER] [--rows graphlets,...] [--seconds 3]

A row is the best of five or more calls in milliseconds (`first` compiles). Counts that are known are checked first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import SETS, Table, directed, instance, measure, small_graphs, words

import jaxmotif
from jaxmotif.arrays._fetch import fetch_int64
from jaxmotif.graph import Graph, synthetic
from jaxmotif.matching import Search
from jaxmotif.motifs._random_graphs import DEFAULT_SWITCHES, Chains, plan_chains

Row = tuple[str, float | None, Callable[[], Any]]
"""Name, bar in ms, call."""
EDGE_BARS = {
    "email-Enron": (5, 5),
    "socfb-Cornell5": (15, 14),
    "pgd-C500-9": (13, 11),
    "web-cnr-2000": (28, 20),
    "rmat-20": (310, 230),
}
"""Bars of counts at each edge and in the graph, ms."""


def graphlets(data: Path) -> Iterator[Row]:
    """Yield counts at each edge, on the device and in NumPy, and in the graph."""
    for name, (per_edge, counts) in EDGE_BARS.items():
        graph = harness.network(data, name)
        harness.check_counts(data, name, jaxmotif.graphlet_counts(graph).counts)
        raw: Any = jaxmotif.edge_graphlets(graph).raw_counts  # in the dtype in which the device has them
        rate = copy_rate(raw)
        yield (
            f"edge_graphlets {name}, on the device",
            per_edge,
            lambda g=graph: jaxmotif.edge_graphlets(g).on_device().block_until_ready().shape,
        )
        bar = per_edge + 1.15e3 * raw.nbytes / rate
        yield (
            f"edge_graphlets {name}, NumPy ({rate / 1e9:.1f} GB/s)",
            bar,
            lambda g=graph: jaxmotif.edge_graphlets(g).to_numpy(),
        )
        yield f"graphlet_counts {name}", counts, lambda g=graph: jaxmotif.graphlet_counts(g).counts


def fetched(data: Path) -> Iterator[Row]:
    """Yield tables brought to host memory: a plain copy beside memory that the device writes to."""
    for rows in (183_831, 790_777, 2_738_969, 7_600_000):
        with jax.enable_x64(True):
            counts = jax.block_until_ready(jax.numpy.full((rows, 17), 7, np.int64))
        title = f"{rows:,} x 17"

        def fresh(counts: jax.Array = counts) -> jax.Array:
            with jax.enable_x64(True):  # an array remembers what was copied of it
                return jax.block_until_ready(counts + counts.dtype.type(0))

        yield f"{title}: computed, not copied", None, lambda fresh=fresh: fresh().shape
        yield f"{title}: plain copy", None, lambda fresh=fresh: np.asarray(fresh()).shape
        yield f"{title}: written by the device", None, lambda fresh=fresh, rows=rows: fetch_int64(fresh(), rows).shape


def copy_rate(held: jax.Array) -> float:
    """Return the bytes a second of a copy to the host of an array of this size."""
    best = float("inf")
    for _ in range(3):
        with jax.enable_x64(True):
            fresh = jax.block_until_ready(held + 0)
        started = time.perf_counter()
        np.asarray(fresh)
        best = min(best, time.perf_counter() - started)
    return held.nbytes / best


def batches(data: Path) -> Iterator[Row]:
    """Yield the counts of many small graphs, from edge arrays."""
    for (title, sizes), bar in zip(SETS.items(), (1000, 200), strict=True):
        given = small_graphs(*sizes)
        yield f"17 counts of {title}", bar, lambda given=given: jaxmotif.graphlet_counts(given)


def matching(data: Path) -> Iterator[Row]:
    """Yield matches listed, counted and attributed."""
    query, target = instance(data, "string_yeast_u32/sparse_e8_0")
    yield "find_matches yeast_u32/sparse_e8_0, limit=1000", 20, lambda: jaxmotif.find_matches(query, target, limit=1000)
    yield "find_matches, 10^7 rows", 250, lambda: jaxmotif.find_matches(query, target, limit=10**7)
    small, host = instance(data, "graemlin_helicobacter_L1/semi_e8_0")
    visit = Search(leaves=False, symmetry=False)
    yield "count by visiting helicobacter_L1/semi_e8_0", None, lambda: jaxmotif.count_matches(small, host, search=visit)
    yield (
        "participation_counts helicobacter_L1/semi_e8_0",
        None,
        lambda: np.asarray(jaxmotif.participation_counts(small, host)),
    )


def sieve(data: Path) -> Iterator[Row]:
    """Yield color searches in a large graph and for a large motif, and matches extracted from both.

    How many runs an extraction takes depends on the key, so that those of eight keys are timed together.
    """
    large = synthetic.random_regular(1 << 20, 20, seed=0)
    colors = np.random.default_rng(0).integers(0, 10, large.n)

    def search_large(limit: int) -> jaxmotif.ColorMotifs:
        return jaxmotif.find_color_motif(large, colors, dict.fromkeys(range(10), 1), 0, limit=limit, error=1e-6)

    print(search_large(0), flush=True)
    for limit in (0, 1):
        yield f"search n=2^20 k=10, limit={limit}", None, lambda limit=limit: search_large(limit)
    graph = synthetic.random_regular(1 << 10, 20, seed=1)
    shades = np.random.default_rng(0).integers(0, 20, 1 << 10)

    def search(keys: int, limit: int) -> None:
        for key in range(keys):
            jaxmotif.find_color_motif(graph, shades, dict.fromkeys(range(20), 1), key, limit=limit)

    yield "search k=20, limit=0", None, lambda: search(1, 0)
    yield "eight searches k=20, limit=1", None, lambda: search(8, 1)


def motifs(data: Path) -> Iterator[Row]:
    """Yield random graphs and discoveries."""
    yeast = directed(data, "yeast")
    yield "random_graphs yeast r=1000", 36.7, lambda: jaxmotif.random_graphs(yeast, 1000, 0)
    rng = np.random.default_rng(0)
    large = Graph.from_edges(rng.integers(0, 17_179, (124_700, 2)), 17_179, directed=True)
    yield "random_graphs 17k/125k r=1000, on the host", None, lambda: jaxmotif.random_graphs(large, 1000, 0)
    # Discovery counts them where they are drawn, some at a time.
    plan = plan_chains(large, 0, "bidegree", DEFAULT_SWITCHES, None)
    chains = Chains(plan, jax.devices()[0], None, 1000)
    numbers = np.arange(1000, dtype=np.int32)
    parts = [numbers[low : low + chains.most] for low in range(0, 1000, chains.most)]
    yield (
        "random_graphs 17k/125k r=1000, on the device",
        800,
        lambda: [jax.block_until_ready(chains.run(part, None, 0, plan.steps).ends) for part in parts][-1],
    )
    for size, bar in ((3, None), (4, 96)):
        yield f"find_motifs yeast k={size} r=1000", bar, lambda k=size: jaxmotif.find_motifs(yeast, k, 1000, 0)


def dense(data: Path) -> Iterator[Row]:
    """Yield the counts of a dense graph."""
    graph = synthetic.erdos_renyi(5000, p=0.5, seed=0)
    yield "graphlet_counts n=5000 p=0.5", 300, lambda: jaxmotif.graphlet_counts(graph).counts


def stream(data: Path) -> Iterator[Row]:
    """Yield matches written to a file."""
    query, target = instance(data, "string_yeast_u32/dense_e32_0")
    with tempfile.TemporaryDirectory() as folder:
        yield (
            "find_matches 10^7 rows to Parquet",
            None,
            lambda: jaxmotif.find_matches(query, target, limit=10**7, sink=Path(folder) / f"{time.time_ns()}.parquet"),
        )


ROWS = {f.__name__: f for f in (graphlets, fetched, batches, matching, sieve, motifs, dense, stream)}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rows", type=words, default=["graphlets", "batches", "matching", "sieve", "motifs", "dense"])
parser.add_argument("--seconds", type=float, default=3.0, help="for the warm calls of a row")
harness.add_common(parser)


def main(options: argparse.Namespace) -> None:
    """Print the rows that are named, each beside its bar."""
    table = Table("public call | first | best | bar")
    for name in options.rows:
        try:
            for title, bar, call in ROWS[name](options.data):
                found = measure(call, calls=11, seconds=options.seconds)
                shown = "" if bar is None else f"{bar:.0f}"
                table.row(title, f"{1e3 * found.first:.0f}", f"{1e3 * found.best:.1f}", shown)
        except (Exception, SystemExit) as error:  # the other rows are still of use
            table.row(name, f"{type(error).__name__}: {str(error)[:200]}", "", "")


if __name__ == "__main__":
    harness.run(main, parser.parse_args())
