"""Reports as table, JSON and CSV, and files that appear whole or not at all."""

import argparse
import csv
import io
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jaxmotif import Graph, report
from jaxmotif.certificates import _write
from jaxmotif.cli import main
from jaxmotif.cli._columns import class_report
from jaxmotif.cli._output import Report, arrow_column, check_outputs, choose_format, whole_file, write_report
from jaxmotif.cli._report import write_figures
from jaxmotif.drawing._drawing import MOST_NODES
from jaxmotif.patterns import Pattern

HUGE = 4166416671249950000
COUNTS = Report({"nodes": 5, "edges": 2}, {"graphlet": ["edge", "4-node-indep"], "count": [2, HUGE * HUGE]})
NAMES = np.array(["a,b", 'say "hi"', "ü"], dtype=object)
ROWS = Report({"nodes": 3, "edges": 3}, {"node": NAMES, "orbit-0": np.array([1, -20, 300]), "orbit-1": np.arange(3)})


def written(report, form, capsys):
    write_report(report, form)
    return capsys.readouterr().out


def test_json_keeps_integers_of_any_size(capsys):
    counts = dict(zip(*COUNTS.columns.values(), strict=True))
    document = json.loads(written(Report({**COUNTS.scalars, "counts": counts}, {}), "json", capsys))
    assert document == {"nodes": 5, "edges": 2, "counts": {"edge": 2, "4-node-indep": HUGE * HUGE}}


def test_json_rows(capsys):
    document = json.loads(written(ROWS, "json", capsys))
    assert document["columns"] == ["node", "orbit-0", "orbit-1"]
    assert document["rows"] == [["a,b", 1, 0], ['say "hi"', -20, 1], ["ü", 300, 2]]
    assert document["nodes"] == document["edges"] == 3


def csv_rows(text):
    return list(csv.reader(line for line in io.StringIO(text) if not line.startswith("# ")))


def test_a_table_of_values_alone_ends_with_them(capsys):
    assert written(Report({"nodes": 5, "m": 2}, {}), "table", capsys) == "nodes  5\nm      2\n"


def test_csv_quotes_names(capsys):
    rows = csv_rows(written(ROWS, "csv", capsys))
    assert rows == [["node", "orbit-0", "orbit-1"], ["a,b", "1", "0"], ['say "hi"', "-20", "1"], ["ü", "300", "2"]]


MIXED = Report(
    {"null_model": "keeps\nall", "total": 3},
    {
        "name": np.array(["a#1", "#2", ""], object), "z": np.array([1 / 3, np.nan, -1e9 / 7]),
        "motif": np.array([True, False, True]), "id": [38, None, 2**70],
    },
    run={"jaxmotif": "0.1.0", "seed": 7},
)  # fmt: skip


def test_csv_says_how_it_was_made_and_pandas_reads_it(capsys):
    pandas = pytest.importorskip("pandas")
    text = written(MIXED, "csv", capsys)
    assert text.splitlines()[:4] == ["# jaxmotif: 0.1.0", "# seed: 7", "# null_model: keeps all", "# total: 3"]
    frame = pandas.read_csv(io.StringIO(text), comment="#", keep_default_na=False, na_values={"z": [""]})
    assert frame["name"].tolist() == ["a#1", "#2", ""]
    assert frame["z"].tolist()[::2] == [0.3333333333, -142857142.9]
    assert np.isnan(frame["z"][1])
    assert frame["motif"].tolist() == [True, False, True]
    assert frame["id"].tolist() == ["38", "", str(2**70)]


def test_truth_values_and_what_is_not_there(capsys):
    rows = [line.split() for line in written(MIXED, "table", capsys).splitlines()[4:]]
    assert rows[0] == ["a#1", "0.33333", "true", "38"]
    assert rows[1] == ["#2", "-", "false", "-"]
    document = json.loads(written(MIXED, "json", capsys))
    assert document["run"] == {"jaxmotif": "0.1.0", "seed": 7}
    assert document["rows"][1] == ["#2", None, False, None]
    assert document["rows"][2] == ["", -142857142.9, True, 2**70]


