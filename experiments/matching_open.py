"""The labelled instances that nobody has counted: each is searched for a while, and how large its search is estimated.

The estimate is Knuth's (Mathematics of Computation 29, 1975): probes go down the search tree, at each level to one of
the partial matches that are left, drawn uniformly; the product of how many there were is, on average, how many partial
matches the level has. Likewise the candidates tested. Probes follow the order, domains, leaves and symmetry of the
search itself, without looking ahead. The estimate is unbiased; where few probes reach the end it is likely low.

Run: python experiments/matching_open.py [--data FOLDER] [--seconds S] [--probes P] [--probe-seconds T] [--only NAME]
(the figure goes to results/figures/grass_open_*.json)
"""

import argparse
import json
import time

import jax
import numpy as np
from figure_data import FIGURES, backend, machine, write_figure
from networks import instance, parse_with_data

from jaxmotif.matching import count_matches
from jaxmotif.matching._host_search import HostSearch
from jaxmotif.matching._options import Options
from jaxmotif.matching._sizes import plan_sizes
from jaxmotif.matching._target import index_target
from jaxmotif.matching.planner._ask import constrain_query
from jaxmotif.matching.planner._order import choose_order
from jaxmotif.matching.planner._reduce import filter_target, reduce_and_measure
from jaxmotif.patterns import Pattern

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


class _Probes(HostSearch):
    """Many probes at once, each a row; ``laid`` is how many candidates each had."""

    def lay_out_candidates(self, asks, shortest):
        row, w, which = super().lay_out_candidates(asks, shortest)
        self.laid = np.bincount(row, minlength=self.rows.shape[1])
        return row, w, which


def prepare(query, target, options):
    """Return what a search goes by."""
    asked = constrain_query(query, options)
    kept = filter_target(target, asked, None, options)
    lists, measured = reduce_and_measure(target, asked, kept, options, plan_sizes(jax.devices("cpu")[0]))
    return asked, choose_order(asked, measured, options.search, closed_form=not options.induced), lists, measured


def probe(prepared, rng, probes):
    """Of each level the partial matches and the candidates tested, by each probe: float64 ``[levels, 2, probes]``."""
    asked, order, lists, measured = prepared
    search = _Probes.between(lists, asked, order, measured, 2**62)
    search.rows = np.zeros((asked.query.num_nodes, probes), np.int32)
    alive, weights = np.arange(probes), np.ones(probes)
    found = np.zeros((len(order.core), 2, probes))
    for level, x in enumerate(order.core):
        asks = search.asks([x])
        row, w = search.test_candidates(asks, search.shortest(asks))
        left = np.bincount(row, minlength=len(alive))
        found[level, 1, alive] = weights * search.laid
        # Of each probe's partial matches one, drawn uniformly: they stand together, row by row.
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


def measure(folder, name, kind, args):
    """A search of some seconds, and the estimate of its size."""
    query, target = instance(folder, name)
    options = Options(induced=kind == "induced")
    index = index_target(target, by_degree=True, on_host=True)
    prepared = prepare(Pattern.from_graph(query), index, options)
    rng, some = np.random.default_rng(0), []
    started = time.perf_counter()
    while sum(x.shape[-1] for x in some) < args.probes and time.perf_counter() - started < args.probe_seconds:
        some.append(probe(prepared, rng, 256))
    levels = np.concatenate(some, axis=-1)
    total = levels[:, 1].sum(axis=0)
    found = count_matches(query, target, kind == "induced", time_limit=args.seconds)
    order = prepared[1]
    means = levels[:, 0].mean(axis=-1)
    return {
        "name": f"{name.removeprefix('graemlin_').split('/si2')[0]} {kind}", "nodes": query.n,
        "core": len(order.core), "leaves": len(order.leaves.nodes),
        "probes": levels.shape[-1], "candidates": float(total.mean()),
        "error": float(total.std() / np.sqrt(len(total))), "widest": int(means.argmax()) + 1,
        "partial": float(means.max()), "reached": int(np.flatnonzero(means).max(initial=-1)) + 1,
        "exact": found.exact, "count": found.count, "tested": found.positions, "seconds": found.seconds["search"],
    }  # fmt: skip


def reason(row):
    """In words."""
    if row["exact"]:
        return f"counted in {row['seconds']:.1f} s"
    rate = row["tested"] / row["seconds"]
    days = row["candidates"] / rate / 86400
    took = f"{24 * days:.1g} hours" if days < 2 else f"{days:.1g} days" if days < 1000 else f"{days / 365:.1g} years"
    reached = "" if row["reached"] == row["core"] else f", no probe came beyond node {row['reached']}"
    return (
        f"{row['candidates']:.1e} candidates expected, {row['partial']:.1e} partial matches of {row['widest']} nodes: "
        f"{took} at this rate{reached}"
    )


def merged(path, label, new):
    """The bars of a series: those of instances that this run left out stay as they are."""
    old = json.loads(path.read_text())["series"] if path.exists() else []
    bars = {x: y for one in old if one["label"] == label for x, y in zip(one["x"], one["y"], strict=True)} | new
    return {"x": list(bars), "y": list(bars.values())}


def write(rows, args):
    path = FIGURES / f"grass_open_{backend()}.json"
    told = {
        "title": "Instances that nobody has counted", "machine": machine(), "xlabel": "instance", "kind": "bar",
        "command": "python experiments/matching_open.py", "logx": False,
        "ylabel": "candidates", "logy": True,
        "series": [
            {"label": label, **merged(path, label, {row["name"]: row[key] for row in rows})}
            for label, key in (("expected, by probes", "candidates"), ("tested", "tested"))
        ],
        "paper": "Fig. 5: the share of instances solved in 10 minutes; the paper leaves 4-node queries unlabelled open",
    }  # fmt: skip
    write_figure(path.stem, told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, help="of search, each")
    parser.add_argument("--probes", type=int, default=2**16)
    parser.add_argument("--probe-seconds", type=float, default=10.0, help="most time for the probes of an instance")
    parser.add_argument("--only", default="", help="instances whose name holds this")
    args = parse_with_data(parser, bare=True)
    print(f"{machine()}, jax {jax.__version__}, {args.seconds:g} s each\n")
    print(
        "| instance | nodes searched + leaves | matches so far | candidates tested | expected (standard error) | why |"
    )
    print("|---|---|---|---|---|---|")
    rows = []
    for name, kind in OPEN:
        if args.only not in f"{name} {kind}":
            continue
        rows.append(row := measure(args.data, name, kind, args))
        print(
            f"| {row['name']} | {row['core']} + {row['leaves']} | {row['count']:,} | {row['tested']:,} "
            f"| {row['candidates']:.2e} ({row['error']:.1e}) | {reason(row)} |", flush=True,
        )  # fmt: skip
        write(rows, args)


if __name__ == "__main__":
    main()
