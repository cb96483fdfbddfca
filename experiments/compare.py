"""Two checkouts beside each other on one machine: the public calls of every job, by turns, with equal results first.

    python experiments/compare.py BEFORE AFTER [--data FOLDER] [--jobs graphlets,...] [--rounds 6] [--small]

BEFORE and AFTER are folders that hold a `jaxmotif` package. Each has a process of its own for a job. They take turns at
every row, a few calls each time, because a machine may change its speed by a half from one minute to the next: a figure
is the least of all warm calls, in milliseconds, result on the host. `first` is the first call of a process, which
compiles. The ratio is the last checkout's figure over the first one's.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import directed, instance, undirected, words

# jaxmotif is imported in the rows alone, whose processes take it from one of the two folders.
Call = Callable[[], Any]
Calls = Iterator[tuple[str, Call]]


def whole(found: Any) -> Any:
    """Return a table in NumPy, whichever way a checkout holds it."""
    return found.to_numpy() if hasattr(found, "to_numpy") else found.values


def graphlets(data: Path, small: bool) -> Calls:
    """Yield counts in a graph, at edges and at nodes."""
    import jaxmotif
    from jaxmotif.graph import synthetic

    for name in ("email-Enron",) if small else ("email-Enron", "web-cnr-2000"):
        graph = undirected(data, name)
        yield f"counts {name}", lambda graph=graph: jaxmotif.graphlet_counts(graph).counts
        yield f"per edge {name}", lambda graph=graph: whole(jaxmotif.edge_graphlets(graph))
        yield f"per node {name}", lambda graph=graph: whole(jaxmotif.node_orbits(graph))
    graph = synthetic.rmat(12 if small else 20, 8, seed=1, isolated="drop", pad="bucket")
    yield "counts R-MAT", lambda: jaxmotif.graphlet_counts(graph).counts
    name = "karate" if small else "socfb-MIT8"
    five = undirected(data, name)
    yield f"per node {name}, 5 nodes", lambda: whole(jaxmotif.node_orbits(five, size=5))


def matching(data: Path, small: bool) -> Calls:
    """Yield counts and lists of hard queries."""
    import jaxmotif

    try:  # what searches by visiting every match is an advanced option, which has had two spellings
        from jaxmotif.matching import Search  # pyright: ignore[reportAttributeAccessIssue]

        listing: dict[str, Any] = {"search": Search(leaves=False, symmetry=False)}
    except ImportError:
        listing = {"leaves": False, "symmetry": False}
    for name, (matches, *_) in harness.HARD_QUERIES.items():
        if small and matches > 10**8:
            continue
        query, target = instance(data, name)
        yield f"count {name}", lambda q=query, t=target: jaxmotif.count_matches(q, t).count
        if not small and matches < 2e10:
            yield f"list {name}", lambda q=query, t=target: jaxmotif.count_matches(q, t, **listing).count


def gmatch(data: Path, small: bool) -> Calls:
    """Yield counts of the labelled queries of gMatch's own test."""
    import jaxmotif

    known = harness.verified(data, "labelled", "gmatch_github_16labels/expected.json")["matches"]
    for name in list(known)[:2] if small else known:
        query, target = instance(data, f"gmatch_github_16labels/{name}")
        yield f"count {name}", lambda q=query, t=target: jaxmotif.count_matches(q, t).count


def motifs(data: Path, small: bool) -> Calls:
    """Yield a census, random graphs and discoveries."""
    import jax

    import jaxmotif

    yeast, ppi = (directed(data, name) for name in ("yeast", "yeastppi_listed"))
    size = 4 if small else 6
    yield f"census yeastppi k={size}", lambda: jaxmotif.subgraph_census(ppi, size).as_dict()
    key = jax.random.key(0)
    yield "null model yeast", lambda: len(jaxmotif.random_graphs(yeast, 100 if small else 1000, key))
    for size, number in ((3, 100),) if small else ((4, 1000), (6, 1000)):
        yield f"motifs yeast k={size}", lambda k=size, r=number: jaxmotif.find_motifs(yeast, k, r, key).counts


