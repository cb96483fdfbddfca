"""Labelled instances solved within a time limit, grouped by labels and by query size, and times beside other programs.

The counterpart of figures 5 to 8 of Bonnici, Giugno, Bombieri (2018) on the verified instances: every count is checked.
Each instance becomes a line of a JSON-lines file as soon as it is done, and is not run again when the script is; the
tables are printed from that file.

Run: python experiments/matching_solved.py [--data FOLDER] ROWS.jsonl [--seconds S] [--here] [--only NAME] [--easy T]
(--here times python-igraph and networkx too, under the same limit; --easy
takes only instances that some program solved in T seconds of CPU)
"""

import argparse
import itertools
import json
import multiprocessing
import time
from math import exp, log
from pathlib import Path

import jax
import numpy as np
from networks import data_folder, instance, parse_with_data

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0, help="limit of each search")
    parser.add_argument("--here", action="store_true", help="time python-igraph and networkx too")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--easy", type=float, help="only what some program solved in so many seconds")
    args = parse_with_data(parser, bare=True)
    targets = json.loads((data_folder(args.data, "labelled") / "matches.json").read_text())["targets"]
    done = {(row["target"], row["query"], row["semantics"]) for row in read_rows(args.rows)}
    for name, queries in targets.items():
        wanted = [
            (file, kind, known)
            for file, semantics in queries.items()
            for kind, known in semantics.items()
            if args.only in name and (name, file, kind) not in done
            and (args.easy is None or min(known["cpu_s"].values(), default=float("inf")) <= args.easy)
        ]  # fmt: skip
        for file, kind, known in wanted:
            query, target = instance(args.data, f"{name}/{file}")
            row = {"target": name, "query": file, "semantics": kind} | measure(query, target, kind, known, args)
            with args.rows.open("a") as out:
                out.write(json.dumps(row) + "\n")
    report(read_rows(args.rows))


def read_rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def measure(query, target, kind, known, args):
    """One instance: the first call compiles what is new, the second is timed."""
    times = []
    for _ in range(2):
        started, used = time.perf_counter(), time.process_time()
        found = count_matches(query, target, kind == "induced", time_limit=args.seconds)
        times.append((time.perf_counter() - started, time.process_time() - used))
        if not found.exact:
            break
    row = {
        "device": jax.devices()[0].device_kind, "jax": jax.__version__, "limit": args.seconds, "nodes": query.n,
        "labels": len(np.unique(np.asarray(target.node_labels)[: target.n])), "matches": found.count,
        "exact": found.exact, "known": known["matches"], "first": times[0][0], "again": times[-1][0],
        "cpu": times[-1][1], "steps": found.steps, "tested": found.positions, "others": known["cpu_s"],
        "peak": (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0),
    }  # fmt: skip
    if args.here and not target.directed and target.edge_labels is None:
        row["here"] = {
            "igraph": igraph_seconds(query, target, kind == "induced", args.seconds),
            "networkx": networkx_seconds(query, target, kind == "induced", args.seconds),
        }
    return row


def report(rows):
    for device, here in itertools.groupby(sorted(rows, key=lambda row: row["device"]), key=lambda row: row["device"]):
        members = list(here)
        limits = " or ".join(f"{limit:g}" for limit in sorted({row["limit"] for row in members}))
        right = sum(row["exact"] and row["known"] == row["matches"] for row in members)
        wrong = [row for row in members if row["exact"] and row["known"] not in (None, row["matches"])]
        print(f"{device}, jax {members[0]['jax']}, limit {limits} s: {len(members)} instances, ", end="")
        print(f"{sum(row['exact'] for row in members)} solved, {right} equal to a known count, {len(wrong)} not\n")
        peak = max(row.get("peak", 0) for row in members)
        print(f"most device memory in use at any time: {peak / 2**30:.2f} GiB\n" if peak else "", end="")
        for row in wrong:
            print("WRONG", row)
        for group, key in (
            ("labels", lambda row: row["labels"]), ("query nodes", lambda row: _bucket(row["nodes"])),
            ("target", lambda row: row["target"]), ("semantics", lambda row: row["semantics"]),
        ):  # fmt: skip
            print(f"| {group} | instances | solved | RI-DS | igraph | networkx | mean s of both | RI-DS | x RI-DS | "
                  "x RI-DS where > 1 s | x igraph | x networkx |")  # fmt: skip
            print("|---|---|---|---|---|---|---|---|---|---|---|---|")
            for value, some in itertools.groupby(sorted(members, key=key), key=key):
                print("| " + " | ".join(map(str, [value, *_line(list(some))])) + " |")
            print()
        print("| not solved here | others' s |\n|---|---|")
        for row in members:
            if not row["exact"]:
                print(f"| {row['target']}/{row['query']} {row['semantics']} | {row['others']} |")
        print(
            "\n| slowest solved | nodes | matches | s | CPU s | RI-DS s | best other s |\n|---|---|---|---|---|---|---|"
        )
        for row in sorted((row for row in members if row["exact"]), key=lambda row: -row["again"])[:15]:
            print(
                f"| {row['target']}/{row['query']} {row['semantics']} | {row['nodes']} | {row['matches']:,} "
                f"| {row['again']:.2f} | {row['cpu']:.2f} | {row['others'].get('rids', '')} "
                f"| {min(row['others'].values(), default='')} |"
            )
        print()


def _line(rows):
    """Solved by each, and means: of both solved, and how many times faster than each other program."""

    def times(program, least=0.0):
        both = []
        for row in rows:
            other = row["others"].get("rids") if program == "rids" else row.get("here", {}).get(program)
            if row["exact"] and other is not None and other > least:
                both.append((row["again"], other))
        return both

    ri = times("rids")
    solved: list[int | str] = [sum(row["others"].get("rids") is not None for row in rows)]
    for program in ("igraph", "networkx"):
        asked = [row["here"][program] for row in rows if "here" in row]
        solved.append(f"{sum(x is not None for x in asked)} of {len(asked)}")
    gains = [times("rids"), times("rids", 1.0), times("igraph"), times("networkx")]
    return [
        len(rows), sum(row["exact"] for row in rows), *solved, _mean(a for a, _ in ri), _mean(b for _, b in ri),
        *(_mean(b / a for a, b in pairs) for pairs in gains),
    ]  # fmt: skip


def _bucket(nodes):
    return next(size for size in (4, 8, 16, 32, 64, 128, 256, 1024) if nodes <= size)


def _mean(values):
    logs = [log(value) for value in values]
    return f"{exp(sum(logs) / len(logs)):.3g}" if logs else ""


if __name__ == "__main__":
    main()
