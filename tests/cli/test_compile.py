"""``jaxmotif compile``: what it leaves for later runs, also where it is killed."""

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

from jaxmotif.arrays._compile import Target
from jaxmotif.cli import _compile
from jaxmotif.cli._app import build_parser, main
from jaxmotif.devices import _memory
from jaxmotif.graph import Graph

COMMAND = [sys.executable, "-m", "jaxmotif"]


def _without_cache():
    """The environment without the folder, and the limits, of the tests' own programs."""
    return {name: x for name, x in os.environ.items() if not name.startswith(("JAX_COMPILATION", "JAX_PERSISTENT"))}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_after_a_kill_is_whole(tmp_path, times):
    """Killed at a random moment, some programs may be half written."""
    chance = random.Random(times)
    environment = _without_cache() | {"JAXMOTIF_CACHE": str(tmp_path)}
    for _ in range(times):
        before = len(list(tmp_path.glob("*/*-cache")))
        compiling = subprocess.Popen([*COMMAND, "compile", "--device", "cpu", "--quiet"], env=environment)
        late = time.monotonic() + 10
        while len(list(tmp_path.glob("*/*-cache"))) <= before and time.monotonic() < late:
            time.sleep(0.01)
        time.sleep(chance.random())
        compiling.kill()
        compiling.wait()
    run = [*COMMAND, "graphlets", "karate", "--device", "cpu"]
    made = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "4-clique           31710  G8         11" in made.stdout
    again = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert again.stdout == made.stdout
    assert "broken" not in again.stderr


@pytest.mark.parametrize("cache", ["--no-cache", None])
def test_without_a_folder_nothing_is_compiled(capsys, monkeypatch, cache):
    monkeypatch.setattr(_compile, "_calls", lambda accelerated: pytest.fail("compiled"))
    if cache is None:
        monkeypatch.setenv("JAXMOTIF_CACHE", "off")
    assert main(["compile", "--device", "cpu", "--quiet", *([cache] if cache else [])]) == 1
    assert "no folder may be used" in capsys.readouterr().err


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The calls of the command are those of a list, by name."""
    monkeypatch.setenv("JAXMOTIF_CACHE", str(tmp_path))
    graph, listed = Graph.from_edges([(0, 1)]), []
    monkeypatch.setattr(_compile, "_calls", lambda accelerated: [(name, graph, work) for name, work in listed])
    return listed


@pytest.mark.filterwarnings("default")
def test_of_generated_graphs_nothing_is_noted(calls, capsys):
    def work(graph, devices):
        assert (graph.m, devices) == (1, "cpu")
        logging.getLogger("jaxmotif").warning("its chains are short")
        warnings.warn("Error writing persistent compilation cache entry for 'jit_f': no room", stacklevel=1)

    calls += [("one", work), ("two", work)]
    assert main(["compile", "--device", "cpu"]) == 0
    told = capsys.readouterr()
    assert [line.split()[0] for line in told.out.splitlines()[-2:]] == ["one", "two"]
    assert "chains are short" not in told.err
    assert told.err.count("compiled code cannot be kept (no room)") == 1
    assert not logging.getLogger("jaxmotif").disabled


def test_after_a_failure_no_call_begins(calls, capsys):
    begun = []

    def fail(graph, devices):
        raise MemoryError("no memory for this")

    def work(graph, devices):
        begun.append(devices)
        time.sleep(0.1)

    calls += [("failure", fail), *[("job", work)] * 50]
    assert main(["compile", "--device", "cpu", "--quiet"]) == 1
    assert "no memory for this" in capsys.readouterr().err
    assert len(begun) < 50


@pytest.mark.parametrize(("memory", "most"), [(2 * _compile.BYTES_OF_A_CALL + 1, 2), (1, 1), (None, 3)])
def test_calls_at_a_time(calls, monkeypatch, memory, most):
    """As many as there are cores for; on an accelerator as many as there is memory for, and one at least."""
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    if memory is not None:
        monkeypatch.setattr(Target, "is_accelerator", property(lambda self: True))
        monkeypatch.setattr(_memory, "free_memory", lambda device: memory)
    lock, all_there, now, seen = threading.Lock(), threading.Event(), [0], []

    def work(graph, devices):
        with lock:
            now[0] += 1
            seen.append(now[0])
            if now[0] == most:
                all_there.set()
        assert all_there.wait(30)
        time.sleep(0.02)  # more than these would be seen meanwhile
        with lock:
            now[0] -= 1

    calls += [("job", work)] * 8
    assert main(["compile", "--device", "cpu", "--quiet"]) == 0
    assert len(seen) == 8
    assert max(seen) == most


@pytest.mark.more
def test_after_it_no_job_compiles(tmp_path):
    environment = _without_cache() | {"JAXMOTIF_CACHE": str(tmp_path)}
    subprocess.run(
        [*COMMAND, "compile", "--device", "cpu", "--quiet"], env=environment, check=True, capture_output=True
    )
    kept = sorted(tmp_path.glob("*/*-cache"))
    assert len(kept) > 30
    for job in (
        ["graphlets", "karate"],
        ["graphlets", "karate", "--per", "node"],
        ["census", "celegans"],
        ["motifs", "celegans"],
    ):
        subprocess.run([*COMMAND, *job, "--device", "cpu", "--quiet"], env=environment, check=True, capture_output=True)
        assert sorted(tmp_path.glob("*/*-cache")) == kept


def test_hubs_of_every_width():
    graph = _compile._with_hubs(300, 64)
    assert graph.n == 300
    assert {12, 16, 24, 32, 48, 64} - set((graph.degrees - 2).tolist()) == set()


def test_every_call_is_that_of_a_command():
    """Each job has a graph of each size class, and is named as a user would call it."""
    further = {"match": ["triangle"], "search": ["--colors", "colors.txt", "--motif", "red:2"]}
    sizes = {}
    for name, graph, run in _compile._calls(False):
        command, *options = name.split()
        args = build_parser().parse_args([command, *further.get(command, []), "karate", *options])
        assert callable(run)
        sizes.setdefault(args.command, set()).add((graph.n, graph.m))
    assert sizes.keys() == {"graphlets", "motifs", "census", "match", "search"}
    for command in ("graphlets", "motifs", "census"):
        assert sizes[command] >= set(_compile.SIZES[False])
