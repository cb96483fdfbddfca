"""Two checkouts beside each other on one machine: the public calls of every job, in turn, with equal results first.

    python experiments/compare.py BEFORE AFTER [--data FOLDER] [--jobs graphlets,...] [--rounds 2] [--small]

BEFORE and AFTER are folders that hold a `jaxmotif` package. Each runs in processes of its own, one after the other, in
so many rounds; a figure is the least of all warm calls, in milliseconds, result on the host. `first` is the first
call of a process, which compiles.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from networks import directed, instance, parse_with_data, undirected

Call = Callable[[], Any]


def whole(found: Any) -> Any:
    """A table in NumPy, whichever way a checkout holds it."""
    return found.to_numpy() if hasattr(found, "to_numpy") else found.values


def graphlets(data: Path, small: bool) -> Iterator[tuple[str, Call]]:
    import jaxmotif
    from jaxmotif.graph import synthetic

    for name in ("email-Enron",) if small else ("email-Enron", "web-cnr-2000"):
        graph = undirected(data, name)
        yield f"counts {name}", lambda graph=graph: jaxmotif.graphlet_counts(graph).counts
        yield f"per edge {name}", lambda graph=graph: whole(jaxmotif.edge_graphlets(graph))
        yield f"per node {name}", lambda graph=graph: whole(jaxmotif.node_orbits(graph))
    graph = synthetic.rmat(12 if small else 20, 8, seed=1, isolated="drop", pad="bucket")
    yield "counts R-MAT", lambda: jaxmotif.graphlet_counts(graph).counts


def matching(data: Path, small: bool) -> Iterator[tuple[str, Call]]:
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


def motifs(data: Path, small: bool) -> Iterator[tuple[str, Call]]:
    import jax

    import jaxmotif

    yeast, ppi = (directed(data, name) for name in ("yeast", "yeastppi_listed"))
    size = 4 if small else 6
    yield f"census yeastppi k={size}", lambda: jaxmotif.subgraph_census(ppi, size).as_dict()
    key = jax.random.key(0)
    yield "null model yeast", lambda: len(jaxmotif.random_graphs(yeast, 100 if small else 1000, key))
    for size, number in ((3, 100),) if small else ((4, 1000), (6, 1000)):
        yield f"motifs yeast k={size}", lambda k=size, r=number: jaxmotif.find_motifs(yeast, k, r, key).counts


def sieve(data: Path, small: bool) -> Iterator[tuple[str, Call]]:
    import numpy as np

    import jaxmotif
    from jaxmotif.graph import synthetic

    size = 10 if small else 20
    graph = synthetic.random_regular(1 << 10, 20, seed=1)
    colors = np.random.default_rng(0).integers(0, size, 1 << 10).tolist()
    motif = dict.fromkeys(range(size), 1)
    yield f"sieve k={size}", lambda: np.asarray(jaxmotif.find_color_motif(graph, colors, motif, 0, limit=0).vertices)


JOBS = {"graphlets": graphlets, "matching": matching, "motifs": motifs, "sieve": sieve}


def digest(value: Any) -> str:
    """A short name of a result."""
    import numpy as np

    if isinstance(value, np.ndarray):  # whole numbers, in int64 whatever they came in
        text = np.ascontiguousarray(value.astype(np.int64)).tobytes()
    else:
        text = repr(sorted(value.items()) if isinstance(value, dict) else value).encode()
    return hashlib.sha256(text).hexdigest()[:12]


def work(job: str, data: Path, small: bool, seconds: float) -> None:
    """Time one job's calls in this process; a JSON line each."""
    for name, call in JOBS[job](data, small):
        times: list[float] = []
        found = ""
        begun = time.perf_counter()
        while len(times) < 3 or (len(times) < 12 and time.perf_counter() - begun < seconds):
            clock = time.perf_counter()
            value = call()
            times.append(1e3 * (time.perf_counter() - clock))
            found = digest(value)
        print(json.dumps({"name": name, "first": times[0], "warm": min(times[1:]), "result": found}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0, help="for the warm calls of a row")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parse_with_data(parser)
    if args.worker:
        work(args.worker, args.data, args.small, args.seconds)
        return
    rows: dict[str, list[dict[str, Any]]] = {}
    for job in args.jobs.split(","):
        for _ in range(args.rounds):
            for place, tree in enumerate(args.trees):
                command = [sys.executable, __file__, str(tree), "--worker", job, "--data", str(args.data.resolve())]
                command += ["--seconds", str(args.seconds)] + ["--small"] * args.small
                done = subprocess.run(
                    command, env={**os.environ, "PYTHONPATH": str(tree.resolve())}, stdout=subprocess.PIPE, text=True
                )
                if done.returncode:
                    print(f"{tree}: {job} failed", flush=True)
                for line in done.stdout.splitlines():
                    row = json.loads(line)
                    rows.setdefault(row["name"], [{} for _ in args.trees])[place].setdefault("runs", []).append(row)
        report(rows)
        rows = {}


def report(rows: dict[str, list[dict[str, Any]]]) -> None:
    """A line for each call: first and warm milliseconds of each checkout, and what warm ones are of the first's."""
    for name, trees in rows.items():
        cells, least, results = [], [], set()
        for tree in trees:
            runs = tree.get("runs", [])
            warm = min((r["warm"] for r in runs), default=float("nan"))
            least.append(warm)
            results |= {r["result"] for r in runs}
            cells.append(f"{min((r['first'] for r in runs), default=float('nan')):9.0f} {warm:9.2f}")
        same = "same" if len(results) == 1 else "DIFFERENT"
        print(f"{name:46s} | " + " | ".join(cells) + f" | {least[-1] / least[0]:.3f} {same}", flush=True)


if __name__ == "__main__":
    main()
