"""Processes that share a job: they do the same work or none, and hear of each other's end, in one line."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from jaxmotif.devices import _channel as channels
from jaxmotif.devices import _processes as processes
from jaxmotif.devices._channel import ClusterError

ROOT = Path(__file__).parents[2]


def meet(count, seconds=20.0, silence=20.0, versions=None, numbers=None):
    """What each of several threads gets that meet as processes do: a channel or an error."""
    server = channels.open_port(0)
    port, versions = server.getsockname()[1], versions or ["1"] * count
    numbers, met, told = numbers or range(count), {}, []

    def one(index):
        try:
            if index == 0:
                met[0] = channels.listen(server, count, versions[0], seconds, silence, told.append)
            else:
                address = [("localhost", port)]
                met[index] = channels.connect(
                    address, numbers[index], count, versions[index], seconds, silence, told.append
                )
        except ClusterError as error:
            met[index] = error

    threads = [threading.Thread(target=one, args=(index,)) for index in range(len(numbers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [met[index] for index in range(len(numbers))]


def each(met, act):
    """What an act on its channel gives in each thread, or its error."""
    found = {}

    def one(channel):
        try:
            found[channel.number] = act(channel)
        except ClusterError as error:
            found[channel.number] = str(error)

    threads = [threading.Thread(target=one, args=(channel,)) for channel in met]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return [found[channel.number] for channel in met]


def test_messages_of_all_come_to_all():
    met = meet(3)
    for size in (0, 1, 3_000_000):
        messages = [bytes([channel.number]) * size for channel in met]
        found = each(met, lambda channel, size=size: channel.exchange("x", bytes([channel.number]) * size))
        assert found == [messages] * 3
    for channel in met:
        channel.leave()


def test_an_exchange_about_something_else_ends_all():
    met = meet(3)
    found = each(met, lambda channel: channel.exchange("per edge" if channel.number == 2 else "per graph", b""))
    assert set(found) == {"process 2 is at 'per edge (1)', process 0 at 'per graph (1)': give all the same work"}


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("how", ["dies", "fails", "ends", "is silent"])
def test_who_ends_early_ends_all(monkeypatch, number, how):
    met = meet(3, silence=1.0 if how == "is silent" else 20.0)
    others = [channel for channel in met if channel.number != number]
    if how == "dies":
        for line in met[number]._connections.values():
            line.close()
    elif how == "is silent":
        met[number]._left = True  # no more beats
    else:
        met[number].leave("process 7 failed: no disk" if how == "fails" else None)
    started = time.monotonic()
    found = each(others, lambda channel: channel.exchange("x", b""))
    assert time.monotonic() - started < 10
    expected = {
        "dies": f"process {number} ended without a word (killed, or out of memory?)",
        "fails": "process 7 failed: no disk",
        "ends": f"process {number} has ended",
        "is silent": f"process {number} has not been heard of for 1 s",
    }[how]
    # Of the first process's end after a farewell, others may hear of each other's connections first.
    assert expected in found
    assert all(text.startswith("process ") for text in found)
    for channel in others:
        with pytest.raises(ClusterError, match="process"):
            channel.check()


def test_who_does_not_come_is_named():
    server = channels.open_port(0)
    told = []
    with pytest.raises(ClusterError, match=r"processes 1, 2 of 3 to connect to port \d+ did not come within 0.5 s"):
        channels.listen(server, 3, "1", 0.5, 1.0, told.append)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
        with pytest.raises(ClusterError, match=f"process 0 of 2 at localhost:{port} did not answer within 0.5 s"):
            channels.connect([("localhost", port)], 1, 2, "1", 0.5, 1.0, told.append)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"versions": ["1", "2"]}, "process 1 runs jaxmotif 2, process 0 1: install the same everywhere"),
        ({"numbers": [0, 5]}, "two processes say that they are number 5 of 2: give each its own"),
        ({"numbers": [0, 1, 1], "count": 3}, "two processes say that they are number 1 of 3: give each its own"),
    ],
)
def test_who_does_not_fit_is_refused(options, message):
    met = meet(**{"count": 2, "seconds": 5.0} | options)
    assert all(isinstance(error, ClusterError) for error in met)
    assert str(met[0]) == message
    assert message in {str(error) for error in met[1:]}


def test_strangers_are_sent_away():
    server = channels.open_port(0)
    port, found = server.getsockname()[1], []
    waiting = threading.Thread(target=lambda: found.append(channels.listen(server, 2, "1", 20.0, 20.0, lambda _: None)))
    waiting.start()
    with socket.create_connection(("localhost", port)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n")
        assert stranger.recv(1) == b""
    other = channels.connect([("localhost", port)], 1, 2, "1", 20.0, 20.0, lambda _: None)
    waiting.join()
    assert each([found[0], other], lambda channel: channel.exchange("x", b"1")) == [[b"1", b"1"]] * 2


def as_processes(monkeypatch, act):
    """Does something in two threads that take themselves for processes."""
    met, here = meet(2), threading.local()

    def one(channel):
        here.channel = channel
        return act(channel.number)

    monkeypatch.setattr(processes, "_channel", lambda: here.channel)
    return each(met, one)


def test_what_each_found_and_what_failed_elsewhere(monkeypatch):
    """The failure of another process is reported, not passed over."""

    def arrays(number):
        found = {"a": np.arange(number + 2, dtype=np.int16), "b": np.float32(number), "none": np.zeros((0, 3))}
        return processes.in_each_process(lambda: found, True, "x")

    for everything in as_processes(monkeypatch, arrays):
        assert [row["a"].tolist() for row in everything] == [[0, 1], [0, 1, 2]]
        assert [float(row["b"]) for row in everything] == [0.0, 1.0]
        assert everything[1]["none"].shape == (0, 3)
        assert everything[0]["a"].dtype == np.int16

    def failing(number):
        def act():
            if number == 1:
                raise OSError("no room")
            return {}

        try:
            return processes.in_each_process(act, True, "x")
        except OSError as error:
            return error

    first, second = as_processes(monkeypatch, failing)
    assert first == "process 1 failed: OSError: no room"
    assert isinstance(second, OSError)


def test_who_was_given_other_work_is_named(monkeypatch):
    def given(number):
        return processes.check_alike({"size": 3 + number, "keep": "degree"}, True)

    assert as_processes(monkeypatch, given) == ["process 1 was given other work than process 0: size 4 and not 3"] * 2
    assert as_processes(monkeypatch, lambda number: processes.check_alike({"size": 3}, True)) == [None, None]


@pytest.mark.parametrize("text", ["x", "0.5", "-1", "inf"])
def test_time_outs_that_cannot_be(monkeypatch, text):
    monkeypatch.setenv("JAXMOTIF_CLUSTER_TIMEOUT", text)
    with pytest.raises(ValueError, match="JAXMOTIF_CLUSTER_TIMEOUT"):
        processes.join_processes("0/2@localhost:1")


def test_a_port_in_use():
    with socket.create_server(("", 0)) as server, pytest.raises(OSError, match=r"port \d+ of this machine is in use"):
        processes.join_processes(f"0/2@localhost:{server.getsockname()[1]}")


# Real processes, which take seconds to start.


@contextlib.contextmanager
def cluster(*commands, environment=()):
    """Processes of one cluster, each with its own command, ended in any case."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    one_device = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "", "PYTHONWARNINGS": "ignore"}
    environment = os.environ | one_device | dict(environment)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", *command, "--cluster", f"{number}/{len(commands)}@{address}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
        )
        for number, command in enumerate(commands)
    ]  # fmt: skip
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.communicate()


