"""Random graphs against independent programs: means and deviations, how long chains must be, and both null models.

    python experiments/motifs_null.py ROW [--graphs R] [--data FOLDER]

Whether random graphs are uniform on ensembles that are enumerated is measured by motifs_uniformity.py.
"""

from __future__ import annotations

import argparse
import time

import harness
import jax
import networkx as nx
import numba
import numpy as np
from harness import Rows, Table, measure, option
from networkx.algorithms.triads import TRIAD_NAMES, triad_type

from jaxmotif.datasets import load, names
from jaxmotif.graph import Graph

# What is not public: the name of a type.
from jaxmotif.motifs import NullModel, find_motifs, keep_blocks, keep_distances, random_graphs

rows = Rows(__doc__)
graphs = option("--graphs", type=int, default=1000, help="number of random graphs")

SAME = {f"plain C++ switching, {keep}, 100 attempts/edge": keep for keep in ("bidegree", "degree")}
"""Runs of the other program, and the null model that each is of."""
LENGTHS = (1, 2, 5, 10, 20, 40)
"""Attempts an edge."""
TRACKED = ("030T feed-forward loop", "bi-fan", "201", "120C", "111U")
NETWORKS = ["yeast", "ecoli_alon423", "celegans_cect_varshney"]


@rows(graphs)
def agreement(options: argparse.Namespace) -> None:
    """Compare means and deviations with those of sequential switching in C++ (100 attempts an edge, 1,000 graphs).

    z of a mean is in its standard error, of an sd in the error from the sample kurtosis; the largest over all classes
    that are seen in more than a handful of graphs is told.
    """
    num = options.graphs
    table = Table("network | k | keeps | classes | largest \\|z\\| of a mean | of an sd | s")
    for name, sizes in harness.verified(options.data, "directed", "null_models.json").items():
        if not (harness.data_folder(options.data, "directed") / f"{name}.edges").exists():
            continue
        graph = harness.directed(options.data, name)
        for size, runs in sizes.items():
            for program, keep in SAME.items():
                run = runs.get("r1000", {}).get(program)
                if run is None or int(size[1:]) > 4:
                    continue
                timing = measure(
                    lambda size=size, keep=keep, graph=graph: find_motifs(
                        graph, int(size[1:]), num, jax.random.key(1), keep
                    ),
                    calls=0,
                )
                found, means, sds = timing.result, [], []
                for i, label in enumerate(found.classes):
                    want = run["classes"].get(label, {"mean": 0.0, "sd": 0.0})
                    mean, sd = found.significance.mean[i], found.significance.sd[i]
                    spread = max(sd, want["sd"])
                    if spread * np.sqrt(num) < 5 or not want["sd"]:  # seen in a handful of graphs: no normal error
                        continue
                    means.append((mean - want["mean"]) / (spread * np.sqrt(1 / num + 1 / 1000)))
                    x = found.random_counts[:, i] - mean
                    kurtosis = (x**4).mean() / (x**2).mean() ** 2
                    sds.append(np.log(sd / want["sd"]) / np.sqrt((kurtosis - 1) / 4 * (1 / num + 1 / 1000)))
                worst = (f"{max(np.abs(values), default=0):.2f}" for values in (means, sds))
                table.row(name, size[1:], keep, len(means), *worst, f"{timing.first:.1f}")


@rows(graphs)
def models(options: argparse.Namespace) -> None:
    """Compare the triads of the bundled worm by two null models, bidegree and degree."""
    graph = load("celegans")
    both = [find_motifs(graph, 3, options.graphs, jax.random.key(3), keep) for keep in ("bidegree", "degree")]
    table = Table("triad | count | z, bidegree | z, degree")
    for i, name in enumerate(both[0].names):
        z = [found.significance.z[found.names.index(name)] for found in both]
        table.row(name, both[0].counts[i], f"{z[0]:.1f}", f"{z[1]:.1f}")


@rows(graphs)
def mixing(options: argparse.Namespace) -> None:
    """Compare chains of several lengths: moves accepted, means, and whether longer chains give other means."""
    num = options.graphs
    table = Table(
        "network | attempts | accepted | statistic | mean +- error | lag correlation | z at 4 times the length"
    )
    for name in NETWORKS:
        graph = harness.directed(options.data, name)
        for attempts in LENGTHS:
            for size in (3, 4):
                found = find_motifs(graph, size, num, jax.random.key(2), attempts=attempts)
                s, mix = found.significance, found.mixing
                for label in TRACKED:
                    if label in found.names and s.sd[i := found.names.index(label)] > 0.5:
                        mean = f"{s.mean[i]:.2f} +- {s.sd[i] / num**0.5:.2f}"
                        longer = f"{mix.lag_correlation[i]:.2f}", f"{mix.longer_z[i]:.1f}"
                        table.row(name, attempts, f"{found.accepted:.2f}", label, mean, *longer)


