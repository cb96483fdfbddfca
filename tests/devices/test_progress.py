"""The progress meter against a clock and a stream of our own."""

import io
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from jaxmotif.devices._progress import METER, Progress, progress, short_number, short_time


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(stream, total, steps, seconds, **options):
    """Advances one unit every ``seconds``; returns what the stream showed."""
    clock = Clock()
    with progress(total, stream=stream, clock=clock, **options) as meter:
        for _ in range(steps):
            clock.now += seconds
            meter.advance()
    return stream.getvalue()


def test_a_plain_line_with_a_forecast_and_then_one_every_ten_seconds():
    shown = run(io.StringIO(), 40, 40, 1.0, unit="edges", label="4-cycles")
    assert shown.splitlines() == [
        "4-cycles: 5% 2/40 edges 1/s 0:38 left",
        "4-cycles: 30% 12/40 edges 1/s 0:28 left",
        "4-cycles: 55% 22/40 edges 1/s 0:18 left",
        "4-cycles: 80% 32/40 edges 1/s 8.0 s left",
        "4-cycles: 100% 40/40 edges 1/s in 0:40",
    ]


def test_resumed_work_begins_where_it_stopped():
    shown = run(io.StringIO(), 2000, 1039, 0.01, unit="graphs", label="motifs", before=961)
    assert shown.splitlines() == [
        "motifs: 55% 1.11k/2k graphs 100/s 8.9 s left",
        "motifs: 100% 2k/2k graphs 100/s in 0:10",
    ]


def test_work_without_a_finished_unit_shows_a_line_and_the_first_unit_a_forecast(monkeypatch):
    monkeypatch.setattr("jaxmotif.devices._progress.FIRST_SECONDS", 0.01)
    stream, clock = io.StringIO(), Clock()
    with progress(10, unit="graphs", label="motifs", stream=stream, clock=clock) as meter:
        for _ in range(1000):
            if stream.getvalue():
                break
            time.sleep(0.01)
        assert stream.getvalue() == "motifs: 0% 0/10 graphs at work\n"
        clock.now += 5
        meter.advance()
    assert stream.getvalue().splitlines()[1] == "motifs: 10% 1/10 graphs 0.2/s 0:45 left"


def test_long_work_is_forecast_before_a_unit_is_done():
    """Three workers that each take half a second for a unit; nothing more is said once units are done."""
    stream, clock = io.StringIO(), Clock()
    with progress(1000, "graphs", "motifs", stream=stream, clock=clock, workers=3) as meter:
        assert METER.get() is meter
        meter.expect(0.5)
        meter.expect(7.0)
        assert stream.getvalue() == "motifs: 0% 0/1k graphs at work 2:47 or more in all\n"
        clock.now += 60
        meter.advance(250)  # by one of the three, so that the others are as far
        meter.expect(0.5)
    assert stream.getvalue().splitlines()[1:] == ["motifs: 25% 250/1k graphs 12.5/s 1:00 left"]
    assert METER.get() is None


def test_short_work_is_not_forecast():
    stream, clock = io.StringIO(), Clock()
    with progress(1000, "graphs", "motifs", stream=stream, clock=clock) as meter:
        meter.expect(0.009)
    assert stream.getvalue() == ""


def test_what_is_compiled_first_is_not_expected_again():
    """The first unit takes 20 s, the others 1 s each."""
    stream, clock = io.StringIO(), Clock()
    with progress(61, stream=stream, clock=clock) as meter:
        for seconds in (20, *[1] * 12):
            clock.now += seconds
            meter.advance()
    assert [line.rpartition("/s ")[2] for line in stream.getvalue().splitlines()] == [
        "20:00 left",
        "0:50 left",
        "0:48 left",
    ]


def test_terminal_redraws_one_line_five_times_a_second():
    shown = run(Terminal(), 1000, 1000, 0.01, unit="rows")
    assert shown.count("\n") == 1
    assert shown.endswith("\n")
    assert 45 <= shown.count("\r") <= 52
    assert all(len(line.removesuffix("\x1b[K")) < 80 for line in shown.strip().split("\r"))


