"""The jobs on small inputs that are cut into many units; also a program, to be run in several processes or killed.

    python -m tests.devices.jobs JOB,... [--devices N] [--process I/N@HOST:PORT] [--cluster ADDRESS] [--checkpoint DIR]
        [--slow SECONDS]

prints a line `JOB DIGEST` for each: as one of several processes of jax.distributed, or on the workers of a cluster.
"""

import argparse
import os
import re
import time

import jax
import numpy as np

from jaxmotif.devices import Cluster
from jaxmotif.devices import _job as runner
from jaxmotif.devices import _record as record
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.graph import Graph


def _skewed() -> Graph:
    """70 nodes, with hubs."""
    rng = np.random.default_rng(3)
    ends = np.minimum(rng.zipf(1.5, (400, 2)) - 1, 69)
    return Graph.from_edges(np.concatenate([ends, [(i, i + 1) for i in range(69)]]), 70)


def graphlets(**options):
    from jaxmotif.graphlets import edge_graphlets

    found = edge_graphlets(_skewed(), **options)
    return found.values, found.counts


def matching(**options):
    from jaxmotif.matching import Search, count_matches
    from jaxmotif.patterns import Pattern

    query = Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    found = count_matches(query, _skewed(), search=Search(leaves=False, symmetry=False, block=128), **options)
    return found.count, found.status


def motifs(**options):
    from jaxmotif.motifs import find_motifs

    arcs = np.random.default_rng(2).integers(0, 26, (60, 2))
    found = find_motifs(Graph.from_edges(arcs, 26, directed=True), 3, 24, attempts=5, **options)
    return list(found.classes), found.counts, found.random_counts, found.significance.z, found.accepted


def census(**options):
    from jaxmotif.motifs import subgraph_census

    found = subgraph_census(_skewed(), 4, per_node=True, **options)
    return list(found.classes), found.counts, found.per_node


def sieve(**options):
    from jaxmotif.sieve import find_color_motif

    rng = np.random.default_rng(5)
    colors = rng.choice(["red", "blue", "green"], 70).tolist()
    found = find_color_motif(_skewed(), colors, {"red": 4, "blue": 3, "green": 2}, 0, limit=2, error=1e-3, **options)
    return found.vertices, found.matches, found.repetitions


JOBS = {job.__name__: job for job in (graphlets, matching, motifs, census, sieve)}


def digest(name: str, **options) -> str:
    """A name for a job's result, down to the last bit."""
    return fingerprint(*JOBS[name](**options))[:16]


def cut_small(patch) -> None:
    """Cuts the jobs into many small units, saved at every step; ``patch(object, name, value)`` changes settings."""
    from jaxmotif.census import _job as census_job
    from jaxmotif.graphlets import _run as run
    from jaxmotif.matching import _divided as shares
    from jaxmotif.motifs import _discovery as discovery
    from jaxmotif.sieve import _runner as sieve_runner

    patch(run, "_LONG", {"cpu": -1, "accelerator": -1})
    patch(shares, "FEW_STEPS", 0)
    patch(discovery, "_batch", lambda *_: 2)
    patch(census_job, "_UNITS", 6)
    patch(sieve_runner, "_STEP_WORK", {"cpu": 1e6, "accelerator": 1e6})
    patch(sieve_runner, "_UNIT_WORDS", {"cpu": 1, "accelerator": 1})
    patch(sieve_runner, "_ITEMS", 4)
    patch(record, "SAVE_SECONDS", 0.0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs")
    parser.add_argument("--devices", type=int)
    parser.add_argument("--process")
    parser.add_argument("--cluster")
    parser.add_argument("--checkpoint")
    parser.add_argument("--slow", type=float, default=0.0)
    options = parser.parse_args()
    devices, out = options.devices, os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # JAX's collectives print lines of their own to standard output
    if options.process:
        number, count, address = re.fullmatch(r"(\d+)/(\d+)@(.+)", options.process).groups()
        jax.distributed.initialize(address, int(count), int(number))
    if options.cluster:
        from distributed import Client

        devices = Cluster(Client(options.cluster))
    cut_small(setattr)
    step = runner._TaskRunner.step
    runner._TaskRunner.step = lambda running, span: (time.sleep(options.slow), step(running, span))[1]
    for name in options.jobs.split(","):
        out.write(f"{name} {digest(name, devices=devices, checkpoint=options.checkpoint)}\n")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    main()
