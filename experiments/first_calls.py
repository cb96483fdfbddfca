"""What the first call of a process compiles: seconds, programs, and what each of them took.

    python experiments/first_calls.py [JOB ..] [--data FOLDER] [--shapes] [--small] [--kept FOLDER]

Each job runs in a process of its own, without any cache of compiled code, or (`--kept`) with the programs that
`jaxmotif compile --cache FOLDER` has put in a folder:

    motifs       yeast, size 6, 1,000 random graphs      census     yeastppi, size 6
    motifs3      yeast, size 3, 1,000 random graphs      estimate   yeast, size 7
    graphlets    email-Enron, up to 4 nodes              graphlets5 email-Enron, node orbits of 5 nodes
    match        a labelled query in string_yeast_u32    sieve      20 colors, 1,024 nodes of degree 20
    estimate8    email-Enron, size 8

and three that are run only where they are named, of all networks below a million edges, one after another:

    undirected   counts of graphlets, at edges and at nodes
    five         node orbits of five nodes
    directed     censuses of three and four nodes, and motifs of three in 100 random graphs

A line for each program: when it was ready (seconds from the start of the call), how long XLA took, its name; with
`--shapes` also what it is given. A last line: the call, XLA, tracing and lowering (all threads together), and the least
of three further calls.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import harness
import jax
import numpy as np
from harness import directed, instance, undirected

import jaxmotif
from jaxmotif.graph import synthetic

EVENTS = "/jax/core/compile/"
JOBS = ("motifs", "motifs3", "census", "estimate", "estimate8", "graphlets", "graphlets5", "match", "sieve")
NETWORKS = ("undirected", "five", "directed")


def call_of(job: str, data: Path, small: bool) -> Callable[[], object]:
    """Return the call of a job."""
    if job.startswith("motifs"):
        size, number = (3, 100) if small else (3, 1000) if job == "motifs3" else (6, 1000)
        graph = directed(data, "yeast")
        return lambda: jaxmotif.find_motifs(graph, size, number)
    if job == "census":
        graph = directed(data, "yeastppi_listed")
        return lambda: jaxmotif.subgraph_census(graph, 3 if small else 6)
    if job == "estimate":
        graph = directed(data, "yeast")
        return lambda: jaxmotif.estimate_census(graph, 4 if small else 7)
    if job == "estimate8":
        large = undirected(data, "karate" if small else "email-Enron")
        return lambda: jaxmotif.estimate_census(large, 4 if small else 8)
    if job == "sieve":
        n, k = (64, 6) if small else (1 << 10, 20)
        colors = np.random.default_rng(0).integers(0, k, n)
        regular = synthetic.random_regular(n, k, seed=1)
        return lambda: jaxmotif.find_color_motif(regular, colors, dict.fromkeys(range(k), 1), 0, limit=0)
    if job == "match":
        query, target = instance(data, "string_yeast_u32/sparse_e8_0")
        return lambda: jaxmotif.count_matches(query, target)
    if job in NETWORKS:
        return networks_of(job, data, small)
    graph = undirected(data, "karate" if small else "email-Enron")
    if job == "graphlets":
        return lambda: jaxmotif.graphlet_counts(graph)
    return lambda: jaxmotif.node_orbits(graph, size=5).on_device().block_until_ready()


def networks_of(job: str, data: Path, small: bool) -> Callable[[], object]:
    """Return the calls of all networks of a kind, read beforehand; with ``small`` of the first two."""
    kind = "directed" if job == "directed" else "undirected"
    read, ending = (undirected, ".edges.gz") if kind == "undirected" else (directed, ".edges")
    files = sorted(harness.data_folder(data, kind).glob(f"*{ending}"))
    graphs = [read(data, file.name.removesuffix(ending)) for file in files[: 2 if small else None]]

    def calls() -> None:
        for graph in graphs:
            if graph.m >= 10**6:
                continue
            if job == "five":
                jaxmotif.node_orbits(graph, size=5).on_device().block_until_ready()
            elif job == "undirected":
                jaxmotif.graphlet_counts(graph)
                jaxmotif.edge_graphlets(graph).on_device().block_until_ready()
                jaxmotif.node_orbits(graph).on_device().block_until_ready()
            else:
                for size in (3, 4):
                    jaxmotif.subgraph_census(graph, size)
                jaxmotif.find_motifs(graph, 3, 100)

    return calls


class Shapes(logging.Handler):
    """The shapes that each program is given, as JAX logs them."""

    def __init__(self) -> None:
        super().__init__()
        self.of: defaultdict[str, list[str]] = defaultdict(list)

    def emit(self, record: logging.LogRecord) -> None:
        found = re.match(r"Compiling (\S+) with global shapes and types (.*)\. Argument", record.getMessage())
        if found:
            self.of[found[1]].append(re.sub(r"ShapedArray\((.*?)\)", r"\1", found[2]))


def work(job: str, options: argparse.Namespace) -> None:
    """Run one job in this process, and print what it compiled."""
    if options.kept:
        jaxmotif.keep_compiled(options.kept)
    call = call_of(job, options.data, options.small)
    # Importing the package and starting the backend are no parts of the call.
    for name in dir(jaxmotif):
        getattr(jaxmotif, name)
    jax.devices()
    ready, spent, shapes = [], defaultdict[str, float](float), Shapes()
    started = time.perf_counter()

    def hear(event: str, duration_secs: float, **about: str | int) -> None:
        if event.startswith(EVENTS):
            spent[event.removeprefix(EVENTS)] += duration_secs
        if event.endswith("backend_compile_duration"):
            ready.append((time.perf_counter() - started, duration_secs, str(about.get("fun_name"))))

    jax.monitoring.register_event_duration_secs_listener(hear)
    if options.shapes:
        jax.config.update("jax_log_compiles", True)
        logger = logging.getLogger("jax")
        logger.handlers, logger.propagate = [shapes], False
    call()
    first, programs, parts = time.perf_counter() - started, len(ready), dict(spent)
    warm = min(harness.once(call)[1] for _ in range(3))
    print(f"\n{job}" + " (small)" * options.small)
    for at, seconds, what in ready[:programs]:
        print(f"{at:7.2f} {seconds:7.2f}  {what}")
        for text in shapes.of[what][:1]:  # programs of one name come in the order in which they were begun
            print(f"{'':17}{text}")
        del shapes.of[what][:1]
    told = ", ".join(f"{name.removesuffix('_duration')} {seconds:.2f}" for name, seconds in parts.items())
    print(f"first call {first:.2f} s, {programs} programs; {told}; warm {warm:.3f} s", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("jobs", nargs="*", default=list(JOBS), metavar="JOB", help=", ".join((*JOBS, *NETWORKS)))
parser.add_argument("--shapes", action="store_true", help="also what each program is given")
parser.add_argument("--kept", metavar="FOLDER", help="cache of compiled programs to begin with")
parser.add_argument("--small", action="store_true", help="few nodes, small sizes")
parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
harness.add_common(parser)


def main(options: argparse.Namespace) -> None:
    """Run each job in a process of its own."""
    for job in options.jobs:
        given = [job, "--worker", "--data", options.data] + ["--shapes"] * options.shapes + ["--small"] * options.small
        given += ["--kept", options.kept] * bool(options.kept)
        environment = {} if options.kept else {"JAX_ENABLE_COMPILATION_CACHE": "false"}
        worker = harness.start_worker(*given, environment=environment)
        print(worker.communicate()[0], end="", flush=True)


if __name__ == "__main__":
    given = parser.parse_args()
    if given.worker:
        sys.exit(work(given.jobs[0], given))
    harness.run(main, given, workers=True)
