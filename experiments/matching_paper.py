"""Figures of the GRASS paper (Bonnici, Giugno, Bombieri, BIBM 2018), on instances of the same kinds.

    python experiments/matching_paper.py ROW [--data FOLDER]

Rows that are drawn write results/figures/grass_*.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import exp, log
from pathlib import Path
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from grass import conditions, order_of, search, tree_of
from harness import Rows, Table, measure, option

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches

# What is not public: the planner's phases, for Knuth's probes, and the loop of the search, for its schedules.
from jaxmotif.matching._host_search import HostSearch
from jaxmotif.matching._options import Options
from jaxmotif.matching._target import index_target
from jaxmotif.matching.planner._ask import constrain_query
from jaxmotif.matching.planner._order import choose_order
from jaxmotif.matching.planner._plan import Matching
from jaxmotif.matching.planner._reduce import filter_target, reduce_and_measure
from jaxmotif.patterns import Pattern
from jaxmotif.search._layout import SearchWords
from jaxmotif.search._loop import DeviceReport, advance

rows = Rows(__doc__)
only = option("--only", default="", help="instances whose name holds this")
limit = partial(option, "--seconds", type=float, help="limit of each search")
total = option("--total", type=float, default=1e9, help="begin nothing further after so many seconds")


# ---- Figs. 5 to 7: what is solved within a limit


@rows(
    option("rows", type=Path, metavar="ROWS.jsonl", help="file that takes a line for each instance"),
    limit(default=600.0),
    option("--here", action="store_true", help="time python-igraph and networkx, too, under the same limit"),
    only,
    option("--easy", type=float, help="only what some program solved in so many CPU seconds"),
)
def solved(options: argparse.Namespace) -> None:
    """Count the instances solved within a limit, by labels and query size, and time them beside others (Figs. 5 to 7).

    Every count is checked. An instance becomes a line of ROWS.jsonl as soon as it is done, and is not run again when
    the script is; the tables are printed from that file.
    """
    done = {(row["target"], row["query"], row["semantics"]) for row in read_rows(options.rows)}
    for name, queries in harness.verified(options.data, "labelled", "matches.json").items():
        for file, kind in [(file, kind) for file, kinds in queries.items() for kind in kinds]:
            known = queries[file][kind]
            easy = options.easy is None or min(known["cpu_s"].values(), default=float("inf")) <= options.easy
            if options.only in name and easy and (name, file, kind) not in done:
                query, target = harness.instance(options.data, f"{name}/{file}")
                row = {"target": name, "query": file, "semantics": kind}
                row |= solve(query, target, kind == "induced", known, options)
                with options.rows.open("a") as out:
                    out.write(json.dumps(row) + "\n")
    report(read_rows(options.rows))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read what has been measured before."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def solve(query: Graph, target: Graph, induced: bool, known: dict, options: argparse.Namespace) -> dict[str, Any]:
    """Time one instance: the first call compiles what is new, the second is told."""
    call = partial(count_matches, query, target, induced, time_limit=options.seconds)
    found, first, cpu = harness.once(call)
    again = first
    if found.exact:
        found, again, cpu = harness.once(call)
    row = {
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "limit": options.seconds,
        "nodes": query.n,
        "labels": len(np.unique(np.asarray(target.node_labels)[: target.n])),
        "matches": found.count,
        "exact": found.exact,
        "known": known["matches"],
        "first": first,
        "again": again,
        "cpu": cpu,
        "steps": found.steps,
        "tested": found.positions,
        "others": known["cpu_s"],
        "peak_gib": harness.peak_gib(),
    }
    if options.here and not target.directed and target.edge_labels is None:
        given = query, target, induced
        row["here"] = {
            "igraph": harness.within(options.seconds, by_igraph(*given)),
            "networkx": harness.within(options.seconds, by_networkx(*given)),
        }
    return row


def by_igraph(query: Graph, target: Graph, induced: bool) -> Callable[[], None]:
    """Prepare LAD of python-igraph, for undirected graphs with one kind of edge."""
    import igraph

    small, large = (igraph.Graph(g.n, g.edge_list().tolist()) for g in (query, target))
    labels = [np.asarray(g.node_labels)[: g.n] for g in (query, target)]
    domains = [np.flatnonzero(labels[1] == label).tolist() for label in labels[0]]
    return lambda: large.get_subisomorphisms_lad(small, domains=domains, induced=induced) and None


def by_networkx(query: Graph, target: Graph, induced: bool) -> Callable[[], None]:
    """Prepare VF2 of networkx."""
    import networkx as nx
    from networkx.algorithms import isomorphism

    graphs = []
    for graph in (query, target):
        made = nx.Graph(graph.edge_list().tolist())
        made.add_nodes_from((v, {"label": label}) for v, label in enumerate(np.asarray(graph.node_labels)[: graph.n]))
        graphs.append(made)
    matcher = isomorphism.GraphMatcher(graphs[1], graphs[0], isomorphism.categorical_node_match("label", None))
    matches = matcher.subgraph_isomorphisms_iter if induced else matcher.subgraph_monomorphisms_iter

    def work() -> None:
        for _ in matches():
            pass

    return work


def bucket(nodes: int) -> int:
    """Return the group of a query size."""
    return next(size for size in (4, 8, 16, 32, 64, 128, 256, 1024) if nodes <= size)


GROUPS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "labels": lambda row: row["labels"],
    "query nodes": lambda row: bucket(row["nodes"]),
    "target": lambda row: row["target"],
    "semantics": lambda row: row["semantics"],
}


def grouped(members: Iterable[dict[str, Any]], key: Callable[[dict[str, Any]], Any]) -> Iterator[tuple[Any, list]]:
    """Yield the values of a key, in order, and the rows of each."""
    for value, some in itertools.groupby(sorted(members, key=key), key=key):
        yield value, list(some)


def report(found: list[dict[str, Any]]) -> None:
    """Print the tables of each device."""
    for device, members in grouped(found, lambda row: row["device"]):
        limits = " or ".join(f"{limit:g}" for limit in sorted({row["limit"] for row in members}))
        exact = [row for row in members if row["exact"]]
        right = sum(row["known"] == row["matches"] for row in exact)
        wrong = [row for row in exact if row["known"] not in (None, row["matches"])]
        print(f"{device}, jax {members[0]['jax']}, limit {limits} s: {len(members)} instances, {len(exact)} solved, ")
        print(f"{right} equal to a known count, {len(wrong)} not; ", end="")
        print(f"most device memory in use {max(row.get('peak_gib', 0) for row in members):.2f} GiB\n")
        for row in wrong:
            print("WRONG", row)
        for group, key in GROUPS.items():
            gains = ("x RI-DS", "x RI-DS where > 1 s", "x igraph", "x networkx")
            table = Table(
                group, "instances", "solved", "RI-DS", "igraph", "networkx", "mean s of both", "RI-DS", *gains
            )
            for value, some in grouped(members, key):
                table.row(value, *summary(some))
            print()
        table = Table("not solved here | others' s")
        for row in members:
            if not row["exact"]:
                table.row(f"{row['target']}/{row['query']} {row['semantics']}", row["others"])
        print()
        table = Table("slowest solved | nodes | matches | s | CPU s | RI-DS s | best other s")
        for row in sorted(exact, key=lambda row: -row["again"])[:15]:
            name = f"{row['target']}/{row['query']} {row['semantics']}"
            others = row["others"].get("rids", ""), min(row["others"].values(), default="")
            table.row(name, row["nodes"], f"{row['matches']:,}", f"{row['again']:.2f}", f"{row['cpu']:.2f}", *others)
        print()


def summary(members: list[dict[str, Any]]) -> list[Any]:
    """Return the cells of a group: solved by each, and geometric means over what both solved."""

    def pairs(program: str, least: float = 0.0) -> list[tuple[float, float]]:
        both = []
        for row in members:
            other = row["others"].get("rids") if program == "rids" else row.get("here", {}).get(program)
            if row["exact"] and other is not None and other > least:
                both.append((row["again"], other))
        return both

    others: list[Any] = [sum(row["others"].get("rids") is not None for row in members)]
    for program in ("igraph", "networkx"):
        asked = [row["here"][program] for row in members if "here" in row]
        others.append(f"{sum(x is not None for x in asked)} of {len(asked)}")
    ri = pairs("rids")
    gains = (ri, pairs("rids", 1.0), pairs("igraph"), pairs("networkx"))
    return [
        len(members),
        sum(row["exact"] for row in members),
        *others,
        mean(a for a, _ in ri),
        mean(b for _, b in ri),
        *(mean(b / a for a, b in some) for some in gains),
    ]


def mean(values: Iterable[float]) -> str:
    """Return the geometric mean as a cell; empty if there are no values."""
    logs = [log(value) for value in values]
    return f"{exp(sum(logs) / len(logs)):.3g}" if logs else ""


# ---- instances that nobody has counted


OPEN = (
    ("graemlin_helicobacter_L1/dense_e32_0", "non-induced"),
    ("graemlin_helicobacter_L1/dense_e32_0", "induced"),
    ("dir_pa5k_L4/v32_2", "non-induced"),
    ("dir_pa5k_L4/v32_2", "induced"),
    ("graemlin_campylobacter_L4derived/dense_e64_0", "non-induced"),
    ("graemlin_helicobacter_L32/sparse_e256_0", "non-induced"),
    ("mivia_si2_rnd_eta04_m750_20/si2_rnd_eta04_m750_20_sub", "non-induced"),
    ("mivia_si2_rnd_eta04_m750_20/si2_rnd_eta04_m750_20_sub", "induced"),
    ("lad_LV_g20/g2", "non-induced"),
    ("string_yeast_u32/dense_e256_0", "non-induced"),
    ("string_yeast_u32/dense_e256_0", "induced"),
)


@rows(
    limit(default=600.0),
    option("--probes", type=int, default=2**16),
    option("--probe-seconds", type=float, default=10.0, help="most time for the probes of an instance"),
    only,
    name="open",
)
def open_instances(options: argparse.Namespace) -> None:
    """Search the instances that nobody has counted for a while, and estimate how large each search is.

    The estimate is Knuth's (Mathematics of Computation 29, 1975): probes go down the search tree, at each level to one
    of the partial matches that are left, drawn uniformly; the product of how many there were is, on average, how many
    partial matches the level has. Likewise the candidates tested. Probes follow the order, domains, leaves and symmetry
    of the search itself, without looking ahead. The estimate is unbiased; where few probes reach the end it is likely
    low.
    """
    table = Table(
        "instance | nodes searched + leaves | matches so far | candidates tested | expected (standard error) | why"
    )
    for name, kind in OPEN:
        if options.only not in f"{name} {kind}":
            continue
        row = estimate(name, kind == "induced", options)
        label = f"{name.removeprefix('graemlin_').split('/si2')[0]} {kind}"
        table.row(
            label,
            f"{row['core']} + {row['leaves']}",
            f"{row['count']:,}",
            f"{row['tested']:,}",
            f"{row['candidates']:.2e} ({row['error']:.1e})",
            outlook(row),
        )
        harness.figure(
            f"grass_open_{harness.backend()}",
            {"expected, by probes": {label: row["candidates"]}, "tested": {label: row["tested"]}},
            title="Instances that nobody has counted",
            xlabel="instance",
            ylabel="candidates",
            kind="bar",
            logy=True,
            paper="Fig. 5: the share of instances solved in 10 minutes; the paper leaves 4-node queries open",
        )


class Probes(HostSearch):
    """Many probes at once, each a row; ``laid`` is how many candidates each had."""

    def lay_out_candidates(self, asks, shortest):
        row, w, which = super().lay_out_candidates(asks, shortest)
        self.laid = np.bincount(row, minlength=self.rows.shape[1])
        return row, w, which


def prepare(query, target, options):
    """Plan as a search does."""
    asked = constrain_query(query, options)
    kept = filter_target(target, asked, None, options)
    lists, measured = reduce_and_measure(target, asked, kept, options)
    return asked, choose_order(asked, measured, options.search, closed_form=not options.induced), lists, measured


def probe(prepared, rng, probes):
    """Count the partial matches and the candidates tested of each level, by each probe: ``[levels, 2, probes]``."""
    asked, order, lists, measured = prepared
    search = Probes.between(lists, asked, order, measured, 2**62)
    search.rows = np.zeros((asked.query.num_nodes, probes), np.int32)
    alive, weights = np.arange(probes), np.ones(probes)
    found = np.zeros((len(order.core), 2, probes))
    for level, x in enumerate(order.core):
        asks = search.asks([x])
        row, w = search.test_candidates(asks, search.shortest(asks))
        left = np.bincount(row, minlength=len(alive))
        found[level, 1, alive] = weights * search.laid
        # Of each probe's partial matches, which stand together, one is drawn uniformly.
        goes_on = np.flatnonzero(left)
        pick = (np.cumsum(left) - left + np.floor(rng.random(len(left)) * left).astype(np.int64))[goes_on]
        alive, weights = alive[goes_on], (weights * left)[goes_on]
        found[level, 0, alive] = weights
        if not len(alive):
            break
        search.rows = search.rows[:, goes_on]
        search.rows[x] = w[pick]
        search.placed = np.append(search.placed, x)
    return found


def estimate(name: str, induced: bool, options: argparse.Namespace) -> dict[str, Any]:
    """Search for some seconds, and estimate the size of the search."""
    query, target = harness.instance(options.data, name)
    how = Options(induced=induced)
    index = index_target(target, by_degree=True, on_host=True)
    prepared = prepare(Pattern.from_graph(query), index, how)
    rng, some = np.random.default_rng(0), []
    started = time.perf_counter()
    while sum(x.shape[-1] for x in some) < options.probes and time.perf_counter() - started < options.probe_seconds:
        some.append(probe(prepared, rng, 256))
    levels = np.concatenate(some, axis=-1)
    tested, means = levels[:, 1].sum(axis=0), levels[:, 0].mean(axis=-1)
    found = count_matches(query, target, induced, time_limit=options.seconds)
    return {
        "core": len(prepared[1].core),
        "leaves": len(prepared[1].leaves.nodes),
        "candidates": float(tested.mean()),
        "error": float(tested.std() / np.sqrt(len(tested))),
        "widest": int(means.argmax()) + 1,
        "partial": float(means.max()),
        "reached": int(np.flatnonzero(means).max(initial=-1)) + 1,
        "exact": found.exact,
        "count": found.count,
        "tested": found.positions,
        "seconds": found.seconds["search"],
    }


def outlook(row: dict[str, Any]) -> str:
    """Say in words why an instance is not counted, and how long it would take."""
    if row["exact"]:
        return f"counted in {row['seconds']:.1f} s"
    if not row["tested"]:
        return f"{row['candidates']:.1e} candidates expected; none was tested within the limit"
    days = row["candidates"] / (row["tested"] / row["seconds"]) / 86400
    took = f"{24 * days:.1g} hours" if days < 2 else f"{days:.1g} days" if days < 1000 else f"{days / 365:.1g} years"
    reached = "" if row["reached"] == row["core"] else f", no probe came beyond node {row['reached']}"
    return (
        f"{row['candidates']:.1e} candidates expected, {row['partial']:.1e} partial matches of {row['widest']} nodes: "
        f"{took} at this rate{reached}"
    )


# ---- flooding and hypersearch


SCHEDULES = ("fill", "deepest", "blocks")
INSTANCES = (
    ("cmap_1a0g_a/sparse_e64_0", "non-induced"),
    ("graemlin_campylobacter_L4derived/semi_e8_1", "induced"),
    ("graemlin_escherichia_L64/sparse_e8_0", "non-induced"),
    ("graemlin_helicobacter_L2derived/sparse_e4_0", "induced"),
    ("graemlin_helicobacter_L8derived/semi_e16_0", "non-induced"),
    ("lad_LV_g20/g5", "induced"),
    ("snu_yeast/dense_32_1", "non-induced"),
    ("string_yeast_u32/dense_e32_0", "induced"),
)


@rows(
    option("--block", type=int, help="lanes of a step (default: 2^14 on a CPU, 2^20 on a GPU)"),
    option("--threads", type=int, default=256, help="lanes of a thread block"),
    limit(default=2.0),
    total,
    option("--count", action="store_true", help="count leaves in closed form and break symmetry"),
    only,
)
def flooding(options: argparse.Namespace) -> None:
    """Search as phases like those of GRASS do, by configurations of the level search, beside its default.

    fill: the default. A step works on the first table whose successor has room, so that tables fill before they are
    worked on, and nearly all lanes of a step have something to do.
    deepest: flooding (a level after the other, as long as a whole level fits a step) and then hypersearch (depth first,
    by steps that are breadth first): a step works on the last table that is not empty.
    blocks: the same, and a thread block takes one partial match at a time: a step of C lanes in blocks of B takes at
    most C / B partial matches, however few candidates they have. This is not what GRASS does, whose blocks are filled
    over several levels with domain candidates; how many of its lanes idle is not known from this.

    Every match is reached by the search (no leaves in closed form, no symmetry, no looking ahead) unless ``--count``.
    """
    known = harness.verified(options.data, "labelled", "matches.json")
    block = options.block or (2**14 if harness.backend() == "cpu" else 2**20)
    begun = time.perf_counter()
    lanes, rates = {kind: {} for kind in SCHEDULES}, {kind: {} for kind in SCHEDULES}
    print(f"Steps of {block} lanes, thread blocks of {options.threads}\n")
    table = Table("instance | semantics | schedule | matches | right | s | steps | candidates | lanes used")
    for name, kind in INSTANCES:
        if options.only not in name:
            continue
        if time.perf_counter() - begun > options.total:
            print(f"left out after {options.total:g} s: {name} {kind}")
            continue
        folder, file = name.split("/")
        query, graph = harness.instance(options.data, name)
        how = Search(leaves=options.count, symmetry=options.count, block=block, lookahead=False)
        how = Options(induced=kind == "induced", search=how)
        plan = Matching(Pattern.from_graph(query), graph, how).plan(jax.devices()[0])
        assert plan.ready is not None  # no instance is decided by its plan alone
        lanes_of_step = plan.ready.stages[0].sizes.block
        for schedule in SCHEDULES:
            end, seconds = scheduled(plan, schedule, options.threads, options.seconds)
            count, steps, tested, done = end.matches * plan.multiplier, end.steps, end.positions, end.drained
            if done:
                harness.check(f"{name} {kind}, {schedule}", count, known[folder][file][kind]["matches"])
            used = tested / max(1, steps) / lanes_of_step
            label = f"{name.removeprefix('graemlin_')} {kind}"
            rates[schedule][label], lanes[schedule][label] = tested / seconds, 100 * used
            matches = f"{count:,}{'' if done else ' so far'}", "yes" if done else ""
            table.row(name, kind, schedule, *matches, f"{seconds:.2f}", steps, f"{tested:,}", f"{100 * used:.1f} %")
    told: dict[str, Any] = {
        "xlabel": "instance",
        "kind": "bar",
        "paper": "Figs. 3 and 4 show the two phases as drawings; they are not timed apart",
        "note": "fill: the default. deepest: flooding, then depth first. blocks: a partial match a thread block. "
        f"Searches are stopped after {options.seconds:g} s; counts of those that end are the known ones",
    }
    titles = "Flooding and hypersearch beside filled tables", "Lanes with a candidate, of all that steps have"
    kind = harness.backend()
    harness.figure(
        f"grass_schedules_{kind}", rates, title=titles[0], ylabel="candidates tested a second", logy=True, **told
    )
    harness.figure(f"grass_lanes_{kind}", lanes, title=titles[1], ylabel="% of the lanes of a step", **told)
    print(f"\n{time.perf_counter() - begun:.0f} s in all")


@rows(limit(default=10.0), only)
def grass(options: argparse.Namespace) -> None:
    """Search as GRASS does, by flooding and hypersearch over the tree of candidates, beside the package's search.

    Every match is reached by both: no leaves in closed form, no symmetry.
    """
    known = harness.verified(options.data, "labelled", "matches.json")
    table = Table("instance | semantics | levels | matches | GRASS s | paths | lanes that idle", "ours s | candidates")
    for name, kind in INSTANCES:
        if options.only not in name:
            continue
        folder, file = name.split("/")
        query, target = harness.instance(options.data, name)
        induced = kind == "induced"
        tree = tree_of(query, target, induced)
        found = measure(partial(search, tree, induced, options.seconds), calls=1).result
        how = Search(engine="search", leaves=False, symmetry=False, lookahead=False)
        ours = measure(partial(count_matches, query, target, induced, search=how), calls=1)
        wanted = known[folder][file][kind]["matches"]
        harness.check(f"{name}, ours", ours.result.count, wanted)
        if found.whole:
            harness.check(f"{name}, GRASS", found.matches, wanted)
        matches = f"{found.matches:,}{'' if found.whole else ' so far'}"
        idle = f"{100 * (1 - found.paths / found.lanes):.1f} %"
        row = len(tree.sizes), matches, f"{found.seconds:.2f}", f"{found.paths:,}", idle
        table.row(name, kind, *row, f"{ours.best:.2f}", f"{ours.result.positions:,}")


def tree_size(sizes: Iterable[int]) -> float:
    """Return the decimal logarithm of the nodes of a tree of candidates, and one, from how many each level has."""
    logs, paths = [0.0], 0.0
    for before, size in enumerate(sizes):
        if size <= before:
            break
        paths += log(size - before)
        logs.append(paths)
    return float(np.logaddexp.reduce(logs)) / log(10)


@rows(only)
def reduction(options: argparse.Namespace) -> None:
    """Show how many nodes the tree of candidates has by each of GRASS's conditions (III), and by our domains.

    Figures are means of decimal logarithms over the queries of a target.
    """
    known = harness.verified(options.data, "labelled", "matches.json")
    table = Table("target | nodes | queries | of | none | label | degree | neighbour's degree | domains")
    everything, how = [], Options(induced=False)

    def show(label: str, found: list[tuple[float, ...]]) -> None:
        n, k, *logs = np.mean(found, axis=0)
        table.row(label, f"{n:.0f}", len(found), f"{k:.0f}", *(f"{x:.1f}" for x in logs))

    for folder, queries in known.items():
        names = [f"{folder}/{query}" for query in queries if options.only in f"{folder}/{query}"]
        found = []
        for query, target in (harness.instance(options.data, name) for name in names):
            order = order_of(query)
            by_condition = [fits.sum(axis=1)[order] for fits in conditions(query, target)]
            index = index_target(target, by_degree=True, on_host=True)
            domains = prepare(Pattern.from_graph(query), index, how)[-1].sizes[order]
            sizes = [[target.n] * query.n, *by_condition, domains]
            found.append((target.n, query.n, *map(tree_size, sizes)))
        everything += found
        if found:
            show(folder, found)
    show("all", everything)


def scheduled(plan, schedule: str, threads: int, seconds: float) -> tuple[Any, float]:
    """Search by a schedule: where the second run ends, done or out of time, and its seconds."""
    (stage,), (device,) = plan.ready.stages, plan.ready.operands.offsets.devices()
    code, most_rows = np.array(stage.code), SearchWords._fields.index("most_rows")
    if schedule == "blocks":
        code[most_rows] = min(code[most_rows], max(1, stage.sizes.block // threads))
    operands = plan.ready.operands._replace(program=jax.device_put(code, device))

    def run(last: int, limit: float) -> tuple[Any, float]:
        state = stage.new_state(operands)
        started, steps = time.perf_counter(), 64
        while True:
            stop = np.int32(min(last, steps))
            state, report = advance(operands, state, stop, sizes=stage.sizes, ordered=schedule != "fill")
            now = DeviceReport.read(np.asarray(report), stage.sizes)
            taken = time.perf_counter() - started
            if now.drained or steps >= last or taken > limit:
                return now, taken
            steps *= 2

    run(1, seconds)  # compiles
    return run(2**30, seconds)


# ---- Fig. 8: large targets


AT_ONCE = 2**24
"""Edges drawn together."""
MOST_NEIGHBOURS = 64
"""Neighbours of a node that a query is cut out of, at most."""


@rows(
    option("--nodes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000]),
    option("--degrees", type=int, nargs="+", default=[4, 16, 50]),
    option("--kinds", nargs="+", choices=["uniform", "power"], default=["uniform", "power"]),
    option("--sizes", type=int, nargs="+", default=[8, 16, 32]),
    option("--labels", type=int, default=50),
    limit(default=5.0),
    total,
    option("--ri", nargs="+", default=[], metavar="PROGRAM", help="command lines of RI and RI-DS, to time beside"),
    option("--ri-seconds", type=float, default=600.0, help="limit of each run of these, with reading"),
)
def large(options: argparse.Namespace) -> None:
    """Build, filter and search large random targets (Fig. 8).

    A target has N nodes and a mean degree, its edges uniform or with degrees by a power law of exponent 2.5, and labels
    drawn uniformly. Queries are cut out of it. The grid has 18 targets, each with a query of 8, 16 and 32 nodes.

    ``--ri`` adds for each program the seconds it tells, and whether its count is ours, where both came to an end.
    """
    head = "nodes | edges | kind | most degree | drawn s | built s"
    rivals = [f"{Path(program).name} s | same" for program in options.ri]
    table = Table(head, "query nodes | matches | first s | s | candidates | peak GiB", *rivals)
    begun, solved = time.perf_counter(), []
    size = max(options.sizes)
    for nodes, kind, degree in itertools.product(options.nodes, options.kinds, options.degrees):
        if time.perf_counter() - begun > options.total:
            print(f"left out after {options.total:g} s: {nodes:,} nodes, mean degree {degree}, {kind}")
            continue
        rng = np.random.default_rng([nodes, degree, kind == "power"])
        edges, drawing, _ = harness.once(partial(random_edges, rng, nodes, nodes * degree // 2, kind))
        labels = rng.integers(0, options.labels, nodes, dtype=np.int32)
        target, building, _ = harness.once(partial(Graph.from_edges, edges, nodes, node_labels=labels))
        del edges
        queries = [cut_out(rng, target, labels, query_size) for query_size in options.sizes]
        beside = by_ri(options, target, labels, queries)
        for query_size, query, others in zip(options.sizes, queries, beside, strict=True):
            call = partial(count_matches, query, target, time_limit=options.seconds)
            timing = measure(call, calls=1)
            found = timing.result
            solved.append(found.exact)
            table.row(
                f"{nodes:,}",
                f"{target.m:,}",
                kind,
                f"{int(target.degrees.max()):,}",
                f"{drawing:.1f}",
                f"{building:.1f}",
                query_size,
                f"{found.count:,}{'' if found.exact else ' so far'}",
                f"{timing.first:.2f}",
                f"{timing.best:.3f}",
                f"{found.positions:,}",
                f"{harness.peak_gib():.1f}",
                *itertools.chain(*(cells_of(other, found, options.ri_seconds) for other in others)),
            )
            if query_size == size and found.exact:
                harness.figure(
                    f"grass_grid_{harness.backend()}",
                    {f"{kind}, {degree}": {nodes: timing.best}},
                    title=f"Queries of {size} nodes in large random targets",
                    xlabel="nodes of the target",
                    ylabel="s, from the graph in memory to the count",
                    kind="line",
                    logx=True,
                    logy=True,
                    paper="Fig. 8: 100 thousand to 10 million nodes, mean degree 4 to 50, uniform: solved within 10 "
                    "and 30 minutes, 2.5 times as fast as RI and 55.7 times as TurboIso, reading left out",
                    note=f"labels: {options.labels}; {sum(solved)} of {len(solved)} queries counted within "
                    f"{options.seconds:g} s each (sizes {', '.join(map(str, options.sizes))})",
                )
    print(f"\n{time.perf_counter() - begun:.0f} s in all, {sum(solved)} of {len(solved)} counted")


Told = tuple[float, int] | None
"""Seconds and matches that a program told, or that it was stopped."""


def by_ri(options: argparse.Namespace, target: Graph, labels: np.ndarray, queries: list[Pattern]) -> list[list[Told]]:
    """Run RI and the like on each query: what each program tells.

    The seconds are RI's "matching time", by the wall clock: the search, and the domains of RI-DS. Left out are reading,
    in which the lists of neighbours are built, and the order of the query's nodes.
    """
    if not options.ri:
        return [[] for _ in queries]
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "target.gfu", Path(folder) / "query.gfu"
        write_gfu(files[0], target.edge_list(), labels)
        found = []
        for query in queries:
            write_gfu(files[1], np.argwhere(np.triu(query.adjacency)), np.asarray(query.node_labels))
            found.append([told_by(program, files, options.ri_seconds) for program in options.ri])
        return found


def write_gfu(path: Path, edges: np.ndarray, labels: np.ndarray) -> None:
    """Write an undirected graph with labels of nodes in RI's format, whose numbers may stand between any blanks."""
    with path.open("w") as out:
        out.write("#graph\n")
        for numbers in (np.array([len(labels)]), labels, np.array([len(edges)]), edges.ravel()):
            for part in np.split(numbers, range(2**20, len(numbers), 2**20)):
                out.write(" ".join(map(str, part.tolist())) + "\n")


