"""Verified counts of real networks."""

import json

import pytest

from jaxmotif.graph import read_graph
from jaxmotif.matching import count_matches

QUICK = {("graemlin_helicobacter_L8derived", "dense_e32_0")}


def instances(folder):
    for target, queries in json.loads((folder / "matches.json").read_text())["targets"].items():
        for query, semantics in queries.items():
            for kind, known in semantics.items():
                if known["matches"] is not None:
                    yield target, query, kind == "induced", known


def check(folder, target, query, induced, known):
    graph = read_graph(folder / target / "target.txt.gz", pad="bucket")
    pattern = read_graph(folder / target / "queries" / f"{query}.txt")
    found = count_matches(pattern, graph, induced, time_limit=60)
    return found.count == known["matches"] if found.exact else None


def test_some_instances(shared_data):
    folder = shared_data / "labelled"
    for target, query, induced, known in instances(folder):
        if (target, query) in QUICK:
            assert check(folder, target, query, induced, known), (target, query, induced)


@pytest.mark.slow
def test_every_instance_another_program_solves_within_a_second(shared_data):
    folder = shared_data / "labelled"
    for target, query, induced, known in instances(folder):
        if min(known["cpu_s"].values(), default=9) < 1:
            assert check(folder, target, query, induced, known), (target, query, induced)
