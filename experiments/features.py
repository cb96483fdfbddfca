"""Features: many small graphs, the nodes of one, similarities of nodes, and networkx's functions through the backend.

    python experiments/features.py ROW [--data FOLDER]

Results are checked first: a sample of molecules by backtracking, email-Enron by the stored counts of its graphlets,
similarities by NumPy, the triadic census by networkx. Times are seconds; lines with a dash are parts of those above.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import networkx as nx
import numpy as np
from harness import SETS, Rows, Table, measure, option, small_graphs

import jaxmotif
from jaxmotif.features import Features, all_patterns, gdv_similarity, homomorphism_counts, pattern_features, spasm

# What is not public: how many orbits each orbit depends on, for the check of similarities.
from jaxmotif.features._compare import AFFECTED
from jaxmotif.graph import Graph, Graphs
from jaxmotif.graphlets import dense_node_orbits
from jaxmotif.patterns import GRAPHLET_NAMES, Pattern, automorphism_count, named_pattern
from tests.regular import families

rows = Rows(__doc__)

LABELLED = [
    Pattern.from_edges([(0, 1), (1, 2)], node_labels=[0, 1, 0]),
    Pattern.from_edges([(0, 1), (0, 2), (0, 3)], node_labels=[0, 1, 1, 2]),
    Pattern.from_edges([(0, 1), (1, 2), (2, 3)], node_labels=[2, 0, 0, 2]),
    Pattern.from_edges([(i, (i + 1) % 6) for i in range(6)], node_labels=[0] * 6),
    Pattern.from_edges([(i, (i + 1) % 5) for i in range(5)], node_labels=[0, 0, 0, 0, 1]),
]
ROLES = {"2-star": (2, 1), "triangle": (3, 3), "4-path": (5, 2), "3-star": (7, 1), "4-cycle": (8, 4)}
"""A role's orbit, and how many nodes of an occurrence have it."""


class Costs:
    """A table of calls: what the first one compiles, and the best of up to three more."""

    def __init__(self) -> None:
        self._table = Table("what | first call, s | compiling, s | programs | wall, s | CPU, s | aim, s")

    def row(
        self, name: str, call: Callable[[], Any], aim: str = "", check: Callable[[Any], None] | None = None
    ) -> None:
        """Measure a call; what the first one gave is checked before the others are timed."""
        found = measure(call, seconds=4, check=check)
        times = f"{found.best:.4f}", f"{found.cpu:.3f}"
        self._table.row(name, f"{found.first:.2f}", f"{found.compiling:.2f}", found.programs, *times, aim)


# ---- many graphs