def told_by(program: str, files: tuple[Path, Path], seconds: float) -> Told:
    """Run a program of RI's command line, on one core."""
    line = [program, "mono", "gfu", *map(str, files)]
    try:
        output = subprocess.run(line, capture_output=True, text=True, timeout=seconds, check=True).stdout
    except subprocess.TimeoutExpired:
        return None
    told = dict(line.split(": ", 1) for line in output.splitlines() if ": " in line)
    return float(told["matching time"]), int(told["number of found matches"])


def cells_of(told: Told, found: Any, limit: float) -> tuple[str, str]:
    """Return the cells of a program: its seconds, and whether its count is ours."""
    if told is None:
        return f"over {limit:g}", "-"
    return f"{told[0]:.3g}", "-" if not found.exact else "yes" if told[1] == found.count else f"no, {told[1]:,}"


def random_edges(rng: np.random.Generator, nodes: int, edges: int, kind: str) -> np.ndarray:
    """Draw edges, int32 ``[edges, 2]``, self loops and repeated ones among them."""
    if kind == "uniform":
        return rng.integers(0, nodes, (edges, 2), dtype=np.int32)
    drawn = np.empty((edges, 2), np.int32)
    for first in range(0, edges, AT_ONCE):
        # Node i is drawn as often as (i + 1) ** (-2 / 3) says: degrees by a power law of exponent 1 + 3 / 2.
        part = rng.random(drawn[first : first + AT_ONCE].shape)
        drawn[first : first + AT_ONCE] = nodes * (part * part * part)
    return drawn


