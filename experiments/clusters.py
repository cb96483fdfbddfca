"""Jobs on clusters of Dask's, whose scheduler and workers are processes of this machine.

python experiments/clusters.py bits [--jobs graphlets,five,matching,census,motifs,sieve,estimates] [--workers 1,2,3]
                                   [--networks karate,...]
python experiments/clusters.py kills [--times 20] [--jobs ...]
python experiments/clusters.py speed [--seconds 60]
python experiments/clusters.py added
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Rows, Table, numbers, option, words

import jaxmotif

# What is not public: names of results, and what the command does with the address of a cluster.
from jaxmotif.devices import Cluster, ClusterError
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.devices._cluster import connect
from jaxmotif.graph import Graph, synthetic
from jaxmotif.matching import Search, count_matches

rows = Rows(__doc__)
HERE = "127.0.0.1"

WATCH = """
import os, time
from jaxmotif.devices import _cluster_call, _job
if not hasattr(_cluster_call.RunningCall, "plain_ask"):
    _cluster_call.RunningCall.plain_ask = _cluster_call.RunningCall.ask
    def ask(call, request):
        if not isinstance(request, _job.JobResult):
            with open(os.environ["UNITS"], "a") as units:
                units.write(f"{os.getpid()} {call._reached.job.name}-{call._given} {request.first} {request.stop}\\n")
            time.sleep(float(os.environ["SLOW"]))
        return call.plain_ask(request)
    _cluster_call.RunningCall.ask = ask
"""
"""What workers load: they write down each unit that they begin, which takes some time longer."""


class Machines:
    """A scheduler and workers in processes of their own."""

    def __init__(self, folder: Path, slow: float | None = None):
        self.folder, self.units, self.workers = folder, folder / "units", list[subprocess.Popen]()
        self._slow = slow
        (folder / "watch.py").write_text(WATCH)
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(folder / "scheduler"))
        while not (folder / "scheduler").exists():
            time.sleep(0.05)

    def _start(self, kind: str, *options: str, core: int | None = None) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", kind, *options, "--host", HERE, "--dashboard-address", f"{HERE}:0"]
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        paths = {"PYTHONPATH": str(harness.HERE.parent), "JAX_PLATFORMS": "cpu"}
        environment = os.environ | paths | {"UNITS": str(self.units), "SLOW": str(self._slow)}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=environment, cwd=self.folder, stdout=quiet, stderr=quiet)

    def add_worker(self, core: int | None = None) -> None:
        """Start a worker of one thread, perhaps on one core alone."""
        options = ["--scheduler-file", str(self.folder / "scheduler"), "--nthreads", "1", "--no-nanny"]
        if self._slow is not None:
            options += ["--preload", str(self.folder / "watch.py")]
        self.workers.append(self._start("worker", *options, core=core))

    def begun(self) -> list[list[str]]:
        """Return the units that workers have begun: process, job, and items."""
        return [line.split() for line in self.units.read_text().splitlines()] if self.units.exists() else []

    def cpu_seconds(self) -> list[float]:
        """Return the CPU seconds of each worker."""
        ticks = [Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split() for worker in self.workers]
        return [(int(row[11]) + int(row[12])) / os.sysconf("SC_CLK_TCK") for row in ticks]

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextlib.contextmanager
def cluster(workers: int, slow: float | None = None, pinned: bool = False) -> Iterator[tuple[Machines, Cluster]]:
    """Start a cluster, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        machines = Machines(Path(folder), slow)
        try:
            for core in range(workers):
                machines.add_worker(core if pinned else None)
            with connect(str(Path(folder) / "scheduler")) as found:
                found.client.wait_for_workers(workers, timeout=60)  # pyright: ignore[reportUnusedCoroutine]
                yield machines, found
        finally:
            machines.end()


SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]


def graphlets(graph: Graph, **options: Any) -> Any:
    found = jaxmotif.edge_graphlets(undirected(graph), **options)
    return found.to_numpy(), found.counts


def five(graph: Graph, **options: Any) -> Any:
    return (jaxmotif.node_orbits(undirected(graph), size=5, **options).to_numpy(),)


def matching(graph: Graph, **options: Any) -> Any:
    search = Search(leaves=False, symmetry=False, block=4096)
    return (count_matches(Graph.from_edges(SQUARE), undirected(graph), search=search, **options).count,)


