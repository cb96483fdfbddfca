"""The double-ended queue: who takes what, limits, failures, Ctrl-C."""

import _thread
import signal
import threading
import time

import pytest

from jaxmotif.devices._queue import Unit, Worker, run_queue

UNITS = [Unit(name, work) for name, work in zip("abcdefgh", (5, 1, 1, 1, 4, 4, 2, 2), strict=True)]
TOTAL = sum(unit.work for unit in UNITS)


class Turns:
    """Steps that wait for their turn, so that workers take in a fixed order."""

    def __init__(self, order):
        self.order, self.log, self.changed = list(order), [], threading.Condition()

    def step(self, worker):
        def act(task):
            with self.changed:
                assert self.changed.wait_for(lambda: self.order[len(self.log)] == worker, timeout=20)
                self.log.append((worker, task))
                self.changed.notify_all()

        return act


@pytest.mark.parametrize("end", ["front", "back"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_one_worker_does_all_in_order(end, share):
    seen = []
    worker = Worker(seen.append, end=end, share=share)
    assert run_queue(UNITS, [worker]) == [TOTAL]
    # A share from the back is done in the order it was taken.
    assert "".join(seen) == ("abcdefgh" if end == "front" else "hgfedcba")


def test_two_ends_meet():
    turns = Turns([0, 1, 1, 0, 0, 1, 1, 0])
    done = run_queue(UNITS, [Worker(turns.step(0), "front"), Worker(turns.step(1), "back")])
    assert [task for worker, task in turns.log if worker == 0] == list("abcd")
    assert [task for worker, task in turns.log if worker == 1] == list("hgfe")
    assert done == [5 + 1 + 1 + 1, 2 + 2 + 4 + 4]


def test_a_share_is_several_units():
    """A quarter of the work (5 of 20) is h, g and f from the back; the front worker has the others first."""
    turns = Turns([1, 0, 0, 0, 0, 0, 1, 0])
    done = run_queue(UNITS, [Worker(turns.step(0), "front"), Worker(turns.step(1), "back", share=0.25)])
    assert turns.log[:6] == [(1, "h"), *((0, x) for x in "abcde")]
    assert sorted(turns.log[6:]) == [(0, "f"), (1, "g")]
    assert done == [16, 4]


def test_whoever_is_free_takes_from_whoever_is_behind():
    """The last of a share, one at a time; but no more than a limit allows."""
    units = [Unit(name, 1) for name in "abcde"]
    for limit, expected in ((1.0, "edcb"), (0.4, "ed")):
        begun, taken, enough = threading.Event(), [], threading.Event()

        def slow(_, begun=begun, enough=enough):
            begun.set()
            assert enough.wait(20)

        def quick(task, begun=begun, taken=taken, enough=enough, expected=expected):
            assert begun.wait(20)
            taken.append(task)
            if len(taken) == len(expected):
                enough.set()

        done = run_queue(units, [Worker(slow, share=1.0), Worker(quick, "back", limit=limit)])
        assert "".join(taken) == expected
        assert done == [5 - len(expected), len(expected)]


def test_limits_hold_and_the_rest_is_done_by_others():
    for limit in (0.0, 0.2, 0.3, 0.55, 0.99):
        first, second = [], []
        done = run_queue(UNITS, [Worker(first.append, limit=limit), Worker(second.append, "back")])
        assert sorted(first + second) == list("abcdefgh")
        work = {unit.span: unit.work for unit in UNITS}
        assert done == [sum(work[x] for x in first), sum(work[x] for x in second)]
        assert done[0] <= limit * TOTAL
        assert sum(done) == TOTAL


def test_a_limit_is_used_up():
    turns = Turns([0, 0, 0, 1, 1, 1, 1, 1])
    done = run_queue(UNITS, [Worker(turns.step(0), limit=0.35), Worker(turns.step(1), "back")])
    assert done == [7, 13]


def test_every_worker_has_a_last_word():
    """In its own thread, when nothing is left for it; not after a failure."""
    said = []
    workers = [Worker(last=lambda: said.append(threading.current_thread())) for _ in range(3)]
    run_queue(UNITS, workers)
    assert len(set(said)) == 3
    with pytest.raises(Broken):
        run_queue(UNITS, [Worker(_fail, last=pytest.fail)])


def test_nothing_to_do():
    assert run_queue([], [Worker(pytest.fail), Worker(pytest.fail, "back")]) == [0, 0]


@pytest.mark.parametrize("workers", [[], [Worker(limit=0.5)], [Worker(limit=0.5), Worker(limit=0.99)]])
def test_work_that_could_be_left_over(workers):
    with pytest.raises(ValueError, match="some work could be left over"):
        run_queue(UNITS, workers)


@pytest.mark.parametrize("count", [1, 3])
def test_every_unit_is_done_once(count):
    told = []
    done = run_queue(UNITS, [Worker(told.append, ("front", "back")[x % 2]) for x in range(count)])
    assert sorted(told) == sorted(unit.span for unit in UNITS)
    assert sum(done) == TOTAL


def test_workers_run_side_by_side():
    meeting = threading.Barrier(3, timeout=20)
    run_queue([Unit(None, 1)] * 3, [Worker(lambda _: meeting.wait())] * 3)


class Broken(Exception):
    pass


def _fail(_):
    raise Broken("as told")


def test_a_failure_stops_everyone():
    """Neither units in the queue nor the rest of a share are started after a failure."""
    failed, started = threading.Event(), []

    def wait(task):
        started.append(task)
        assert failed.wait(20)
        time.sleep(0.05)  # let the failure arrive

    def fail(_):
        while not started:
            time.sleep(0.001)
        failed.set()
        raise Broken("as told")

    with pytest.raises(Broken, match="as told"):
        run_queue(UNITS, [Worker(fail), Worker(wait, "back", share=0.5)])
    assert started == ["h"]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_failure_reaches_the_caller(workers):
    told = []
    with pytest.raises(Broken):
        run_queue(UNITS, [Worker(_fail, last=lambda: told.append("ended"))] * workers)
    assert told == []


def test_ctrl_c_in_the_only_worker():
    seen = []

    def step(task):
        seen.append(task)
        if task == "c":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_queue(UNITS, [Worker(step)])
    assert seen == ["a", "b", "c"]


def test_ctrl_c_while_threads_work():
    """The steps under way are finished and nothing more is started."""
    started, finished = [], []
    meeting = threading.Barrier(2, timeout=20)

    def step(task):
        started.append(task)
        if meeting.wait() == 0:
            _thread.interrupt_main()
        time.sleep(0.5)
        finished.append(task)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs
    try:
        with pytest.raises(KeyboardInterrupt):
            run_queue(UNITS, [Worker(step), Worker(step, "back")])
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(started) == sorted(finished) == ["a", "h"]


def test_ctrl_c_while_threads_are_begun(monkeypatch):
    """Those that have begun are waited for, and no others."""
    begun, seen, stopped = [], [], []

    class Late(threading.Thread):
        def start(self):
            begun.append(self)
            if len(begun) == 2:
                raise KeyboardInterrupt
            super().start()

    def call():
        try:
            run_queue(UNITS, [Worker(seen.append), Worker(seen.append), Worker(seen.append)])
        except KeyboardInterrupt as stop:
            stopped.append(stop)

    caller = threading.Thread(target=call, daemon=True)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "Thread", Late)
        caller.start()
        caller.join(20)
    assert not caller.is_alive()
    assert len(stopped) == 1
    assert len(begun) == 2
    assert seen == [unit.span for unit in UNITS][: len(seen)]