def test_a_note_ends_the_line():
    shown = run(io.StringIO(), 12, 12, 1.0, note=iter(("", "two")).__next__)
    assert shown.splitlines() == ["16% 2/12 items 1/s 0:10 left", "100% 12/12 items 1/s in 0:12, two"]


def test_the_last_line_is_the_end():
    assert run(io.StringIO(), 15, 15, 1.0).splitlines() == [
        "13% 2/15 items 1/s 0:13 left",
        "80% 12/15 items 1/s 3.0 s left",
        "100% 15/15 items 1/s in 0:15",
    ]


def test_a_stream_that_takes_nothing_ends_no_work():
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    for stream in (Full(), io.StringIO()):
        with progress(2, stream=stream, clock=(clock := Clock())) as meter:
            for _ in range(2):
                clock.now += 20
                meter.advance()
                stream.close()


def test_short_work_shows_nothing():
    assert run(io.StringIO(), 5, 5, 0.2) == ""
    assert run(Terminal(), 5, 5, 0.01) == ""


def test_unknown_and_empty_totals():
    assert run(io.StringIO(), None, 1, 20.0, unit="rows").splitlines() == ["1 rows 0.05/s"]
    assert "100% 1/0 items" in run(io.StringIO(), 0, 1, 20.0)


def test_off_touches_nothing():
    class Untouchable:
        def __getattr__(self, name):
            raise AssertionError(name)

    with progress(10, enabled=False, stream=Untouchable(), clock=Untouchable()) as meter:  # pyright: ignore
        meter.advance(3)


def test_failed_work_leaves_the_cursor_on_a_new_line():
    stream, clock = Terminal(), Clock()
    meter = progress(10, stream=stream, clock=clock)

    def interrupted():
        with meter:
            clock.now += 1
            meter.advance()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stream.getvalue().endswith("\n")


def test_several_threads_lose_nothing():
    with progress(40_000, stream=io.StringIO(), clock=Clock()) as meter:
        workers = [threading.Thread(target=lambda: [meter.advance() for _ in range(10_000)]) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert meter.done == 40_000


@pytest.mark.parametrize("value", [1, 999.4, 999.6, 1e3, 9.999e5, 123456, 9.99e14])
def test_short_numbers_stay_short_and_near(value):
    text = short_number(value)
    assert len(text) <= 5
    scale = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(text[-1])
    assert float(text[:-1]) * scale == pytest.approx(value, rel=0.005) if scale else float(text) == round(value)


def test_short_times_round_up_to_the_next_unit():
    assert [short_time(s) for s in (0, 9.96, 59.6, 3599.7)] == ["0.0 s", "0:10", "1:00", "1:00:00"]


def test_a_notebook_gets_a_bar_of_tqdm(monkeypatch):
    """Where this is one and tqdm is installed; else lines as everywhere."""
    told = []

    class Bar:
        def __init__(self, **options):
            told.append(options)
            self.update, self.close = told.append, lambda: told.append("closed")
            self.set_postfix_str = lambda note, refresh: told.append(note)

    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(auto=sys.modules["tqdm.auto"]))
    with progress(9, "edges", "counting") as meter:
        meter.advance(4)
        meter.advance(5)
    assert told == [
        {"total": 9, "unit": " edges", "desc": "counting", "unit_scale": True, "initial": 0},
        4,
        5,
        "closed",
    ]
    assert meter.done == 9
    told.clear()
    notes = iter(("", "7 found"))
    with progress(9, "edges", "counting", note=lambda: next(notes)) as meter:
        meter.advance(4)
        meter.advance(5)
    assert told[1:] == [4, "7 found", 5, "closed"]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert isinstance(progress(9), Progress)
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    shell.config = {}
    assert isinstance(progress(9), Progress)
