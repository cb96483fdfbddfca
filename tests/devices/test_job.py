"""The job runner on a job of its own: sums of the items of a table."""

import errno
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxmotif.devices import _checkpoint as checkpoint
from jaxmotif.devices import _job
from jaxmotif.devices import _record as record
from jaxmotif.devices._gather import in_each_process
from jaxmotif.devices._job import Job, JobOptions, Task, Unfinished, run_job, workers_on
from jaxmotif.devices._progress import Meter
from jaxmotif.devices._queue import Worker
from jaxmotif.devices._ranges import Span, cut, from_array, gaps, united
from jaxmotif.devices._record import Record, added, joined, results_in, xored
from jaxmotif.devices._select import Hybrid, Selection

ITEMS = 60
VALUES = np.arange(ITEMS, dtype=np.int64) ** 2
WORK = np.concatenate([[0], np.cumsum(1 + VALUES % 7)])
DEVICE = jax.devices()[0]
HERE = JobOptions(Selection((DEVICE,)))


class Summing(Task):
    """Adds up a stretch; ``act(span)`` comes before each."""

    def __init__(self, act=lambda span: None, smaller=()):
        self.act, self.smaller, self.found = act, list(smaller), None

    def step(self, span):
        try:
            self.act(span)
        except Unfinished as stop:
            raise Unfinished(added(self.found, stop.found) if self.found else stop.found) from None
        part = {"sum": VALUES[span.first : span.stop].sum(), "items": np.int64(span.stop - span.first)}
        self.found = added(self.found, part) if self.found else part

    def collect(self):
        found, self.found = self.found, None
        return found

    def halve(self):
        self.found = None
        return self.smaller.pop(0) if self.smaller else None


def job_of(parts=8, merge=added, **options):
    return Job("sums", WORK, parts, merge, "items", "sums", **options)


def kept(folder, work="id"):
    return HERE._replace(checkpoint=folder, fingerprint=work)


def run(act=lambda span: None, *, workers=1, parts=8, options=HERE, smaller=()):
    return run_job(job_of(parts), lambda device: Summing(act, smaller), options, [Worker(device=DEVICE)] * workers)


def check(done):
    assert done.finished
    assert {name: int(value) for name, value in done.found.items()} == {"sum": VALUES.sum(), "items": ITEMS}


@pytest.mark.parametrize("parts", [1, 7, ITEMS, 1000])
@pytest.mark.parametrize("workers", [1, 3])
def test_any_cut_gives_the_same(workers, parts):
    done = run(workers=workers, parts=parts)
    check(done)
    assert sum(done.work) == WORK[-1]


def test_cut_covers_what_is_undone_evenly():
    rng = np.random.default_rng(0)
    for _ in range(50):
        work = rng.integers(0, 9, rng.integers(1, 40)) * rng.integers(0, 2)
        starts = np.concatenate([[0], np.cumsum(work)])
        bounds = np.unique(rng.integers(0, work.size + 1, 4)).tolist()
        undone = [Span(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False)]
        parts = int(rng.integers(1, 12))
        units = cut(starts, undone, parts)
        assert united(unit.span for unit in units) == undone
        assert sum(unit.span.stop - unit.span.first for unit in units) == sum(b - a for a, b in undone)
        assert all(unit.work == work[unit.span.first : unit.span.stop].sum() for unit in units)
        total = sum(unit.work for unit in units)
        # A stretch of about its share rounds to one unit; cuts are moved by at most an item.
        assert max((unit.work for unit in units), default=0) <= 1.5 * total / parts + work.max() + 1


def test_gaps_and_unions():
    assert united([]) == []
    assert gaps([], Span(0, 3)) == [Span(0, 3)]
    assert gaps([Span(0, 3)], Span(0, 3)) == gaps([], Span(0, 0)) == []
    assert united([Span(0, 5), Span(1, 2), Span(5, 6)]) == [Span(0, 6)]