@rows(
    option("networks", nargs="*", metavar="NETWORK", default=NETWORKS[:2]),
    option("--inputs", type=int, default=200, help="number of networks without structure"),
    option("--graphs", type=int, default=300, help="number of random graphs for each"),
)
def verdicts(options: argparse.Namespace) -> None:
    """Look for motifs in networks without structure, which are random graphs of the null model themselves.

    At most alpha of them may have any motif or anti-motif. The rule decides, and beside it q alone, and |z| >= 2.
    """
    table = Table("network | inputs | random graphs | with any verdict | with any q <= 0.05 | with any \\|z\\| >= 2")
    for name in options.networks:
        graph, any_of = harness.directed(options.data, name), np.zeros(3, int)
        for seed, drawn in enumerate(random_graphs(graph, options.inputs, 21)):
            found = find_motifs(drawn, 3, options.graphs, 100 + seed)
            s = found.significance
            unusual = found.is_motif | found.is_anti_motif, s.q <= 0.05, np.abs(s.z) >= 2
            any_of += [bool(which.any()) for which in unusual]
        shares = (f"{number} ({number / options.inputs:.1%})" for number in any_of)
        table.row(name, options.inputs, options.graphs, *shares)


# ---- the default length


def crowded(seed: int) -> Graph:
    """Build a graph of 40 to 78 nodes and 150 to 190 one-way arcs, most at a few hubs, with some reciprocated pairs."""
    rng = np.random.default_rng(100 + seed)
    nodes, arcs = 40 + 2 * seed, 150 + 10 * (seed % 5)
    pairs = max(2, round(arcs * (0.01 + 0.09 * seed / 19)))
    weights = 1 / np.arange(1, nodes + 1) ** rng.choice([0.0, 0.4, 0.7])
    taken, edges = set(), []
    while len(taken) < arcs + pairs:
        u, v = rng.choice(nodes, 2, replace=False, p=weights / weights.sum()).tolist()
        if frozenset((u, v)) not in taken:
            taken.add(frozenset((u, v)))
            edges += [(u, v), (v, u)] if len(taken) <= pairs else [(u, v)]
    return Graph.from_edges(edges, nodes, directed=True)


def with_places(graph: Graph, keep: str) -> tuple[Graph, str | NullModel]:
    """Return a graph and a null model by name; nodes get random labels, blocks (three each) or places where it asks."""
    rng = np.random.default_rng(5)
    if keep == "labels":
        return Graph.from_edges(graph.edge_list(), graph.n, True, rng.integers(0, 3, graph.n)), keep
    if keep == "blocks":
        return graph, keep_blocks(rng.integers(0, 3, graph.n))
    if keep == "distances":
        return graph, keep_distances(rng.random((graph.n, 2)), 4)
    return graph, keep


@rows(
    option("networks", nargs="*", metavar="NETWORK", help="default: all directed ones"),
    option(
        "--keep",
        type=harness.words,
        default=["bidegree"],
        help="null models, of bidegree,degree,labels,blocks,distances",
    ),
    option("--generated", type=int, default=20, help="number of generated graphs, after the networks"),
    option("--long", type=int, help="number of random graphs of the long chains; default: ten times as many"),
    option("--seed", type=int, default=11, help="seed of the chains at the default length"),
    graphs,
)
def defaults(options: argparse.Namespace) -> None:
    """Compare the means of triads at the default length with those of chains that try 5,000 switches an edge.

    After the networks come generated graphs of which 1 to 10 % of the edges are reciprocated pairs.
    """
    num, num_long = options.graphs, options.long or 10 * options.graphs
    folder = harness.data_folder(options.data, "directed")
    names = options.networks or [path.stem for path in sorted(folder.glob("*.edges"))]
    compared = [(name, harness.directed(options.data, name)) for name in names]
    compared += [(f"generated, {seed}", crowded(seed)) for seed in range(options.generated)]
    table = Table(
        "graph | keeps | attempts | moves by kind | classes | largest \\|z\\| of a mean | z, 4 times | s | notes"
    )
    for name, plain, keep in [(*one, keep) for one in compared for keep in options.keep]:
        began = time.perf_counter()
        graph, model = with_places(plain, keep)
        short = find_motifs(graph, 3, num, options.seed, model)
        long = find_motifs(graph, 3, num_long, 12, model, attempts=5000)
        wanted = dict(zip(long.classes, zip(long.significance.mean, long.significance.sd, strict=True), strict=True))
        distances = []
        for label, mean, sd in zip(short.classes, short.significance.mean, short.significance.sd, strict=True):
            other, spread = wanted.get(label, (0.0, 0.0))
            spread = max(spread, sd)
            if spread * num**0.5 > 5:  # else it was seen in a handful of graphs, and its error is not normal
                distances.append(abs(mean - other) / (spread * np.sqrt(1 / num + 1 / num_long)))
        kinds = ", ".join(f"{kind} {moves:.1f}" for kind, moves in short.accepted_by_kind.items())
        worst = f"{max(distances, default=0):.2f}", f"{np.abs(short.mixing.longer_z).max(initial=0):.1f}"
        seconds = f"{time.perf_counter() - began:.0f}"
        table.row(name, keep, f"{short.attempts:.0f}", kinds, len(distances), *worst, seconds, "; ".join(short.notes))


