"""The command ``jaxmotif compile``, which compiles the programs of all jobs before they are needed."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

import numpy as np

import jaxmotif
from jaxmotif.cli._output import Report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

Jobs = dict[str, Callable[..., Any]]
"""Jobs by name; each is called with a graph and ``devices=``."""

SIZES = {False: ((60, 300), (250, 1_500), (1_000, 6_000)), True: ((1_000, 1_500),)}
"""Nodes and edges of a graph of each size class, on a CPU and on an accelerator."""
CENSUS = {False: SIZES[False], True: (*SIZES[True], (5_000, 50_000), (20_000, 200_000))}
"""Nodes and edges of graphs whose subgraphs are counted: an accelerator has one program for all that are small."""
LARGE = {False: (), True: ((60_000, 700_000), (100_000, 1_500_000))}
"""Nodes and edges of graphs of further classes for graphlets of up to four nodes."""
RANDOM = {
    False: SIZES[False],
    True: (
        *((100, 250), (280, 500), (560, 780), (650, 1_040), (700, 1_150), (280, 2_050)),
        *((1_000, 2_090), (1_100, 2_600), (1_600, 3_000), (4_000, 8_000)),
    ),
}
"""Nodes and edges of graphs that are compared with random graphs. On an accelerator hundreds of these are counted
together, so that small graphs have classes of their own."""
MOST_THREADS, BYTES_OF_A_CALL = 8, 2**34
"""The most calls at a time, and the bytes of an accelerator's memory that each call has to itself.

Python traces the programs of these calls one by one, and XLA compiles them side by side. A call plans by the memory
that is free, so calls must not take it from each other.
"""
HUBS = {False: ((100, 64),), True: ((5_000, 4_096), (10_000, 4_096))}
"""For graphs on which graphlets of five nodes are counted, the number of nodes and the largest degree."""


def _graphlets(size: int) -> Jobs:
    names = "" if size == 4 else " --size 5"
    return {
        f"graphlets{names}": lambda graph, **at: jaxmotif.graphlet_counts(graph, size=size, **at),
        f"graphlets{names} --per edge": lambda graph, **at: jaxmotif.edge_graphlets(graph, size=size, **at).values,
        f"graphlets{names} --per node": lambda graph, **at: jaxmotif.node_orbits(graph, size=size, **at).values,
    }


def _motifs(accelerated: bool) -> Jobs:
    # On an accelerator the programs depend on the number of random graphs, so it is the default here; on a CPU not.
    few: dict[str, Any] = {} if accelerated else {"num_random": 100}
    return {"motifs": lambda graph, **at: jaxmotif.find_motifs(graph, 3, **few, **at)}


DIRECTED: Jobs = {
    "census": lambda graph, **at: jaxmotif.subgraph_census(graph, 3, **at),
    "census --size 4": lambda graph, **at: jaxmotif.subgraph_census(graph, 4, **at),
}
OTHERS: Jobs = {
    "census --estimate": lambda graph, **at: jaxmotif.estimate_census(graph, 8, **at),
    "match": lambda graph, **at: jaxmotif.count_matches("3-clique", graph, **at),
    "search": lambda graph, **at: jaxmotif.find_color_motif(
        graph, np.arange(graph.n) % 5, dict.fromkeys(range(5), 1), 0, **at
    ),
}


def _calls(accelerated: bool) -> Iterator[tuple[str, Graph, Callable[..., Any]]]:
    """Yield each job with a graph of each of its size classes."""
    from jaxmotif.graph import synthetic

    def drawn(sizes: tuple[tuple[int, int], ...], directed: bool = False) -> list[Graph]:
        return [synthetic.erdos_renyi(n, m=m, directed=directed) for n, m in sizes]

    small = drawn(SIZES[accelerated])
    hubs = [_with_hubs(n, most) for n, most in HUBS[accelerated]]
    # Those that take longest come first, since several are compiled at a time.
    kinds = (
        (hubs, _graphlets(5)),
        (small + drawn(LARGE[accelerated]), _graphlets(4)),
        (drawn(RANDOM[accelerated], directed=True), _motifs(accelerated)),
        (drawn(CENSUS[accelerated], directed=True), DIRECTED),
        (small[:1], OTHERS),
    )
    for graphs, jobs in kinds:
        for graph in graphs:
            yield from ((name, graph, run) for name, run in jobs.items())


def _with_hubs(n: int, most: int) -> Graph:
    """Return a ring of ``n`` nodes, some of which are joined to the first 12, 18, 24, 36, .., ``most`` of the others.

    The first nodes are all joined as well, so that hubs of every width occur, and cliques.
    """
    from jaxmotif.graph import Graph

    ring, clique = np.arange(n), min(most, 400)
    widths = [width for i in range(3, 12) for width in (2**i, 3 * 2 ** (i - 1)) if width <= most]
    spokes = [np.stack([np.full(width, n - 1 - i), ring[:width]], axis=1) for i, width in enumerate(widths)]
    return Graph.from_edges(
        np.concatenate([np.stack([ring, np.roll(ring, -1)], axis=1), np.argwhere(np.tri(clique, k=-1)), *spokes]), n
    )


@contextlib.contextmanager
def _without_notes() -> Iterator[None]:
    """Silence the library's notes, which would be about generated graphs or about broken files.

    A thread may read a compiled program that another one is still writing, and then compiles it again. An error in
    keeping programs is still reported.
    """
    logger = logging.getLogger("jaxmotif")
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = False


def run(args: argparse.Namespace) -> Report:
    """Compile the programs of all jobs for the usual sizes of graphs, by running each on generated graphs.

    They are kept for later runs of the command on this machine.
    """
    import jax

    from jaxmotif.arrays._compile import target_of
    from jaxmotif.arrays._program_cache import kept_programs
    from jaxmotif.devices._memory import free_memory
    from jaxmotif.devices._progress import progress
    from jaxmotif.devices._select import select_devices

    where = args.cache or os.environ.get("JAXMOTIF_CACHE")
    if where == "off" or jax.config.jax_compilation_cache_dir is None:  # pyright: ignore[reportAttributeAccessIssue]
        raise ValueError(
            "compile keeps what it compiles, and no folder may be used: name one that is yours, --cache DIR"
        )
    device = select_devices(args.device).main
    accelerated = target_of(device).is_accelerator
    calls, threads = list(_calls(accelerated)), min(os.cpu_count() or 1, MOST_THREADS)
    if accelerated:
        threads = max(1, min(threads, free_memory(device) // BYTES_OF_A_CALL))

    def time_call(graph: Graph, run: Callable[..., Any]) -> float:
        started = time.monotonic()
        run(graph, devices=args.device)
        return time.monotonic() - started

    with (
        progress(len(calls), "calls", "compile", enabled=not args.quiet) as meter,
        ThreadPoolExecutor(threads) as pool,
        _without_notes(),
    ):
        timed = [pool.submit(time_call, graph, run) for _, graph, run in calls]
        try:
            for done in as_completed(timed):
                done.result()
                meter.advance(1)
        finally:  # where one fails, or at Ctrl-C, no others begin
            pool.shutdown(wait=False, cancel_futures=True)
        seconds = [done.result() for done in timed]
    columns = {
        "job": [name for name, _, _ in calls],
        "nodes": [graph.n for _, graph, _ in calls],
        "edges": [graph.m for _, graph, _ in calls],
        "seconds": np.round(seconds, 2),
    }
    return Report(kept_programs(where), columns)