def test_merges():
    a, b = {"x": np.array([1, 2])}, {"x": np.array([3, 3])}
    assert [int(x) for x in added(a, b)["x"]] == [4, 5]
    assert [int(x) for x in xored(a, b)["x"]] == [2, 1]
    assert set(joined(a, {"y": b["x"]})) == {"x", "y"}


def test_difficult_units_come_first():
    seen = []
    job = job_of(difficulty=lambda span: span.first)
    run_job(job, lambda device: Summing(seen.append), HERE, [Worker(device=DEVICE)])
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 8


def test_the_workers_of_a_selection():
    cpus = jax.devices("cpu")
    assert len(workers_on(Selection(tuple(cpus[:2])), per_device=lambda device: 3)) == 6
    hybrid = workers_on(Selection((cpus[-1],), cpus[0], hybrid=Hybrid(chunk=0.1, alpha=0.5, workers=2)))
    assert [(worker.device, worker.end) for worker in hybrid] == [
        (cpus[-1], "back"), (cpus[0], "front"), (cpus[0], "front"),
    ]  # fmt: skip
    assert [worker.limit for worker in hybrid] == [1.0, 0.25, 0.25]
    assert hybrid[0].share == 0.1
    assert len(workers_on(Selection((cpus[-1],), cpus[0], hybrid=Hybrid(alpha=0.0)))) == 1
    assert len(workers_on(Selection((cpus[-1],), cpus[0]), helper_workers=1)) == 2


def test_the_cpu_begins_at_the_other_end():
    first = {}
    for order in ("degree", "-degree"):
        seen = []
        selection = Selection((DEVICE,), DEVICE, hybrid=Hybrid(order))
        run_job(job_of(), lambda device: Summing(seen.append), JobOptions(selection), [Worker(device=DEVICE)])  # noqa: B023
        first[order] = seen[0].first
    assert first["degree"] == 0 < first["-degree"]


def exhausted():
    return jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7 bytes.")


def test_smaller_steps_where_memory_ends(caplog):
    """What was not handed in is done again, and the note says so."""
    seen = []

    def act(span):
        seen.append(span)
        if len(seen) in (4, 6):
            raise exhausted()

    done = run(act, smaller=["half", "a quarter"])
    check(done)
    assert done.notes == (
        f"{DEVICE} ran out of memory; went on with half",
        f"{DEVICE} ran out of memory; went on with a quarter",
    )
    assert "went on with half" in caplog.text
    assert seen[3] == seen[4]


def test_what_a_failed_step_took_with_it_is_done_again():
    class Losing(Summing):
        def collect(self):
            if self.lost:
                raise RuntimeError("Array has been deleted")
            return super().collect()

        def halve(self):
            self.lost = False
            return super().halve()

    seen = []

    def act(span):
        seen.append(span)
        if len(seen) == 4:
            hand.lost = True
            raise exhausted()

    hand = Losing(act, ["half"])
    hand.lost = False
    check(run_job(job_of(), lambda device: hand, HERE, [Worker(device=DEVICE)]))
    assert len(seen) == 8 + 4


class InPlace(Summing):
    """Adds item by item, so that a step that ``act`` ends has added a part of its span."""

    adds_in_parts = True

    def __init__(self, act, smaller=()):
        super().__init__(smaller=smaller)
        self.ends = act

    def step(self, span):
        for item in range(*span):
            super().step(Span(item, item + 1))
            self.ends(item)


def test_a_part_of_a_step_is_not_counted_twice(tmp_path):
    """Neither when memory runs out, nor when a run that failed for another reason goes on from its checkpoint."""
    seen, failures = [], {25: exhausted(), 60: ValueError("other")}

    def act(item):
        seen.append(item)
        if (failure := failures.get(len(seen))) is not None:
            raise failure

    def go_on():
        store = kept(tmp_path, "sums")
        return run_job(job_of(), lambda device: InPlace(act, ["half"]), store, [Worker(device=DEVICE)])

    with pytest.raises(ValueError, match="other"):
        go_on()
    check(go_on())
    assert len(seen) > 60 + ITEMS - 1


