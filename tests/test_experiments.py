"""The experiments: every command that is quoted is understood, and every record names its commit and date."""

import argparse
import importlib
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARIES = {"harness", "matching_tree", "graphlets_algorithms", "graphlets_loops", "grass"}  # files that have no rows
SCRIPTS = sorted({path.stem for path in (ROOT / "experiments").glob("*.py")} - LIBRARIES)
RECORDS = sorted(path for path in (ROOT / "experiments" / "results").glob("*.md") if path.stem != "README")
FIGURES = sorted((ROOT / "experiments" / "results" / "figures").glob("*.json"))
QUOTING = [
    *RECORDS,
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "experiments").glob("*.py")),
]
QUOTED = re.compile(r"python experiments/(\w+)\.py([^`;#\n]*)")
COMMIT = re.compile(r"\bcommits? [0-9a-f]{7}\b")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


@pytest.fixture(scope="module")
def parsers():
    """Return a function from the name of a script to its parser."""
    sys.path.insert(0, str(ROOT / "experiments"))
    before = set(sys.modules)
    try:
        yield lambda name: parser_of(importlib.import_module(name))
    finally:
        sys.path.remove(str(ROOT / "experiments"))
        for name in set(sys.modules) - before:
            if getattr(sys.modules[name], "__file__", None) and name in {*SCRIPTS, *LIBRARIES}:
                del sys.modules[name]


def parser_of(module) -> argparse.ArgumentParser:
    """Return the parser of a script, which has one, or rows with one."""
    return module.rows.parser if hasattr(module, "rows") else module.parser


