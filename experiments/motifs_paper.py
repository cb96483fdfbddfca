"""Rows of the NemoGPU paper (Lin, Xiao, Xie, Li, TKDE 2017) on this machine: one JSON a row in results/figures.

    python experiments/motifs_paper.py ROW [--data FOLDER] [--random R] [--size K] [--devices N] [--once] [--small]

    largest   Fig. 6    discovery of yeast at k = 3 .. 8 (by default r = 100, and 10 at k = 8)
    random    Fig. 7    discovery of yeast at r = 100 .. 10,000, k = 4 and 5
    datasets  Fig. 4    discovery in networks of the sizes and degrees of the paper's seven (Table 1), k = 4
    worm      Fig. 4    its largest, CE, k = 4 (or --size 5), r = 1000, on 1 device or --devices N
    overhead  Fig. 8    each optimisation of the matching engine alone, k = 5
    lambda    Fig. 9a   the share of memory of each level's table, k = 5
    mu        Fig. 9b   random graphs that are merged, k = 5
    phases    Fig. 10   what the first phase gains on the device, k = 5

``--small`` runs a row in seconds on a CPU, to see that it works, and writes nothing. Times are of second calls
(compiled); of first ones with ``--once``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from functools import partial

import jax
import motifs_engines as engines
import numpy as np
from figure_data import FIGURES, write_figure
from networks import directed, parse_with_data

from jaxmotif.graph import Graph
from jaxmotif.motifs import Motifs, find_motifs, random_graphs, subgraph_census
from jaxmotif.motifs.matching_tree import plan_matching

# Table 1: nodes, arcs, largest out-degree, largest in-degree.
TABLE_1 = {
    "YE": (688, 1_079, 71, 13), "HS": (1_509, 5_598, 71, 45), "YP": (2_361, 6_646, 64, 47),
    "MM": (4_293, 7_987, 91, 111), "DM": (6_303, 18_224, 88, 122), "AT": (9_216, 50_669, 58, 89),
    "CE": (17_179, 124_599, 67, 107),
}  # fmt: skip


def like(name: str, seed: int = 0) -> Graph:
    """A random graph with the nodes, arcs and largest degrees of a network of the paper.

    Degrees fall as a power of the rank, by which the largest and the sum are met.
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


def timed(run: Callable[[], Motifs], once: bool) -> tuple[float, Motifs]:
    """Wall-clock seconds of the second call, or of the first."""
    if not once:
        run()
    started = time.perf_counter()
    found = run()
    return time.perf_counter() - started, found


def told(*cells: object) -> None:
    print(" | ".join(f"{c:.3g}" if isinstance(c, float) else str(c) for c in cells), flush=True)


def joined(old: dict, new: dict) -> dict:
    """The points of both, where they are of one machine: a row may be measured in parts."""
    if old["machine"] != new["machine"] or old["title"] != new["title"]:
        return new
    series = {one["label"]: dict(zip(map(str, one["x"]), zip(one["x"], one["y"], strict=True), strict=True))
              for one in old["series"]}  # fmt: skip
    for one in new["series"]:
        points = dict(zip(map(str, one["x"]), zip(one["x"], one["y"], strict=True), strict=True))
        series[one["label"]] = series.get(one["label"], {}) | points
    merged = []
    for label, points in series.items():
        ordered = sorted(points.values()) if new["kind"] == "line" else list(points.values())
        merged.append({"label": label, "x": [x for x, _ in ordered], "y": [y for _, y in ordered]})
    commands = dict.fromkeys([*old["command"].split("; "), new["command"]])
    return new | {"series": merged, "command": "; ".join(commands)}