@rows(option("--small", action="store_true", help="a hundredth of the graphs"))
def batches(options: argparse.Namespace) -> None:
    """Time many small graphs, from edge arrays to the results of all of them, in CPU seconds, one public call each."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    jobs: dict[str, Callable[[Any], Any]] = {
        "built": Graphs.from_edges,
        "17 counts": jaxmotif.graphlet_counts,
        "15 orbits of each node": jaxmotif.node_orbits,
        "17 columns of each edge": jaxmotif.edge_graphlets,
        "classes of 4 nodes": lambda given: jaxmotif.subgraph_census(given, 4),
        "triangles by matching": lambda given: jaxmotif.count_matches("triangle", given),
        "rings of six by matching": lambda given: jaxmotif.count_matches(ring, given),
    }
    table = Table("graphs | from edge arrays to | first call | second call | programs")
    for title, (count, *sizes) in SETS.items():
        given = small_graphs(count // 100 if options.small else count, *sizes)
        for label, job in jobs.items():
            found = measure(partial(job, given), calls=1)
            table.row(title, label, f"{found.first_cpu:.2f}", f"{found.cpu:.2f}", found.programs)


def molecule_arrays(graphs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make trees of 10 to 39 nodes with two more edges each, as PyTorch Geometric holds a batch; and a label a node."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 40, graphs)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    child = np.flatnonzero(place > 0)
    parent = child - 1 - rng.integers(0, np.minimum(4, place[child]))
    first = np.repeat(starts[:-1], 2)
    more = first[:, None] + rng.integers(0, np.repeat(sizes, 2)[:, None], (2 * graphs, 2))
    return np.concatenate([np.stack([parent, child], 1), more]).T, starts, rng.integers(0, 3, starts[-1])


def backtracked(pattern: Pattern, graph: Graph) -> int:
    """Count induced occurrences of a connected pattern, map by map."""
    near = Pattern.from_graph(graph).adjacency
    wanted, labels = pattern.node_labels, graph.node_labels

    def fits(images: list[int], v: int) -> bool:
        i = len(images)
        same = wanted is None or labels is None or labels[v] == wanted[i]
        return same and v not in images and all(near[v, w] == pattern.adjacency[i, j] for j, w in enumerate(images))

    def count(images: list[int]) -> int:
        if len(images) == pattern.num_nodes:
            return 1
        return sum(count([*images, v]) for v in range(graph.n) if fits(images, v))

    return count([]) // automorphism_count(pattern)


@rows(option("--graphs", type=int, default=100_000))
def molecules(options: argparse.Namespace) -> None:
    """Time the features of molecule-like graphs from one edge array; the bar on an H200 is 3 s for 100,000."""
    edge_index, ptr, labels = molecule_arrays(options.graphs)
    sample = min(options.graphs, 20)
    inside = (edge_index < ptr[sample]).all(axis=0)
    few = Graphs.from_edge_index(edge_index[:, inside], ptr[: sample + 1], node_labels=labels[: ptr[sample]])

    def build() -> Graphs:
        return Graphs.from_edge_index(edge_index, ptr, node_labels=labels)

    def features(graphs: Graphs) -> list[np.ndarray]:
        orbits = jaxmotif.node_orbits(graphs).values
        counts = np.asarray(jaxmotif.graphlet_counts(graphs))
        return [counts, np.add.reduceat(orbits, graphs.node_starts[:-1]), pattern_features(graphs, LABELLED).values]

    def check(found: list[np.ndarray]) -> None:
        counts, orbits, labelled = found
        for i, graph in enumerate(few):
            harness.check(f"graph {i}", labelled[i].tolist(), [backtracked(pattern, graph) for pattern in LABELLED])
            for name, (orbit, nodes) in ROLES.items() if i < 10 else ():
                expected = backtracked(named_pattern(name, directed=False), graph)
                harness.check(f"graph {i}, {name}", counts[i, GRAPHLET_NAMES.index(name)], expected)
                harness.check(f"graph {i}, orbit of {name}", orbits[i, orbit], nodes * expected)

    costs = Costs()
    what = f"{options.graphs} molecules: 17 counts, 15 orbits, 5 labelled patterns"
    costs.row(what, lambda: features(build()), "3", check)
    graphs = build()
    costs.row("- Graphs of the edge array", build)
    costs.row("- 17 counts", lambda: np.asarray(jaxmotif.graphlet_counts(graphs)))
    costs.row("- 15 orbits", lambda: jaxmotif.node_orbits(graphs).values)
    costs.row("- 5 labelled patterns", lambda: pattern_features(graphs, LABELLED))
    costs.row("5 labelled patterns at nodes", lambda: pattern_features(graphs, LABELLED, per="node"))


# ---- one graph


def zinc_graphs(data: Path) -> Graphs:
    """Read the 12,000 molecules of ZINC, without labels."""
    with zipfile.ZipFile(harness.data_folder(data, "molecules") / "zinc12k.zip") as archive:
        molecules = json.loads(archive.read("ZINC12k.json")).values()
    return Graphs.from_edges([np.array(molecule["edge_index"], np.int32).T for molecule in molecules])


def homomorphisms(pattern: Pattern, near: list[set[int]]) -> int:
    """Count the homomorphisms of a connected pattern into a graph, given by the neighbours of each node, map by map."""
    order = list(nx.dfs_preorder_nodes(nx.from_numpy_array(pattern.adjacency)))
    before = [[i for i, x in enumerate(order[:at]) if pattern.adjacency[x, y]] for at, y in enumerate(order)]

    def count(images: list[int]) -> int:
        if len(images) == len(order):
            return 1
        fit = [near[images[i]] for i in before[len(images)]]
        return sum(count([*images, v]) for v in (set.intersection(*fit) if fit else range(len(near))))

    return count([])


def check_orbits(graphs: Graphs, size: int, found: np.ndarray) -> None:
    """Check the orbits of 500 molecules of a data set against ORCA's."""
    from brute_force import by_orca

    for i in np.random.default_rng(0).choice(len(graphs), 500, replace=False).tolist():
        rows, edges = slice(*graphs.node_starts[i : i + 2]), graphs[i].edge_list()
        plain = nx.empty_graph(graphs[i].n)
        plain.add_edges_from(edges.tolist())
        harness.check(f"graph {i}", found[rows].tolist(), by_orca(plain, edges, size)[0].tolist())


