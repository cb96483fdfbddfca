"""Certificates: errors that are planted and found, and what making and checking one costs.

    python experiments/certificates.py ROW [--data FOLDER]

Prints what experiments/results/certificates.md records.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Table, check, measure, option

import jaxmotif
from jaxmotif import verify
from jaxmotif.certificates import certify_graphlets
from tests.verify.test_verify import MUTANT, plain

rows = harness.Rows(__doc__)


def plant(result: Any, kind: str, rng: random.Random) -> tuple[np.ndarray, dict[str, int]]:
    """Return the table and the counts of a result with an error of a kind."""
    table, counts = result.values.copy(), dict(result.counts)
    number, columns = table.shape
    if kind == "wrong row":
        row, column = rng.randrange(number), rng.randrange(columns)
        table[row, column] += rng.choice([1, 2, 1000])
    elif kind == "wrong total":
        counts[rng.choice(list(counts))] += rng.choice([1, 7, 10**6])
    elif kind == "rows exchanged":
        one = other = 0
        while (table[one] == table[other]).all():
            one, other = rng.randrange(number), rng.randrange(number)
        table[[one, other]] = table[[other, one]]
    else:
        change = np.array([MUTANT.get(name, 0) for name in result.columns])
        possible = np.flatnonzero(((table + change >= 0) & (table - change >= 0)).all(axis=1)).tolist()
        more, fewer = rng.sample(possible, 2)
        table[more] += change
        table[fewer] -= change
    return table, counts


@rows(option("--network", default="celegans_metabolic"), option("--number", type=int, default=500))
def planted(options: argparse.Namespace) -> None:
    """Plant errors in tables of edges, and count those that a certificate without witnesses shows.

    The bar: all, since every column is proved for every row.
    """
    graph = harness.undirected(options.data, options.network)
    result, simple = jaxmotif.edge_graphlets(graph), plain(graph)
    kinds = ("wrong row", "wrong total", "rows exchanged", "engine mutant")
    refused = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        for number in range(options.number):
            kind = kinds[number % len(kinds)]
            table, counts = plant(result, kind, random.Random(number))
            certify_graphlets(path, graph, "edge", counts, True, result.columns, table)
            certificate = json.loads(path.read_text()) | {"witnesses": []}
            refused[kind] += not verify.check(certificate, simple).accepted
    table = Table("error | planted | refused")
    for i, kind in enumerate(kinds):
        table.row(kind, len(range(i, options.number, len(kinds))), refused[kind])


def price(call: Any, certified: Any, path: Path, graph: jaxmotif.Graph, calls: int) -> None:
    """Print what a call costs with and without a certificate, and what checking takes here."""
    alone, together = measure(call, calls=calls), measure(certified, calls=calls)
    simple, started = plain(graph), time.process_time()
    report = verify.check(path, simple, seconds=600)
    seconds = time.process_time() - started
    check("the certificate", report.accepted, True)
    table = Table("call, ms | with certificate, ms | times | certificate, kB | check, CPU s")
    best = 1e3 * alone.best, 1e3 * together.best
    table.row(*best, best[1] / best[0], path.stat().st_size / 1e3, seconds)
    print(f"\n{report}")


@rows(option("--network", default="socfb-Cornell5"), option("--calls", type=int, default=7))
def edges(options: argparse.Namespace) -> None:
    """Price of a certificate of edge graphlets, beside the call with its values in host memory.

    The bar for socfb-Cornell5: under 100 kB, at most 1.3 times the call on an H200, checked in at most 60 CPU s.
    """
    graph = harness.undirected(options.data, options.network)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        price(
            lambda: jaxmotif.edge_graphlets(graph).values,
            lambda: jaxmotif.edge_graphlets(graph, certify=path).values,
            path,
            graph,
            options.calls,
        )


@rows(option("--instance", default="graemlin_helicobacter_L1/semi_e8_0"), option("--calls", type=int, default=5))
def matches(options: argparse.Namespace) -> None:
    """Price of a certificate of a count of matches. The bar for helicobacter_L1/semi_e8_0: at most 4 times the call."""
    query, target = harness.instance(options.data, options.instance)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        price(
            lambda: jaxmotif.count_matches(query, target).count,
            lambda: jaxmotif.count_matches(query, target, certify=path).count,
            path,
            target,
            options.calls,
        )


if __name__ == "__main__":
    rows.main()
