"""Random graphs against independent programs: means and deviations, how long chains must be, and both null models.

    python experiments/motifs_null.py ROW [--graphs R] [--data FOLDER]

Whether random graphs are uniform on ensembles that are enumerated is measured by motifs_uniformity.py.
"""

from __future__ import annotations

import argparse

import harness
import jax
import numpy as np
from harness import Rows, Table, measure, option
from scipy import sparse

from jaxmotif.datasets import load
from jaxmotif.graph import Graph

# What is not public: the name of a type.
from jaxmotif.kernels._switching import Step
from jaxmotif.motifs import find_motifs, random_graphs

rows = Rows(__doc__)
graphs = option("--graphs", type=int, default=1000, help="number of random graphs")

SAME = {f"plain C++ switching, {keep}, 100 attempts/edge": keep for keep in ("bidegree", "degree")}
"""Runs of the other program, and the null model that each is of."""
LENGTHS: dict[Step, tuple[int, ...]] = {"reject": (1, 2, 5, 10, 20, 40), "global": (1, 2, 5, 10)}
"""Attempts an edge, by step."""
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
        "network | step | attempts | accepted | statistic | mean +- error | lag correlation | z at 4 times the length"
    )
    for name in NETWORKS:
        graph = harness.directed(options.data, name)
        for step, lengths in LENGTHS.items():
            for attempts in lengths:
                for size in (3, 4):
                    found = find_motifs(graph, size, num, jax.random.key(2), attempts=attempts, step=step)
                    s, mix = found.significance, found.mixing
                    for label in TRACKED:
                        if label in found.names and s.sd[i := found.names.index(label)] > 0.5:
                            mean = f"{s.mean[i]:.2f} +- {s.sd[i] / num**0.5:.2f}"
                            longer = f"{mix.lag_correlation[i]:.2f}", f"{mix.longer_z[i]:.1f}"
                            table.row(name, step, attempts, f"{found.accepted:.2f}", label, mean, *longer)


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


@rows(option("networks", nargs="*", metavar="NETWORK", help="default: all directed ones"), graphs)
def defaults(options: argparse.Namespace) -> None:
    """Compare the means of triads at the default length with those of chains that try 5,000 switches an edge.

    There are ten times as many of the long chains. After the networks come generated graphs of which 1 to 10 % of the
    edges are reciprocated pairs.
    """
    num = options.graphs
    folder = harness.data_folder(options.data, "directed")
    names = options.networks or [path.stem for path in sorted(folder.glob("*.edges"))]
    compared = [(name, harness.directed(options.data, name)) for name in names]
    compared += [(f"generated, {seed}", crowded(seed)) for seed in range(20)]
    table = Table("graph | attempts | moves by kind | classes | largest \\|z\\| of a mean | z, 4 times | notes")
    for name, graph in compared:
        short = find_motifs(graph, 3, num, 11)
        long = find_motifs(graph, 3, 10 * num, 12, attempts=5000)
        wanted = dict(zip(long.classes, zip(long.significance.mean, long.significance.sd, strict=True), strict=True))
        distances = []
        for label, mean, sd in zip(short.classes, short.significance.mean, short.significance.sd, strict=True):
            other, spread = wanted.get(label, (0.0, 0.0))
            spread = max(spread, sd)
            if spread * num**0.5 > 5:  # else it was seen in a handful of graphs, and its error is not normal
                distances.append(abs(mean - other) / (spread * np.sqrt(1.1 / num)))
        kinds = ", ".join(f"{kind} {moves:.1f}" for kind, moves in short.accepted_by_kind.items())
        worst = f"{max(distances, default=0):.2f}", f"{np.abs(short.mixing.longer_z).max(initial=0):.1f}"
        table.row(name, f"{short.attempts:.0f}", kinds, len(distances), *worst, "; ".join(short.notes))


# ---- long sequential chains


CHAINS, READINGS, BURN_IN, SPACING = 4, 200, 100, 20
SETTINGS: tuple[tuple[Step, int], ...] = (("reject", 20), ("reject", 40), ("reject", 80), ("global", 10))
"""Steps and attempts an edge that are compared."""