def check_homomorphisms(graphs: Graphs, shapes: list[str], found: Features) -> None:
    """Check the counts of 200 molecules against all maps; those at nodes, of any role, add up to them."""
    patterns = [named_pattern(shape, directed=False) for shape in shapes]
    of = [shapes.index(column.split(":")[0]) for column in found.columns]
    for i in np.random.default_rng(0).choice(len(graphs), 200, replace=False).tolist():
        near = [set(np.flatnonzero(row).tolist()) for row in Pattern.from_graph(graphs[i]).adjacency]
        expected = [homomorphisms(pattern, near) for pattern in patterns]
        harness.check(f"graph {i}", found.values[found.graph == i].sum(axis=0).tolist(), [expected[at] for at in of])


@rows(option("--degree", type=int, default=4, help="largest degree, which is part of the program"))
def zinc(options: argparse.Namespace) -> None:
    """Orbits and homomorphism counts of the molecules of ZINC and NCI1, and a step of training inside ``jax.jit``.

    Aims: a step of 64 molecules with five nodes 8 ms of a CPU and 2 ms on an H200, and at most five times that of four
    nodes; each data set with five nodes, and with the patterns of MoSE, 1 s on an H200 and 20 CPU s. Checked are the
    orbits of 500 molecules of each set, and the homomorphisms of 200.
    """
    sets = {"ZINC": zinc_graphs(options.data), "NCI1": classified_graphs(options.data, "NCI1")[0]}
    costs = Costs()
    for size in (4, 5):
        batch = jax.tree.map(jax.numpy.asarray, sets["ZINC"].union(np.arange(64), pad="bucket"))
        weights = jax.numpy.full((15 if size == 4 else 73, 32), 0.01)
        step = jax.jit(jax.value_and_grad(partial(_loss, size=size, degree=options.degree)))
        costs.row(
            f"a step of 64 molecules, {size} nodes",
            lambda step=step, weights=weights, batch=batch: jax.block_until_ready(step(weights, batch)),
        )
    shapes = spasm("7-cycle", "8-cycle")  # what MoSE takes for molecules
    for name, graphs in sets.items():
        told = f"{name}, {len(graphs):,} molecules"
        for size in (4, 5):
            costs.row(
                f"{told}, orbits of {size} nodes",
                lambda graphs=graphs, size=size: jaxmotif.node_orbits(graphs, size=size).values,
                check=partial(check_orbits, graphs, size),
            )
        for per in ("graph", "node"):
            costs.row(
                f"{told}, homomorphisms of {len(shapes)} patterns, per {per}",
                lambda graphs=graphs, per=per: homomorphism_counts(graphs, shapes, per=per),
                check=partial(check_homomorphisms, graphs, shapes),
            )


@rows(option("--graphs", type=int, default=10_000, help="number of molecules"))
def gram(options: argparse.Namespace) -> None:
    """Gram matrices of the first molecules of ZINC by the kernels of jaxmotif.learn."""
    from jaxmotif.learn import GraphletKernel, WeisfeilerLehmanKernel

    graphs, costs = list(zinc_graphs(options.data))[: options.graphs], Costs()
    for kernel in (WeisfeilerLehmanKernel(), GraphletKernel(size=5)):
        costs.row(
            f"{len(graphs):,} molecules, {type(kernel).__name__}", lambda kernel=kernel: kernel.fit_transform(graphs)
        )


