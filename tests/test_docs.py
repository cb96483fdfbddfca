"""The documentation: every Python block runs, every command is one, every notebook gives what it shows."""

import ast
import contextlib
import doctest
import io
import json
import re
import shlex
import textwrap
from importlib import import_module
from itertools import takewhile
from pathlib import Path

import pytest

from jaxmotif.cli._app import build_parser, main
from jaxmotif.cli._columns import COLUMNS
from tests.more import more

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TUTORIALS = sorted(DOCS.glob("tutorials/*.md"))
"""Pages whose Python and whose output `.ci/tutorials` looks at, in a fresh environment."""
NOTEBOOKS = sorted(DOCS.glob("notebooks/*.ipynb"))
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, kind: str) -> list[tuple[int, str]]:
    """The blocks of a kind in a page: the line that each begins in, and its text."""
    text = page.read_text("utf-8")
    found = [match for match in FENCE.finditer(text) if match[2] == kind]
    return [(text.count("\n", 0, match.start()) + 1, textwrap.dedent(match[3])) for match in found]


def commands(page: Path) -> list[str]:
    """The command lines of a page."""
    lines = [line for _, text in blocks(page, "sh") for line in text.splitlines()]
    lines += [line.rpartition(" | ")[0] for _, text in blocks(page, "gallery") for line in text.splitlines()]
    lines += [line[2:] for _, text in blocks(page, "console") for line in text.splitlines() if line.startswith("$ ")]
    return [line[line.index("jaxmotif ") :] for line in lines if re.match(r"(srun .*)?jaxmotif ", line)]


LONG = {"graphlets", "features", "devices", "how-sieve", "motifs", "null-models", "connectome", "molecules"}
"""Pages and notebooks that compile for seconds what is tested elsewhere."""


def marked(paths: list[Path]) -> list:
    return [more(path)[0] if path.stem in LONG else path for path in paths]


@pytest.mark.parametrize("page", marked(PAGES), ids=lambda page: page.stem)
def test_python_blocks_run(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for line, text in blocks(page, "python"):
        example = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
        assert example.examples, f"{page.name}, line {line}: nothing runs"
        runner.run(example, clear_globs=False)
        names = example.globs
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", [*PAGES, *TUTORIALS, DOCS.parent / "README.md"], ids=lambda page: page.stem)
def test_commands_are_understood(page):
    for line in commands(page):
        words = takewhile(lambda word: word != ">", shlex.split(line, comments=True)[1:])
        args = build_parser().parse_args(list(words))
        assert args.command, line


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=lambda page: page.stem)
def test_sessions_show_what_is_printed(page, capsys):
    for line, text in blocks(page, "console"):
        command, _, shown = text.partition("\n")
        assert main(shlex.split(command)[2:]) == 0
        printed = capsys.readouterr().out
        assert doctest.OutputChecker().check_output(shown, printed, FLAGS), f"line {line}: it prints\n{printed}"


@pytest.mark.parametrize(
    "package",
    ["", ".arrays", ".datasets", ".features", ".graph", ".graphlets", ".learn", ".matching", ".motifs", ".sieve"],
)
def test_the_reference_has_what_a_package_exports(package):
    lines = [line for page in DOCS.glob("reference/*.md") for line in page.read_text().splitlines()]
    there = {line.split(".")[-1] for line in lines if line.startswith("::: ")}
    module = import_module(f"jaxmotif{package}")
    assert set(module.__all__) - {"__version__", "datasets"} <= there


def test_files_that_the_readme_links_to_are_there():
    links = re.findall(r"\]\(([^):]+)\)", (DOCS.parent / "README.md").read_text("utf-8"))
    assert links
    assert all((DOCS.parent / link).exists() for link in links)


def test_tutorials_are_of_a_network_that_can_be_downloaded():
    for page in [*TUTORIALS, DOCS / "gallery.md"]:
        used = set(re.findall(r"(?<=\s)[\w-]+\.tsv(?=\s)", "\n".join(commands(page))))
        assert used
        assert all((DOCS / "data" / name).exists() and f"data/{name})" in page.read_text("utf-8") for name in used)


def test_every_column_is_on_the_page_of_statistics():
    assert {text.strip() for _, text in blocks(DOCS / "statistics.md", "columns")} == set(COLUMNS)


@pytest.mark.parametrize("path", marked(NOTEBOOKS), ids=lambda path: path.stem)
def test_notebooks_give_what_they_show(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict = {}
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        if cell["cell_type"] == "code":
            shown = [
                output.get("text") or output["data"]["text/plain"] for output in cell["outputs"] if not drawn(output)
            ]
            printed = run("".join(cell["source"]), names)
            wanted = "".join("".join(part).rstrip("\n") + "\n" for part in shown)
            assert doctest.OutputChecker().check_output(wanted, printed, FLAGS), f"cell {number} prints\n{printed}"


def drawn(output: dict) -> bool:
    """Whether an output of a notebook is a picture."""
    return "image/svg+xml" in output.get("data", {})


def run(source: str, names: dict) -> str:
    """Runs a cell; what it prints, and its last value, unless that is a picture."""
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if isinstance(body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(compile(last, "cell", "eval"), names) if last else None
        if value is not None and not hasattr(value, "_repr_svg_"):
            out.write(f"{value!r}\n")
    return out.getvalue()
