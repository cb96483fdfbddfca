"""Ctrl-C, SIGTERM and SIGHUP at any moment: the exit status, no crash, no partial file, what is done is kept."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from jaxmotif.cli._interrupt import _must_not_raise
from tests.more import more

ROOT = Path(__file__).parents[2]
# A test run in the background ignores Ctrl-C, and what it starts would.
HEARING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from jaxmotif.cli import program; "


def start(code, *arguments):
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


WORK = """
import signal, sys, time
import numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGTERM", "SIGHUP"):  # ignored where the tests were started by nohup
    signal.signal(getattr(signal, name), signal.SIG_DFL)
import jaxmotif.cli as cli
from jaxmotif.devices import _record as record
from tests.devices.test_job import kept, run

def main():
    from jaxmotif.cli._app import main
    import jaxmotif.graphlets as graphlets
    record.SAVE_SECONDS = 0.0
    def act(span):
        print(span.first, flush=True)
        time.sleep(0.1)
    graphlets.graphlet_counts = lambda *_, **__: run(act, parts=60, options=kept(sys.argv[1]))
    return main(["graphlets", "karate", "--quiet", "--no-cache"])

cli.main = main
cli.program()
"""


@pytest.mark.parametrize("name", ["SIGTERM", *more("SIGINT", "SIGHUP")])
def test_what_is_done_is_kept(tmp_path, name):
    """What was saved before the signal is whole, and another run goes on from there."""
    from tests.devices.test_job import ITEMS, check, kept, run

    number = getattr(signal, name)
    with start(WORK, tmp_path) as process:
        steps = [int(process.stdout.readline()) for _ in range(5)]
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    assert errors.startswith(
        f"jaxmotif: {'interrupted' if name == 'SIGINT' else f'stopped by {name}'}; nothing is kept: "
    )
    steps += map(int, output.split())
    seen = []
    check(run(seen.append, parts=ITEMS, options=kept(tmp_path)))
    # All but the step under way, as here each is saved.
    assert min(span.first for span in seen) >= steps[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["sums.checkpoint"]


def test_little_is_imported_before_ctrl_c_is_heard():
    """Until then Python prints a traceback: not even ``typing``, which takes longer than all the rest."""
    code = "import sys, jaxmotif.cli; print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    modules = subprocess.check_output([sys.executable, "-S", "-c", code], env=environment, text=True).split()
    assert "signal" in modules
    assert not {"typing", "pathlib", "argparse", "numpy", "jax"} & set(modules)


def test_not_in_an_import_nor_where_it_would_be_lost(tmp_path):
    frames = {}

    def _xla_gc_callback():
        frames["callback"] = sys._getframe()

    class Closed:
        def __del__(self):
            frames["finalizer"] = sys._getframe()

    _xla_gc_callback()
    Closed().__del__()
    assert _must_not_raise(frames["callback"])
    assert _must_not_raise(frames["finalizer"])
    assert not _must_not_raise(sys._getframe())
    (tmp_path / "slowly.py").write_text("import sys\nframe = sys._getframe()\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import slowly  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(str(tmp_path))
    assert _must_not_raise(slowly.frame) or slowly.frame.f_back is None  # a frame that has ended forgets its caller


@pytest.mark.parametrize("times", [3, pytest.param(48, marks=pytest.mark.slow)])
def test_ctrl_c_at_random_moments(tmp_path, times):
    """From the first import on: 130 each, or 0 where it comes too late; one line, no crash, no partial file."""
    moments, statuses = random.Random(times), []
    code = HEARING + "print('.', flush=True); program()"
    arguments = ["graphlets", "karate", "--quiet", "--output", tmp_path / "out", "--checkpoint"]
    with start(code, *arguments, tmp_path / "whole") as process:
        process.stdout.readline()
        started = time.monotonic()
        assert process.wait(timeout=120) == 0
        whole = time.monotonic() - started
    for number in range(times):
        with start(code, *arguments, tmp_path / str(number)) as process:
            process.stdout.readline()
            time.sleep(whole * moments.random() ** 2)  # more often early, while modules load
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
        statuses.append(process.returncode)
        assert process.returncode in (0, 130, -signal.SIGINT), errors
        if process.returncode == -signal.SIGINT:  # before the first line of the program
            assert "_interrupt.py" not in errors
            assert "in program" in errors
        elif process.returncode == 130:
            assert errors.lstrip().startswith("jaxmotif: interrupted")
            assert errors.count("\n") <= 2
        assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".part")]
        (tmp_path / "out").unlink(missing_ok=True)
    assert statuses.count(130) >= times // 2
    assert statuses.count(-signal.SIGINT) <= max(1, times // 6)