@pytest.mark.parametrize("workers", [1, 2])
def test_memory_that_ends_while_results_are_fetched(workers):
    """A step may fail only when what it gave is asked for."""

    class Late(Summing):
        def collect(self):
            if self.smaller:
                raise exhausted()
            return super().collect()

    done = run_job(job_of(), lambda device: Late(smaller=["half"]), HERE, [Worker(device=DEVICE)] * workers)
    check(done)
    assert set(done.notes) == {f"{DEVICE} ran out of memory; went on with half"}


def test_workers_hand_in_side_by_side():
    meeting = threading.Barrier(2, timeout=20)

    class Slow(Summing):
        def collect(self):
            meeting.wait()
            return super().collect()

    # Each has a unit: the first to come waits for the other.
    begun = threading.Barrier(2, timeout=20)
    work = run_job(job_of(2), lambda device: Slow(lambda span: begun.wait()), HERE, [Worker(device=DEVICE)] * 2)
    check(work)


def test_units_of_a_hybrid_shrink_towards_the_cpu():
    cpu, gpu = jax.devices()[:2]
    begun, seen = threading.Barrier(2, timeout=20), {cpu: [], gpu: []}

    def hand(device):
        def act(span):
            if not seen[device]:
                begun.wait()
            seen[device].append(WORK[span.stop] - WORK[span.first])

        return Summing(act)

    selection = Selection((gpu,), cpu)
    check(run_job(job_of(60, shrinking=True), hand, JobOptions(selection), workers_on(selection, helper_workers=1)))
    assert seen[cpu][0] < WORK[-1] / 40 < WORK[-1] / 8 < seen[gpu][0]


def test_no_smaller_steps():
    def act(span):
        raise exhausted()

    with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
        run(act, smaller=["half"])


def test_other_errors_are_passed_on_and_what_is_done_is_kept(tmp_path):
    store = kept(tmp_path / "new" / "folder")

    def act(span):
        if span.first > 20:
            raise jax.errors.JaxRuntimeError("INTERNAL: broken")

    with pytest.raises(jax.errors.JaxRuntimeError, match="broken"):
        run(act, options=store)
    seen = []
    check(run(seen.append, options=store))
    assert min(span.first for span in seen) > 0


def test_a_report_tells_all_that_a_record_holds():
    one, other = (Record("job", 10, added, process=process) for process in (0, 1))
    one.add([Span(0, 4)], {"n": np.array([5])})
    one.leave({"n": np.array([2])})
    one.note("smaller steps")
    other.add([Span(4, 6)], {"n": np.array([7])})
    other.leave({"n": np.array([1])})
    other.take(one.report())
    report = other.report()
    assert from_array(report["spans"]) == [Span(0, 6)]
    assert results_in(report, "done/") == {"n": np.array([12])}
    assert results_in(report, "left/") == {"n": np.array([3])}
    assert report["notes"].tolist() == ["smaller steps"]
    other.take(Record("job", 10, added, process=2).report())  # of one that has done nothing
    assert from_array(other.report()["spans"]) == [Span(0, 6)]


@pytest.mark.parametrize("seconds", [0.0, 1000.0])
def test_reports_of_others_are_kept_when_that_is_due(tmp_path, monkeypatch, seconds):
    monkeypatch.setattr(record, "SAVE_SECONDS", seconds)
    one, other = (Record("job", 10, added, *where) for where in ((), (tmp_path, "id")))
    one.add([Span(0, 4)], {"n": np.array([5])})
    other.take(one.report())
    again = Record("job", 10, added, tmp_path, "id")
    assert from_array(again.open()) == ([] if seconds else [Span(0, 4)])
    assert again.found == ({} if seconds else {"n": np.array([5])})
    again.close()


