"""Two checkouts beside each other on one machine: the public calls of every job, in turn, with equal results first.

    python experiments/compare.py BEFORE AFTER [--data FOLDER] [--jobs graphlets,...] [--rounds 2] [--small]

BEFORE and AFTER are folders that hold a `jaxmotif` package. Each runs in processes of its own, one after the other, for
a number of rounds; a figure is the least of all warm calls, in milliseconds, result on the host. `first` is the first
call of a process, which compiles.
"""

from __future__ import annotations

import argparse
import hashlib
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


def matching(data: Path, small: bool) -> Calls:
    """Yield counts and lists of hard queries."""
    import jaxmotif

    try:  # what searches by visiting every match is an advanced option, which has had two spellings
        from jaxmotif.matching import Search  # pyright: ignore[reportAttributeAccessIssue]

        listing: dict[str, Any] = {"search": Search(leaves=False, symmetry=False)}
    except ImportError:
        listing = {"leaves": False, "symmetry": False}
    names = ["graemlin_helicobacter_L2derived/sparse_e4_0", "graemlin_helicobacter_L8derived/semi_e16_0"]
    if not small:
        names += ["graemlin_helicobacter_L1/semi_e8_0", "string_yeast_u32/sparse_e8_0", "cmap_1a0g_a/sparse_e32_0"]
    for name in names:
        query, target = instance(data, name)
        yield f"count {name}", lambda q=query, t=target: jaxmotif.count_matches(q, t).count
        if not small:
            yield f"list {name}", lambda q=query, t=target: jaxmotif.count_matches(q, t, **listing).count


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


JOBS = {"graphlets": graphlets, "matching": matching, "motifs": motifs, "sieve": sieve}


def digest(value: Any) -> str:
    """Return a short name of a result."""
    if isinstance(value, np.ndarray):  # whole numbers, in int64 whatever they came in
        text = np.ascontiguousarray(value.astype(np.int64)).tobytes()
    else:
        text = repr(sorted(value.items()) if isinstance(value, dict) else value).encode()
    return hashlib.sha256(text).hexdigest()[:12]


def work(job: str, options: argparse.Namespace) -> None:
    """Time one job's calls in this process, and tell a line for each."""
    for name, call in JOBS[job](options.data, options.small):
        found = harness.measure(call, calls=12, seconds=options.seconds)
        harness.tell(name=name, first=1e3 * found.first, warm=1e3 * found.best, result=digest(found.result))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("trees", nargs="+", type=Path)
parser.add_argument("--jobs", type=words, default=list(JOBS), metavar=",".join(JOBS))
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("--seconds", type=float, default=2.0, help="for the warm calls of a row")
parser.add_argument("--small", action="store_true")
parser.add_argument("--worker", help=argparse.SUPPRESS)
harness.add_common(parser)


def main(options: argparse.Namespace) -> None:
    """Run all jobs in all checkouts, and report job by job."""
    for job in options.jobs:
        rows: dict[str, list[list[dict[str, Any]]]] = {}
        for _ in range(options.rounds):
            for place, tree in enumerate(options.trees):
                given = [tree, "--worker", job, "--data", options.data.resolve(), "--seconds", options.seconds]
                given += ["--small"] * options.small
                worker = harness.start_worker(*given, environment={"PYTHONPATH": str(tree.resolve())})
                output = worker.communicate()[0]
                if worker.returncode:
                    print(f"checkout {place + 1}: {job} failed", flush=True)
                for line in harness.json_lines(output):
                    rows.setdefault(line["name"], [[] for _ in options.trees])[place].append(line)
        report(rows)


def report(rows: dict[str, list[list[dict[str, Any]]]]) -> None:
    """Print first and warm ms of each checkout, and what the last one's warm calls are of the first one's."""
    for name, trees in rows.items():
        cells, least, results = [], [], {run["result"] for runs in trees for run in runs}
        for runs in trees:
            first, warm = (min((run[key] for run in runs), default=float("nan")) for key in ("first", "warm"))
            least.append(warm)
            cells.append(f"{first:9.0f} {warm:9.2f}")
        same = "same" if len(results) == 1 else "DIFFERENT"
        print(f"{name:46s} | " + " | ".join(cells) + f" | {least[-1] / least[0]:.3f} {same}", flush=True)


if __name__ == "__main__":
    given = parser.parse_args()
    if given.worker:
        sys.exit(work(given.worker, given))
    harness.run(main, given, workers=True)