def test_parquet_keeps_all_digits(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_report(MIXED, "parquet", tmp_path / "x.parquet")
    table = parquet.read_table(tmp_path / "x.parquet")
    assert table.column("z").to_pylist()[::2] == [1 / 3, -1e9 / 7]
    assert table.column("motif").to_pylist() == [True, False, True]
    assert table.column("id").to_pylist() == ["38", None, str(2**70)]
    assert json.loads(table.schema.metadata[b"jaxmotif"])["seed"] == 7
    assert arrow_column([2**63 - 1, -(2**63)]) == [2**63 - 1, -(2**63)]
    assert arrow_column([None, 2**63]) == [None, str(2**63)]
    assert arrow_column([-(2**63) - 1]) == [str(-(2**63) - 1)]


def check(form, path):
    check_outputs(argparse.Namespace(format=form, output=path))


def test_parquet_without_pyarrow_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"jaxmotif\[io\]"):
        check("parquet", None)
    with pytest.raises(SystemExit, match="2"):
        main(["census", "karate", "--roles", "roles.parquet"])
    assert "--roles FILE.parquet needs pyarrow: pip install 'jaxmotif[io]'" in capsys.readouterr().err


def test_parquet_is_not_for_a_terminal(monkeypatch):
    pytest.importorskip("pyarrow")
    check("parquet", None)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    check("csv", None)
    with pytest.raises(ValueError, match="Parquet is not for a terminal: name a file with --output"):
        check("parquet", None)


def test_a_table_shows_some_columns_and_the_others_when_wide(capsys):
    report = Report({}, {"class": ["01"], "z": [1.0], "p": [0.5]}, narrow=["class", "z"])
    assert written(report, "table", capsys).split() == ["class", "z", "01", "1.0"]
    write_report(report, "table", wide=True)
    assert capsys.readouterr().out.split() == ["class", "z", "p", "01", "1.0", "0.5"]
    assert csv_rows(written(report, "csv", capsys))[0] == ["class", "z", "p"]


@pytest.mark.parametrize(("text", "narrow"), [("0110", ["class", "id", "count"]), ("01" * 25, ["id", "count"])])
def test_very_long_classes_are_left_to_their_numbers(text, narrow):
    columns = {"class": [text], "id": [6], "name": [""], "przulj": [""], "count": [2]}
    report = class_report(columns, Graph.from_edges([(0, 1)]), ["count"])
    assert list(report.narrow) == narrow
    assert report.columns["class"] == [text]


def test_long_facts_are_wrapped(capsys):
    words = "uniform over the graphs that the moves reach " * 5
    shown = written(Report({"null_model": words}, {"u": [1]}), "table", capsys)
    assert max(map(len, shown.splitlines())) <= 120
    assert shown.split()[1:-2] == words.split()


