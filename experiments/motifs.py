"""Motifs: censuses, random graphs and discovery, and the rows of the NemoGPU paper (Lin, Xiao, Xie, Li, TKDE 2017).

    python experiments/motifs.py ROW [--data FOLDER]

The rows of the paper write results/figures/motifs_*.json; with ``--small`` they run in seconds on a CPU, to see that
they work, and write nothing. What random graphs are like is measured by motifs_null.py and motifs_uniformity.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import Rows, Table, measure, option
from matching_tree import BLOCK, TABLE, TESTS, MatchingTree, count_by_tree, merge_graphs, plan_tree

# What is not public: a census of several random graphs together, beside which the matching tree is timed, and how many
# threads share a GPU.
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes
from jaxmotif.census._pair_states import Alphabet
from jaxmotif.census._sizes import plan
from jaxmotif.graph import Graph
from jaxmotif.motifs import Motifs, _discovery, find_motifs, random_graphs, subgraph_census
from jaxmotif.motifs._graph_samples import sample_graphs

rows = Rows(__doc__)


# ---- censuses, random graphs, discovery


@rows(option("--most", type=float, default=1e12, help="pass over censuses of more subgraphs"))
def census(options: argparse.Namespace) -> None:
    """Time the census of every stored network and size, against the stored counts.

    The bar for yeastppi_listed, k = 6, on an H200 is 5 G subgraphs a second.
    """
    table = Table("network | k | subgraphs | classes | equal | first s | s | CPU s | M/s")
    for name, sizes in harness.verified(options.data, "directed", "census.json").items():
        graph = harness.directed(options.data, name)
        for size, want in sizes.items():
            if want["total"] > options.most:
                continue
            timing = measure(partial(subgraph_census, graph, int(size)), seconds=5)
            found = timing.result
            equal = found.as_dict() == want["classes"]
            times = f"{timing.first:.2f}", f"{timing.best:.4f}", f"{timing.cpu:.3f}"
            table.row(
                name, size, found.total, len(found.classes), equal, *times, f"{found.total / timing.best / 1e6:.1f}"
            )


@rows(option("--number", type=int, default=1000, help="of random graphs"), option("--calls", type=int, default=3))
def chains(options: argparse.Namespace) -> None:
    """Time the random graphs of yeast and of a network of 17,179 nodes and 124,599 arcs, by 20 attempts an edge."""
    rng = np.random.default_rng(0)
    arcs = np.unique(rng.integers(0, 17_179, (124_700, 2)), axis=0)
    large = Graph.from_edges(arcs[arcs[:, 0] != arcs[:, 1]][:124_599], 17_179, directed=True)
    table = Table("network | random graphs | accepted | first s | s")
    for name, graph in (("yeast", harness.directed(options.data, "yeast")), ("17,179 nodes", large)):
        call = partial(random_graphs, graph, options.number, jax.random.key(0), attempts=20)
        timing = measure(call, calls=options.calls)
        accepted = f"{timing.result.acceptance:.3f}"
        table.row(name, options.number, accepted, f"{timing.first:.2f}", f"{timing.best:.3f}")


DISCOVERIES = ["yeast:3:1000", "yeast:4:1000", "celegans_cect_varshney:4:1000", "yeast:5:100", "yeast:6:1000"]


@rows(
    option("runs", nargs="*", metavar="NETWORK:SIZE:RANDOM", default=DISCOVERIES),
    option("--workers", type=int, default=_discovery.GPU_WORKERS, help="threads that share a GPU"),
)
def discovery(options: argparse.Namespace) -> None:
    """Time discovery, beside what is known of two motifs.

    The bars on an H200, s: 0.1, 0.3, 1, none and 10, in the order of DISCOVERIES.
    """
    _discovery.GPU_WORKERS = options.workers
    table = Table("network | k | random graphs | first s | s | CPU s | feed-forward loop, bi-fan: count, mean, sd, z")
    for run in options.runs:
        name, size, number = run.split(":")
        graph = harness.directed(options.data, name)
        timing = measure(partial(find_motifs, graph, int(size), int(number), jax.random.key(0)))
        found, shown = timing.result, []
        for label in ("030T feed-forward loop", "bi-fan"):
            if label in found.names:
                i, s = found.names.index(label), found.significance
                shown.append(f"{found.counts[i]}, {s.mean[i]:.2f}, {s.sd[i]:.2f}, {s.z[i]:.1f}")
        table.row(name, size, number, timing.first, timing.best, timing.cpu, "; ".join(shown))


# ---- NemoGPU: whole discoveries


TABLE_1 = {
    "YE": (688, 1_079, 71, 13),
    "HS": (1_509, 5_598, 71, 45),
    "YP": (2_361, 6_646, 64, 47),
    "MM": (4_293, 7_987, 91, 111),
    "DM": (6_303, 18_224, 88, 122),
    "AT": (9_216, 50_669, 58, 89),
    "CE": (17_179, 124_599, 67, 107),
}
"""Networks of the paper: nodes, arcs, largest out-degree, largest in-degree. YE is yeast, YP nearly yeastppi_listed."""


def like(name: str, seed: int = 0) -> Graph:
    """Make a random graph with the nodes, arcs and largest degrees of a network of the paper.

    Degrees fall as a power of the rank, chosen so that the largest and the sum are met.
    """
    nodes, arcs, most_out, most_in = TABLE_1[name]
    rng = np.random.default_rng(seed)

    def degrees(most: int) -> np.ndarray:
        low, high = 0.0, 4.0
        for _ in range(60):  # the exponent, by halving
            power = (low + high) / 2
            total = np.rint(most * np.arange(1, nodes + 1) ** -power).sum()
            low, high = (power, high) if total > arcs else (low, power)
        found = np.rint(most * np.arange(1, nodes + 1) ** -high).astype(np.int64)
        # What rounding leaves over goes to the nodes without any, one each.
        found[np.flatnonzero(found == 0)[: arcs - found.sum()]] = 1
        found[-max(arcs - int(found.sum()), 0) or nodes :] += 1
        return rng.permutation(found)

    out, into = degrees(most_out), degrees(most_in)
    tails, heads = np.repeat(np.arange(nodes), out), rng.permutation(np.repeat(np.arange(nodes), into))
    size = min(tails.size, heads.size)
    tails, heads = rng.permutation(tails)[:size], heads[:size]
    for _ in range(100):  # loops and repeated arcs exchange heads with others
        order = np.lexsort((heads, tails))
        again = (np.diff(tails[order]) == 0) & (np.diff(heads[order]) == 0)
        bad = np.union1d(order[1:][again], np.flatnonzero(tails == heads))
        if not bad.size:
            break
        other = rng.permutation(size)[: bad.size]
        heads[np.concatenate([bad, other])] = heads[np.concatenate([other, bad])]
    return Graph.from_edges(np.stack([tails, heads], axis=1), nodes, directed=True)


SIZES = (
    option("--size", type=int, help="of the motifs"),
    option("--random", type=int, help="number of random graphs"),
    option("--small", action="store_true", help="run in seconds on a CPU, and write nothing"),
)
paper_row = rows(
    *SIZES,
    option("--devices", type=int, default=1),
    option("--once", action="store_true", help="time the first call, which compiles"),
)
"""A decorator that makes a function a row of the paper, with the arguments that all of these take."""


def discover(options: argparse.Namespace, graph: Graph, size: int, number: int) -> tuple[float, Motifs]:
    """Return the seconds of a second call, or of a first one with ``--once``, and what it found."""
    call = partial(find_motifs, graph, size, number, 0, devices=jax.devices()[: options.devices])
    timing = measure(call, calls=0 if options.once else 1)
    return timing.best, timing.result


def draw(options: argparse.Namespace, name: str, series: harness.Series, **told: Any) -> None:
    """Write a figure of a row that is not small."""
    if not options.small:
        devices = vars(options).get("devices", 1)  # rows of the matching tree have one
        many = f"_{devices}_devices" if devices > 1 else ""
        harness.figure(f"motifs_{name}{many}", series, **{"logy": True, **told})


@paper_row
def largest(options: argparse.Namespace) -> None:
    """Discover in yeast at k = 3 to 8, r = 100 (10 at k = 8) (Fig. 6)."""
    table = Table("k | random graphs | subgraphs | classes | s")
    graph, seconds, counted = harness.directed(options.data, "yeast"), {}, {}
    for size in [options.size] if options.size else range(3, 5 if options.small else 9):
        number = options.random or (5 if options.small else 10 if size == 8 else 100)
        seconds[size], found = discover(options, graph, size, number)
        subgraphs = int(found.counts.sum() + found.random_counts.sum())
        counted[size] = subgraphs / 1e9
        table.row(size, number, f"{subgraphs:,}", len(found.classes), seconds[size])
    draw(
        options,
        "sizes",
        {"seconds, r = 100 (k = 8: 10)": seconds, "10^9 subgraphs in these graphs": counted},
        title="Discovery by size of the motif, yeast",
        xlabel="k",
        ylabel="seconds",
        kind="line",
        paper="Fig. 6, r = 1000, charts: over 250 times DistributedNM (6 threads) from k = 7 on, on a K20",
        note="a tenth or more of the random graphs go on to four times the length, and are counted again",
    )


@paper_row
def random(options: argparse.Namespace) -> None:
    """Discover in yeast at r = 100 to 10,000, k = 4 to 6, of which k = 6 to 2,000 (Fig. 7)."""
    table = Table("k | random graphs | s")
    graph, series = harness.directed(options.data, "yeast"), {}
    for size in [options.size] if options.size else (3, 4) if options.small else (4, 5, 6):
        times = series[f"k = {size}"] = {}
        numbers = (100, 200, 500, 1000, 2000, 5000, 10_000)
        for number in (5, 10) if options.small else numbers[:5] if size == 6 else numbers:
            times[number], _ = discover(options, graph, size, number)
            table.row(size, number, times[number])
    draw(
        options,
        "random",
        series,
        title="Discovery by number of random graphs, yeast",
        xlabel="r",
        ylabel="seconds",
        kind="line",
        paper="Fig. 7, r = 100 to 1000, charts: on a K20 two orders of magnitude below DistributedNM",
        logx=True,
    )


@paper_row
def datasets(options: argparse.Namespace) -> None:
    """Discover in networks of the sizes and degrees of the paper's seven, k = 4, r = 1000 (Fig. 4).

    YE is yeast; the others are random but for nodes, arcs and largest degrees.
    """
    size, number, seconds = options.size or 4, options.random or (2 if options.small else 1000), {}
    table = Table("network | nodes | arcs | subgraphs in it | s")
    for name in ("YE", "HS") if options.small else TABLE_1:
        graph = harness.directed(options.data, "yeast") if name == "YE" else like(name)
        seconds[name], found = discover(options, graph, size, number)
        table.row(name, graph.n, graph.m, f"{int(found.counts.sum()):,}", seconds[name])
    draw(
        options,
        f"datasets_{size}",
        {"all phases": seconds},
        title=f"Discovery in networks of the sizes of Table 1, k = {size}, r = {number}",
        xlabel="network",
        ylabel="seconds",
        kind="bar",
        paper="Fig. 4, k = 6, r = 1000, charts: two orders of magnitude faster than CPU programs; DistributedNM fails "
        "on CE",
        note="YE is yeast; the others have the nodes, arcs and largest degrees of Table 1, and are random otherwise",
    )


@paper_row
def worm(options: argparse.Namespace) -> None:
    """Discover in a network of the size of CE, the paper's largest, k = 4, r = 1000 (Fig. 4)."""
    size, number = options.size or (3 if options.small else 4), options.random or (2 if options.small else 1000)
    graph = like("CE")
    seconds, found = discover(options, graph, size, number)
    subgraphs = f"{int(found.counts.sum()):,} subgraphs in the graph"
    print(f"{graph}, k = {size}, r = {number}, {options.devices} devices, {subgraphs}: {seconds:.3g} s")
    draw(
        options,
        f"worm_{size}",
        {f"k = {size}": {"CE": seconds}},
        title=f"Discovery in a network of the size of CE, k = {size}, r = {number}",
        xlabel="network",
        ylabel="seconds",
        kind="bar",
        paper="Fig. 4, CE at k = 6, r = 1000, chart: done on a K20; DistributedNM does not end in a day",
        note=f"17,179 nodes, 124,599 arcs, largest degrees of Table 1; {subgraphs}",
    )


