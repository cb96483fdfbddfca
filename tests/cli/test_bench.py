"""``jaxmotif bench``: rows of times, and an error where a result is not the known one."""

import json

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