def test_a_limit_leaves_the_rest_and_counts_what_there_is(tmp_path):
    store = kept(tmp_path)

    def act(span):
        if span.first > 20:
            raise Unfinished({"sum": np.int64(5), "items": np.int64(1)})

    done = run(act, options=store)
    assert not done.finished
    items = int(done.found["items"]) - 1
    assert int(done.found["sum"]) == VALUES[:items].sum() + 5
    check(run(options=store))


def test_a_limit_in_a_collection_counts_what_there_is():
    # Both workers have a unit before either goes on, and have done all before either is stopped.
    both = threading.Barrier(2, timeout=60)

    class Late(Summing):
        begun = False

        def step(self, span):
            if not self.begun:
                both.wait()
            self.begun = True
            super().step(span)

        def collect(self):
            both.wait()
            raise Unfinished(super().collect())

    done = run_job(job_of(), lambda device: Late(), HERE, [Worker(device=DEVICE)] * 2)
    assert not done.finished
    assert int(done.found["sum"]) == VALUES.sum()


@pytest.mark.parametrize("where", ["step", "collect", "merge"])
def test_ctrl_c_anywhere_counts_nothing_twice_nor_as_done(tmp_path, monkeypatch, where):
    """Between adding up and noting which stretch that was, or between handing in and forgetting."""
    monkeypatch.setattr(record, "SAVE_SECONDS", 0.0)
    calls = []

    def then_interrupt(name, function):
        def call(*arguments):
            result = function(*arguments)
            calls.append(name)
            if calls.count(where) == 4:
                raise KeyboardInterrupt
            return result

        return call

    class Interrupted(Summing):
        step = then_interrupt("step", Summing.step)
        collect = then_interrupt("collect", Summing.collect)

    store, job = kept(tmp_path), job_of(merge=then_interrupt("merge", added))
    with pytest.raises(KeyboardInterrupt):
        run_job(job, lambda device: Interrupted(), store, [Worker(device=DEVICE)])
    check(run(options=store))


def test_checkpoints_of_others_and_damaged_ones(tmp_path):
    run(options=kept(tmp_path))
    file = tmp_path / "sums.checkpoint"
    with pytest.raises(ValueError, match="sums.checkpoint: checkpoint of other input or options"):
        run(options=kept(tmp_path, "other"))
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    with pytest.raises(ValueError, match="sums.checkpoint: damaged checkpoint"):
        run(options=kept(tmp_path))
    assert file.read_bytes() == content[:-1]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        run(pytest.fail, options=kept(tmp_path / "file"))


def test_the_first_process_takes_over_what_others_have_done(tmp_path):
    """Files as four processes leave them; one of them was taken over before, in a run killed before removing it."""
    store = kept(tmp_path)

    def kept_by(process, *spans):
        book = record.Record("sums", ITEMS, added, tmp_path, "id", process)
        for first, stop in spans:
            book.add([Span(first, stop)], {"sum": VALUES[first:stop].sum(), "items": np.int64(stop - first)})
        book.save()

    kept_by(0, (0, 10), (20, 30))
    kept_by(1, (20, 30))
    kept_by(2, (10, 12))
    kept_by(3, (50, 60), (40, 42))
    seen = []
    check(run(seen.append, options=store))
    assert united(seen) == [Span(12, 20), Span(30, 40), Span(42, 50)]
    assert [path.name for path in tmp_path.iterdir()] == ["sums.checkpoint"]

    (tmp_path / "sums.checkpoint").unlink()
    kept_by(0, (0, 10))
    kept_by(1, (5, 15))
    with pytest.raises(ValueError, match=r"sums.1.checkpoint: checkpoint of work that another one holds"):
        run(options=store)


def test_saves_are_rare(tmp_path, monkeypatch):
    """Between the first save and the last, none before its time, and none while saving takes most of it."""
    saves, clock = [], [0.0]
    monkeypatch.setattr(record.time, "monotonic", lambda: clock[0])

    def save(*arguments):
        saves.append(clock[0])
        clock[0] += 1.0

    monkeypatch.setattr(checkpoint, "save", save)

    def act(span):
        clock[0] += 0.5

    check(run(act, parts=ITEMS, options=kept(tmp_path)))
    assert len(saves) == 3
    assert saves[1] - saves[0] >= 19


