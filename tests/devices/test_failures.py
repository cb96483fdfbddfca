"""A small job of which the i-th write, read, step or result fails, for each i: nothing is lost or counted twice."""

import errno
import os
from itertools import count

import jax
import pytest

from jaxmotif.devices import _checkpoint as checkpoint
from jaxmotif.devices import _record as record
from tests.devices.test_job import Summing, check, kept, run

NO_ROOM = OSError(errno.ENOSPC, "No space left on device")
NO_MEMORY = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")


class Failing:
    """A function whose call of a number fails."""

    def __init__(self, function, at, error):
        self.function, self.at, self.error, self.calls = function, at, error, 0

    def __call__(self, *given, **options):
        self.calls += 1
        if self.calls == self.at + 1:
            raise self.error
        return self.function(*given, **options)

    @property
    def never_failed(self):
        return self.calls <= self.at


@pytest.mark.parametrize("call", ["open", "fsync", "replace", "pwrite", "truncate", "unlink", "close"])
def test_every_call_of_the_system_that_fails(call, monkeypatch, tmp_path, caplog):
    """A full disk ends a call before its work, with the name of the file, or costs what could not be kept."""
    monkeypatch.setattr(record, "SAVE_SECONDS", 0.0)
    for number in count():
        store = kept(tmp_path / f"{call}{number}")
        failed = Failing(getattr(os, call), number, NO_ROOM)
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failed)
            try:
                check(run(options=store))
            except OSError as error:
                assert error.errno == errno.ENOSPC  # noqa: PT017 (a call may end either way)
        check(run(options=store))  # goes on from what there is
        check(run(pytest.fail, options=store))
        if failed.never_failed:
            break
    assert number > 0


def test_every_read_that_fails(monkeypatch, tmp_path):
    """A file that cannot be read is there, as it was, for the next call."""
    check(run(options=kept(tmp_path)))
    held = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for number in count():
        failed = Failing(open, number, OSError(errno.EIO, "Input/output error"))
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint, "open", failed, raising=False)
            try:
                check(run(pytest.fail, options=kept(tmp_path)))
            except OSError as error:
                assert error.errno == errno.EIO  # noqa: PT017 (a call may end either way)
            else:
                assert number > 0  # the first call reads what is held
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == held
        if failed.never_failed:
            break
    assert number > 0


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("where", ["step", "collect"])
def test_every_allocation_that_fails(where, workers, monkeypatch, tmp_path):
    """In a step or while its result is fetched: smaller steps do it again; where there are none, the call says so."""
    monkeypatch.setattr(record, "SAVE_SECONDS", 0.0)
    for number in count():
        failed = Failing(getattr(Summing, where), number, NO_MEMORY)
        with monkeypatch.context() as patch:
            patch.setattr(Summing, where, lambda *given, failed=failed: failed(*given))
            check(run(workers=workers, smaller=["smaller"] * 3, options=kept(tmp_path / f"{number}")))
        failed = Failing(failed.function, number, NO_MEMORY)
        with monkeypatch.context() as patch:
            patch.setattr(Summing, where, lambda *given, failed=failed: failed(*given))
            store = kept(tmp_path / f"none{number}")
            if number == 0:
                with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
                    run(workers=workers, options=store)
            else:
                try:
                    check(run(workers=workers, options=store))
                except MemoryError as error:
                    assert "too little memory" in str(error)  # noqa: PT017 (a call may end either way)
        check(run(options=store))
        if failed.never_failed:
            break
    assert number > 1