def sieve(data: Path, small: bool) -> Calls:
    """Yield a color search."""
    import jaxmotif
    from jaxmotif.graph import synthetic

    size = 10 if small else 20
    graph = synthetic.random_regular(1 << 10, 20, seed=1)
    colors = np.random.default_rng(0).integers(0, size, 1 << 10).tolist()
    motif = dict.fromkeys(range(size), 1)
    yield f"sieve k={size}", lambda: np.asarray(jaxmotif.find_color_motif(graph, colors, motif, 0, limit=0).vertices)


JOBS = {"graphlets": graphlets, "matching": matching, "gmatch": gmatch, "motifs": motifs, "sieve": sieve}


def digest(value: Any) -> str:
    """Return a short name of a result."""
    if isinstance(value, np.ndarray):  # whole numbers, in int64 whatever they came in
        text = np.ascontiguousarray(value.astype(np.int64)).tobytes()
    else:
        text = repr(sorted(value.items()) if isinstance(value, dict) else value).encode()
    return hashlib.sha256(text).hexdigest()[:12]


def work(job: str, options: argparse.Namespace) -> None:
    """Time one job's calls in this process: a row's first call and each of its turns when a line comes in."""
    for name, call in JOBS[job](options.data, options.small):
        sys.stdin.readline()
        result, first, _ = harness.once(call)
        harness.tell(name=name, first=1e3 * first, result=digest(result))
        for _ in range(options.rounds):
            sys.stdin.readline()
            timing = harness.measure(call, calls=4, seconds=options.seconds / options.rounds)
            harness.tell(warm=1e3 * timing.best)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("trees", nargs="+", type=Path)
parser.add_argument("--jobs", type=words, default=list(JOBS), metavar=",".join(JOBS))
parser.add_argument("--rounds", type=int, default=6)
parser.add_argument("--seconds", type=float, default=2.0, help="for the warm calls of a row")
parser.add_argument("--small", action="store_true")
parser.add_argument("--worker", help=argparse.SUPPRESS)
harness.add_common(parser)


def turn(worker: subprocess.Popen[str]) -> dict[str, Any]:
    """Let a worker make its next calls, and return what it tells of them: nothing where it has ended."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        print(file=worker.stdin, flush=True)
    for line in worker.stdout:
        if line.startswith("{"):
            return json.loads(line)
    return {}


def main(options: argparse.Namespace) -> None:
    """Run all jobs in all checkouts, and report row by row."""
    for job in options.jobs:
        workers = []
        for tree in options.trees:
            given = [tree, "--worker", job, "--data", options.data.resolve(), "--seconds", options.seconds]
            given += ["--rounds", options.rounds, *["--small"] * options.small]
            # Both are on the device at once, so that neither may take all of its memory.
            environment = {"PYTHONPATH": str(tree.resolve()), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
            workers.append(harness.start_worker(*given, environment=environment, stdin=subprocess.PIPE))
        while all(firsts := [turn(worker) for worker in workers]):
            turns = [[turn(worker) for worker in workers] for _ in range(options.rounds)]
            if not all(map(all, turns)):
                break
            report(firsts, [min(told["warm"] for told in of_tree) for of_tree in zip(*turns, strict=True)])
        for worker in workers:
            worker.communicate()
        if any(firsts) or any(worker.returncode for worker in workers):
            sys.exit(f"{job}: a checkout failed")


def report(firsts: list[dict[str, Any]], warm: list[float]) -> None:
    """Print first and warm ms of each checkout, and what the last one's warm calls are of the first one's."""
    cells = [f"{told['first']:9.0f} {least:9.2f}" for told, least in zip(firsts, warm, strict=True)]
    same = "same" if len({told["result"] for told in firsts}) == 1 else "DIFFERENT"
    print(f"{firsts[0]['name']:46s} | " + " | ".join(cells) + f" | {warm[-1] / warm[0]:.3f} {same}", flush=True)


if __name__ == "__main__":
    given = parser.parse_args()
    if given.worker:
        sys.exit(work(given.worker, given))
    harness.run(main, given, workers=True)
