"""All jobs: the same bits on any devices, in several processes, killed and resumed; and clear errors."""

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

from jaxmotif.cli import main
from jaxmotif.devices import _job as runner
from jaxmotif.devices import _select as select
from jaxmotif.matching import _divided as shares
from tests.devices.jobs import JOBS, cut_small, digest
from tests.more import more

ROOT = Path(__file__).parents[2]
FEW = [
    "graphlets", *more("matching", "census", "sieve"),
    pytest.param("motifs", marks=pytest.mark.slow),  # it compiles for long
]  # fmt: skip


@functools.cache
def expected(name):
    """On one device, in large units."""
    return digest(name)


@pytest.fixture
def small(request, monkeypatch):
    """Many small units, once it is known what to expect of large ones."""
    for names in request.node.callspec.params.values():
        for name in str(names).split(","):
            if name in JOBS:
                expected(name)
    cut_small(monkeypatch.setattr)


@pytest.mark.slow
@pytest.mark.parametrize("devices", [2, 4])
@pytest.mark.parametrize("name", JOBS)
def test_several_devices(small, name, devices):
    assert digest(name, devices=devices) == expected(name)


@pytest.mark.gpu
@pytest.mark.parametrize("devices", ["gpu", "hybrid", "all"])
@pytest.mark.parametrize("name", JOBS)
def test_gpus(small, name, devices):
    assert digest(name, devices=jax.device_count() if devices == "all" else devices) == digest(name, devices="cpu")


@pytest.mark.parametrize("name", ["graphlets", *more("matching", "census", "sieve", "motifs")])
def test_gpus_and_the_cpu(small, monkeypatch, name):
    """The queue does not care what a device is: the second stands for a GPU, the first helps."""
    monkeypatch.setattr(select, "_gpus", lambda asked: tuple(jax.devices("cpu")[1:2]))
    assert digest(name, devices="hybrid") == expected(name)


def stopped_after(patch, units, name, **options):
    """A job that Ctrl-C ends after some units."""
    step, steps = runner._TaskRunner.step, []

    def stopping(running, span):
        if len(steps) == units:
            raise KeyboardInterrupt
        steps.append(span)
        step(running, span)

    patch.setattr(runner._TaskRunner, "step", stopping)
    with pytest.raises(KeyboardInterrupt):
        digest(name, **options)


@pytest.mark.parametrize("name", FEW)
def test_resumed_and_done(small, monkeypatch, tmp_path, name):
    """Stopped after some units; resumed on other devices; then all is there and nothing is done again."""
    with monkeypatch.context() as patch:
        stopped_after(patch, 2, name, checkpoint=tmp_path)
    assert digest(name, checkpoint=tmp_path, devices=2) == expected(name)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert all(name.endswith(".checkpoint") for name in kept)
    if name in ("graphlets", "matching", "census"):  # the others end in something that is not kept
        monkeypatch.setattr(runner, "run_queue", pytest.fail)
    assert digest(name, checkpoint=tmp_path) == expected(name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept


@pytest.mark.parametrize("name", ["matching"])
def test_a_hybrid_divides_a_search_in_another_order(small, monkeypatch, tmp_path, name):
    """Its stretches are not those of other devices, so its checkpoint is not for them."""
    with monkeypatch.context() as patch:
        patch.setattr(select, "_gpus", lambda asked: tuple(jax.devices("cpu")[1:2]))
        stopped_after(patch, 8, name, checkpoint=tmp_path, devices="hybrid")
    with pytest.raises(ValueError, match="checkpoint"):
        digest(name, checkpoint=tmp_path, devices=2)


@pytest.mark.parametrize("name", [name for name in FEW if getattr(name, "values", None) != ("census",)])
def test_memory_that_runs_out(small, monkeypatch, name):
    """Every second step fails until steps are smaller; at last even the smallest do not fit (a census
    has but one size on a CPU)."""
    step, calls = runner._TaskRunner.step, []

    class Failing:
        """A hand whose first steps run out of memory."""

        def __init__(self, hand, always):
            self.hand, self.always = hand, always
            self.collect, self.halve, self.adds_in_parts = hand.collect, hand.halve, hand.adds_in_parts

        def step(self, span):
            calls.append(span)
            if len(calls) == 2 or self.always:
                raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")
            self.hand.step(span)

    def failing(always):
        def stepping(running, span):
            if not isinstance(running._task, Failing):
                running._task = Failing(running._task, always)
            step(running, span)

        return stepping

    monkeypatch.setattr(runner._TaskRunner, "step", failing(False))
    assert digest(name, devices=2) == expected(name)
    monkeypatch.setattr(runner._TaskRunner, "step", failing(True))
    with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
        digest(name, devices=2)


@pytest.mark.parametrize("name", ["matching"])
def test_a_search_that_fails_takes_what_it_found_with_it(small, monkeypatch, name):
    """Parts that were not handed in before memory ran out are searched again."""
    finish, calls = shares.finish, []

    def failing(run, deadline):
        calls.append(run)
        if len(calls) == 4:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")
        yield from finish(run, deadline)

    monkeypatch.setattr(shares, "finish", failing)
    assert digest(name, devices=2) == expected(name)
    assert len(calls) > 4


def launch(names, *arguments, devices=2):
    # The last of two flags counts; the others are those of all tests, so that programs are compiled once.
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={devices}"
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, "-m", "tests.devices.jobs", names, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True, cwd=ROOT
    )


