"""Matching: how fast queries are planned, counted, listed and attributed, beside other programs.

    python experiments/matching.py ROW [--data FOLDER]

Counts are checked against verified ones. The rows of the GRASS paper are in matching_paper.py.
"""

from __future__ import annotations

import argparse
import cProfile
import itertools
import pstats
import tempfile
from functools import partial
from math import exp, log
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import Rows, Table, measure, option

import jaxmotif
from jaxmotif.graph import Graph
from jaxmotif.graph.synthetic import rmat
from jaxmotif.matching import Search, count_matches, participation_counts
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._totals import graph_name

rows = Rows(__doc__)
limit = partial(option, "--seconds", type=float, help="limit of each search")

PATTERNS = {
    "4-clique": list(itertools.combinations(range(4), 2)),
    "5-clique": list(itertools.combinations(range(5), 2)),
    "4-cycle": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "diamond": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)],
}
G2MINER = {"email-Enron": (0.24, 0.92, 1.1, 0.54), "socfb-MIT8": (0.8, 5.8, 10, 1.2)}
"""Kernel ms of G2Miner for PATTERNS, on an H200."""


@rows(
    limit(default=20.0),
    option("--block", type=int, help="lanes of a step"),
    option("--only", default="", help="instances whose name holds this"),
)
def hard(options: argparse.Namespace) -> None:
    """Time the hard instances, listed and counted, beside EGSM, T-DFS and DAF.

    The bars of a search, ms: lists 10, 24, 42, 380 and 80, counts 1, 1.5, 2.9, 20 and 3.5 on L2derived/sparse_e4_0,
    L8derived/semi_e16_0, cmap/sparse_e32_0, L8derived/dense_e32_0 and L1/sparse_e4_0.
    """
    table = Table(
        "instance",
        "mode",
        "count",
        "right",
        "first s",
        "ms",
        "plan ms",
        "search ms",
        "steps",
        "G/s",
        *("EGSM", "T-DFS", "DAF"),
    )
    for name, (count, *rivals) in harness.HARD_QUERIES.items():
        if options.only not in name:
            continue
        query, target = harness.instance(options.data, name)
        for mode in ("count", "list"):
            if mode == "list" and count > 2e10:
                continue
            how = Search(block=options.block, leaves=mode == "count", symmetry=mode == "count")
            call = partial(count_matches, query, target, time_limit=options.seconds, search=how)
            # A search that is cut off is not made again.
            found = measure(call, calls=5, seconds=options.seconds)
            result = found.result
            search = result.seconds["search"]
            table.row(
                name,
                mode,
                result.count,
                "yes" if result.count == count else f"NO: {result.status}",
                f"{found.first:.1f}",
                f"{1000 * found.best:.2f}",
                f"{1000 * max(found.best - search, 0):.2f}",
                f"{1000 * search:.2f}",
                result.steps,
                f"{result.positions / search / 1e9:.2f}",
                *("" if rival is None else rival for rival in rivals),
            )
            phases = {phase: round(1000 * s, 2) for phase, s in result.seconds.items()}
            print("<!--", len(result.order), "searched,", len(result.leaves), "leaves", phases, "-->", flush=True)


@rows()
def unlabelled(options: argparse.Namespace) -> None:
    """Time unlabelled cliques, 4-cycles and diamonds, beside G2Miner's generated GPU kernels on the same graphs."""
    table = Table("graph | pattern | occurrences | total ms | search ms | steps | G2Miner ms")
    for name, rivals in G2MINER.items():
        target = harness.undirected(options.data, name)
        for (pattern, edges), rival in zip(PATTERNS.items(), rivals, strict=True):
            query = Pattern.from_edges(edges)
            found = measure(partial(count_matches, query, target, per="occurrence", time_limit=20))
            result = found.result
            search = f"{1000 * result.seconds['search']:.1f}"
            shown = f"{result.count} {'' if result.exact else result.status}"
            table.row(name, pattern, shown, f"{1000 * found.best:.1f}", search, result.steps, rival)


