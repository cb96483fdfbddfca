"""Queries in words against DotMotif with grandiso: the same answers, and how long they take.

    pip install dotmotif==0.18.0
    python experiments/query.py answers    # 31 queries on bundled networks
    python experiments/query.py speed      # on 100,000 edges
    python experiments/query.py suite      # DotMotif's own tests with jaxmotif's executor

Attributes are drawn by a seed. Times are CPU seconds of all threads.
"""

from __future__ import annotations

import argparse
import gc
import signal
import subprocess
import sys
import tarfile
import tempfile
import types
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Rows, Table, measure, option

import jaxmotif
from jaxmotif import datasets
from jaxmotif.compat.dotmotif import JaxmotifExecutor

rows = Rows(__doc__)

MOTIFS = (
    "A -> B",
    "A -> B; B -> A",
    "A -> B; B -> C",
    "A -> B; B -> C; A -> C",
    "A -> B; B -> C; C -> A",
    "A -> B; C -> B; A !> C",
    "A -> B; B -> C; A !> C; C !> A",
    "A -> B; B -> C; A -> C; C !> B",
    "A -> B [weight > 70]",
    "A -> B [weight > 50]; B -> C [weight <= 20]",
    'A -> B; A.kind = "KC"',
    'A -> B; B -> C; A.kind = "KC"; C.kind != "PN"',
    "A -> B; A.size > 7; B.size < 3",
    "A -> B; A.size > B.size",
    "A -> B; B -> C; A.size = C.size",
    'A -> B [type = "inhibitory"]; B -> A',
    'A -> B [type = "inhibitory", weight >= 40]; B -> C [type != "inhibitory"]; A !> C',
    "A -> B as x; B -> C as y; x.weight > y.weight; A !> C",
    "A -> B as x; B -> A as y; x.weight >= y.weight",
    "A -> B; A -> C; B -> C; A.kind = B.kind",
    "A -> B; C -> B; A.kind contains K; C.size >= 5",
    "loop(x, y) { x -> y  y -> x }; loop(A, B); B -> C; C !> B",
    "A -> B; B -> C; C -> D; D -> A; A.size > 4",
    "A -> B [weight > 80]; B -> C [weight > 80]; C -> D [weight > 80]",
    "A -> B; B -> C; C -> A; A !> C",
    "A -> B; A -> C; A -> D; A.size = 9; B.size = 9; C.size = 9; D.size = 9",
    'A -> B; B -> C; A -> C; A.kind = "KC"; B.kind = "MBON"; C.kind = "PN"',
    "A -> B; C -> D; B -> D; A !> C; A.size > 8; D.size > 8; C.size > 8",
    "A -> B; A.kind != B.kind; B !> A",
    "edge(x, y) { x -> y as e  e.weight < 50 }; edge(A, B); edge(B, C); edge(A, C)",
    "A -> B; B -> A; A.kind = B.kind; A.size != B.size",
)
MOST_LISTED = 5_000_000
"""Matches that are listed at most; a Python dict of each takes memory."""
SPEED = (
    "A -> B; B -> C; C -> A",
    "A -> B; B -> C; A -> C; C !> A",
    'A -> B [weight > 50]; B -> C [type = "inhibitory"]; A !> C; A.kind = "KC"; C.kind = "PN"',
    'A -> B; B -> C; A -> C; A.kind = "KC"; B.size > C.size',
    "A -> B [weight > 50]; B -> C [weight > 50]; C -> D [weight > 50]; D -> A",
    'A -> B; A -> C; B -> D; C -> D; B !> C; C !> B; A.kind = "KC"; D.kind = "PN"',
    'A -> B; B -> C; C -> D; A !> D; A.size = 9; D.kind = "KC"',
)


def with_attributes(graph: Any, seed: int = 0) -> Any:
    """Draw a kind and a size for each node, a weight and a type for each edge."""
    rng = np.random.default_rng(seed)
    for node in graph:
        graph.nodes[node].update(kind=["KC", "PN", "MBON"][rng.integers(3)], size=int(rng.integers(1, 10)))
    for edge in graph.edges:
        graph.edges[edge].update(weight=int(rng.integers(1, 100)), type=["excitatory", "inhibitory"][rng.integers(2)])
    return graph


def as_set(found: list[dict]) -> set[tuple]:
    """Return matches as a set, to compare them whatever their order."""
    return {tuple(sorted(match.items())) for match in found}


def executors(graph: Any) -> tuple[Any, Any]:
    """Return jaxmotif's executor and grandiso's, of one network."""
    from dotmotif import GrandIsoExecutor  # pyright: ignore[reportMissingImports]

    return JaxmotifExecutor(graph=graph), GrandIsoExecutor(graph=graph)


@rows()
def answers(options: argparse.Namespace) -> None:
    """Compare the answers to 31 queries on three bundled networks with grandiso's."""
    import networkx as nx
    from dotmotif import Motif  # pyright: ignore[reportMissingImports]

    table = Table("network | query | matches")
    for name, nodes in (("celegans", 80), ("celegans-gap", 253), ("karate", 34)):
        whole = nx.DiGraph(datasets.load(name).to_networkx())  # an undirected edge is two arcs
        chosen = sorted(whole, key=whole.degree, reverse=True)[:nodes]  # grandiso takes long for all of celegans
        graph = with_attributes(nx.DiGraph(whole.subgraph(chosen)))
        ours, theirs = executors(graph)
        for text in MOTIFS:
            motif = Motif(text)
            found, known = ours.find(motif), theirs.find(motif)
            harness.check(f"{name}, {text}, matches", (len(found), ours.count(motif)), (len(known), len(known)))
            named = jaxmotif.query(text, graph)
            listed = [dict(zip(named.names, row, strict=True)) for row in named.nodes.tolist()]
            for one in (found, listed):
                harness.check(f"{name}, {text}, differences", as_set(one) ^ as_set(known), set())
            table.row(name, f"`{text}`", len(found))