def census(graph: Graph, **options: Any) -> Any:
    found = jaxmotif.subgraph_census(graph, 4 if graph.m < 500 else 3, per_node=True, **options)
    return list(found.classes), found.counts, found.per_node


def motifs(graph: Graph, **options: Any) -> Any:
    found = jaxmotif.find_motifs(graph, 3, 24, 1, attempts=5, **options)
    return list(found.classes), found.counts, found.random_counts, found.significance.z


def sieve(graph: Graph, **options: Any) -> Any:
    colors = np.random.default_rng(5).choice(["red", "blue", "green"], graph.n).tolist()
    motif = {"red": 4, "blue": 3, "green": 2}
    found = jaxmotif.find_color_motif(undirected(graph), colors, motif, 0, limit=2, error=1e-3, **options)
    return found.vertices, found.matches, found.repetitions


def estimates(graph: Graph, **options: Any) -> Any:
    found = jaxmotif.estimate_census(graph, 4, 300_000, key=3, **options)
    return list(found.names), found.counts, found.hits


JOBS = {job.__name__: job for job in (graphlets, five, matching, census, motifs, sieve, estimates)}
NETWORKS = {
    "undirected": ["karate", "celegans_metabolic", "power"],
    "directed": [
        "foodweb_chesapeake",
        "social_prison67",
        "elec_s420",
        "ecoli_alon423",
        "foodweb_stmarks",
        "yeast",
        "foodweb_florida",
    ],
}
jobs_option = option("--jobs", type=words, default=list(JOBS), help="some of graphlets, five, matching, ...")


def undirected(graph: Graph) -> Graph:
    """Return a graph without directions."""
    return Graph.from_edges(graph.edge_list(), num_nodes=graph.n) if graph.directed else graph


def bits_of(job: str, graph: Graph, **options: Any) -> str:
    """Return a name for a job's result, down to the last bit."""
    return fingerprint(*JOBS[job](graph, **options))[:12]


@rows(
    jobs_option,
    option("--workers", type=numbers, default=[1, 2, 3]),
    option("--networks", type=words, default=[*NETWORKS["undirected"], *NETWORKS["directed"]], help="some of the ten"),
)
def bits(options: argparse.Namespace) -> None:
    """Compare the results of all jobs on ten networks with those of one process; they must be the same bytes."""
    read = dict.fromkeys(NETWORKS["undirected"], harness.undirected) | dict.fromkeys(
        NETWORKS["directed"], harness.directed
    )
    graphs = {name: read[name](options.data, name) for name in options.networks}
    table = Table("workers | job | networks | the same bytes | other bytes | seconds")
    with tempfile.TemporaryDirectory() as folder:
        # Workers find the programs that this process has compiled.
        jaxmotif.keep_compiled(folder)
        os.environ["JAXMOTIF_CACHE"] = folder
        alone = {(job, name): bits_of(job, graph) for job in options.jobs for name, graph in graphs.items()}
        for count in options.workers:
            with cluster(count) as (_, workers):
                for job in options.jobs:
                    started = time.monotonic()
                    same = [bits_of(job, graph, devices=workers) == alone[job, name] for name, graph in graphs.items()]
                    other = [name for name, is_same in zip(graphs, same, strict=True) if not is_same]
                    seconds = time.monotonic() - started
                    table.row(count, job, len(graphs), sum(same), ", ".join(other) or "none", seconds)


@rows(jobs_option, option("--times", type=int, default=20), option("--slow", type=float, default=0.1))
def kills(options: argparse.Namespace) -> None:
    """Kill one of two workers (kill -9) at a random moment of each job, and start another; at most 3 units are redone.

    Each unit takes --slow seconds longer, so that there are moments enough.
    """
    graph = harness.directed(options.data, "social_prison67")
    table = Table("job | calls with a kill | the same bytes | units done twice, most and mean | by newcomers | seconds")
    with cluster(2, options.slow) as (machines, workers):
        for job in options.jobs:
            expected, moments = bits_of(job, graph), random.Random(job)
            bits_of(job, graph, devices=workers)
            started = time.monotonic()
            same = bits_of(job, graph, devices=workers) == expected
            usual = time.monotonic() - started
            again, newcomers, taken = [], 0, []
            for _ in range(options.times):
                machines.units.unlink(missing_ok=True)
                acting = threading.Thread(target=kill_one, args=(machines, usual * moments.random(), moments))
                started = time.monotonic()
                acting.start()
                try:
                    same &= bits_of(job, graph, devices=workers) == expected
                except ClusterError as error:
                    print(f"{job}: {error}", flush=True)
                    same = False
                taken.append(time.monotonic() - started)
                acting.join()
                begun = collections.Counter(tuple(unit[1:]) for unit in machines.begun())
                again.append(sum(begun.values()) - len(begun))
                newcomers += any(unit[0] == str(machines.workers[-1].pid) for unit in machines.begun())
            redone = f"{max(again)}, {np.mean(again):.1f}"
            table.row(job, options.times, same, redone, newcomers, f"{usual:.1f} to {max(taken):.1f}")