def cut_out(rng: np.random.Generator, target: Graph, labels: np.ndarray, size: int) -> Pattern:
    """Cut a query out of a target: at most 3 new neighbours of each node, and the edges seen on the way."""
    bounds = np.asarray(target.out_offsets)
    for start in rng.permutation(target.n)[:1000].tolist():
        nodes, edges = [start], set()
        for v in nodes:  # grows
            first, stop = int(bounds[v]), int(bounds[v + 1])
            # All reads are of one size, whatever the degree, so that one program does them.
            slots = np.minimum(np.arange(MOST_NEIGHBOURS, dtype=np.int32) + np.int32(first), np.int32(max(stop, 1) - 1))
            near = np.array(target.out_targets[jnp.asarray(slots)])[: stop - first]
            new = [w for w in rng.permutation(near).tolist() if w not in nodes]
            nodes += new[: min(3, size - len(nodes))]
            edges |= {(min(v, w), max(v, w)) for w in near.tolist() if w in nodes}
        if len(nodes) == size:
            at = {v: i for i, v in enumerate(nodes)}
            return Pattern.from_edges([(at[v], at[w]) for v, w in edges], size, node_labels=labels[nodes])
    raise SystemExit(f"no component of {size} nodes was found")


if __name__ == "__main__":
    rows.main()
