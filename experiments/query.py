"""Queries in words against DotMotif with grandiso: the same answers, and how long they take.

    pip install dotmotif==0.18.0 && python experiments/query.py answers    # 30 queries on bundled networks
    python experiments/query.py speed                                       # on 100,000 edges

Attributes are drawn by a seed. Times are CPU seconds of all threads: of jaxmotif's ``find`` and ``count`` the least of
five, warm; of grandiso's ``find``, which is its ``count`` too, of one.
"""

import gc
import resource
import signal
import sys

import networkx as nx
import numpy as np

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
"""Matches; a Python dict of each takes memory."""

LIMIT = 120
"""Wall seconds after which grandiso is stopped."""

SPEED = (
    "A -> B; B -> C; C -> A",
    "A -> B; B -> C; A -> C; C !> A",
    'A -> B [weight > 50]; B -> C [type = "inhibitory"]; A !> C; A.kind = "KC"; C.kind = "PN"',
    'A -> B; B -> C; A -> C; A.kind = "KC"; B.size > C.size',
    "A -> B [weight > 50]; B -> C [weight > 50]; C -> D [weight > 50]; D -> A",
    'A -> B; A -> C; B -> D; C -> D; B !> C; C !> B; A.kind = "KC"; D.kind = "PN"',
    'A -> B; B -> C; C -> D; A !> D; A.size = 9; D.kind = "KC"',
)


def with_attributes(graph: nx.DiGraph, seed: int = 0) -> nx.DiGraph:
    rng = np.random.default_rng(seed)
    for node in graph:
        graph.nodes[node].update(kind=["KC", "PN", "MBON"][rng.integers(3)], size=int(rng.integers(1, 10)))
    for edge in graph.edges:
        graph.edges[edge].update(weight=int(rng.integers(1, 100)), type=["excitatory", "inhibitory"][rng.integers(2)])
    return graph


def rows(found: list[dict]) -> set[tuple]:
    return {tuple(sorted(match.items())) for match in found}


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(call):
    started = cpu_seconds()
    result = call()
    return result, cpu_seconds() - started


def answers() -> None:
    from dotmotif import GrandIsoExecutor, Motif  # pyright: ignore[reportMissingImports]

    import jaxmotif
    from jaxmotif import datasets
    from jaxmotif.compat.dotmotif import JaxmotifExecutor

    for name, nodes in (("celegans", 80), ("celegans-gap", 253), ("karate", 34)):
        whole = nx.DiGraph(datasets.load(name).to_networkx())  # an undirected edge is two arcs
        chosen = sorted(whole, key=whole.degree, reverse=True)[:nodes]  # grandiso takes long for all of celegans
        graph = with_attributes(nx.DiGraph(whole.subgraph(chosen)))
        ours, theirs = JaxmotifExecutor(graph=graph), GrandIsoExecutor(graph=graph)
        for text in MOTIFS:
            motif = Motif(text)
            found, known = ours.find(motif), theirs.find(motif)
            assert len(found) == len(known) == ours.count(motif), (name, text, len(found), len(known))
            assert rows(found) == rows(known), (name, text)
            named = jaxmotif.query(text, graph)
            assert rows([dict(zip(named.names, row, strict=True)) for row in named.nodes.tolist()]) == rows(known), text
            print(f"| {name} | `{text}` | {len(found)} |", flush=True)


def skewed(nodes: int, edges: int) -> nx.DiGraph:
    """Arcs between nodes that are drawn as often as their rank to the power -0.7 says: a few hubs, many with few."""
    rng = np.random.default_rng(1)
    weights = np.arange(1, nodes + 1) ** -0.7
    ends = rng.choice(nodes, (3 * edges, 2), p=weights / weights.sum())
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(list(dict.fromkeys((u, v) for u, v in ends.tolist() if u != v))[:edges])
    return graph


def speed() -> None:
    networks = {
        "even, 20,000 nodes": nx.gnm_random_graph(20_000, 100_000, seed=1, directed=True),
        "even, 3,000 nodes": nx.gnm_random_graph(3_000, 100_000, seed=1, directed=True),
        "hubs, 20,000 nodes": skewed(20_000, 100_000),
    }
    for name, graph in networks.items():
        with_attributes(graph)
        assert graph.number_of_edges() == 100_000
        for text in SPEED:
            compare(name, graph, text)


def compare(name: str, graph: nx.DiGraph, text: str) -> None:
    from dotmotif import GrandIsoExecutor, Motif  # pyright: ignore[reportMissingImports]

    from jaxmotif.compat.dotmotif import JaxmotifExecutor

    ours, theirs, motif = JaxmotifExecutor(graph=graph), GrandIsoExecutor(graph=graph), Motif(text)
    gc.collect()
    gc.freeze()  # or the collector looks through the network again and again while matches are listed, for both
    count = ours.count(motif)
    count_cpu = min(timed(lambda: ours.count(motif))[1] for _ in range(5))
    found, shown, find_cpu = None, "too many to list", float("inf")
    if count <= MOST_LISTED:
        found = ours.find(motif)
        assert count == len(found)
        find_cpu = min(timed(lambda: ours.find(motif))[1] for _ in range(5))
        shown = f"{find_cpu:.3f}"
    signal.alarm(LIMIT)
    started, over = cpu_seconds(), ""
    try:
        known = theirs.find(motif)
    except TimeoutError:
        over, known = "over ", None
    signal.alarm(0)
    their_cpu = cpu_seconds() - started
    if known is not None:
        assert found is not None, "grandiso lists what was thought too much"
        assert rows(found) == rows(known), text
    ratios = f"{their_cpu / find_cpu:.0f}, {their_cpu / count_cpu:.0f}"
    print(f"| {name} | `{text}` | {count} | {shown} | {count_cpu:.3f} | {over}{their_cpu:.2f} | {ratios} |", flush=True)


def give_up(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, give_up)
    {"answers": answers, "speed": speed}[sys.argv[1]]()
