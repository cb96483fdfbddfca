"""``jaxmotif match`` from files to answers."""

import csv
import itertools
import json

import pytest

from jaxmotif.cli import main

TARGET = "5 6 0\nred\nblue\nred\nblue\ngreen\n0 1\n1 2\n2 3\n3 0\n0 4\n2 4\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "target.txt").write_text(TARGET)
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "edge.txt").write_text("2 1 0\nred\nblue\n0 1\n")
    (folder / "path.txt").write_text("3 2 0\nblue\nred\nblue\n0 1\n1 2\n")
    (folder / "none.txt").write_text("2 1 0\nblue\nblue\n0 1\n")
    (folder / "any.txt").write_text("2 1 0\nred\n*\n0 1\n")
    return tmp_path


def run(capsys, *arguments):
    assert main(["match", *map(str, arguments), "--device", "cpu"]) == 0
    return capsys.readouterr()


def plain(text):
    """The lines of a CSV that are no comments."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_one_query(capsys, files):
    shown = run(capsys, files / "queries" / "path.txt", files / "target.txt", "--format", "json")
    result = json.loads(shown.out)
    assert list(result) == ["query", "matches", "exact", "seconds", "run"]
    assert (result["query"], result["matches"], result["exact"]) == ("path.txt", 4, True)
    assert {"filter", "search"} <= set(result["seconds"])
    assert "limit" not in result["run"]


def test_a_folder_of_queries(capsys, files):
    shown = run(capsys, files / "queries", files / "target.txt", "--format", "csv", "--wildcard", "*")
    counts = {row["query"]: int(row["matches"]) for row in csv.DictReader(plain(shown.out))}
    assert counts == {"any.txt": 6, "edge.txt": 4, "none.txt": 0, "path.txt": 4}
    shown = run(capsys, files / "queries", files / "target.txt", "--format", "json", "--per", "occurrence")
    results = json.loads(shown.out)["queries"]
    assert {name: result["matches"] for name, result in results.items()} == {
        "any.txt": 0, "edge.txt": 4, "none.txt": 0, "path.txt": 2,
    }  # fmt: skip


def test_listing(capsys, files):
    shown = run(capsys, files / "queries" / "edge.txt", files / "target.txt", "--format", "json", "--limit", "3")
    result = json.loads(shown.out)
    assert result["rows"] == [[0, 1], [0, 3], [2, 1]]
    assert (result["listed"], result["exact"], result["status"]) == (3, False, "stopped at limit=3")
    assert result["run"]["limit"] == 3
    shown = run(capsys, files / "queries" / "edge.txt", files / "target.txt", "--format", "json", "--limit", "all")
    result = json.loads(shown.out)
    assert result["rows"] == [[0, 1], [0, 3], [2, 1], [2, 3]]
    assert (result["listed"], result["exact"]) == (4, True)
    assert result["run"]["limit"] == "all"


def test_a_query_is_directed_if_its_target_is(capsys, tmp_path):
    (tmp_path / "target.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n1 3\n")
    (tmp_path / "query.txt").write_text("0 1\n1 2\n0 2\n")
    paths = (tmp_path / "query.txt", tmp_path / "target.mtx", "--format", "json")
    assert json.loads(run(capsys, *paths).out)["matches"] == 1
    assert json.loads(run(capsys, *paths, "--undirected").out)["matches"] == 6


def test_a_query_by_name(capsys, tmp_path):
    (tmp_path / "ffl.txt").write_text("0 1\n1 2\n0 2\n")
    for name in ("030T", "id38", "000100110", "feed-forward loop"):
        shown = run(capsys, name, tmp_path / "ffl.txt", "--directed", "--format", "json")
        assert json.loads(shown.out)["matches"] == 1
    assert main(["match", "030T", "karate"]) == 1
    assert "read the graph as directed" in capsys.readouterr().err
    assert main(["match", "trangle", "karate"]) == 1
    message = capsys.readouterr().err
    assert "near: triangle" in message
    assert "no file of that name" in message


def test_mistakes(capsys, files):
    assert main(["match", "", str(files / "target.txt")]) == 1  # as a variable of a shell that is not set
    assert "the query is empty" in capsys.readouterr().err
    (files / "nothing").mkdir()
    assert main(["match", str(files / "nothing"), str(files / "target.txt")]) == 1
    assert f"the folder {files / 'nothing'} holds no query files" in capsys.readouterr().err
    assert main(["match", str(files / "queries"), str(files / "target.txt"), "--limit", "3"]) == 1
    assert "lists the matches of one query" in capsys.readouterr().err
    assert main(["match", str(files / "target.txt"), str(files / "target.txt"), "--wildcard", "pink"]) == 1
    assert "no node or edge has this label" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["match", str(files / "target.txt"), str(files / "target.txt"), "--limit", "-1"])


def test_queries_of_any_name_and_length(capsys, files):
    """Each query has a folder of its own for kept work, and words may be longer than the name of a file."""
    for name in ("edge", "path"):
        (files / "queries" / f"{name}.txt").rename(files / "queries" / f"{name} (1).txt")
    for _ in range(2):
        words = "--wildcard", "*", "--checkpoint", files / "kept", "--format", "csv"
        shown = plain(run(capsys, files / "queries", files / "target.txt", *words).out)
        assert {row["query"] for row in csv.DictReader(shown)} >= {"edge (1).txt", "path (1).txt"}
    long = "; ".join(f"{a} -> {b}" for a, b in itertools.pairwise([f"node{'x' * 60}{i}" for i in range(4)]))
    assert "matches" in run(capsys, long, files / "target.txt", "--seconds", 60).out


def test_a_listing_goes_on_from_its_checkpoint(tmp_path, monkeypatch, capsys):
    """Ended after some of its stretches, the listing does the others alone, and is the whole one."""
    from jaxmotif.cli import _command
    from jaxmotif.matching import _listing, _sink

    monkeypatch.setattr(_listing, "CHECKPOINT_STRETCHES", 16)  # few: each is a search
    words = ["match", "4-path", "karate", "--limit", "all", "--device", "cpu", "--quiet", "--format", "csv"]

    def rows():
        return [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]

    assert main(words) == 0
    whole = rows()
    kept = tmp_path / "kept"
    words += ["--checkpoint", str(kept)]
    add, listed = _sink.Pieces.add, []

    def interrupted(self, block):
        add(self, block)
        listed.append(block)
        if len(listed) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_sink.Pieces, "add", interrupted)
        assert main(words) == 130
    assert f"what was done is kept in {kept}, and the same command goes on" in capsys.readouterr().err

    def interrupt(*args):
        raise KeyboardInterrupt

    began, listing = [], _listing.Listing._list_on_devices
    with monkeypatch.context() as patch:
        patch.setattr(
            _listing.Listing, "_list_on_devices", lambda *args: (began.append(len(args[3])), listing(*args))[1]
        )
        assert main(words) == 0
    assert 0 < began[0] < _listing.CHECKPOINT_STRETCHES
    assert rows() == whole
    assert len(whole) > 1000
    assert [path for path in kept.iterdir() if not path.name.startswith(".")] == []
    # Until the result is written nothing is removed, and then nothing is searched again.
    with monkeypatch.context() as patch:
        patch.setattr(_command, "write_report", interrupt)
        assert main(words) == 130
    assert f"what was done is kept in {kept}" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(
            _listing.Listing, "_list_on_devices", lambda *args: (began.append(len(args[3])), listing(*args))[1]
        )
        assert main(words) == 0
    assert began[1:] == [0]
    assert rows() == whole
    assert [path for path in kept.iterdir() if not path.name.startswith(".")] == []
    assert main([*words, "--seconds", "1e-9"]) == 1
    assert "the same command goes on: jaxmotif match 4-path" in capsys.readouterr().err
