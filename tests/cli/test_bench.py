"""``jaxmotif bench``: rows of times, and an error where a result is not the known one."""

import json
import types
from pathlib import Path

import numpy as np
import pytest

from jaxmotif.cli import _bench
from jaxmotif.cli._app import build_parser, main
from jaxmotif.graph import synthetic


@pytest.fixture
def triangles(monkeypatch):
    """One quick case, with the result that is called known."""

    def known(result):
        def case(job):
            run = lambda graph, devices: int(graph.n) - 7  # noqa: E731
            return _bench.Case(job, "a task", lambda: synthetic.cycle(12), run, result)

        monkeypatch.setattr(_bench, "cases", lambda: (case(job) for job in ("graphlets", "match")))

    return known


def test_one_job_or_all_are_timed(triangles, capsys):
    triangles(5)
    assert main(["bench", "--quiet", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(row["job"], row["nodes"], row["result"]) for row in shown["benchmarks"]] == [
        ("graphlets", 12, 5),
        ("match", 12, 5),
    ]
    assert all(row["first"] >= 0 and row["correct"] for row in shown["benchmarks"])
    assert shown["cores"] > 0
    assert main(["bench", "match", "--quiet"]) == 0
    assert "graphlets" not in capsys.readouterr().out


def test_a_wrong_result_is_an_error(triangles, capsys):
    triangles(4)
    assert main(["bench", "graphlets", "--quiet"]) == 1
    assert "graphlets (a task): 5" in capsys.readouterr().err


def test_every_job_has_a_case(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    jobs = ", ".join(dict.fromkeys(case.job for case in _bench.cases()))
    assert f"{jobs} (default: all)" in " ".join(capsys.readouterr().out.split())
    for job in jobs.split(", "):
        assert build_parser().parse_args(["bench", job]).job == job


def test_the_labelled_query_is_two_triangles():
    assert (_bench.query().n, _bench.query().m) == (6, 7)


def test_graphs_and_results_are_those_of_the_record():
    record = Path(__file__).parents[2] / "experiments" / "results" / "bench.md"
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in record.read_text().splitlines()]
    known = {(*row[:4], row[-1]) for row in rows if len(row) == 8}
    for case in _bench.cases():
        graph = case.graph()
        assert (case.job, case.task, f"{graph.n:,}", f"{graph.m:,}", f"{case.result:,}") in known


def test_columns_for_each_edge_add_up_to_the_totals(monkeypatch):
    found = types.SimpleNamespace(columns=["edge", "4-cycle"], values=np.array([[1, 1]] * 4))
    monkeypatch.setattr(_bench.jaxmotif, "edge_graphlets", lambda graph, devices: found)
    assert _bench._edge_graphlets(synthetic.cycle(4), None) == 1