def test_the_name_of_the_file_chooses(caplog):
    chosen = {name: choose_format(None, Path(name)) for name in ("a.csv", "b.JSON", "c.parquet", "d.txt", "out")}
    assert chosen == {"a.csv": "csv", "b.JSON": "json", "c.parquet": "parquet", "d.txt": "table", "out": "table"}
    assert choose_format("json", Path("a.csv")) == "json"
    with caplog.at_level("INFO", "jaxmotif"):
        assert choose_format(None, Path("a.xlsx")) == "table"
    assert "a.xlsx: written as a table" in caplog.text


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
    assert target.read_text().startswith("# nodes: 3\n# edges: 3\nnode,")
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_report(ROWS, "csv", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("# nodes: 3\n# edges: 3\nnode,")


@pytest.mark.parametrize("path", ["missing/out.csv", ".", "file/out.csv"])
def test_unwritable_places_are_found_early(path, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=rf"cannot write .*{path}"):
        check("csv", tmp_path / path)
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_may_not_be_written_to(tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("kept")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # Root may write to any file.
    with pytest.raises(OSError, match=r"cannot write .*out\.csv: is read-only"):
        check("csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "kept"


def test_checking_leaves_nothing_behind(tmp_path):
    check("csv", tmp_path / "out.csv")
    check("csv", Path(os.devnull))
    check("csv", None)
    assert os.listdir(tmp_path) == []


def test_devices_are_written_in_place():
    write_report(ROWS, "csv", Path(os.devnull))
    with whole_file(Path(os.devnull)) as stream:
        stream.write("a page")
    assert not Path(os.devnull).is_file()


@pytest.fixture
def network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAXMOTIF_CACHE", "off")
    Path("net.txt").write_text("0 1\n1 2\n2 0\n")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "net.txt"], "--output net.txt: this file is read"),
        (["--report", "./net.txt"], "--report net.txt: this file is read"),
        (["-o", "x.html", "--report", "x.html"], "--output x.html and --report are one file"),
        (["--checkpoint", "net.txt"], "--checkpoint net.txt: is a file; name a folder"),
        (["--figures", "net.txt"], "--figures net.txt: is a file; name a folder"),
        (["--node-labels", "labels.txt", "-o", "labels.txt"], "--output labels.txt: this file is read"),
        (["--figures", "/dev/null/svg"], "cannot write /dev/null/svg"),
    ],
)
def test_no_file_replaces_what_is_read_or_another(network, capsys, options, said):
    Path("labels.txt").write_text("0 a\n1 a\n2 b\n")
    assert main(["graphlets", "net.txt", *options]) == 1
    assert said in capsys.readouterr().err
    assert Path("net.txt").read_text() == "0 1\n1 2\n2 0\n"
    assert sorted(os.listdir()) == ["labels.txt", "net.txt"]


@pytest.mark.parametrize(
    "option",
    [("-o", "queries/t.txt"), ("-o", "queries/new.csv"), ("--report", "queries/page.html"), ("--figures", "queries")],
)
def test_no_file_becomes_a_query(network, capsys, option):
    Path("queries").mkdir()
    Path("queries/t.txt").write_text("0 1\n1 2\n2 0\n")
    Path("queries/p.txt").write_text("0 1\n1 2\n")
    assert main(["match", "queries/", "net.txt", *option]) == 1
    assert f"{option[1]}: each file in queries/ is a query, and this would be one" in capsys.readouterr().err
    assert sorted(os.listdir("queries")) == ["p.txt", "t.txt"]
    assert Path("queries/t.txt").read_text() == "0 1\n1 2\n2 0\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