def test_killed_at_any_time(tmp_path):
    """kill -9 while files are written; each run goes on from the last."""
    code = """
        import sys
        from jaxmotif.devices import _record as record
        from tests.devices.test_job import kept, run
        record.SAVE_SECONDS = 0.0
        def act(span):
            print(span.first, flush=True)
        run(act, parts=60, options=kept(sys.argv[1]))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    root, reached = Path(__file__).parents[2], []
    for steps in (9, 20):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
            reached += [int(process.stdout.readline()) for _ in range(steps)]
            process.kill()
    seen = []
    check(run(seen.append, parts=ITEMS, options=kept(tmp_path)))
    # Only what was under way when the process died is done again.
    assert reached[9] >= reached[8]
    assert min(span.first for span in seen) >= reached[-1]


def test_alone_an_action_is_done_here():
    def fail():
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        in_each_process(fail, together=False)


def test_a_full_disk_is_one_warning_and_no_end(tmp_path, monkeypatch, caplog):
    """Once the work has begun, or before; and what could not be kept is kept as soon as there is room."""
    monkeypatch.setattr(record, "SAVE_SECONDS", 0.0)
    fsync, saves = os.fsync, []

    def full(file):
        saves.append(file)
        if len(saves) <= 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(file)

    monkeypatch.setattr(os, "fsync", full)
    check(run(options=kept(tmp_path)))
    assert len(saves) > 6
    (warning,) = caplog.records
    assert warning.getMessage().startswith(f"{tmp_path / 'sums.checkpoint'}: No space left on device")
    check(run(pytest.fail, options=kept(tmp_path)))


def test_two_runs_on_one_folder(tmp_path):
    """The second is told who has it, and changes nothing; the first goes on."""
    store = kept(tmp_path)

    def act(span):
        if span.first == 0:
            with pytest.raises(ValueError, match=r"sums.checkpoint: in use by process \d+ on"):
                run(options=store)

    check(run(act, options=store))


@pytest.mark.parametrize("keeps", [True, False])
def test_long_units_are_done_in_pieces_where_work_is_kept(tmp_path, monkeypatch, keeps):
    """By what the last one took; where nothing is kept, whole."""
    clock, seen = [0.0], []
    monkeypatch.setattr("jaxmotif.devices._job.time.perf_counter", lambda: clock[0])

    def act(span):
        seen.append(span)
        clock[0] += float(WORK[span.stop] - WORK[span.first])  # a second for each

    job = job_of(2, divisible=True)
    options = kept(tmp_path) if keeps else HERE
    check(run_job(job, lambda device: Summing(act), options, [Worker(device=DEVICE)]))
    assert united(seen) == [Span(0, ITEMS)]
    if not keeps:
        assert len(seen) == 2
    else:
        # An item is at most 7 seconds, of pieces at most 2 by the last: none is much longer.
        assert max(WORK[span.stop] - WORK[span.first] for span in seen[1:]) <= 8


def test_the_meter_counts_what_is_done_and_not_what_is_taken(monkeypatch):
    """A task that puts off each span until it gets the next one says so by ``waiting``."""
    told: list[int] = []
    taken: list[int] = []

    class Counting(Meter):
        def advance(self, amount=1):
            told.append(amount)

    class Late(Summing):
        waiting = 0

        def step(self, span):
            assert sum(told) == sum(taken[:-1])
            super().step(span)
            self.waiting = job.work(span)
            taken.append(self.waiting)

        def collect(self):
            self.waiting = 0
            return super().collect()

    job = job_of()
    monkeypatch.setattr(_job, "progress", lambda *_, **__: Counting())
    run_job(job, lambda device: Late(), HERE, [Worker(device=DEVICE)])
    assert told == taken
    assert len(told) > 4
    assert sum(told) == WORK[-1]