PLAIN = {
    "triangle": ([(0, 1), (0, 2), (1, 2)], {14: (4, 0.19), 18: (12, 4.6), 20: (30, 26)}),
    "4-clique": (list(itertools.combinations(range(4), 2)), {14: (5, None), 18: (20, 16), 20: (80, 77)}),
    "5-clique": (list(itertools.combinations(range(5), 2)), {14: (12, 12), 18: (110, 84), 20: (800, 647)}),
    "diamond": ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], {14: (4, 0.45), 18: (18, 12.6), 20: (80, 70)}),
    "4-cycle": ([(0, 1), (1, 2), (2, 3), (3, 0)], {14: (5, 18), 18: (70, 1942), 20: (300, None)}),
    "house": ([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], {14: (50, 501)}),
    "K2,3 and a chord": ([(0, 1), (0, 2), (1, 3), (2, 4), (3, 4), (3, 2), (1, 4)], {14: (50, 444)}),
    "hatted 4-clique": ([(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (1, 4), (2, 3)], {14: (50, 85)}),
    "4-wheel": ([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (3, 4), (2, 4)], {14: (50, 416)}),
    "5-clique less an edge": ([*itertools.combinations(range(5), 2)][:-1], {14: (50, 89)}),
    "book of 5": (
        [(0, 1), *itertools.product((0, 1), range(2, 7))],
        {14: (6, 0.5), 18: (20, 12.4), 20: (75, 70)},
    ),
    "4-clique, 3 tails": ([*((0, i) for i in range(1, 7)), (1, 2), (1, 3), (2, 3)], {14: (10, 6.7)}),
    "diamond, 3 tails": ([*((0, i) for i in range(1, 7)), (1, 3), (2, 3)], {14: (6, 0.5)}),
    "fig3000": (
        [
            *((0, i) for i in (1, 2, 3, 4, 5, 6, 7, 8, 14, 15)),
            *((1, i) for i in (2, 3, 4, 9, 10, 14, 15)),
            *((2, i) for i in (5, 6, 7, 11, 12, 13, 14, 15)),
        ],
        {14: (600, 448)},
    ),
    "6-clique": (list(itertools.combinations(range(6), 2)), {14: (None, None), 16: (None, None)}),
    "7-clique": (list(itertools.combinations(range(7), 2)), {14: (None, None), 16: (None, None)}),
}
"""Plain patterns: edges; and by the scale of an R-MAT graph the bar on an H200 and the kernel of the best other GPU
program on a graph of the same size, ms (gMatch, Fringe-SGC, GLUMIN)."""


@rows(option("--scales", type=harness.numbers, default=[14, 18, 20]), option("--only", default=""))
def plain(options: argparse.Namespace) -> None:
    """Time plain patterns in R-MAT graphs of 16 edges a node; the bars are those of ``PLAIN``.

    Counts of up to four nodes, of five nodes in the smallest graph, and of cliques there, are checked against all
    graphlets.
    """
    table = Table("scale | pattern | engine | occurrences | right | first s | median ms | best ms | bar ms | other ms")
    for scale in options.scales:
        target = rmat(scale, 16).to_device(jax.devices()[0])
        known = jaxmotif.graphlet_counts(target, induced=False).counts
        if scale <= 14:
            known = jaxmotif.graphlet_counts(target, size=5, induced=False).counts
        for name, (edges, bars) in PLAIN.items():
            if options.only not in name or (scale not in bars and scale in (14, 18, 20)):
                continue
            query = Pattern.from_edges(edges)
            timed = measure(partial(count_matches, query, target, per="occurrence"), calls=5, seconds=20)
            result, right = timed.result, "-"
            if query.num_nodes <= 5 and (wanted := known.get(graph_name(query.num_nodes, edges))) is not None:
                right = "yes" if result.count == wanted else f"NO: {wanted}"
            first, median, best = f"{timed.first:.2f}", f"{1000 * timed.median:.2f}", f"{1000 * timed.best:.2f}"
            count = result.count if result.exact else result.status
            table.row(scale, name, result.engine, count, right, first, median, best, *bars.get(scale, (None, None)))


CLIQUES = {
    "rmat-16": {5: 4_670_679_555, 6: 61_413_408_997, 7: 672_783_103_983},
    "socfb-MIT8": {5: 65_593_101, 6: 275_898_557, 7: 1_014_511_011},
}
"""Cliques of each size, counted by clique_loop.py."""


@rows()
def cliques(options: argparse.Namespace) -> None:
    """Time cliques of five to seven nodes in the R-MAT graph of 2^16 nodes of ``plain``, and in a real network."""
    table = Table("network | nodes of a clique | cliques | first s | median ms | best ms")
    for name, known in CLIQUES.items():
        network = rmat(16, 16) if name == "rmat-16" else harness.undirected(options.data, name)
        target = network.to_device(jax.devices()[0])
        for size, wanted in known.items():
            query = Pattern.from_edges(list(itertools.combinations(range(size), 2)))
            timed = measure(partial(count_matches, query, target, per="occurrence"), calls=5, seconds=20)
            harness.check(f"{name}, {size} nodes", timed.result.count, wanted)
            first, median, best = f"{timed.first:.2f}", f"{1000 * timed.median:.2f}", f"{1000 * timed.best:.2f}"
            table.row(name, size, wanted, first, median, best)