@rows(
    option("networks", nargs="*", metavar="NETWORK", help="default: all directed ones, after those that are bundled"),
    option("--keep", type=harness.words, default=["bidegree", "degree"], help="null models, as for defaults"),
    option("--graphs", type=int, default=16, help="number of random graphs, which tell the moves"),
)
def lengths(options: argparse.Namespace) -> None:
    """Tell how long chains are at the defaults, and how many moves they make of each kind of edge."""
    if options.networks:
        graphs = {name: harness.directed(options.data, name) for name in options.networks}
    else:
        graphs = {f"{name}, bundled": load(name) for name in names()} | harness.all_directed(options.data)
    table = Table("network | keeps | steps | attempts | moves by kind")
    for name, plain in graphs.items():
        for keep in options.keep if plain.directed else ["bidegree"]:
            graph, model = with_places(plain, keep)
            sample = random_graphs(graph, options.graphs, 0, model)
            kinds = ", ".join(f"{kind} {moves:.1f}" for kind, moves in sample.accepted_by_kind.items())
            table.row(name, keep, sample.steps, f"{sample.attempts:.1f}", kinds)


# ---- long sequential chains


@numba.njit(cache=True)
def replace_dyads(code, olds, news, word):
    """Put new dyads in the place of old ones and return True; if they are not free or not different, leave all.

    Args:
      code: what lies between nodes, ``[n, n]``: 0 nothing, 1 an arc from the row, 2 an arc to the row, 3 a pair.
      olds, news: dyads ``[k, 2]``.
      word: 1 for arcs, 3 for pairs.
    """
    back = word if word == 3 else 2
    for u, v in olds:
        code[u, v] = code[v, u] = 0
    done = 0
    for u, v in news:
        if u == v or code[u, v] != 0:
            break
        code[u, v], code[v, u] = word, back
        done += 1
    if done == len(news):
        return True
    for u, v in news[:done]:
        code[u, v] = code[v, u] = 0
    for u, v in olds:
        code[u, v], code[v, u] = word, back
    return False


@numba.njit(cache=True)
def connected_triples(code, labels):
    """Count connected triples of nodes by the codes of their three dyads, ``[64]``."""
    nodes = len(code)
    degrees = np.zeros(nodes + 1, np.int64)
    for u, v in labels:
        degrees[u + 1] += 1
        degrees[v + 1] += 1
    starts = np.cumsum(degrees)
    ends, filled = np.empty(starts[-1], np.int64), starts[:-1].copy()
    for u, v in labels:
        ends[filled[u]], ends[filled[v]] = v, u
        filled[u] += 1
        filled[v] += 1
    counts = np.zeros(64, np.int64)
    for v in range(nodes):
        for i in range(starts[v], starts[v + 1]):
            for j in range(starts[v], i):
                u, w = ends[i], ends[j]
                if code[u, w] == 0 or (v < u and v < w):  # a triangle is counted at its lowest node
                    counts[code[v, u] + 4 * code[v, w] + 16 * code[u, w]] += 1
    return counts


