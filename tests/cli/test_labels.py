"""Labels that are words, from file to class."""

import json

import pytest

from jaxmotif.arrays._label_words import in_words
from jaxmotif.cli import main

ROWS = ("a b +", "b c -", "c a +", "c d -")


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]])
def test_signs_are_written_as_signs_whatever_comes_first(rows, tmp_path, capsys):
    (tmp_path / "g.txt").write_text("".join(f"{row}\n" for row in rows))
    words = ["census", tmp_path / "g.txt", "--columns", "0,1,2", "--directed", "--format", "json", "--quiet"]
    assert main([str(word) for word in words]) == 0
    classes = json.loads(capsys.readouterr().out)["classes"]
    found = {row["class"]: (row["id"], row["count"]) for row in classes}
    # c sends a + and a -; b sends c a -, which sends d one; a cycle of + - +.
    star, path, cycle = ".,.,.,.,.,.,+,-,.", ".,.,.,.,.,-,-,.,.", ".,.,+,+,.,.,.,-,."
    assert found == dict.fromkeys((star, path, cycle), (None, 1))


def test_nodes_and_edges_in_words():
    assert in_words("0,1:.,0,1,.", {0: "x", 1: "y"}, {0: "+", 1: "-"}) == "x,y:.,+,-,."
    assert in_words("10,2:0110", {2: "a", 10: "b"}) == "b,a:0110"
    assert in_words("10,2:.,3,3,.", None, {3: "c"}) == "10,2:.,c,c,."
    assert in_words("0110", {}, {}) == "0110"