# ---- easy instances


EASY = 0.5
"""CPU seconds in which some program solves an easy instance."""


def known_instances(data: Path) -> dict[str, tuple[int, float]]:
    """Return the verified count of every instance that some program solved, and the least CPU seconds one took."""
    found = {}
    for target, queries in harness.verified(data, "labelled", "matches.json").items():
        for query, kinds in queries.items():
            for kind, known in kinds.items():
                if known["cpu_s"] and known["matches"] is not None:
                    name = f"{target}/{query}" + ("/induced" if kind == "induced" else "")
                    found[name] = known["matches"], min(known["cpu_s"].values())
    return found


@rows(
    option("instances", nargs="*", metavar="TARGET/QUERY[/induced]"),
    option("--calls", type=int, default=8),
    option("--every", type=int, default=1, help="take every N-th of the 155 easy instances (6: 26)"),
    option("--profile", action="store_true"),
)
def planning(options: argparse.Namespace) -> None:
    """Time warm calls of easy instances, beside the least CPU time another program is known to take, with reading.

    Without instances, of those that some program solves in half a second. The bar is three times the best other.
    """
    known = known_instances(options.data)
    easy = [name for name, (_, least) in known.items() if least < EASY]
    profile, ratios, milliseconds = cProfile.Profile(), [], []
    table = Table("instance | nodes | matches | wall ms | CPU ms | best other, CPU ms | CPU / best")
    for name in options.instances or easy[:: options.every]:
        query, target = harness.instance(options.data, name)
        call = partial(count_matches, query, target, name.endswith("/induced"))
        found = measure(call, calls=options.calls - 1)
        if options.profile:
            profile.runcall(measure, call, calls=options.calls)
        matches, best = known[name]
        harness.check(name, found.result.count, matches)
        wall, cpu, best = 1e3 * found.best, 1e3 * found.cpu, 1e3 * best
        ratios.append(cpu / best)
        milliseconds.append((wall, cpu))
        table.row(name, query.n, matches, f"{wall:.2f}", f"{cpu:.2f}", f"{best:.0f}", f"{ratios[-1]:.2f}")
    wall, cpu = (geometric_mean(column) for column in zip(*milliseconds, strict=True))
    print(f"\n{len(ratios)} instances, geometric means {wall:.2f} ms wall, {cpu:.2f} ms CPU, ", end="")
    print(f"{geometric_mean(ratios):.2f} times the best other's; more than 3 times: {sum(r > 3 for r in ratios)}")
    if options.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


def geometric_mean(values: Any) -> float:
    """Return the geometric mean of some positive numbers."""
    return exp(sum(map(log, values)) / len(values))


@rows()
def gmatch(options: argparse.Namespace) -> None:
    """Time the 22 labelled queries of gMatch's own test, whose published numbers of maps are checked."""
    known = harness.verified(options.data, "labelled", "gmatch_github_16labels/expected.json")["matches"]
    table = Table("query | nodes | matches | first s | median ms | best ms")
    for name, wanted in known.items():
        query, target = harness.instance(options.data, f"gmatch_github_16labels/{name}")
        timed = measure(partial(count_matches, query, target), calls=5, seconds=20)
        harness.check(name, timed.result.count, wanted)
        first, median, best = f"{timed.first:.2f}", f"{1000 * timed.median:.2f}", f"{1000 * timed.best:.2f}"
        table.row(name, query.n, wanted, first, median, best)


# ---- one method each


@rows(option("instances", nargs="+", metavar="TARGET/QUERY[/induced]"), limit(default=60.0))
def participation(options: argparse.Namespace) -> None:
    """Time participation counts beside counting, in CPU seconds of warm calls; each column's sum must be the count.

    Counting by visiting is given up at the limit.
    """
    table = Table("instance | matches | count | count by visiting | participation, nodes | edges | nodes / visiting")
    for name in options.instances:
        query, target = harness.instance(options.data, name)
        given = query, target, name.endswith("/induced")
        visit = {"time_limit": options.seconds, "search": Search(leaves=False)}
        found, visited, nodes, edges = (
            measure(call, calls=1)
            for call in (
                partial(count_matches, *given),
                partial(count_matches, *given, **visit),
                partial(participation_counts, *given),
                partial(participation_counts, *given, of="edge"),
            )
        )
        for counts in (nodes, edges):
            harness.check(name, bool((counts.result.sum(axis=0) == found.result.count).all()), True)
        exact = visited.result.exact
        ratio = f"{nodes.cpu / visited.cpu:.2f}" if exact else ""
        by_visits = f"{'' if exact else 'over '}{visited.cpu:.2f}"
        times = f"{found.cpu:.2f}", by_visits, f"{nodes.cpu:.2f}", f"{edges.cpu:.2f}"
        table.row(name, found.result.count, *times, ratio)