def _loss(weights: jax.Array, batch: Graph, size: int, degree: int) -> jax.Array:
    """Return a loss of a layer over the orbits of a union of molecules."""
    orbits = dense_node_orbits(batch, size=size, max_degree=degree).astype("float32")
    return (jax.numpy.tanh(jax.numpy.log1p(orbits) @ weights) ** 2).mean()


@rows(option("--network", default="email-Enron"))
def nodes(options: argparse.Namespace) -> None:
    """Time the 29 connected patterns of 3 to 5 nodes at the nodes of email-Enron; the bar on an H200 is 0.5 s."""
    graph = harness.undirected(options.data, options.network)
    known = harness.verified(options.data, "undirected", "graphlets5.json").get(options.network, {})
    sizes = {name: size for size in (3, 4, 5) for name in all_patterns(size)}

    def check(found: Features) -> None:
        sums = dict.fromkeys(sizes, 0)
        for column, total in zip(found.columns, found.values.sum(axis=0).tolist(), strict=True):
            sums[column.split(":")[0]] += total
        counts = {name: int(count) for name, count in known.get("counts", {}).items() if name in sizes}
        harness.check("sums over nodes", {name: sums[name] // sizes[name] for name in counts}, counts)

    costs = Costs()
    title = f"{len(sizes)} patterns of 3 to 5 nodes at {graph.n} nodes of {options.network}"
    costs.row(title, lambda: pattern_features(graph, list(sizes), per="node"), "0.5", check)
    costs.row("- 73 orbits on the device", lambda: jaxmotif.node_orbits(graph, size=5).on_device().block_until_ready())
    costs.row("- 73 orbits in NumPy", lambda: jaxmotif.node_orbits(graph, size=5).to_numpy())


@rows(option("--nodes", type=int, default=10_000))
def similarities(options: argparse.Namespace) -> None:
    """Time the similarity of the graphlet degree vectors of all pairs of nodes, drawn at random."""
    orbits = np.random.default_rng(0).integers(0, options.nodes, (options.nodes, 73))

    def check(found: jax.Array) -> None:
        some = orbits[:100].astype(np.float64)
        weights = 1 - np.log(AFFECTED) / np.log(73)
        apart = np.abs(np.log1p(some)[:, None] - np.log1p(some)[None])
        distance = weights * apart / np.log(np.maximum(some[:, None], some[None]) + 2)
        expected = 1 - distance.sum(axis=2) / weights.sum()
        np.testing.assert_allclose(np.asarray(found[:100, :100]), expected, atol=1e-5)

    what = f"GDV similarity of {options.nodes} x {options.nodes} nodes, on the device"
    Costs().row(what, lambda: gdv_similarity(orbits), check=check)


@rows(option("--network", default="polblogs", help="a directed one"))
def networkx(options: argparse.Namespace) -> None:
    """Time functions through networkx's backend: the triadic census, whose bar is 50 times networkx; and triangles.

    Triangles and clustering are of random graphs of 5,000 and 50,000 edges that networkx holds, beside networkx and
    igraph, each conversion included.
    """
    import igraph

    from jaxmotif.compat._networkx_backend import convert_from_nx

    path = harness.data_folder(options.data, "directed") / f"{options.network}.edges"
    graph = nx.read_edgelist(path, create_using=nx.DiGraph, nodetype=int)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    nx.config.warnings_to_ignore.add("cache")
    expected, costs = nx.triadic_census(graph), Costs()
    what = f"triadic_census of {options.network} ({graph.size()} arcs)"
    check = partial(harness.check, what, expected=expected)
    costs.row(f"{what} by the backend", lambda: nx.triadic_census(graph, backend="jaxmotif"), check=check)
    costs.row("the same by networkx", lambda: nx.triadic_census(graph))
    for nodes, edges in ((1000, 5000), (5000, 50_000)):
        plain = nx.gnm_random_graph(nodes, edges, seed=1)
        for name in ("triangles", "clustering"):
            function = getattr(nx, name)
            expected, what = function(plain, backend="networkx"), f"{name} of {nodes:,} nodes and {edges:,} edges"
            check = partial(harness.check, what, expected=expected)
            costs.row(
                f"{what} by the backend",
                lambda f=function, g=plain: f(convert_from_nx(g), backend="jaxmotif"),
                check=check,
            )
            costs.row(f"{what}, asked again", lambda f=function, g=plain: f(g, backend="jaxmotif"))
            costs.row(f"{what} by networkx", lambda f=function, g=plain: f(g, backend="networkx"))
        costs.row(
            f"clustering of {nodes:,} nodes and {edges:,} edges by igraph",
            lambda g=plain: igraph.Graph.from_networkx(g).transitivity_local_undirected(mode="zero"),
        )


# ---- what features know


@rows()
def regular(options: argparse.Namespace) -> None:
    """Count the graphs that features tell apart, among regular graphs of one size that color refinement does not."""
    from jaxmotif.learn import WeisfeilerLehmanKernel

    cycles = [f"{k}-cycle" for k in range(3, 9)]
    features: dict[str, Callable[[list[Graph]], np.ndarray]] = {
        "colors (Weisfeiler-Lehman)": lambda graphs: WeisfeilerLehmanKernel(normalize=False).fit_transform(graphs),
        "homomorphisms of trees of 3 to 5 nodes": lambda graphs: (
            homomorphism_counts(graphs, ["2-star", "4-path", "3-star", "5-path", "fork", "4-star"]).values
        ),
        "homomorphisms of cycles of 3 to 8 nodes": lambda graphs: homomorphism_counts(graphs, cycles).values,
        'homomorphisms of spasm("7-cycle", "8-cycle")': lambda graphs: (
            homomorphism_counts(graphs, spasm("7-cycle", "8-cycle")).values
        ),
        **{
            f"graphlets of {size} nodes": lambda graphs, size=size: pattern_features(graphs, all_patterns(size)).values
            for size in (3, 4, 5)
        },
        "cycles of 3 to 8 nodes, not induced": lambda graphs: pattern_features(graphs, cycles, induced=False).values,
        "cycles of 3 to 8 nodes, induced": lambda graphs: pattern_features(graphs, cycles).values,
    }
    kinds = families()
    Table("features", *(f"{name}, {len(graphs)} graphs" for name, graphs in kinds.items()))
    for name, compute in features.items():
        cells = [len({tuple(row) for row in compute(graphs).tolist()}) for graphs in kinds.values()]
        print(f"| {name} | {' | '.join(map(str, cells))} |", flush=True)
    single = Table("one connected pattern of up to 5 nodes", *kinds)
    for name in (name for size in (3, 4, 5) for name in all_patterns(size)):
        for induced in (True, False):
            cells = [
                len(np.unique(pattern_features(graphs, [name], induced=induced).values)) for graphs in kinds.values()
            ]
            if max(cells) > 1:
                single.row(f"{name}, {'induced' if induced else 'not induced'}", *cells)


def classified_graphs(data: Path, name: str) -> tuple[Graphs, np.ndarray]:
    """Read one of the labelled data sets (TUDataset's, as text), and the class of each graph."""
    with tarfile.open(harness.data_folder(data, "molecules") / "tud_txt.tar.xz") as archive:
        file = archive.extractfile(f"tud/{name}.txt")
        if file is None:
            raise SystemExit(f"no data set {name}")
        lines = iter(file.read().decode().splitlines())
    classes, edges, labels = [], [], []
    for _ in range(int(next(lines))):
        size, kind = map(int, next(lines).split())
        nodes = [[int(word) for word in next(lines).split()] for _ in range(size)]  # label, degree, neighbours
        classes.append(kind)
        labels.append([label for label, *_ in nodes])
        edges.append(np.array([(u, v) for u, (_, _, *near) in enumerate(nodes) for v in near], np.int64).reshape(-1, 2))
    return Graphs.from_edges(edges, node_labels=labels), np.array(classes)


def labelled_by_cycles(graphs: Graphs) -> Graphs:
    """Return the graphs with node labels that also tell how many cycles of each length a node lies in, as GSN's do."""
    cycles = pattern_features(graphs, [f"{k}-cycle" for k in range(3, 9)], per="node", induced=False).values
    union = graphs.union(pad=None)
    known = np.concatenate([np.asarray(union.node_labels)[:, None], cycles], axis=1)
    labels = np.unique(known, axis=0, return_inverse=True)[1].reshape(-1)
    return Graphs.from_edge_index(union.edge_list().T, graphs.node_starts, node_labels=labels)


@rows(
    option("--sets", type=harness.words, default=["MUTAG", "PROTEINS", "NCI1"], help="data sets, between commas"),
    option("--features", default="", help="a part of the names of the features that are tried"),
    option("--seed", type=int, default=0, help="seed of the folds"),
)
def accuracy(options: argparse.Namespace) -> None:
    """Classify graphs by support vector machines over jaxmotif.learn, by 10-fold cross-validation.

    The folds are stratified and shuffled by the seed. In each, C is chosen by three folds of the training
    graphs alone. The aims are the published accuracies of graphlet kernels and of GSN: MUTAG 81 to 87, PROTEINS 71 to
    76, NCI1 62 to 70 (GSN, a network with labels: 83.5).
    """
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from jaxmotif.learn import GraphletKernel, OrbitFeatures, WeisfeilerLehmanKernel

    costs = {"C": 10.0 ** np.arange(-2, 4)}
    by_kernel = GridSearchCV(SVC(kernel="precomputed"), costs, cv=3)
    by_columns = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": costs["C"][1:5]}, cv=3)
    table = Table(
        "data set | graphs | features | accuracy, % | standard deviation of the folds | features, s | folds, s"
    )
    for name in options.sets:
        graphs, classes = classified_graphs(options.data, name)
        for title, model, features in (
            ("GraphletKernel(size=3)", by_kernel, lambda graphs: GraphletKernel(size=3).fit_transform(graphs)),
            ("GraphletKernel(size=5)", by_kernel, lambda graphs: GraphletKernel(size=5).fit_transform(graphs)),
            ("OrbitFeatures(size=5)", by_columns, lambda graphs: OrbitFeatures(size=5).fit_transform(graphs)),
            ("WeisfeilerLehmanKernel()", by_kernel, lambda graphs: WeisfeilerLehmanKernel().fit_transform(graphs)),
            (
                "WeisfeilerLehmanKernel(rounds=2), labels with cycles of 3 to 8 nodes",
                by_kernel,
                lambda graphs: WeisfeilerLehmanKernel(rounds=2).fit_transform(labelled_by_cycles(graphs)),
            ),
        ):
            if options.features not in title:
                continue
            started = time.perf_counter()
            columns = features(graphs)
            counted = time.perf_counter()
            folds = StratifiedKFold(10, shuffle=True, random_state=options.seed)
            found = 100 * cross_val_score(model, columns, classes, cv=folds)
            seconds = f"{counted - started:.1f}", f"{time.perf_counter() - counted:.0f}"
            table.row(name, len(graphs), title, f"{found.mean():.1f}", f"{found.std():.1f}", *seconds)


@rows(option("--small", action="store_true"), name="all")
def everything(options: argparse.Namespace) -> None:
    """Run the rows similarities, nodes, molecules and networkx, one after the other."""
    started = time.perf_counter()
    small = {"graphs": 200, "nodes": 200} if options.small else {"graphs": 100_000, "nodes": 10_000}
    for row, network in ((similarities, ""), (nodes, "karate" if options.small else "email-Enron"), (molecules, "")):
        row(argparse.Namespace(**vars(options), **small, network=network))
    networkx(argparse.Namespace(**vars(options), network="polblogs"))
    print(f"\n{time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    rows.main()