class Row:
    """One row: what is measured, and the JSON it becomes."""

    def __init__(self, args: argparse.Namespace):
        self.args, self.small = args, args.small
        self.devices = jax.devices()[: args.devices or 1]

    def graph(self, name: str) -> Graph:
        return directed(self.args.data, name)

    def find(self, graph: Graph, size: int, num: int) -> tuple[float, Motifs]:
        return timed(partial(find_motifs, graph, size, num, 0, devices=self.devices), self.args.once)

    def r(self, usual: int, small: int) -> int:
        return self.args.random or (small if self.small else usual)

    def write(self, name: str, title: str, xlabel: str, ylabel: str, kind: str, series: Iterable[tuple], paper: str,
              note: str = "", logx: bool = False, logy: bool = True) -> None:  # fmt: skip
        if self.small:
            return
        args, number = self.args, f"_{len(self.devices)}_devices" * (len(self.devices) > 1)
        given = [f"--{key} {value}" for key in ("random", "size", "devices") if (value := getattr(args, key))]
        given += ["--once"] * args.once
        kinds = {d.device_kind for d in self.devices}
        what = {
            "title": title, "command": " ".join(["python experiments/motifs_paper.py", args.row, *given]),
            "machine": f"{len(self.devices)} x {', '.join(kinds)}, jax {jax.__version__}",
            "xlabel": xlabel, "ylabel": ylabel, "logx": logx, "logy": logy, "kind": kind,
            "series": [{"label": label, "x": list(x), "y": list(y)} for label, x, y in series], "paper": paper,
            "note": note,
        }  # fmt: skip
        path = FIGURES / f"{name}{number}.json"
        if path.exists():
            what = joined(json.loads(path.read_text()), what)
        write_figure(path.stem, what)


def largest(row: Row) -> None:
    graph, seconds, counted = row.graph("yeast"), {}, {}
    for size in [row.args.size] if row.args.size else range(3, 5 if row.small else 9):
        num = row.r(10 if size == 8 else 100, 5)
        seconds[size], found = row.find(graph, size, num)
        counted[size] = int(found.counts.sum() + found.random_counts.sum())
        told("yeast", f"k={size}", f"r={num}", f"{counted[size]:,} subgraphs", f"{len(found.classes)} classes",
             seconds[size])  # fmt: skip
    row.write(
        "motifs_sizes",
        "Discovery by size of the motif, yeast",
        "k",
        "seconds",
        "line",
        [
            ("seconds, r = 100 (k = 8: 10)", seconds, seconds.values()),
            ("10^9 subgraphs in these graphs", counted, [count / 1e9 for count in counted.values()]),
        ],
        "Fig. 6, r = 1000, charts: over 250 times DistributedNM (6 threads) from k = 7 on, on a K20",
        "a tenth or more of the random graphs are counted again at double length",
    )


def random(row: Row) -> None:
    graph, series = row.graph("yeast"), []
    numbers = (5, 10) if row.small else (100, 200, 500, 1000, 2000, 5000, 10_000)
    for size in [row.args.size] if row.args.size else (4, 5):
        seconds = []
        for num in numbers:
            seconds.append(row.find(graph, size, num)[0])
            told("yeast", f"k={size}", f"r={num}", seconds[-1])
        series.append((f"k = {size}", numbers, seconds))
    row.write(
        "motifs_random", "Discovery by number of random graphs, yeast", "r", "seconds", "line", series,
        "Fig. 7, r = 100 to 1000, charts: on a K20 two orders of magnitude below DistributedNM", logx=True,
    )  # fmt: skip


def datasets(row: Row) -> None:
    size, num, seconds = row.args.size or 4, row.r(1000, 2), {}
    for name in ("YE", "HS") if row.small else TABLE_1:
        graph = row.graph("yeast") if name == "YE" else like(name)
        seconds[name], found = row.find(graph, size, num)
        told(name, graph, f"k={size}", f"r={num}", f"{int(found.counts.sum()):,} subgraphs in the graph", seconds[name])
    row.write(
        f"motifs_datasets_{size}",
        f"Discovery in networks of the sizes of Table 1, k = {size}, r = {num}",
        "network",
        "seconds",
        "bar",
        [("all phases", seconds, seconds.values())],
        "Fig. 4, k = 6, r = 1000, charts: two orders of magnitude faster than CPU programs; DistributedNM fails on CE",
        "YE is yeast; the others have the nodes, arcs and largest degrees of Table 1, and are random otherwise",
    )


