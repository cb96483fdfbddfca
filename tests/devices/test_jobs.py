"""All four jobs: the same bits on any devices, in several processes, killed and resumed; and clear errors."""

import functools
import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import jax
import pytest

from jaxmotif.devices import job as runner
from jaxmotif.devices import select
from tests.devices.jobs import JOBS, cut_small, digest

ROOT = Path(__file__).parents[2]


@functools.cache
def expected(name):
    """On one device, in large units."""
    return digest(name)


@pytest.fixture
def small(monkeypatch):
    cut_small(monkeypatch.setattr)


@pytest.mark.parametrize("devices", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", JOBS)
def test_several_devices(small, name, devices):
    assert digest(name, devices=devices) == expected(name)


@pytest.mark.parametrize("name", JOBS)
def test_gpus_and_the_cpu(small, monkeypatch, name):
    """The queue does not care what a device is: two stand for GPUs, a third helps."""
    if jax.device_count("cpu") < 3:
        pytest.skip("needs three devices")
    monkeypatch.setattr(select, "_gpus", lambda asked: tuple(jax.devices("cpu")[1:3]))
    assert digest(name, devices="hybrid") == expected(name)


@pytest.mark.parametrize("name", JOBS)
def test_resumed_and_done(small, monkeypatch, tmp_path, name):
    """Stopped after some units; resumed on other devices; then all is there and nothing is done again."""
    step, steps = runner._Taken.step, []

    def stopping(taken, span):
        if len(steps) == 2:
            raise KeyboardInterrupt
        steps.append(span)
        step(taken, span)

    with monkeypatch.context() as patch:
        patch.setattr(runner._Taken, "step", stopping)
        with pytest.raises(KeyboardInterrupt):
            digest(name, checkpoint=tmp_path)
    assert digest(name, checkpoint=tmp_path, devices=2) == expected(name)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert all(name.endswith(".checkpoint") for name in kept)
    if name in ("graphlets", "matching"):  # the others end in something that is not kept
        monkeypatch.setattr(runner, "run_queue", pytest.fail)
    assert digest(name, checkpoint=tmp_path) == expected(name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept


@pytest.mark.parametrize("name", JOBS)
def test_memory_that_runs_out(small, monkeypatch, name):
    """Every second step fails until steps are smaller; at last even the smallest do not fit."""
    step, calls = runner._Taken.step, []

    class Failing:
        """A hand whose first steps run out of memory."""

        def __init__(self, hand, always):
            self.hand, self.always = hand, always
            self.collect, self.halve = hand.collect, hand.halve

        def step(self, span):
            calls.append(span)
            if len(calls) == 2 or self.always:
                raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")
            self.hand.step(span)

    def failing(always):
        def stepping(taken, span):
            if not isinstance(taken._hand, Failing):
                taken._hand = Failing(taken._hand, always)
            step(taken, span)

        return stepping

    monkeypatch.setattr(runner._Taken, "step", failing(False))
    assert digest(name, devices=2) == expected(name)
    monkeypatch.setattr(runner._Taken, "step", failing(True))
    with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
        digest(name, devices=2)


def launch(names, *arguments, devices=2):
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.devices.jobs", names, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True, cwd=ROOT
    )


def in_two_processes(names, *arguments):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    processes = [launch(names, "--cluster", f"{i}/2@{address}", *arguments) for i in range(2)]
    outputs = [process.communicate(timeout=400) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    return [[line for line in output.splitlines() if "Gloo" not in line] for output, _ in outputs]


@pytest.mark.parametrize("names", ["matching", pytest.param("graphlets,motifs,sieve", marks=pytest.mark.slow)])
def test_two_processes_of_two_devices(tmp_path, names):
    """On all four devices, with a checkpoint that one process alone then goes on from."""
    lines = [f"{name} {expected(name)}" for name in names.split(",")]
    assert in_two_processes(names, "--devices", 4, "--checkpoint", tmp_path) == [lines, lines]
    for name in names.split(","):
        assert digest(name, checkpoint=tmp_path) == expected(name)


@pytest.mark.slow
def test_default_devices_are_one_in_each_process():
    lines = [f"{name} {expected(name)}" for name in JOBS]
    assert in_two_processes(",".join(JOBS)) == [lines, lines]


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_killed_twenty_times(monkeypatch, tmp_path, name):
    """kill -9 at random moments, each run going on from what the one before had saved."""
    with monkeypatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "cache"))
        patch.setenv("JAX_PERSISTENT_COMPILATION_CACHE_MIN_COMPILE_TIME_SECS", "0")
        launch(name).communicate(timeout=300)  # fills the cache
        started = time.monotonic()
        assert launch(name, "--slow", 0.2).communicate(timeout=300)[0].split() == [name, expected(name)]
        usual, moments, kills, number = time.monotonic() - started, random.Random(name), 0, 0
        while kills < 20:
            process = launch(name, "--slow", 0.2, "--checkpoint", tmp_path / f"state{number}")
            try:
                output, errors = process.communicate(timeout=usual * (0.3 + 0.7 * moments.random()))
                assert output.split() == [name, expected(name)], errors
                number += 1
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        output, errors = launch(name, "--checkpoint", tmp_path / f"state{number}").communicate(timeout=300)
        assert output.split() == [name, expected(name)], errors