def test_what_cannot_be_written_beside_the_result_does_not_cost_it(network, capsys):
    assert main(["match", "triangle", "net.txt", "--report", "/dev/full", "-o", "out.csv"]) == 1
    assert "triangle,6," in Path("out.csv").read_text()
    assert capsys.readouterr().err.splitlines()[-1] == "jaxmotif: error: --report /dev/full: No space left on device"
    assert main(["match", "triangle", "net.txt", "-o", "/dev/full"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "jaxmotif: error: --output /dev/full: No space left on device"


def test_no_mistake_in_a_page_or_a_certificate_costs_the_result(network, capsys, monkeypatch):
    monkeypatch.setattr(report, "match_report", lambda *_: [][0])
    assert main(["match", "triangle", "net.txt", "--report", "page.html", "-o", "out.csv"]) == 1
    assert "triangle,6," in Path("out.csv").read_text()
    assert "list index out of range; going on to the result" in capsys.readouterr().err
    monkeypatch.setattr(_write, "LARGEST_FILE", 100)
    assert main(["census", "net.txt", "--certificate", "c.json", "-o", "census.csv"]) == 1
    assert "triangle" in Path("census.csv").read_text()
    assert "and the checker reads 100 at most" in capsys.readouterr().err
    assert not Path("c.json").exists()


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("graphlets net.txt --report page.html", "jaxmotif.graphlets.node_orbits"),
        ("census net.txt --roles roles.csv", "jaxmotif.features.role_table"),
        ("match triangle net.txt --roles roles.csv", "jaxmotif.matching.subnetwork"),
        ("match triangle net.txt --report page.html", "jaxmotif.report.Matched"),
        ("census net.txt --figures figs", "jaxmotif.report.drawing_figures"),
    ],
)
def test_no_memory_for_what_stands_beside_the_result(network, capsys, monkeypatch, command, part):
    def fail(*_, **__):
        raise MemoryError("too little")

    if "--figures" in command:
        pytest.importorskip("matplotlib")
    monkeypatch.setattr(part, fail)
    assert main([*command.split(), "-o", "out.csv"]) == 1
    shown = capsys.readouterr().err.splitlines()
    assert "jaxmotif: too little; going on to the result" in shown
    assert shown[-1] == "jaxmotif: error: too little"
    assert "triangle" in Path("out.csv").read_text()
    assert sorted(os.listdir()) == ["net.txt", "out.csv"]


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_single_values_are_one_row(network, form):
    pandas = pytest.importorskip("pandas")
    out = f"out.{form}"
    Path("net.sif").write_text("of another graph")  # is replaced
    assert main(["convert", "net.txt", "net.sif", "-o", out]) == 0
    read = {"csv": pandas.read_csv, "tsv": pandas.read_table, "parquet": pandas.read_parquet}[form]
    assert read(out).to_dict("list") == {"file": ["net.sif"], "nodes": [3], "edges": [3], "directed": [False]}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
def test_a_topic_that_cannot_be_written():
    command = [sys.executable, "-m", "jaxmotif", "help", "columns"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "jaxmotif: error: standard output: No space left on device\n")


HOSTILE_NAMES = ["=cmd|'/C calc'!A0", "\x1b[2Jgone", "half \ud800", "two\nlines", "-3", "TP53"]
SHOWN_NAMES = ["=cmd|'/C calc'!A0", "\\x1b[2Jgone", "half \\ud800", "two\\nlines", "-3", "TP53"]


@pytest.fixture
def hostile(tmp_path):
    """A network whose names would run commands, turn a terminal, or not be written."""
    path = tmp_path / "names.json"
    edges = [{"source": u, "target": v} for u, v in itertools.pairwise(HOSTILE_NAMES)]
    path.write_text(json.dumps({"nodes": [{"id": name} for name in HOSTILE_NAMES], "edges": edges}))
    return path


@pytest.mark.parametrize("form", ["table", "csv", "json", "parquet"])
def test_names_are_written_as_escapes_and_never_lost(hostile, form, tmp_path, capsys):
    out = tmp_path / f"out.{form}"
    assert main(["graphlets", str(hostile), "--per", "node", "--format", form, "--output", str(out)]) == 0
    if form == "parquet":
        names = pytest.importorskip("pandas").read_parquet(out)["node"].tolist()
        assert names == [name.replace("\ud800", "\\ud800") for name in HOSTILE_NAMES]
        return
    text = out.read_text(encoding="utf-8")
    assert "\x1b" not in text
    if form == "json":
        assert [row[0] for row in json.loads(text)["rows"]] == HOSTILE_NAMES
    elif form == "csv":
        assert [row[0] for row in csv_rows(text)[1:]] == SHOWN_NAMES
    else:
        assert all(any(line.startswith(name) for line in text.splitlines()) for name in SHOWN_NAMES)
    assert "\x1b" not in capsys.readouterr().err


