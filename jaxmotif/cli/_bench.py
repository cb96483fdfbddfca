"""The command ``jaxmotif bench``, which times each job on generated graphs and checks the results."""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import jaxmotif
from jaxmotif.cli._output import Report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

WARM_CALLS, WARM_SECONDS = 5, 10.0
"""The most calls after the first one, and the seconds within which the last of them must begin."""


class Case(NamedTuple):
    """A call that is timed.

    Attributes:
      job: The job, which is in the row of the result.
      task: The task in words, likewise.
      graph: A function that makes the graph, which is always the same.
      run: A function that makes the call, from a graph and a value of ``devices=``, and returns a number that sums up
        the result.
      result: This number, as another program gave it (experiments/results/bench.md).
    """

    job: str
    task: str
    graph: Callable[[], Graph]
    run: Callable[[Graph, str | int | None], int]
    result: int


def cases() -> Iterator[Case]:
    """Yield all calls that are timed, in the order of the jobs."""
    from jaxmotif.graph import Graph, synthetic

    def web() -> Graph:
        return synthetic.rmat(14, 8)

    def regulation() -> Graph:
        return synthetic.rmat(10, 1, directed=True)

    def labelled() -> Graph:
        graph = web()
        return Graph.from_edges(graph.edge_list(), graph.n, node_labels=np.arange(graph.n) % 16)

    yield Case("graphlets", "17 totals", web, _graphlets, 21_486_328)
    yield Case("graphlets", "17 columns for each edge", web, _edge_graphlets, 21_486_328)
    yield Case("match", "5-cliques", web, _cliques, 28_360_765)
    yield Case("match", "labelled query of 6 nodes, listed", labelled, _listed, 464_319)
    yield Case("census", "4 nodes, directed", lambda: synthetic.rmat(12, 4, directed=True), _census(4), 122_586_579)
    yield Case("census", "5 nodes, directed", lambda: synthetic.rmat(10, 2, directed=True), _census(5), 55_885_152)
    yield Case("motifs", "3 nodes, 1000 random graphs", regulation, _motifs(3, 1000), 13_729)
    yield Case("motifs", "4 nodes, 100 random graphs", regulation, _motifs(4, 100), 295_507)
    yield Case("search", "12 vertices, all in play", lambda: synthetic.random_regular(1024, 20), _search, 1_024)


def query() -> Graph:
    """Return a labelled query, two triangles with an edge between them."""
    from jaxmotif.graph import Graph

    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
    return Graph.from_edges(edges, node_labels=[0, 1, 2, 3, 4, 5])


def _graphlets(graph: Graph, devices: str | int | None) -> int:
    return jaxmotif.graphlet_counts(graph, devices=devices).counts["4-cycle"]


def _edge_graphlets(graph: Graph, devices: str | int | None) -> int:
    found = jaxmotif.edge_graphlets(graph, devices=devices)
    return int(found.values[:, found.columns.index("4-cycle")].sum()) // 4


def _cliques(graph: Graph, devices: str | int | None) -> int:
    return jaxmotif.count_matches("5-clique", graph, per="occurrence", devices=devices).count


def _listed(graph: Graph, devices: str | int | None) -> int:
    return len(jaxmotif.find_matches(query(), graph, devices=devices))


def _census(size: int) -> Callable[[Graph, str | int | None], int]:
    return lambda graph, devices: jaxmotif.subgraph_census(graph, size, devices=devices).total


def _motifs(size: int, num: int) -> Callable[[Graph, str | int | None], int]:
    return lambda graph, devices: int(jaxmotif.find_motifs(graph, size, num, key=0, devices=devices).counts.sum())


def _search(graph: Graph, devices: str | int | None) -> int:
    colors = ["red"] * graph.n
    return len(jaxmotif.find_color_motif(graph, colors, {"red": 12}, key=0, limit=0, devices=devices).vertices)


def time_case(case: Case, devices: str | int | None) -> dict[str, object]:
    """Return a row of the result, with the time of the first call and the best of some later calls."""
    graph, calls, warm_seconds = case.graph(), [], 0.0
    while len(calls) <= WARM_CALLS and warm_seconds < WARM_SECONDS:
        wall, cpu = time.perf_counter(), time.process_time()
        result = case.run(graph, devices)
        calls.append((result, time.perf_counter() - wall, time.process_time() - cpu))
        warm_seconds = sum(wall for _, wall, _ in calls[1:])
    wall, cpu = min((wall, cpu) for _, wall, cpu in calls[1:])
    return {
        "job": case.job,
        "task": case.task,
        "nodes": graph.n,
        "edges": graph.m,
        "first": calls[0][1],
        "warm": wall,
        "cpu": cpu,
        "result": calls[0][0],
        "correct": all(result == case.result for result, *_ in calls),
    }


def run(args: argparse.Namespace) -> Report:
    """Time each job on generated graphs, first and later calls, and check the results against known ones."""
    import jax

    from jaxmotif.devices._select import select_devices

    rows = [time_case(case, args.device) for case in cases() if args.job in (None, case.job)]
    if wrong := [f"{row['job']} ({row['task']}): {row['result']}" for row in rows if not row["correct"]]:
        raise RuntimeError("results that are not the known ones: " + "; ".join(wrong))
    devices = select_devices(args.device).devices
    machine = {
        "device": ", ".join(str(device) for device in devices),
        "kind": devices[0].device_kind,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "jaxlib": version("jaxlib"),
        "jax": jax.__version__,
        "jaxmotif": jaxmotif.__version__,
    }
    return Report(machine, {name: [row[name] for row in rows] for name in rows[0]}, objects="benchmarks")