def statistics(arcs, n):
    """Count induced subgraphs by products of sparse matrices; classes are named as in the triad census."""
    a = sparse.csr_array((np.ones(len(arcs), np.int64), (arcs[:, 0], arcs[:, 1])), (n, n))
    both = a * a.T
    one, near = a - both, a + a.T - both
    table = near.toarray()

    def open_paths(paths):
        """Count the paths over one node whose ends are apart."""
        return paths.sum() - (paths * near).sum() - paths.trace()

    def two_between(first, second, alike):
        """Count pairs of nodes apart with two nodes apart on paths between them; unordered where ends are alike."""
        paths = sparse.coo_array(first @ second)
        some = (paths.data > 1) & (paths.row < paths.col if alike else paths.row != paths.col)
        u, v, ways = paths.row[some], paths.col[some], paths.data[some]
        apart = table[u, v] == 0
        u, v, ways = u[apart], v[apart], ways[apart]
        common = first[u] * second.T.tocsr()[v]
        return (ways * (ways - 1) // 2).sum() - (common @ near * common).sum() // 2

    return {
        "030T feed-forward loop": (one @ one * one).sum(),
        "bi-fan": two_between(one, one.T, True),
        "bi-parallel": two_between(one, one, False),
        "111U": open_paths(both @ one),
        "120C": (one @ one * both).sum(),
        "201": open_paths(both @ both) // 2,
    }


def chain(arcs, n, seed, readings):
    """Yield the readings of one chain."""
    rng = np.random.default_rng(seed)
    present = {(u, v) for u, v in arcs.tolist()}
    single = [arc for arc in present if arc[::-1] not in present]
    pairs = [arc for arc in present if arc[::-1] in present and arc[0] < arc[1]]
    taken = {frozenset(arc) for arc in present}
    labels = len(single) + len(pairs)

    def replace(items, chosen, new):
        """Put new dyads in the place of the chosen ones if they are free."""
        dyads = [frozenset(arc) for arc in new]
        old = {frozenset(items[i]) for i in chosen}
        if len(set(dyads)) < len(new) or any(len(d) < 2 or (d in taken and d not in old) for d in dyads):
            return
        if len(new) == 2 and any(d in old for d in dyads):
            return
        taken.difference_update(old)
        taken.update(dyads)
        for i, arc in zip(chosen, new, strict=True):
            items[i] = arc

    def attempts(number):
        which = (rng.random(number) * (labels + len(single) / 8)).tolist()
        places, coins = rng.random((number, 3)).tolist(), (rng.random(number) < 0.5).tolist()
        for kind, (x, y, z), coin in zip(which, places, coins, strict=True):
            if kind < len(single):
                i, j = int(x * len(single)), int(y * len(single))
                (a, b), (c, d) = single[i], single[j]
                replace(single, (i, j), ((a, d), (c, b)))
            elif kind < labels:
                i, j = int(x * len(pairs)), int(y * len(pairs))
                (a, b), (c, d) = pairs[i], pairs[j] if coin else pairs[j][::-1]
                replace(pairs, (i, j), ((a, d), (c, b)))
            else:
                i, j, k = int(x * len(single)), int(y * len(single)), int(z * len(single))
                if i != j and j != k and i != k:
                    (a, b), (c, d), (e, f) = single[i], single[j], single[k]
                    replace(single, (i, j, k), ((a, d), (c, f), (e, b)))

    attempts(BURN_IN * labels)
    for _ in range(readings):
        attempts(SPACING * labels)
        yield statistics(np.array([*single, *pairs, *(p[::-1] for p in pairs)]), n)


@rows(
    option("networks", nargs="*", metavar="NETWORK", default=NETWORKS),
    graphs,
    option("--readings", type=int, default=READINGS, help="of a chain"),
)
def sequential(options: argparse.Namespace) -> None:
    """Compare with long sequential chains, written here without the library, one move at a time.

    Each of four chains starts at the network; after 100 attempted moves an edge it is read every 20 an edge. A move
    switches two one-way arcs, or two reciprocated pairs, or turns the heads of three one-way arcs, and is made when all
    new dyads are free.
    """
    num = options.graphs
    table = Table("network | statistic | count | sequential, sd | step, attempts per edge | random graphs, sd | z")
    for name in options.networks:
        graph = harness.directed(options.data, name)
        arcs = graph.edge_list()
        readings = [list(chain(arcs, graph.n, seed, options.readings)) for seed in range(CHAINS)]
        counts = statistics(arcs, graph.n)
        for step, attempts in SETTINGS:
            sample = random_graphs(graph, num, jax.random.key(4), step=step, attempts=attempts)
            drawn = [statistics(one.edge_list(), graph.n) for one in sample]
            for statistic, count in counts.items():
                x = np.array([s[statistic] for s in drawn])
                y = np.array([[s[statistic] for s in chain] for chain in readings])
                if not x.any() and not y.any():
                    continue
                # Successive readings may hang together: the error of their mean is from blocks of ten.
                blocks = y.reshape(-1, 10).mean(axis=1)
                error = np.hypot(x.std(ddof=1) / num**0.5, blocks.std(ddof=1) / blocks.size**0.5)
                z = (x.mean() - y.mean()) / error if error else 0.0
                found, wanted = (f"{values.mean():.2f}, {values.std(ddof=1):.2f}" for values in (x, y))
                table.row(name, statistic, count, wanted, f"{step}, {attempts}", found, f"{z:.1f}")


if __name__ == "__main__":
    rows.main()