def free_address():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return f"localhost:{free.getsockname()[1]}"


def in_two_processes(names, *arguments):
    address = free_address()
    processes = [launch(names, "--process", f"{i}/2@{address}", *arguments) for i in range(2)]
    outputs = [process.communicate(timeout=400) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    return [output.splitlines() for output, _ in outputs]


@pytest.mark.parametrize("names", ["matching", pytest.param("graphlets,motifs,census,sieve", marks=pytest.mark.slow)])
def test_two_processes_of_two_devices(small, tmp_path, names):
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
            started = time.monotonic()
            process = launch(name, "--slow", 0.2, "--checkpoint", tmp_path / f"state{number}")
            try:
                output, errors = process.communicate(timeout=usual * (0.3 + 0.7 * moments.random()))
                assert output.split() == [name, expected(name)], errors
                usual, number = time.monotonic() - started, number + 1
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        output, errors = launch(name, "--checkpoint", tmp_path / f"state{number}").communicate(timeout=300)
        assert output.split() == [name, expected(name)], errors


COMMANDS = {
    "graphlets": ["karate"],
    "match": ["query.txt", "karate"],
    "motifs": ["celegans", "--size", "3"],
    "census": ["karate", "--size", "3"],
    "search": ["karate", "--colors", "colors.txt", "--motif", "r:2"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--device", "gpu"], "device 'gpu', but JAX finds no GPU here"),
        (["--device", "hybrid"], "device 'hybrid', but JAX finds no GPU here"),
        (["--device", "1000"], "--device 1000, but this machine has"),
        (["--cluster", "somewhere"], "neither tcp://HOST:PORT, tls://HOST:PORT nor a scheduler file that is there"),
    ],
)
def test_devices_that_are_not_there_are_one_line_and_1(capfd, command, options, message):
    if jax.default_backend() == "gpu" and options[-1] in ("gpu", "hybrid"):
        pytest.skip("there is a GPU")
    assert main([command, *COMMANDS[command], *options]) == 1
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("jaxmotif: error: ")
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize(
    "command", ["search", *(pytest.param(name, marks=pytest.mark.slow) for name in ("graphlets", "match", "motifs"))]
)
def test_checkpoints_that_cannot_be_used_are_one_line_and_1(capsys, tmp_path, command):
    """A file in the folder's place; a truncated file; one of other work: each is left as it was."""
    (tmp_path / "q.txt").write_text("0 1\n1 2\n2 3\n")
    (tmp_path / "c.txt").write_text("".join(f"{i} r\n" for i in range(1, 35)))
    words = {
        "graphlets": ["karate"],
        "match": [str(tmp_path / "q.txt"), "karate"],
        "motifs": ["karate", "--size", "3", "--undirected", "--random", "4"],
        "search": ["karate", "--colors", str(tmp_path / "c.txt"), "--motif", "r:2", "--limit", "0"],
    }[command]

    def failed(folder):
        assert main([command, *words, "--quiet", "--checkpoint", str(folder)]) == 1
        shown = capsys.readouterr()
        assert shown.out == ""
        assert len(shown.err.splitlines()) == 1
        return shown.err

    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in failed(tmp_path / "file")
    folder = tmp_path / "kept"
    assert main([command, *words, "--quiet", "--checkpoint", str(folder)]) == 0
    capsys.readouterr()
    file = next(folder.rglob("*.checkpoint"))
    content = file.read_bytes()
    file.write_bytes(content[:-9])
    assert "damaged checkpoint" in failed(folder)
    assert file.read_bytes() == content[:-9]
    file.write_bytes(content)
    other = {"karate": "florentine"} if command != "search" else {"r:2": "r:3"}
    words = [other.get(word, word) for word in words]
    assert "checkpoint of other input or options" in failed(folder)
    assert file.read_bytes() == content