def test_formulas_are_escaped_on_request(hostile, tmp_path):
    out, where = tmp_path / "out.csv", tmp_path / "where.csv"
    words = ["census", str(hostile), "--output", str(out), "--occurrences", str(where)]
    assert main([*words, "--quiet"]) == 0
    plain = where.read_text()
    assert ",=cmd" in plain
    assert "\x1b" not in plain
    assert main([*words, "--escape-formulas", "--quiet"]) == 0
    cells = {cell for row in csv_rows(where.read_text()) for cell in row}
    assert {"'=cmd|'/C calc'!A0", "'-3", "TP53"} <= cells
    assert main(["graphlets", str(hostile), "--per", "node", "-o", str(out), "--escape-formulas", "--quiet"]) == 0
    rows = csv_rows(out.read_text())
    assert [row[0] for row in rows[1:]] == ["'" * name.startswith(("=", "-")) + name for name in SHOWN_NAMES]
    assert rows[1][1] == "1"  # numbers stay numbers


def test_notes_and_errors_do_not_command_the_terminal(tmp_path, capsys):
    path = tmp_path / "names.txt"
    path.write_text("source\ttarget\t\x1b[2Jscore\nA\tB\t1\n")
    assert main(["graphlets", str(path)]) == 0
    shown = capsys.readouterr().err
    assert "score" in shown
    assert "\x1b" not in shown
    assert main(["graphlets", "\x1b[2J"]) == 1
    assert "\x1b" not in capsys.readouterr().err


def test_drawings_have_a_limit(tmp_path, capsys):
    """The most frequent classes are drawn, and it is said how all are."""
    words = ["census", "karate", "--size", "4", "--figures"]
    assert main([*words, str(tmp_path / "two"), "--drawings", "2"]) == 0
    assert "the first 2 of 6 patterns are drawn; --drawings all draws all" in capsys.readouterr().err
    written = sorted(os.listdir(tmp_path / "two"))
    assert written == ["id4382.pdf", "id4382.svg", "id4698.pdf", "id4698.svg"]  # 3-stars and 4-paths
    before = {name: (tmp_path / "two" / name).read_bytes() for name in written}
    assert main([*words, str(tmp_path / "all"), "--drawings", "all", "--quiet"]) == 0
    assert len(os.listdir(tmp_path / "all")) == 12
    # The same result has the same bytes.
    assert all((tmp_path / "all" / name).read_bytes() == content for name, content in before.items())
    with pytest.raises(SystemExit):
        main([*words, str(tmp_path / "none"), "--drawings", "some"])


def test_large_patterns_are_not_drawn(tmp_path, caplog):
    path = Pattern.from_edges([(i, i + 1) for i in range(MOST_NODES)], MOST_NODES + 1)
    write_figures(argparse.Namespace(figures=tmp_path, drawings=5), {"path": path}, Graph.from_edges([(0, 1)]))
    assert f"1 patterns of more than {MOST_NODES} nodes are not drawn" in caplog.text
    assert os.listdir(tmp_path) == []
    edge, options = Pattern.from_edges([(0, 1)]), argparse.Namespace(figures=tmp_path, drawings=5)
    write_figures(options, {"a b": edge, "a_b": edge}, (None, None))
    assert sorted(os.listdir(tmp_path)) == ["a_b.pdf", "a_b.svg", "a_b_.pdf", "a_b_.svg"]


def test_figures_without_matplotlib_name_the_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["census", "karate", "--figures", str(tmp_path)]) == 1
    assert "pip install 'jaxmotif[plot]'" in capsys.readouterr().err


def test_sizes_beyond_the_machine_are_refused(capsys):
    assert main(["graphlets", "karate", "--device", "cpu", "--memory", "900TiB"]) == 1
    shown = capsys.readouterr().err
    assert "--memory 989560464998400 bytes is more than" in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon"])
def test_a_search_of_no_time_is_refused(text, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["match", "ffl", "celegans", "--seconds", text])
    assert stop.value.code == 2
    assert "is not a number of seconds above 0" in capsys.readouterr().err
