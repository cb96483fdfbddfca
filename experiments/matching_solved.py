"""Labelled instances solved within a time limit, grouped by labels and by query size, and times beside other programs.

The counterpart of figures 5 to 7 of Bonnici, Giugno, Bombieri (2018) on the verified instances: every count is checked.

Run: python experiments/matching_solved.py FOLDER [--seconds S] [--here] [--only NAME]
(FOLDER holds matches.json and the graphs; --here times python-igraph and networkx too, under the same limit)
"""

import argparse
import json
import multiprocessing
import time
from collections import defaultdict
from math import exp, log
from pathlib import Path

import jax
import numpy as np

from jaxmotif.graph import read_graph
from jaxmotif.matching import count_matches


def igraph_seconds(query, target, induced, seconds):
    """LAD of python-igraph, for undirected graphs with one kind of edge; ``None`` if not done in time."""
    import igraph

    graphs = [igraph.Graph(g.n, g.edge_list().tolist()) for g in (query, target)]
    labels = [np.asarray(g.node_labels)[: g.n] for g in (query, target)]
    domains = [np.flatnonzero(labels[1] == label).tolist() for label in labels[0]]

    def work():
        graphs[1].get_subisomorphisms_lad(graphs[0], domains=domains, induced=induced)

    return _timed(work, seconds)


def networkx_seconds(query, target, induced, seconds):
    """VF2 of networkx."""
    import networkx as nx
    from networkx.algorithms import isomorphism

    graphs = []
    for graph in (query, target):
        made = nx.Graph(graph.edge_list().tolist())
        made.add_nodes_from((v, {"label": label}) for v, label in enumerate(np.asarray(graph.node_labels)[: graph.n]))
        graphs.append(made)
    matcher = isomorphism.GraphMatcher(graphs[1], graphs[0], isomorphism.categorical_node_match("label", None))

    def work():
        for _ in matcher.subgraph_isomorphisms_iter() if induced else matcher.subgraph_monomorphisms_iter():
            pass

    return _timed(work, seconds)


def _timed(work, seconds):
    started = time.perf_counter()
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.terminate()
        process.join()
        return None
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0, help="limit of each search")
    parser.add_argument("--here", action="store_true", help="time python-igraph and networkx too")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    args = parser.parse_args()
    print(jax.devices()[0].device_kind, "jax", jax.__version__, f"limit {args.seconds:g} s\n")
    print(
        "| target | query | semantics | nodes | matches | right | first s | again s | RI-DS s | best other s | here |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    groups = {name: defaultdict(list) for name in ("labels", "query nodes", "semantics")}
    for name, queries in json.loads((args.folder / "matches.json").read_text())["targets"].items():
        if args.only not in name:
            continue
        target = read_graph(args.folder / name / "target.txt.gz", pad="bucket")
        labels = len(np.unique(np.asarray(target.node_labels)[: target.n]))
        for file, semantics in queries.items():
            query = read_graph(args.folder / name / "queries" / f"{file}.txt")
            for kind, known in semantics.items():
                times = []
                for _ in range(2):
                    started = time.perf_counter()
                    found = count_matches(query, target, kind == "induced", time_limit=args.seconds)
                    times.append(time.perf_counter() - started)
                    if not found.exact:
                        break
                right = "unknown" if known["matches"] is None else "yes" if found.count == known["matches"] else "NO"
                ri, best = known["cpu_s"].get("rids"), min(known["cpu_s"].values(), default=None)
                here = ""
                if args.here and not target.directed and target.edge_labels is None:
                    for rival in (igraph_seconds, networkx_seconds):
                        taken = rival(query, target, kind == "induced", args.seconds)
                        here += f"{rival.__name__.split('_')[0]} {'-' if taken is None else f'{taken:.2f}'} "
                print(
                    f"| {name} | {file} | {kind} | {query.n} | {found.count if found.exact else found.status} "
                    f"| {right if found.exact else ''} | {times[0]:.2f} | {times[-1]:.3f} | {ri or ''} | {best or ''} "
                    f"| {here}|", flush=True,
                )  # fmt: skip
                row = (found.exact, times[-1], ri)
                for group, value in (("labels", labels), ("query nodes", _bucket(query.n)), ("semantics", kind)):
                    groups[group][value].append(row)
    for group, members in groups.items():
        print(f"\n| {group} | instances | solved | RI-DS solved | mean s of both | RI-DS | gain where RI-DS > 1 s |")
        print("|---|---|---|---|---|---|---|")
        for value, rows in sorted(members.items()):
            both = [(mine, ri) for exact, mine, ri in rows if exact and ri is not None]
            slow = [ri / mine for mine, ri in both if ri > 1]
            print(
                f"| {value} | {len(rows)} | {sum(r[0] for r in rows)} | {sum(r[2] is not None for r in rows)} "
                f"| {_mean(mine for mine, _ in both)} | {_mean(ri for _, ri in both)} | {_mean(slow)} |"
            )  # fmt: skip


def _bucket(nodes):
    return next(size for size in (4, 8, 16, 32, 64, 128, 256, 1024) if nodes <= size)


def _mean(values):
    logs = [log(value) for value in values]
    return f"{exp(sum(logs) / len(logs)):.3g}" if logs else ""


if __name__ == "__main__":
    main()
