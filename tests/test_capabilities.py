"""Every public function, and every way to run a job, has a case in the default command that an oracle holds."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mutate

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "graph",
    "io",
    "certificates",
    "graphlets",
    "matching",
    "motifs",
    "sieve",
    "features",
    "patterns",
    "language",
    "report",
    "verify",
)


def table(title: str) -> dict[str, str]:
    """Return the tests of a part of `capabilities.txt`, by the name of what they hold."""
    text = (ROOT / "tests" / "capabilities.txt").read_text("utf-8")
    rows = re.search(rf"(?m)^## {title}\n\n((?:.+\n)+)", text)[1].splitlines()
    return {name: test for name, _, test in (row.split(" | ") for row in rows)}


FUNCTIONS, WAYS = table("functions"), table("ways")


def public_functions() -> set[str]:
    names = set()
    for package in ("", *PACKAGES):
        module = importlib.import_module(f"jaxmotif.{package}".rstrip("."))
        for name in module.__all__:
            thing = inspect.unwrap(getattr(module, name))
            if inspect.isfunction(thing):
                names.add(name)
    return names


def test_every_public_function_is_held():
    assert public_functions() == set(FUNCTIONS)


@pytest.fixture(scope="module")
def cases(request):
    """What the default command runs of these tests: as this run has found them, or a run that finds these alone."""
    files = {f"tests/{test.partition('::')[0]}" for test in (FUNCTIONS | WAYS).values()}
    items = request.session.items
    if files <= {item.nodeid.partition("::")[0] for item in items}:
        found = [item.nodeid for item in items if not {"more", "slow", "gpu"} & item.keywords.keys()]
    else:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--collect-only", "-p", "no:cacheprovider"]
        command += ["-m", "not more and not slow and not gpu", *sorted(files)]
        collected = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert collected.returncode == 0, collected.stdout
        found = [line for line in collected.stdout.splitlines() if "::" in line]
    return {name.partition("[")[0] for name in found}


@pytest.mark.parametrize("name", [*FUNCTIONS, *WAYS])
def test_there_is_a_default_case_without_further_data(name, cases):
    test = (FUNCTIONS | WAYS)[name]
    assert f"tests/{test}" in cases
    file, _, function = test.partition("::")
    text = (ROOT / "tests" / file).read_text("utf-8")
    (found,) = [x for x in ast.walk(ast.parse(text)) if isinstance(x, ast.FunctionDef) and x.name == function]
    assert "shared_data" not in {argument.arg for argument in found.args.args}
    if name in FUNCTIONS and not file.startswith("cli/"):
        assert name in text


def test_mutants_that_are_kept_are_found_in_the_source():
    """Each of `mutants.toml` once, or `python -m tests.mutate --kept` would not begin."""
    chosen = mutate.kept([])
    assert len({(mutant.path, mutant.start, mutant.after) for mutant in chosen}) == len(chosen) > 80
    assert all(mutant.before != mutant.after for mutant in chosen)
