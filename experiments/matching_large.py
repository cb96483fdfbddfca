"""Large random targets: built, filtered, searched; the counterpart of figure 8 of Bonnici, Giugno, Bombieri (2018).

A target has N nodes and a mean degree, its edges uniform or with degrees by a power law of exponent 2.5, and labels
drawn uniformly. Queries are cut out of the target. The grid has 18 targets: 100 thousand, 1 and 10 million nodes, mean
degrees 4, 16 and 50, both kinds; each with a query of 8, 16 and 32 nodes.

Run: python experiments/matching_large.py [--nodes N ..] [--degrees D ..] [--kinds uniform power] [--sizes K ..]
         [--labels L] [--seconds S] [--total T]
(the figure goes to results/figures/grass_grid_*.json)
"""

import argparse
import itertools
import time

import jax
import jax.numpy as jnp
import numpy as np
from figure_data import backend, machine, write_figure

from jaxmotif.graph import Graph
from jaxmotif.matching import count_matches
from jaxmotif.patterns import Pattern

AT_ONCE = 2**24
NEAR = 64
"""Neighbours of a node that a query is cut out of, at most."""


def random_edges(rng, nodes, edges, kind):
    """int32 ``[edges, 2]``, self loops and repeated ones among them."""
    if kind == "uniform":
        return rng.integers(0, nodes, (edges, 2), dtype=np.int32)
    rows = np.empty((edges, 2), np.int32)
    for first in range(0, edges, AT_ONCE):
        # Node i is drawn as often as (i + 1) ** (-2 / 3) says: degrees by a power law of exponent 1 + 3 / 2.
        drawn = rng.random(rows[first : first + AT_ONCE].shape)
        rows[first : first + AT_ONCE] = nodes * (drawn * drawn * drawn)
    return rows


def cut_out(rng, target, labels, size):
    """A query of a random piece of the target: at most 3 new neighbours of each node, and the edges seen on the way."""
    bounds = np.asarray(target.out_offsets)
    for start in rng.permutation(target.n)[:1000].tolist():
        nodes, rows = [start], set()
        for v in nodes:  # grows
            first, stop = int(bounds[v]), int(bounds[v + 1])
            # One size of reading, whatever the degree.
            slots = np.minimum(np.arange(NEAR, dtype=np.int32) + np.int32(first), np.int32(max(stop, 1) - 1))
            near = np.asarray(target.out_targets[jnp.asarray(slots)])[: stop - first]
            new = [w for w in rng.permutation(near).tolist() if w not in nodes]
            nodes += new[: min(3, size - len(nodes))]
            rows |= {(min(v, w), max(v, w)) for w in near.tolist() if w in nodes}
        if len(nodes) == size:
            at = {v: i for i, v in enumerate(nodes)}
            return Pattern.from_edges([(at[v], at[w]) for v, w in rows], size, node_labels=labels[nodes])
    raise SystemExit(f"no component of {size} nodes was found")


def measure(nodes, degree, kind, args):
    """A target and its queries: rows of the table."""
    rng = np.random.default_rng([nodes, degree, kind == "power"])
    clock = time.perf_counter()
    edges = random_edges(rng, nodes, nodes * degree // 2, kind)
    labels = rng.integers(0, args.labels, nodes, dtype=np.int32)
    generated = time.perf_counter() - clock
    clock = time.perf_counter()
    target = Graph.from_edges(edges, nodes, node_labels=labels)
    jax.block_until_ready(target.out_targets)
    built = time.perf_counter() - clock
    del edges
    for size in args.sizes:
        query = cut_out(rng, target, labels, size)
        times = []
        for _ in range(2):
            clock = time.perf_counter()
            found = count_matches(query, target, time_limit=args.seconds)
            times.append(time.perf_counter() - clock)
            if not found.exact:
                break
        peak = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0) / 2**30
        yield {
            "nodes": nodes, "degree": degree, "kind": kind, "edges": target.m, "largest": int(target.degrees.max()),
            "size": size, "exact": found.exact, "matches": found.count, "first": times[0], "again": times[-1],
            "tested": found.positions, "generated": generated, "built": built, "peak": peak,
        }  # fmt: skip


def write(rows, args):
    """Seconds of a warm call by nodes, a line for each mean degree and kind, of the largest queries."""
    size, series = max(args.sizes), []
    for degree, kind in itertools.product(args.degrees, args.kinds):
        some = [row for row in rows if (row["degree"], row["kind"], row["size"]) == (degree, kind, size)]
        solved = [row for row in some if row["exact"]]
        series.append(
            {"label": f"{kind}, {degree}", "x": [r["nodes"] for r in solved], "y": [r["again"] for r in solved]}
        )
    done = sum(row["exact"] for row in rows)
    told = {
        "title": f"Queries of {size} nodes in large random targets", "machine": machine(), "kind": "line", "logx": True,
        "command": "python experiments/matching_large.py", "xlabel": "nodes of the target", "logy": True,
        "ylabel": "s, from the graph in memory to the count", "series": [line for line in series if line["x"]],
        "paper": "Fig. 8: 100 thousand to 10 million nodes, mean degree 4 to 50, uniform: solved within 10 and 30 "
        "minutes, 2.5 times as fast as RI and 55.7 times as TurboIso, reading left out",
        "note": f"labels: {args.labels}; {done} of {len(rows)} queries counted within {args.seconds:g} s each "
        f"(sizes {', '.join(map(str, args.sizes))})",
    }  # fmt: skip
    write_figure(f"grass_grid_{backend()}", told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--degrees", type=int, nargs="+", default=[4, 16, 50])
    parser.add_argument("--kinds", nargs="+", choices=["uniform", "power"], default=["uniform", "power"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 16, 32])
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=5.0, help="limit of each search")
    parser.add_argument("--total", type=float, default=1e9, help="begin no further target after so many seconds")
    args = parser.parse_args()
    print(f"{machine()}, jax {jax.__version__}, {args.labels} labels\n")
    print("| nodes | edges | kind | most degree | generated s | built s | query nodes | matches | first s | s "
          "| candidates | peak GiB |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    begun, rows = time.perf_counter(), []
    for nodes, kind, degree in itertools.product(args.nodes, args.kinds, args.degrees):
        if time.perf_counter() - begun > args.total:
            print(f"left out after {args.total:g} s: {nodes:,} nodes, mean degree {degree}, {kind}")
            continue
        for row in measure(nodes, degree, kind, args):
            rows.append(row)
            print(
                f"| {nodes:,} | {row['edges']:,} | {kind} | {row['largest']:,} | {row['generated']:.1f} "
                f"| {row['built']:.1f} | {row['size']} | {row['matches']:,}{'' if row['exact'] else ' so far'} "
                f"| {row['first']:.2f} | {row['again']:.3f} | {row['tested']:,} | {row['peak']:.1f} |", flush=True,
            )  # fmt: skip
        write(rows, args)
    print(f"\n{time.perf_counter() - begun:.0f} s in all, {sum(row['exact'] for row in rows)} of {len(rows)} counted")


if __name__ == "__main__":
    main()