# ---- NemoGPU: how the matching tree counts classes in random graphs


GPU_BLOCK = 2**20
"""Neighbours that a GPU tries at a time along the matching tree, which fill it."""
SINGLES = 2
"""Random graphs counted one by one, which is slow; times are scaled to all."""


class Sampled:
    """A network, the classes of its subgraphs, and random graphs in which these are counted.

    Args:
      name: of a directed network.
      size: of the subgraphs.
      number: of random graphs.
      block: how many neighbours the matching tree tries at a time; its tables hold eight times as many candidates.
      classes: how many classes are counted at most, evenly spaced among all; 0 for all.
      data: the folder of networks.
    """

    def __init__(self, name: str, size: int, number: int, block: int, classes: int, data: Path):
        self.size, self.number, self.block, self.table = size, number, block, TABLE // BLOCK * block
        self.graph = harness.directed(data, name)
        every = subgraph_census(self.graph, self.size).classes
        self.classes = every[:: -(-len(every) // classes)] if classes else every
        self.sample = random_graphs(self.graph, self.number, 0)
        self.graphs = list(self.sample)
        self.tree = plan_tree(self.graph, self.classes)

    def match(
        self,
        together: int,
        trees: Sequence[MatchingTree] = (),
        tables: int | Sequence[int] = 0,
        number: int = 0,
        test: str = "table",
    ) -> tuple[np.ndarray, float]:
        """Count ``[graphs, classes]`` along trees, and time it.

        Args:
          together: how many random graphs are merged.
          trees: one after the other; by default that of all classes.
          tables: as in :func:`count_by_tree`; by default ``self.table``.
          number: of random graphs, by default all; the seconds are scaled to all.
          test: as in :func:`count_by_tree`.
        """
        number = number or self.number
        merged = [merge_graphs(self.graphs[low : low + together]) for low in range(0, number, together)]
        rooms = tables or self.table

        def count() -> np.ndarray:
            by_lot = [
                [count_by_tree(lot, tree, rooms, self.block, test) for tree in trees or [self.tree]] for lot in merged
            ]
            return np.concatenate([np.concatenate(counts, axis=1) for counts in by_lot])

        timing = measure(count, calls=1)
        return timing.result, timing.seconds * self.number / number

    def census(self) -> tuple[np.ndarray, float]:
        """Count ``[graphs, classes]`` by a census of every random graph, of the network's classes, and time it."""
        device = jax.devices()[0]
        sizes, matrix_bytes = plan(device, None)
        graphs = sample_graphs(self.sample, self.number, matrix_bytes, device)
        classifier = Classifier(Alphabet.of(self.graph), self.size)
        timing = measure(lambda: count_classes(graphs, self.size, classifier, sizes), calls=1)
        found = dict(zip(classifier.classes, timing.result.T, strict=False))
        nothing = np.zeros(self.number, np.int64)
        return np.stack([found.get(name, nothing) for name in self.classes], axis=1), timing.seconds


def samples(options: argparse.Namespace) -> Iterator[tuple[str, Sampled]]:
    """Yield the networks and sizes of a row with their random graphs, by network and size."""
    if options.small:
        options.size, options.random, options.networks = [3], [4], ["ecoli_alon423"]
    block = options.block or (BLOCK if harness.backend() == "cpu" else GPU_BLOCK)
    for name in options.networks:
        for size, number in zip(options.size, options.random, strict=True):
            yield f"{name}, k = {size}", Sampled(name, size, number, block, options.classes, options.data)


def tree_row(*networks: str, name: str | None = None) -> Callable[[harness.Row], harness.Row]:
    """Make a function a row that counts along the matching tree, in these networks by default."""
    return rows(
        option("networks", nargs="*", metavar="NETWORK", default=networks, help="default: %(default)s"),
        option("--size", type=harness.numbers, default=[5], metavar="K,...", help="of the motifs"),
        option("--random", type=harness.numbers, default=[100], metavar="R,...", help="random graphs, for each size"),
        option("--block", type=int, help="neighbours that are tried at a time"),
        option("--classes", type=int, default=0, help="count at most so many, evenly spaced among all (default: all)"),
        option("--small", action="store_true", help="run in seconds on a CPU, and write nothing"),
        name=name,
    )


@tree_row("yeast", "ecoli_alon423")
def engines(options: argparse.Namespace) -> None:
    """Time the matching tree and a census of the same random graphs, whose counts must be equal."""
    table = Table("network | subgraphs in them | classes | leaves | matching s | census s")
    for name, case in samples(options):
        (found, matching), (wanted, counting) = case.match(case.number), case.census()
        harness.check(f"{name}, counts that differ", np.count_nonzero(found != wanted), 0)
        leaves = case.tree.leaf_class.size
        table.row(name, found.sum(), len(case.classes), leaves, matching, counting)


@tree_row("yeast", "ecoli_alon423")
def membership(options: argparse.Namespace) -> None:
    """Time three tests of a neighbour: a table of all pairs, binary searches, a lane for each edge (4.2)."""
    table = Table("network | graphs | mean degree | of a neighbour | table s | binary searches s | lane an edge s")
    for name, case in samples(options):
        found = {test: case.match(case.number, test=test) for test in TESTS}
        wanted = found["table"][0]
        for test, (counts, _) in found.items():
            harness.check(f"{name}, {test}, counts that differ", np.count_nonzero(counts != wanted), 0)
        degrees = np.diff(np.asarray(merge_graphs([case.graph]).offsets)).astype(float)
        # So many lanes are taken for a neighbour on average, since hubs are neighbours most often.
        by_edge = float((degrees**2).sum() / degrees.sum())
        table.row(name, case.number, float(degrees.mean()), by_edge, *(found[test][1] for test in TESTS))


@tree_row("yeast", "ecoli_alon423")
def overhead(options: argparse.Namespace) -> None:
    """Time the matching tree without each of its optimisations, over all together (Fig. 8)."""
    table = Table("network | classes | full s a graph | DC-GM | DC | NA | candidates in NA's tables")
    series: dict[str, dict[str, float]] = {"DC-GM": {}, "DC": {}, "NA": {}}
    for name, case in samples(options):
        alone = [plan_tree(case.graph, [one]) for one in case.classes]
        # Without divide and conquer a table holds all that a level can have.
        levels = [max(subgraph_census(graph, i).total for graph in case.graphs[:SINGLES]) for i in range(2, case.size)]
        tables = [case.block + (1 << int(level).bit_length()) for level in levels]
        whole, full = case.match(case.number)
        without = {
            "DC-GM": case.match(case.number, alone),
            "DC": case.match(1, alone, number=SINGLES),
            "NA": case.match(1, alone, tables, SINGLES),
        }
        for label, (found, seconds) in without.items():
            harness.check(f"{name}, {label}, counts that differ", np.count_nonzero(found != whole[: len(found)]), 0)
            series[label][name] = seconds / full
        table.row(name, len(alone), full / case.number, *(series[label][name] for label in series), sum(tables))
    draw(
        options,
        "overhead",
        series,
        title="Matching tree in plain XLA: time without optimisations over time with all",
        xlabel="network",
        ylabel="relative time",
        kind="bar",
        paper="Fig. 8, k = 6: DC-GM about 2, DC about 4, NA a little below DC or out of memory",
    )


@tree_row("yeast", name="lambda")
def memory_shares(options: argparse.Namespace) -> None:
    """Time the matching tree by the share of memory that each level's table takes (Fig. 9a).

    Each table is a part lambda of what the tables before it have left, and the last one all of that.
    """
    shares = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    table = Table("network", "r", "equal parts s", *(f"lambda {share} s" for share in shares))
    series: dict[str, dict[float, float]] = {}
    for name, case in samples(options):
        seconds = series[f"{name}, r = {case.number}"] = {}
        for share in shares:
            left, tables = case.table * (case.size - 2), list[int]()
            for _ in range(2, case.size - 1):
                tables.append(max(case.block, int(left * share)))
                left -= tables[-1]
            seconds[share] = case.match(case.number, tables=[*tables, max(case.block, left)])[1]
        table.row(name, case.number, case.match(case.number)[1], *seconds.values())
    draw(
        options,
        "lambda",
        series,
        title="Matching tree in plain XLA: memory for each table",
        xlabel="lambda",
        ylabel="seconds",
        kind="line",
        paper="Fig. 9a, YP, k = 6, r = 1000: best at 0.4, worse from 0.3 down and above 0.5",
    )


@tree_row("yeast", name="mu")
def merging(options: argparse.Namespace) -> None:
    """Time the matching tree by how many random graphs are merged (Fig. 9b), on ten graphs or as many as are merged."""
    table = Table("network | r | mu | s")
    series: dict[str, dict[int, float]] = {}
    for name, case in samples(options):
        seconds = series[f"{name}, r = {case.number}"] = {}
        for together in sorted({mu for mu in (1, 2, 5, 10, 20, 50, 100, 200, 500) if mu < case.number} | {case.number}):
            measured = min(max(together, 10), case.number) // together * together
            _, seconds[together] = case.match(together, number=measured)
            table.row(name, case.number, together, seconds[together])
    draw(
        options,
        "mu",
        series,
        title="Matching tree in plain XLA: random graphs merged",
        xlabel="mu",
        ylabel="seconds",
        kind="line",
        paper="Fig. 9b, YP, k = 6, r = 1000: best at 400 on a K20, at 100 on a Q2000",
        logx=True,
    )


@tree_row("yeast", "ecoli_alon423")
def phases(options: argparse.Namespace) -> None:
    """Tell what the first phase gains on a GPU: time with it on the CPU, over time with both here (Fig. 10)."""
    if harness.backend() == "cpu":
        raise SystemExit("this row needs a GPU")
    gains, counts = dict[str, dict[int, float]](), (100, 200, 500, 1000)
    table = Table("network", "first phase s", "on a CPU s", "second phase s", *(f"r={r}" for r in counts))
    for name, case in samples(options):
        here, there = (
            measure(partial(subgraph_census, case.graph, case.size, devices=jax.devices(kind)[:1]), calls=1).seconds
            for kind in (None, "cpu")
        )
        second = case.match(case.number)[1]
        each = second / case.number
        gains[name] = {r: (there + each * r) / (here + each * r) for r in counts}
        table.row(name, here, there, second, *gains[name].values())
    draw(
        options,
        "phases",
        gains,
        title="Gain from a first phase on the device, the second along the tree in plain XLA",
        xlabel="r",
        ylabel="times faster",
        kind="line",
        paper="Fig. 10: about 2 at r = 100 on a K20, falling with r",
        logy=False,
    )


if __name__ == "__main__":
    started = time.perf_counter()
    rows.main()
    print(f"\n{time.perf_counter() - started:.0f} s in all")
