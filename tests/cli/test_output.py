"""Reports as table, JSON and CSV, and files that appear whole or not at all."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from jaxmotif.cli.output import Report, check_output, write_report

HUGE = 4166416671249950000
COUNTS = Report({"nodes": 5, "edges": 2}, {"graphlet": ["edge", "4-node-indep"], "count": [2, HUGE * HUGE]}, "counts")
NAMES = np.array(["a,b", 'say "hi"', "ü"], dtype=object)
ROWS = Report({"nodes": 3, "edges": 3}, {"node": NAMES, "orbit-0": np.array([1, -20, 300]), "orbit-1": np.arange(3)})


def written(report, form, capsys):
    write_report(report, form)
    return capsys.readouterr().out


def test_json_keeps_integers_of_any_size(capsys):
    document = json.loads(written(COUNTS, "json", capsys))
    assert document == {"nodes": 5, "edges": 2, "counts": {"edge": 2, "4-node-indep": HUGE * HUGE}}


def test_json_rows(capsys):
    document = json.loads(written(ROWS, "json", capsys))
    assert document["columns"] == ["node", "orbit-0", "orbit-1"]
    assert document["rows"] == [["a,b", 1, 0], ['say "hi"', -20, 1], ["ü", 300, 2]]
    assert document["nodes"] == document["edges"] == 3


def test_csv_quotes_names(capsys):
    rows = list(csv.reader(io.StringIO(written(ROWS, "csv", capsys))))
    assert rows == [["node", "orbit-0", "orbit-1"], ["a,b", "1", "0"], ['say "hi"', "-20", "1"], ["ü", "300", "2"]]


def test_table_is_aligned(capsys):
    assert written(ROWS, "table", capsys).splitlines() == [
        "nodes  3",
        "edges  3",
        "",
        "node      orbit-0  orbit-1",
        "a,b             1        0",
        'say "hi"      -20        1',
        "ü             300        2",
    ]
    assert written(COUNTS, "table", capsys).splitlines()[3] == f"graphlet      {'count':>{len(str(HUGE * HUGE))}}"


@pytest.mark.parametrize("form", ["table", "json", "csv"])
@pytest.mark.parametrize("length", [0, 1, 8192, 20_000])
def test_every_row_arrives(form, length, tmp_path):
    values = np.arange(length)
    write_report(Report({}, {"u": values, "v": values + 1}), form, tmp_path / "out")
    text = (tmp_path / "out").read_text()
    if form == "json":
        rows = json.loads(text)["rows"]
    else:
        rows = [list(map(int, line.replace(",", " ").split())) for line in text.splitlines()[1:]]
    assert rows == [[i, i + 1] for i in range(length)]


def test_a_file_is_replaced_only_by_a_whole_one(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")

    class Broken(list):
        def __getitem__(self, index):
            if index.start:
                raise KeyboardInterrupt
            return super().__getitem__(index)

    with pytest.raises(KeyboardInterrupt):
        write_report(Report({}, {"u": Broken(range(10_000))}), "csv", target)
    assert target.read_text() == "old"
    write_report(ROWS, "csv", target)
    assert target.read_text().startswith("node,")
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_report(ROWS, "csv", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("node,")


@pytest.mark.parametrize("path", ["missing/out.csv", ".", "file/out.csv"])
def test_unwritable_places_are_found_early(path, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=rf"cannot write .*{path}"):
        check_output(tmp_path / path)
    assert os.listdir(tmp_path) == ["file"]


def test_checking_leaves_nothing_behind(tmp_path):
    check_output(tmp_path / "out.csv")
    check_output(Path(os.devnull))
    check_output(None)
    assert os.listdir(tmp_path) == []


def test_devices_are_written_in_place():
    write_report(ROWS, "csv", Path(os.devnull))
    assert not Path(os.devnull).is_file()