def kill_one(machines: Machines, seconds: float, moments: random.Random) -> None:
    """Kill a worker after some seconds, and start another."""
    time.sleep(seconds)
    victim = machines.workers.pop(moments.randrange(len(machines.workers)))
    victim.kill()
    victim.wait()
    machines.add_worker()


def long_call(seconds: float) -> Callable[..., Any]:
    """Return a census of five nodes in a random graph that takes one core some seconds or so."""
    nodes = int(1350 * seconds)
    graph = synthetic.erdos_renyi(nodes, m=8 * nodes, seed=1)
    return functools.partial(jaxmotif.subgraph_census, graph, 5)


@rows(option("--seconds", type=numbers, default=[2, 60]), option("--calls", type=int, default=3))
def speed(options: argparse.Namespace) -> None:
    """Time one worker on a core of its own against two; aims: 1.8 times on a minute of work, 1.3 on two seconds.

    The best of some calls after a first one. Load is that of the last minute; wall times need two idle cores. CPU
    seconds are those of all workers, and of the one that had most: others on the machine hardly change them.
    """
    table = Table("about | one worker s | two workers s | times | CPU s: one, both, the busier | times by CPU | load")
    for seconds in options.seconds:
        walls, cpus = [], []
        for count in (1, 2):
            with cluster(count, pinned=True) as (machines, workers):
                call = functools.partial(long_call(seconds), devices=workers)
                call()
                best: list[tuple[float, list[float]]] = []
                for _ in range(options.calls):
                    before, started = machines.cpu_seconds(), time.monotonic()
                    call()
                    wall = time.monotonic() - started
                    best.append((wall, [b - a for a, b in zip(before, machines.cpu_seconds(), strict=True)]))
                walls.append(min(wall for wall, _ in best))
                cpus.append(min((each for _, each in best), key=max))
        one, two = cpus
        spent = f"{one[0]:.2f}, {sum(two):.2f}, {max(two):.2f}"
        table.row(f"{seconds} s", *walls, walls[0] / walls[1], spent, one[0] / max(two), os.getloadavg()[0])


@rows(option("--calls", type=int, default=9))
def added(options: argparse.Namespace) -> None:
    """Time what a cluster of two workers adds to short calls: at most 0.2 s to a later one, 2 s to a first one.

    A first call is a command, so a new process, which is given workers that have done nothing; all find their programs
    compiled. The least of three commands, for 34 nodes, and of several later calls of one process, for 67 nodes.
    """
    graph = harness.directed(options.data, "social_prison67")
    table = Table("job | first call s: alone, on workers, added | later calls ms: alone, on workers, added | load")
    with harness.empty_cache() as cache:
        os.environ.update(cache)
        for job in ("census", "graphlets"):
            command = [sys.executable, "-m", "jaxmotif", job, "karate", "--quiet"]
            firsts, on_workers = [seconds_of(command) for _ in range(4)][1:], []
            for _ in range(4):
                with cluster(2) as (machines, _):
                    on_workers.append(seconds_of([*command, "--cluster", str(machines.folder / "scheduler")]))
            first = f"{min(firsts):.2f}, {min(on_workers[1:]):.2f}, {min(on_workers[1:]) - min(firsts):.2f}"
            with cluster(2) as (_, workers):
                call = functools.partial(bits_of, job, graph)
                alone = 1000 * harness.measure(call, options.calls).best
                there = 1000 * harness.measure(functools.partial(call, devices=workers), options.calls).best
            table.row(job, first, f"{alone:.0f}, {there:.0f}, {there - alone:.0f}", os.getloadavg()[0])


def seconds_of(command: list[str]) -> float:
    """Return the seconds that a command takes."""
    started = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


if __name__ == "__main__":
    rows.main()