@numba.njit(cache=True)
def chain(labels, arcs, nodes, rng, burn_in, spacing, readings):
    """Count the connected triples of graphs along a sequential chain, ``[readings, 64]``.

    The first ``arcs`` of ``labels [m, 2]`` are one-way arcs, the others pairs. A move switches the heads of two arcs,
    or ends of two pairs, or turns the heads of three arcs. It is made when all new dyads are free.
    """
    labels = labels.copy()
    m = len(labels)
    code = np.zeros((nodes, nodes), np.uint8)
    for i in range(m):
        u, v = labels[i]
        code[u, v], code[v, u] = (1, 2) if i < arcs else (3, 3)
    found = np.zeros((readings, 64), np.int64)
    two, three = np.empty((2, 2), np.int64), np.empty((3, 2), np.int64)
    for reading in range(readings):
        for _ in range((spacing if reading else burn_in) * m):
            x = rng.random() * (m + arcs / 8)
            if x < m:
                i = int(x)
                is_arc = i < arcs
                j = rng.integers(0, arcs) if is_arc else rng.integers(arcs, m)
                turned = not is_arc and rng.random() < 0.5
                c, d = (labels[j, 1], labels[j, 0]) if turned else (labels[j, 0], labels[j, 1])
                two[0, 0], two[0, 1], two[1, 0], two[1, 1] = labels[i, 0], d, c, labels[i, 1]
                if i != j and replace_dyads(code, labels[np.array([i, j])], two, 1 if is_arc else 3):
                    labels[i], labels[j] = two[0], two[1]
            else:
                i, j, k = rng.integers(0, arcs), rng.integers(0, arcs), rng.integers(0, arcs)
                if i != j and j != k and i != k:
                    three[:, 0] = labels[i, 0], labels[j, 0], labels[k, 0]
                    three[:, 1] = labels[j, 1], labels[k, 1], labels[i, 1]
                    if replace_dyads(code, labels[np.array([i, j, k])], three, 1):
                        labels[i], labels[j], labels[k] = three[0], three[1], three[2]
        found[reading] = connected_triples(code, labels)
    return found


def triads_of_codes() -> np.ndarray:
    """Return the place of each code of :func:`connected_triples` among networkx's names of triads, ``[64]``."""
    return np.array([TRIAD_NAMES.index(triad_type(triple(code))) for code in range(64)])


def triple(code: int) -> nx.DiGraph:
    """Build the graph of three nodes that has a code."""
    graph = nx.empty_graph(3, nx.DiGraph)
    for (u, v), word in zip(((0, 1), (0, 2), (1, 2)), (code & 3, code >> 2 & 3, code >> 4), strict=True):
        graph.add_edges_from([(u, v)] * (word & 1) + [(v, u)] * (word >> 1))
    return graph


@rows(
    option("networks", nargs="*", metavar="NETWORK", default=NETWORKS),
    graphs,
    option("--readings", type=int, default=200, help="of each of four chains"),
    option("--seed", type=int, default=11, help="of the library's random graphs"),
)
def sequential(options: argparse.Namespace) -> None:
    """Compare the means of triads at the default length with long chains written here without the library.

    Each of four chains makes one move at a time, starts at the network, and is read first after 200 attempts an edge,
    then after every 40.
    """
    num = options.graphs
    table = Table(
        "network | arcs, pairs | attempts | moves by kind | classes | largest \\|z\\| of a mean | of an sd | s"
    )
    for name in options.networks:
        graph = harness.directed(options.data, name)
        edges = graph.edge_list().astype(np.int64)
        present = {(u, v) for u, v in edges.tolist()}
        arcs = [arc for arc in present if arc[::-1] not in present]
        pairs = [arc for arc in present if arc[::-1] in present and arc[0] < arc[1]]
        labels = np.array(sorted(arcs) + sorted(pairs))
        of_code, triads = triads_of_codes(), np.zeros((64, len(TRIAD_NAMES)), np.int64)
        triads[np.arange(64), of_code] = 1
        readings = [
            chain(labels, len(arcs), graph.n, np.random.default_rng(seed), 200, 40, options.readings) @ triads
            for seed in range(4)
        ]
        timing = measure(lambda graph=graph: find_motifs(graph, 3, num, options.seed), calls=0)
        found = timing.result
        means, sds = [], []
        for i, label in enumerate(found.names):
            y = np.array([chain[:, TRIAD_NAMES.index(label.split()[0])] for chain in readings]).astype(float)
            x = found.random_counts[:, i].astype(float)
            spread = max(x.std(), y.std())
            if spread * num**0.5 <= 5:  # it was seen in a handful of graphs, and its error is not normal
                continue
            # Successive readings may hang together: the error of their mean is from blocks of ten.
            blocks = y.reshape(-1, 10).mean(axis=1)
            means.append(
                (x.mean() - y.mean()) / np.hypot(x.std(ddof=1) / num**0.5, blocks.std(ddof=1) / blocks.size**0.5)
            )
            sds.append(x.std(ddof=1) / y.std(ddof=1))
        kinds = ", ".join(f"{kind} {moves:.1f}" for kind, moves in found.accepted_by_kind.items())
        worst = f"{np.abs(means).max():.2f}", f"{min(sds):.2f} to {max(sds):.2f}"
        sizes = f"{len(arcs)}, {len(pairs)}", f"{found.attempts:.0f}", kinds, len(means)
        table.row(name, *sizes, *worst, f"{timing.first:.0f}")


if __name__ == "__main__":
    rows.main()