def skewed(nodes: int, edges: int) -> Any:
    """Draw arcs between nodes that are met as often as their rank to the power -0.7 says: a few hubs, many with few."""
    import networkx as nx

    rng = np.random.default_rng(1)
    weights = np.arange(1, nodes + 1) ** -0.7
    ends = rng.choice(nodes, (3 * edges, 2), p=weights / weights.sum())
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(list(dict.fromkeys((u, v) for u, v in ends.tolist() if u != v))[:edges])
    return graph


@rows(option("--limit", type=int, default=120, help="wall seconds after which grandiso is stopped"))
def speed(options: argparse.Namespace) -> None:
    """Time queries on 100,000 edges: jaxmotif's ``find`` and ``count``, the least of five, warm, and grandiso's, once.

    grandiso's ``find`` is its ``count``, too. The bar is 50 times as fast.
    """
    import networkx as nx

    signal.signal(signal.SIGALRM, give_up)
    networks = {
        "even, 20,000 nodes": nx.gnm_random_graph(20_000, 100_000, seed=1, directed=True),
        "even, 3,000 nodes": nx.gnm_random_graph(3_000, 100_000, seed=1, directed=True),
        "hubs, 20,000 nodes": skewed(20_000, 100_000),
    }
    table = Table("network | query | matches | find | count | grandiso | grandiso / find, / count")
    for name, graph in networks.items():
        harness.check(f"{name}, edges", with_attributes(graph).number_of_edges(), 100_000)
        for text in SPEED:
            table.row(name, f"`{text}`", *times(graph, text, options.limit))


def times(graph: Any, text: str, limit: int) -> list[Any]:
    """Return the cells of a query: matches, seconds and ratios."""
    from dotmotif import Motif  # pyright: ignore[reportMissingImports]

    (ours, theirs), motif = executors(graph), Motif(text)
    gc.collect()
    gc.freeze()  # or the collector looks through the network again and again while matches are listed, for both
    counted = measure(lambda: ours.count(motif), calls=5)
    found, shown, find_cpu = None, "too many to list", float("inf")
    if counted.result <= MOST_LISTED:
        listed = measure(lambda: ours.find(motif), calls=5)
        found, find_cpu, shown = listed.result, listed.cpu, f"{listed.cpu:.3f}"
        harness.check(f"{text}, matches", len(found), counted.result)
    known: list[dict] | None = None

    def grandiso() -> None:
        nonlocal known
        signal.alarm(limit)
        try:
            known = theirs.find(motif)
        except TimeoutError:
            known = None
        signal.alarm(0)

    _, _, their_cpu = harness.once(grandiso)
    if known is not None and found is not None:
        harness.check(f"{text}, differences", as_set(found) ^ as_set(known), set())
    their = f"{'over ' if known is None else ''}{their_cpu:.2f}"
    ratios = f"{their_cpu / find_cpu:.0f}, {their_cpu / counted.cpu:.0f}"
    return [counted.result, shown, f"{counted.cpu:.3f}", their, ratios]


def give_up(*_: object) -> None:
    """Stop what takes longer than the alarm."""
    raise TimeoutError


# ---- DotMotif's own tests


SUITE = (
    "executors/test_grandisoexecutor.py",
    "executors/test_networkxexecutor.py",
    "tests/test_multigraphs.py",
    "tests/test_dm_flags.py",
    "parsers/v2/test_v2_parser.py",
    "validators/test_dm_illegal_operators.py",
)


def fetch(folder: Path) -> list[Path]:
    """Fetch DotMotif's tests, beside each other, so that they import the DotMotif that is installed."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    subprocess.run([*pip, "dotmotif==0.14.0"], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(folder / "source", filter="data")
    found = []
    for name in SUITE:
        copy = folder / Path(name).name
        copy.write_bytes((folder / "source" / "dotmotif-0.14.0" / "dotmotif" / name).read_bytes())
        found.append(copy)
    return found


@rows(option("--theirs", action="store_true", help="with DotMotif's own executors"))
def suite(options: argparse.Namespace) -> None:
    """Run DotMotif's own tests with its two executors for graphs in memory replaced by jaxmotif's.

    The tests are of the source package of DotMotif 0.14.0, the last one looked at that holds tests, which pip fetches:
    executors, flags and multigraphs, against the installed DotMotif.
    """
    import pytest

    neo4j = types.ModuleType("py2neo")  # of which some tests import a name, and no more
    neo4j.__dict__["Graph"] = None
    sys.modules.setdefault("py2neo", neo4j)
    with tempfile.TemporaryDirectory() as place:
        files = fetch(Path(place))
        if not options.theirs:
            replace_executors()
        words = ["-q", "-p", "no:cacheprovider", "-n", "0", "-W", "ignore", "--rootdir", place]
        sys.exit(pytest.main([*words, *map(str, files)]))


def replace_executors() -> None:
    """Put jaxmotif's executor in the place of DotMotif's, wherever tests import them from."""
    import dotmotif  # pyright: ignore[reportMissingImports]
    import dotmotif.executors  # pyright: ignore[reportMissingImports]

    for name in ("NetworkXExecutor", "GrandIsoExecutor"):
        for module in (dotmotif, dotmotif.executors, sys.modules[f"dotmotif.executors.{name}"]):
            setattr(module, name, JaxmotifExecutor)


if __name__ == "__main__":
    rows.main()
