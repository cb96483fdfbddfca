"""Processes of jax.distributed: they exchange what they found, and hear of what failed or differs elsewhere."""

import threading

import numpy as np
import pytest

from jaxmotif.devices import _gather as gather
from jaxmotif.devices._gather import ClusterError


@pytest.fixture
def in_two_processes(monkeypatch):
    """Run a function of the process's number in two threads that take themselves for processes."""
    both, here, contents = threading.Barrier(2, timeout=20), threading.local(), {}

    def exchange(content):
        contents[here.number] = content
        both.wait()
        gathered = [contents[0], contents[1]]
        both.wait()
        return gathered

    monkeypatch.setattr(gather, "_gather", exchange)

    def run(act):
        found = {}

        def one(number):
            here.number = number
            try:
                found[number] = act(number)
            except (ClusterError, OSError) as error:
                found[number] = error

        threads = [threading.Thread(target=one, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found[0], found[1]

    return run


def test_what_each_found(in_two_processes):
    def arrays(number):
        found = {"a/b": np.arange(number + 2, dtype=np.int16), "b": np.float32(number), "none": np.zeros((0, 3))}
        return gather.in_each_process(lambda: found, True)

    for everything in in_two_processes(arrays):
        assert [row["a/b"].tolist() for row in everything] == [[0, 1], [0, 1, 2]]
        assert [float(row["b"]) for row in everything] == [0.0, 1.0]
        assert everything[1]["none"].shape == (0, 3)
        assert everything[0]["a/b"].dtype == np.int16


def test_what_failed_elsewhere(in_two_processes):
    """It is reported, not passed over."""

    def failing(number):
        def act():
            if number == 1:
                raise OSError("no room")
            return {}

        return gather.in_each_process(act, True)

    first, second = in_two_processes(failing)
    assert isinstance(first, ClusterError)
    assert str(first) == "process 1 failed: OSError: no room"
    assert isinstance(second, OSError)


def test_who_was_given_other_work_is_named(in_two_processes):
    def given(number):
        processes = gather.in_each_process(lambda: {"size": 3 + number, "keep": "degree"}, True)
        gather.check_alike(processes, ["size", "keep"])

    for error in in_two_processes(given):
        assert str(error) == "process 1 was given other work than process 0: size 4 and not 3"


def test_bytes_of_any_length_are_gathered(monkeypatch):
    """Contents are padded to one size for JAX, and cut again."""
    from jax.experimental import multihost_utils

    others = [b"", b"abc" * 1000]
    calls = []

    def process_allgather(mine):
        assert mine.dtype == np.uint8
        calls.append(mine)
        if len(calls) == 1:
            return np.stack([np.frombuffer(len(x).to_bytes(8, "little"), np.uint8) for x in others] + [mine])
        return np.stack([np.frombuffer(x.ljust(mine.size), np.uint8) for x in others] + [mine])

    monkeypatch.setattr(multihost_utils, "process_allgather", process_allgather)
    assert gather._gather(b"  mine  ") == [*others, b"  mine  "]
