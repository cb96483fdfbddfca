"""A rehearsal: programs are compiled by other threads, and are those that the work calls."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays import _ahead
from jaxmotif.arrays._ahead import Rehearsal, end_rehearsal, fetched, rehearsal, rehearsed
from jaxmotif.arrays._compile import jit64, put64
from tests.compilations import compilations
from tests.rehearsals import Here

CPU = jax.devices("cpu")[0]


@jit64(static_argnames="times")
def grown(x, *, times):
    return jnp.concatenate([x] * times).astype(jnp.int64) + 2**40, x.max()


@jit64
def summed(x):
    return x.sum()


def rehearse(work):
    Rehearsal(Here()).run(work, None)


@pytest.mark.parametrize("bound", [True, False], ids=["on a device", "on the host"])
def test_the_call_finds_what_was_compiled(bound):
    given = np.arange(7 if bound else 9, dtype=np.int32)

    def work():
        x = put64(given, CPU) if bound else given
        twice, most = grown(x, times=2)
        (number,) = fetched(most, (3,))
        return int(summed(twice)), number

    with compilations() as told:
        rehearse(work)
    assert len(told) == 2
    with compilations() as late:
        assert work() == (2 * int(given.sum()) + 2 * given.size * 2**40, given.size - 1)
    assert late == []


def test_work_that_sets_a_default_device_finds_what_was_compiled():
    given = np.arange(13, dtype=np.int32)

    def work():
        with jax.default_device(jax.devices("cpu")[-1]):
            return summed(given)

    with compilations() as told:
        rehearse(work)
    assert len(told) == 1
    with compilations() as late:
        assert int(work()) == given.sum()
    assert late == []


def test_threads_of_several_workers(monkeypatch):
    """One rehearsal of a kind of work; a call waits for the program that is being compiled."""
    monkeypatch.setattr(_ahead, "threads_for", lambda device: 2)
    rehearsals = []

    def work():
        if rehearsal() is not None:
            rehearsals.append(threading.current_thread().name)
        return int(summed(grown(put64(np.arange(11), CPU), times=3)[0]))

    results = []
    with compilations() as found:
        workers = [
            threading.Thread(target=lambda: results.append(rehearsed(work, CPU, "several workers"))) for _ in range(3)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        results.append(rehearsed(work, CPU, "several workers"))
    assert results == [3 * 55 + 33 * 2**40] * 4
    assert len(rehearsals) <= 1
    assert len(found) == 2


def test_what_fails_in_a_rehearsal_is_raised_by_the_work_alone(monkeypatch):
    monkeypatch.setattr(_ahead, "threads_for", lambda device: 2)

    def work():
        return grown(put64(np.zeros(2, np.int32), CPU), times=())

    with pytest.raises(TypeError):
        rehearsed(work, CPU, "a failure")
    done = []
    rehearse(lambda: (end_rehearsal(), done.append(1)))
    end_rehearsal()  # no rehearsal
    assert done == []
