"""The package as a whole: cheap import, documented names, a README that tells the truth."""

import ast
import doctest
import functools
import graphlib
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import jaxmotif

ROOT = Path(__file__).parents[1]
MODULES = [name for _, name, _ in pkgutil.walk_packages(jaxmotif.__path__, "jaxmotif.") if name != "jaxmotif.__main__"]
OTHERS = (
    "jaxmotif.compat",
    "jaxmotif.learn",
    "jaxmotif.graphlets.five.cpu",
)  # modules that are for other libraries, and import these
DOCS = sorted((ROOT / "docs" / "reference").glob("*.md"))
PUBLIC = [name for name in jaxmotif.__all__ if name != "__version__"]


def test_importing_starts_no_backend_and_costs_less_than_jax_itself():
    code = f"""
import sys, time
start = time.process_time()
import jax, numpy
jax_itself = time.process_time()
import jaxmotif
bare = time.process_time()
for name in jaxmotif.__all__:
    getattr(jaxmotif, name)
everything = time.process_time()
for name in {[name for name in MODULES if not name.startswith(OTHERS)]}:
    __import__(name)
jax.config.update("jax_platforms", "none such")  # a backend that was started already would answer all the same
try:
    jax.devices()
except (RuntimeError, AssertionError):
    heavy = [name for name in ("scipy.sparse", "networkx", "pandas") if name in sys.modules]
    print((bare - jax_itself) / (jax_itself - start), (everything - jax_itself) / (jax_itself - start), *heavy)
else:
    print("a backend was started")
"""

    # Where no bytecode may be written, every process compiles all modules: three quarters of what is measured.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run():
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.split()

    for _ in range(3):  # the first may compile modules, others may meet a busy machine
        shown = run()
        assert len(shown) == 2, shown
        bare, everything = map(float, shown)
        if bare < 0.1 and everything < 1:
            break
    else:
        pytest.fail(f"jaxmotif takes {bare} and {everything} of what jax takes")


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented(name):
    value = getattr(jaxmotif, name)
    text = inspect.getdoc(value)
    assert text
    if inspect.isfunction(value):
        assert "Returns:" in text or "Yields:" in text
        for section in ("Args:", "Example:"):
            assert section in text
        for parameter in inspect.signature(value).parameters:
            assert re.search(rf"^\s*(\w+, )*{parameter}(, \w+)*:", text, re.MULTILINE), f"{parameter} is not described"


def test_unknown_names_fail_and_dir_lists_the_rest():
    with pytest.raises(AttributeError, match="no attribute 'graphlet_count'"):
        _ = jaxmotif.graphlet_count
    assert set(jaxmotif.__all__) <= set(dir(jaxmotif))


def test_type_checkers_see_what_python_sees():
    """Names come from stubs, which type checkers read as code; so do not miss one that is written otherwise."""
    stubs = sorted(Path(jaxmotif.__file__).parent.rglob("__init__.pyi"))
    assert len(stubs) >= 11
    for path in stubs:
        module = importlib.import_module(".".join(path.parent.relative_to(ROOT).parts))
        stub = ast.parse(path.read_text())
        declared = [alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        assert declared == [name for name in module.__all__ if name != "__version__"]
        assert all(hasattr(module, name) for name in declared)


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {jaxmotif.__version__}\n" in citation
    assert jaxmotif.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_readme_examples_run():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_readme_has_two_set_up_commands():
    commands = [
        line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line.startswith("python3 -m venv")
    ]
    assert len(commands) == 2
    assert "jaxmotif graphlets" in commands[0]
    assert commands[1].endswith("pytest")


def test_the_reference_lists_what_packages_export():
    listed = re.findall(r"^::: jaxmotif\.[\w.]*?(\w+)$", "".join(p.read_text() for p in DOCS), re.MULTILINE)
    packages = [f"jaxmotif.{module.name}" for module in pkgutil.iter_modules(jaxmotif.__path__) if module.ispkg]
    for module in map(importlib.import_module, packages):
        if "(internal)" not in (module.__doc__ or ""):
            assert set(getattr(module, "__all__", ())) <= set(listed), module.__name__


def imports_in(nodes):
    """The statements that import, but not those for type checkers alone."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            yield from imports_in(node.orelse)
        elif not isinstance(node, ast.expr):
            yield from imports_in(ast.iter_child_nodes(node))


@functools.cache
def imported_modules(name):
    """The modules of the package that a module imports, at its top or inside a function, but not for type checkers."""
    tree = ast.parse(inspect.getsource(importlib.import_module(name)))
    stub = ROOT / name.replace(".", "/") / "__init__.pyi"
    if stub.exists():  # what a package imports when a name of it is asked for
        tree.body += ast.parse(stub.read_text()).body
    found = set()
    for node in imports_in(tree.body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "jaxmotif":
            # What is imported may be a module itself, or something in one.
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "jaxmotif"}
    return {module if module in MODULES else module.rpartition(".")[0] for module in found} - {name}


def test_imports_go_one_way():
    """Each room imports only from rooms above it in the table of CONTRIBUTING.md, inside functions too."""
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    floor = {room: number for number, row in enumerate(rows) for room in re.findall(r"`(\w+)/`", row)}
    assert set(floor) == {module.name for module in pkgutil.iter_modules(jaxmotif.__path__) if module.ispkg}
    for name in MODULES:
        room = name.split(".")[1]
        for other in {module.split(".")[1] for module in imported_modules(name) if "." in module}:
            assert other == room or floor[other] < floor[room], f"{name} imports {other}"


def test_modules_import_in_no_circle():
    imports = {name: imported_modules(name) for name in MODULES}
    order = graphlib.TopologicalSorter(imports)
    try:
        order.prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("name", MODULES)
def test_modules_say_what_they_are_for(name):
    module = importlib.import_module(name)
    assert module.__doc__ or not inspect.getsource(module).strip()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("limit", lambda graph: jaxmotif.find_matches("triangle", graph, limit=1.5)),
        ("size", lambda graph: jaxmotif.subgraph_census(graph, 3.0)),
        ("num", lambda graph: jaxmotif.random_graphs(graph, 2.0)),
        ("num_random", lambda graph: jaxmotif.find_motifs(graph, 3, 10.0)),
    ],
)
def test_numbers_that_are_no_integers_are_told_by_name(name, call):
    with pytest.raises(TypeError, match=f"^{name} must be an integer, got "):
        call([(0, 1), (1, 2), (2, 0)])
