"""Wrong commands, and what their last line has to say: what is wrong, where, and what to do."""

import json

import pytest

from jaxmotif.cli import main

WRONG = {
    "motif karate": "did you mean motifs?",
    "sensus karate": "did you mean census?",
    "motifs karate --rndom 10": "motifs: error: unrecognized arguments: --rndom 10; did you mean --random?",
    "census karate --sise 4": "did you mean --size?",
    "graphlets karate --per egde": "invalid choice: 'egde' (choose from 'graph', 'edge', 'node'); did you mean edge?",
    "motifs karate --random -5": "argument --random: at least 2, since a standard deviation needs two; got -5",
    "motifs karate --random many": "'many' is not a whole number",
    "census karate --size 9": "got 9; larger ones are estimated (estimate_census, --estimate)",
    "match karate.txt ffl": "jaxmotif match ffl karate.txt",
    "match A<-B karate": "column 2 ('<-B'): expected",
    "match A=>B karate": "written like this: A -> B [weight > 2]; B !> A",
    "match A|B karate": "column 2 ('|B'): expected",
    "match A->B,# karate": "found ','; a query is written like this",
    "match triangel karate": "triangle",
    "match triangle karate --seconds 0": "'0' is not a number of seconds above 0",
    "census karate --memory 900GiB": "allow less, or leave it out: the default is half of what is free",
    "census karate --report page.pdf": "--report page.pdf: the page is HTML; name a file that ends in .html",
    "census karate --output table.xlsx": "--output table.xlsx: no such format; a name ending in .csv opens in a",
    "census karat": "there is no file 'karat', nor a bundled network of that name; did you mean 'karate'?",
    "census nowhere.txt": "there is no file 'nowhere.txt', nor a bundled network of that name; bundled networks are",
}


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_command_is_told_what_to_do(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "karate.txt").write_text("1 2\n2 3\n")
    try:
        status = main(command.split())
    except SystemExit as stop:
        status = stop.code
    shown = capsys.readouterr()
    assert status in (1, 2)
    assert shown.out == ""
    assert WRONG[command] in shown.err.splitlines()[-1]
    assert "Traceback" not in shown.err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["karate.txt"]


def test_marks_in_labels_are_no_query(capsys, tmp_path):
    """A class whose words hold marks of the query language is a class."""
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n")
    (tmp_path / "labels.txt").write_text("1 a|b\n2 c<d\n3 a|b\n")
    shared = [str(tmp_path / "edges.txt"), "--node-labels", str(tmp_path / "labels.txt"), "--format", "json"]
    assert main(["census", *shared]) == 0
    (text,) = {row["class"] for row in json.loads(capsys.readouterr().out)["classes"]}
    assert "a|b" in text
    assert main(["match", text, *shared, "--per", "occurrence"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == 1
