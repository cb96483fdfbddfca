"""The record of a job: which items are done and their merged results, saved to a checkpoint from time to time."""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxmotif.devices import _checkpoint as checkpoint
from jaxmotif.devices._ranges import Span, as_array, from_array, length, united

SAVE_SECONDS = 5.0
"""Least time between two checkpoints. It grows when saving is slow, so that saving takes at most a twentieth of it."""

Arrays = dict[str, np.ndarray]
Merge = Callable[[Arrays, Arrays], Arrays]


def added(a: Arrays, b: Arrays) -> Arrays:
    """Merge results by adding them."""
    return {name: a[name] + b[name] for name in a}


def xored(a: Arrays, b: Arrays) -> Arrays:
    """Merge results by addition in fields of characteristic 2, which is exclusive or."""
    return {name: a[name] ^ b[name] for name in a}


def joined(a: Arrays, b: Arrays) -> Arrays:
    """Merge results that have different names by keeping them all."""
    return a | b


def results_in(report: Arrays, part: str) -> Arrays:
    """Return the results of finished (``"done/"``) or unfinished (``"left/"``) steps in the report of a record."""
    return {name[len(part) :]: array for name, array in report.items() if name.startswith(part)}


class Record:
    """The spans that are done and their merged results, in memory and, where there is a folder, in a checkpoint.

    Each process has a checkpoint of its own. That of the first process also holds what earlier runs have done; those
    of the others hold what their process has done in this run.

    Args:
      name: The name of the job.
      items: How many items the job has.
      merge: How two results become one.
      folder: The folder of checkpoints; ``None`` where nothing is saved.
      identity: The fingerprint of the input and options; empty where nothing is saved and no other process takes part.
      process: The number of this process.
      grows: Whether a checkpoint of fewer items is the beginning of this work.

    Attributes:
      keeps: Whether results are saved in a folder.
      work: The fingerprint of the work, which is the same in all processes that do the same work.
    """

    def __init__(
        self,
        name: str,
        items: int,
        merge: Merge,
        folder: str | os.PathLike | None = None,
        identity: str = "",
        process: int = 0,
        grows: bool = False,
    ):
        self._name, self._items, self._merge, self._process = name, items, merge, process
        self._folder = None if folder is None else checkpoint.folder_of(folder)
        self.keeps = self._folder is not None
        self.work = identity and checkpoint.fingerprint(name, identity, None if grows else items)
        # Spans and results are replaced by one assignment, so that not even Ctrl-C can separate them.
        self._state: tuple[list[Span], Arrays] = [], {}
        self._left: Arrays = {}
        self._notes: list[str] = []
        self._lock = threading.Lock()
        self._file_lock: checkpoint.Lock | None = None
        self._changed = False
        self._begun = self._failing = False
        self._next_save = time.monotonic() + SAVE_SECONDS

    @property
    def found(self) -> Arrays:
        """The merged results of all spans that are done; empty at first."""
        return self._state[1]

    @property
    def spans(self) -> list[Span]:
        """The spans that are done."""
        return self._state[0]

    def open(self) -> np.ndarray:
        """Lock this process's checkpoint and return the spans that are done, int64 ``[spans, 2]``.

        The first process reads the checkpoints of all processes and moves what they hold to its own. The others
        start with nothing.
        """
        # Several runs may share the folder, but only one process at a time may write a file.
        if self._folder is not None:
            self._file_lock = checkpoint.Lock(self._path(self._folder, self._process))
        if self._folder is not None and self._process == 0:
            own, others = self._path(self._folder, 0), sorted(self._folder.glob(f"{self._name}.*.checkpoint"))
            for path in (own, *others):
                saved = checkpoint.load(path, self.work)
                if saved is not None:
                    self._take_over(path, saved)
            if self._state[0] and self._state[0][-1].stop > self._items:
                raise ValueError(f"{own}: checkpoint of more than is asked for; ask for as much again, or delete it")
            # The files of the others are removed only when this process's file holds everything.
            if self._save():
                for path in others:
                    path.unlink(missing_ok=True)
        return as_array(self._state[0])

    def close(self) -> None:
        """Release the lock, so that another process can use the folder."""
        if self._file_lock is not None:
            self._file_lock.release()

    def _take_over(self, path: Path, saved: Arrays) -> None:
        spans, done = from_array(saved.pop("spans")), self._state[0]
        # Results are merged as a whole, so the spans must all be new or all be known: else work would count twice.
        total = length(united([*done, *spans]))
        if total == length(done):
            return  # An earlier run was killed after it had taken the file over and before it had removed it.
        if total != length(done) + length(spans):
            raise ValueError(f"{path}: checkpoint of work that another one holds, too; delete it")
        self._add(spans, {name.removeprefix("found/"): array for name, array in saved.items()})

    def add(self, spans: Sequence[Span], results: Arrays) -> None:
        """Add spans that are done and their results."""
        with self._lock:
            self._add(spans, results)
            self._changed = True

    def _add(self, spans: Sequence[Span], results: Arrays) -> None:
        done, before = self._state
        # One assignment changes both, so that a save always sees spans together with their results.
        self._state = united([*done, *spans]), self._merge(before, results) if before else results

    def leave(self, results: Arrays) -> None:
        """Add the results of an unfinished step, which count in this run but are not saved."""
        with self._lock:
            self._left = self._merge(self._left, results) if self._left else results

    def take(self, report: Arrays) -> None:
        """Add the report of another record, and save what is held when that is due."""
        if spans := from_array(report["spans"]):
            self.add(spans, results_in(report, "done/"))
        if left := results_in(report, "left/"):
            self.leave(left)
        for note in report["notes"]:
            self.note(str(note))
        if self.due():
            self.save()

    def note(self, text: str) -> None:
        """Add a note for the user."""
        with self._lock:
            self._notes.append(text)

    def due(self) -> bool:
        """Return whether it is time for the next checkpoint."""
        return self.keeps and time.monotonic() >= self._next_save

    def save(self) -> None:
        """Save what has changed since the last checkpoint, where there is a folder."""
        with self._lock:
            if self._changed:
                self._save()

    def _save(self) -> bool:
        """Save a checkpoint and return whether that was possible.

        A disk that fails does not end work that has begun, because the result itself needs no disk.
        """
        if self._folder is None:
            return False
        path, started = self._path(self._folder, self._process), time.monotonic()
        done, results = self._state
        arrays = {f"found/{name}": array for name, array in results.items()}
        try:
            checkpoint.save(path, self.work, {"spans": as_array(done)} | arrays)
        except OSError as error:
            # A folder that cannot be written at all is an error at the start; a full disk only costs the checkpoint.
            if not self._begun and error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            if not self._failing:
                text = "%s: %s; cannot keep finished work for now, going on"
                logging.getLogger("jaxmotif").warning(text, path, error.strerror)
            self._failing = True
        else:
            self._changed = self._failing = False
        self._begun = True
        ended = time.monotonic()
        # A wait of nineteen times the duration of a save keeps saving to a twentieth of the time.
        self._next_save = ended + max(SAVE_SECONDS, 19 * (ended - started) if SAVE_SECONDS else 0.0)
        return not self._failing

    def report(self) -> dict[str, Any]:
        """Return what other processes need: spans, notes, and results of finished and unfinished steps."""
        done, results = self._state
        finished = {f"done/{name}": array for name, array in results.items()}
        unfinished = {f"left/{name}": array for name, array in self._left.items()}
        return {"spans": as_array(done), "notes": np.array(self._notes, dtype=str)} | finished | unfinished

    def _path(self, folder: Path, process: int) -> Path:
        return folder / (f"{self._name}.{process}.checkpoint" if process else f"{self._name}.checkpoint")
