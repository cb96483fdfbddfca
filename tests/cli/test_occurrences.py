"""``--occurrences`` of the commands that find classes and queries."""

import csv
import json

import pytest

from jaxmotif.cli import main

EDGES = "x y\ny z\nx z\nz out,1\n"


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "loop.txt"
    path.write_text(EDGES)
    return path


def run(*arguments):
    assert main([*map(str, arguments), "--device", "cpu", "--quiet"]) == 0


def test_the_three_formats_agree(capsys, network, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for ending in ("csv", "jsonl", "parquet"):
        run("census", network, "--directed", "--occurrences", tmp_path / f"o.{ending}")
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert "# command: census" in lines
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert rows[-1] == {
        "class": "000100110", "id": "38", "name": "030T feed-forward loop", "node_0": "z", "node_1": "x", "node_2": "y",
    } or set(list(rows[-1].values())[3:]) == {"x", "y", "z"}  # fmt: skip
    assert [row["id"] for row in rows] == ["12", "12", "38"]
    assert {"out,1"} < {row[f"node_{i}"] for row in rows for i in range(3)}
    documents = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [document.pop("nodes") for document in documents] == [[r[f"node_{i}"] for i in range(3)] for r in rows]
    assert documents[-1] == {"class": "000100110", "id": 38, "name": "030T feed-forward loop"}
    table = parquet.read_table(tmp_path / "o.parquet")
    assert [{key: str(value) for key, value in row.items()} for row in table.to_pylist()] == rows
    assert json.loads(table.schema.metadata[b"jaxmotif"])["command"] == "census"


def test_queries_of_several_sizes(capsys, network, tmp_path):
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "arc").write_text("0 1\n")
    (tmp_path / "queries" / "loop").write_text("0 1\n1 2\n0 2\n")
    run("match", tmp_path / "queries", network, "--directed", "--occurrences", tmp_path / "o.csv")
    lines = [line for line in (tmp_path / "o.csv").read_text().splitlines() if not line.startswith("#")]
    assert [line.split(",")[0] for line in lines] == ["query", *["arc"] * 4, "loop"]
    assert next(csv.reader(lines[1:2]))[-1] == ""


def test_columns_are_called_as_the_nodes_of_the_query(network, tmp_path):
    run("match", "A -> B; B -> C; A -> C", network, "--directed", "--occurrences", tmp_path / "o.csv")
    lines = [line for line in (tmp_path / "o.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines == ["query,A,B,C", "A -> B; B -> C; A -> C,x,y,z"]


def test_mistakes(capsys, network, tmp_path):
    with pytest.raises(SystemExit, match="2"):
        main(["census", str(network), "--occurrences", str(tmp_path / "o.txt")])
    assert main(["census", str(network), "--occurrences", str(tmp_path / "none" / "o.csv")]) == 1
    assert "cannot write" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.part"))