def worm(row: Row) -> None:
    size, num = row.args.size or (3 if row.small else 4), row.r(1000, 2)
    graph = like("CE")
    seconds, found = row.find(graph, size, num)
    told("CE", graph, f"k={size}", f"r={num}", f"{len(row.devices)} devices",
         f"{int(found.counts.sum()):,} subgraphs in the graph", seconds)  # fmt: skip
    row.write(
        f"motifs_worm_{size}",
        f"Discovery in a network of the size of CE, k = {size}, r = {num}",
        "network",
        "seconds",
        "bar",
        [(f"k = {size}", ["CE"], [seconds])],
        "Fig. 4, CE at k = 6, r = 1000, chart: done on a K20; DistributedNM does not end in a day",
        f"17,179 nodes, 124,599 arcs, largest degrees of Table 1; {int(found.counts.sum()):,} subgraphs in the graph",
    )


def _networks(row: Row, size: int, num: int, names: Iterable[str]) -> dict[str, tuple]:
    found = {}
    for name in names:
        graph = row.graph(name)
        classes = subgraph_census(graph, size).classes
        sample = random_graphs(graph, num, 0)
        found[name] = graph, classes, plan_matching(graph, size, classes), sample
    return found


def _paper_sizes(row: Row) -> tuple[int, int, tuple[str, ...]]:
    if row.small:
        return 3, 4, ("ecoli_alon423",)
    return row.args.size or 5, row.r(100, 4), ("yeast", "ecoli_alon423")


def overhead(row: Row) -> None:
    size, num, names = _paper_sizes(row)
    found = engines.optimisations(_networks(row, size, num, names), size, num)
    series = [(label, list(found), [found[name][label] for name in found]) for label in ("DC-GM", "DC", "NA")]
    row.write(
        "motifs_overhead",
        f"Matching engine: time without optimisations over time with all, k = {size}",
        "network",
        "relative time",
        "bar",
        [(label, x, [0 if v is None else v for v in y]) for label, x, y in series],
        "Fig. 8, k = 6: DC-GM about 2, DC about 4, NA a little below DC or out of memory",
        "0: out of memory",
    )


def _swept(row: Row) -> tuple[str, dict[str, tuple], int, int]:
    size, num, _ = _paper_sizes(row)
    name = "ecoli_alon423" if row.small else "yeast"
    return name, _networks(row, size, num, (name,)), size, num


def lambda_(row: Row) -> None:
    name, networks, size, num = _swept(row)
    found = engines.memory_shares(name, networks[name], size)
    row.write("motifs_lambda", f"Matching engine: memory for each level's table, {name}, k = {size}, r = {num}",
              "lambda", "seconds", "line", [("", found, found.values())],
              "Fig. 9a, YP: best at 0.4, worse from 0.3 down and above 0.5", logy=False)  # fmt: skip


def mu(row: Row) -> None:
    name, networks, size, num = _swept(row)
    found = engines.merging(name, networks[name], num)
    row.write("motifs_mu", f"Matching engine: random graphs merged, {name}, k = {size}, r = {num}", "mu", "seconds",
              "line", [("", found, found.values())], "Fig. 9b, YP: best at 400 of 1000 on a K20, at 100 on a Q2000",
              logx=True)  # fmt: skip


def phases(row: Row) -> None:
    size, num, names = _paper_sizes(row)
    found = engines.first_phase(_networks(row, size, num, names), size, num)
    row.write("motifs_phases", f"Gain from a first phase on the device, k = {size}", "r", "times faster", "line",
              [(name, gain, gain.values()) for name, gain in found.items()],
              "Fig. 10: about 2 at r = 100 on a K20, falling with r", logy=False)  # fmt: skip


ROWS = {
    "largest": largest, "random": random, "datasets": datasets, "worm": worm, "overhead": overhead,
    "lambda": lambda_, "mu": mu, "phases": phases,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("row", choices=ROWS)
    for name in ("random", "size", "devices"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("once", "small"):
        parser.add_argument(f"--{name}", action="store_true")
    args = parse_with_data(parser, bare=True)
    started = time.perf_counter()
    ROWS[args.row](Row(args))
    told(args.row, "in all", time.perf_counter() - started)


if __name__ == "__main__":
    main()