def test_the_command_with_other_options_or_input(tmp_path):
    """Both exit 1 with one line that names the difference."""
    (tmp_path / "a.txt").write_text("1 2\n2 3\n3 1\n")
    (tmp_path / "b.txt").write_text("1 2\n2 3\n3 4\n")
    first = ["jaxmotif", "motifs", str(tmp_path / "a.txt"), "--size", "3", "--random", "9"]
    second = ["jaxmotif", "motifs", str(tmp_path / "b.txt"), "--size", "4", "--random", "9", "--seed", "5"]
    with cluster(first, second) as running:
        outputs = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [1, 1], outputs
    for output, errors in outputs:
        assert output == ""
        (line,) = errors.splitlines()
        assert line.startswith("jaxmotif: error: process 1 was given other work than process 0: graph with the content")
        assert "size 4 and not 3" in line
        assert "seed 5 and not 0" in line


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_one_killed_ends_the_other_in_one_line_and_a_rerun_gives_the_same(tmp_path, number):
    job = ["tests.devices.jobs", "matching", "--devices", "2", "--checkpoint", str(tmp_path)]
    with cluster([*job, "--slow", "0.5"], [*job, "--slow", "0.5"]) as running:
        while len(list(tmp_path.glob("*.checkpoint"))) < 2:
            assert all(process.poll() is None for process in running)
            time.sleep(0.1)
        running[number].send_signal(signal.SIGKILL)
        _, errors = running[1 - number].communicate(timeout=30)
        assert running[1 - number].returncode == 1
    assert f"process {number} ended without a word" in errors.splitlines()[-1]
    assert "*** Check failure" not in errors
    with cluster(job, job) as running:
        outputs = [process.communicate(timeout=300) for process in running]
    from tests.devices.jobs import digest

    assert [output.split() for output, _ in outputs] == [["matching", digest("matching")]] * 2, outputs


@pytest.mark.slow
def test_processes_that_jax_alone_brought_together(tmp_path):
    """Their channel is made on first use, whatever the numbers of their devices."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, os, jax\n"
        "number, address = sys.argv[2].split('/2@')\n"
        "jax.config.update('jax_num_cpu_devices', 1 + int(number))\n"
        "jax.distributed.initialize(address, 2, int(number))\n"
        "from tests.devices.jobs import digest\n"
        "print('matching', digest('matching', devices=3), flush=True)\n"
    )
    with cluster(["program"], ["program"], environment={"PYTHONPATH": f"{tmp_path}:{ROOT}"}) as running:
        outputs = [process.communicate(timeout=300) for process in running]
    from tests.devices.jobs import digest

    # JAX's collectives print lines of their own.
    assert [output.split()[-2:] for output, _ in outputs] == [["matching", digest("matching")]] * 2, outputs