def commands(text: str) -> list[tuple[str, str]]:
    """Return scripts and arguments of the commands in a text, usage with brackets or alternatives left out."""
    found = [(match[1], match[2].strip()) for match in QUOTED.finditer(text)]
    return [(name, words) for name, words in found if not re.search(r"\[|\.\.\.|\bROW\b|\bSUBJECT\b", words)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_describe_their_rows(name, parsers):
    if name in ("figures",):
        pytest.importorskip("matplotlib")
    parser = parsers(name)
    assert parser.description
    for action in parser._actions:
        for row, chosen in (action.choices or {}).items() if isinstance(action.choices, dict) else ():
            first = (chosen.description or "").partition("\n")[0]
            assert first[:1].isupper(), f"{row} does not say in a sentence what it measures"


@pytest.mark.parametrize("path", QUOTING, ids=lambda path: str(path.relative_to(ROOT)))
def test_quoted_commands_are_understood(path, parsers, capsys):
    text = path.read_text("utf-8")
    assert set(re.findall(r"experiments/(\w+)\.py", text)) <= {*SCRIPTS, *LIBRARIES}
    for name, words in commands(text):
        check(parsers(name), name, words, capsys)


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_figures_name_commands_commits_and_dates(path, parsers, capsys):
    told = json.loads(path.read_text())
    assert re.fullmatch(r"[0-9a-f]{7}\+?(; [0-9a-f]{7}\+?)*", told["commit"])
    assert DATE.search(told["date"])
    given = [command for part in told["command"].split("; ") for command in commands(part)]
    assert len(given) == len(told["command"].split("; "))
    for name, words in given:
        check(parsers(name), name, words, capsys)


def check(parser: argparse.ArgumentParser, name: str, words: str, capsys) -> None:
    """Fail if a parser does not take a command."""
    try:
        parser.parse_args(shlex.split(words))
    except SystemExit:
        pytest.fail(f"python experiments/{name}.py {words}: {capsys.readouterr().err}")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_name_machine_and_command(path):
    text = path.read_text("utf-8")
    assert re.search(r"\b(H100|H200|CPU|cores)\b", text)
    assert re.search(r"python experiments/\w+\.py|python -m \w+|^ +jaxmotif |No script of", text, re.M)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_name_commit_and_date(path):
    text = path.read_text("utf-8")
    parts = [part for part in re.split(r"(?m)^(?=#{1,3} )", text) if re.search(r"(?m)^\|.*\d", part)]
    parts = parts or [text]
    for part in parts:
        title = part.partition("\n")[0]
        assert COMMIT.search(part), f"{title}: no commit"
        assert DATE.search(part), f"{title}: no date"


FIGURE = r"(?<![\w./-])(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e\d+)?(?!\.?\d)"
PERFORMANCE = (ROOT / "docs" / "performance.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"(?m)^## ", PERFORMANCE)[1:]}
SECTIONS.pop("On your machine")


def values(text: str) -> list[float]:
    return [float(figure.replace(",", "")) for figure in re.findall(FIGURE, text)]


def rounds_to(quoted: str, recorded: list[float]) -> bool:
    """Say whether a figure is one of others, rounded to its own digits, in the same unit or in another."""
    places = len(quoted.partition(".")[2])
    near = 0.5001 * 10.0**-places
    found = float(quoted.replace(",", ""))
    return any(abs(unit * value - found) <= near for value in recorded for unit in (1, 1e3, 1e-3, 1e-6, 1e-9))


def records_of(section: str) -> str:
    """Return the text of the records that a section of the page names."""
    (line,) = re.findall(r"(?m)^Records: (.*)$", section)
    return "\n".join((RECORDS[0].parent / name).read_text("utf-8") for name in re.findall(r"`(\w+\.md)`", line))


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_figures_of_the_page_are_in_the_records_that_it_names(section):
    """Those of a row of a table are in a line of a record that names what the row does; others anywhere in it."""
    records, unknown = records_of(section), []
    in_code = False
    for line in section.splitlines():
        in_code ^= line.startswith("```")
        text = re.sub(r"`[^`]*`|\bk ?= ?\d+|20\d\d-\d\d-\d\d", "", line)
        if line.startswith("|"):
            key = re.match(r"\| *([^ ,|]*)", line)[1].strip("`")
            lines = "\n".join(other for other in records.splitlines() if key in other)
            known = values(lines)
            figures = re.findall(FIGURE, text.partition("|")[2].partition("|")[2])
        else:
            known = values(records)
            # Small whole numbers stand in many a sentence that quotes nothing.
            figures = [] if in_code else [x for x in re.findall(FIGURE, text) if "." in x or len(x) > 2]
        unknown += [(figure, line) for figure in figures if not rounds_to(figure, known)]
    assert not unknown


def test_times_of_the_chart_are_in_records():
    section = SECTIONS["At a glance"]
    records = records_of(section).splitlines()
    for line in re.search(r"```ratios\n(.*?)```", section, re.S)[1].splitlines():
        task, times, _ = line.split(" | ")
        key = task.split(", ")[2].split()[0]
        known = values("\n".join([other for other in records if key in other] or records))
        assert all(rounds_to(time, known) for time in times.split(" / ")), line


def test_labelled_numbers_are_those_of_the_linked_figures():
    """Where a row of the page of papers links a drawing and says `LABEL 1.23`, the drawing's data say so, too."""
    checked = 0
    for line in (RECORDS[0].parent / "papers.md").read_text("utf-8").splitlines():
        known: dict[str, list[float]] = {}
        for link in re.findall(r"\]\(figures/([^)#]+)\.svg\)", line):
            told = json.loads((RECORDS[0].parent / "figures" / f"{link}.json").read_text())
            # Of rates, pages tell the times that they come from.
            for series in told["series"] if told["ylabel"].startswith(("seconds", "times")) else ():
                for label, value in zip(series["x"], series["y"], strict=True):
                    if isinstance(label, str) and isinstance(value, int | float):
                        known.setdefault(label, []).append(value)
        for label, recorded in known.items():
            for figure in re.findall(rf"(?<![\w-]){re.escape(label)} ({FIGURE})(?= times|[,;]| s\b)", line):
                assert rounds_to(figure.replace(",", ""), recorded) or rounds_to_two(figure, recorded), (label, figure)
                checked += 1
    assert checked > 5


def rounds_to_two(quoted: str, recorded: list[float]) -> bool:
    """Say whether a whole number is one of others with two or three significant digits."""
    return any(
        float(f"{value:.{digits}g}") == float(quoted.replace(",", "")) for value in recorded for digits in (2, 3)
    )


def test_figures_that_are_linked_are_there():
    linked = re.findall(r"\]\((figures/[^)#]+)\)", (RECORDS[0].parent / "papers.md").read_text("utf-8"))
    assert linked
    assert all((RECORDS[0].parent / link).exists() for link in linked)