@rows(
    option("--nodes", type=int, default=300),
    option("--density", type=float, default=0.5),
    limit(default=20.0),
)
def pieces(options: argparse.Namespace) -> None:
    """Time queries that fall apart, whole and in pieces: two cliques that share a node, in a random target."""
    rng = np.random.default_rng(0)
    edges = np.argwhere(np.triu(rng.random((options.nodes, options.nodes)) < options.density, 1))
    target = Graph.from_edges(edges, options.nodes, node_labels=rng.integers(0, 3, options.nodes))
    print(f"{target}, 3 labels\n")
    table = Table("query | pieces | matches | status | candidates | CPU s | s")
    for size in (3, 4):
        cliques = ([*range(size)], [*range(size - 1, 2 * size - 1)])
        edges = [pair for nodes in cliques for pair in itertools.combinations(nodes, 2)]
        labelled = {
            "of two labels": [1] * (size - 1) + [0] + [2] * (size - 1),
            "of one label": [0] * (2 * size - 1),
        }
        for name, labels in labelled.items():
            query = Pattern.from_edges(edges, node_labels=labels)
            for apart in (False, True):
                search = Search(pieces=apart)
                call = partial(count_matches, query, target, time_limit=options.seconds, search=search)
                timing = measure(call, calls=1)
                found = timing.result
                cells = f"{found.count:,}", found.status, f"{found.positions:,}"
                what = f"two {size}-cliques at a node, {name}"
                table.row(what, apart, *cells, f"{timing.cpu:.2f}", f"{timing.best:.2f}")


@rows(
    option("--size", type=int, default=3),
    option("--most", type=float, default=3e7, help="leave out a network of more subgraphs"),
    option("--part", default="0/1", metavar="I/N", help="list every N-th class from class I on"),
)
def occurrences(options: argparse.Namespace) -> None:
    """List the occurrences of every class of a census by matching: their number against the census, and CPU seconds.

    All directed networks are taken. A long listing goes in N pieces, with ``--part``.
    """
    part, parts = map(int, options.part.split("/"))
    table = Table("network | size | classes | occurrences | differ | census | listing")
    for name, graph in harness.all_directed(options.data).items():
        census, _, counting = harness.once(partial(jaxmotif.subgraph_census, graph, options.size))
        wanted = dict(list(census.as_dict().items())[part::parts])
        total = sum(wanted.values())
        cells = name, options.size, len(wanted), f"{total:,}"
        if total > options.most:
            table.row(*cells, "left out", f"{counting:.1f}", "")
            continue

        def differing(graph: Graph = graph, wanted: dict[str, int] = wanted) -> int:
            return sum(sum(map(len, jaxmotif.occurrences(graph, kind))) != count for kind, count in wanted.items())

        differ, _, listing = harness.once(differing)
        table.row(*cells, differ, f"{counting:.1f}", f"{listing:.1f}")


@rows(option("--instance", default="cmap_1a0g_a/sparse_e32_0"))
def parquet(options: argparse.Namespace) -> None:
    """Write all matches of a query to a Parquet file (132 million of 30 nodes), and read back how many there are."""
    import pyarrow.parquet  # an extra

    query, target = harness.instance(options.data, options.instance)
    count, counting, _ = harness.once(lambda: count_matches(query, target).count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matches.parquet"
        _, writing, _ = harness.once(lambda: jaxmotif.find_matches(query, target, sink=path) and None)
        harness.check("rows", pyarrow.parquet.ParquetFile(path).metadata.num_rows, count)
        table = Table("rows | counted s | written s | GiB | device GiB")
        sizes = f"{path.stat().st_size / 2**30:.1f}", f"{harness.peak_gib():.1f}"
        table.row(f"{count:,}", f"{counting:.2f}", f"{writing:.2f}", *sizes)


if __name__ == "__main__":
    rows.main()
