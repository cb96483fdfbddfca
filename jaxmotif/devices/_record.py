"""What of a job is done and what it gave: added up in memory, and kept in a checkpoint from time to time."""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxmotif.devices import _checkpoint as checkpoint
from jaxmotif.devices._ranges import Span, as_array, from_array, length, united

SAVE_SECONDS = 5.0
"""Least time between two checkpoints; never more than a twentieth of the time goes into them."""

Arrays = dict[str, np.ndarray]
Merge = Callable[[Arrays, Arrays], Arrays]


def added(a: Arrays, b: Arrays) -> Arrays:
    """The merge of sums."""
    return {name: a[name] + b[name] for name in a}


def xored(a: Arrays, b: Arrays) -> Arrays:
    """The merge of sums in fields of characteristic 2."""
    return {name: a[name] ^ b[name] for name in a}


def joined(a: Arrays, b: Arrays) -> Arrays:
    """The merge of results that are kept apart, under different names."""
    return a | b


class Store(NamedTuple):
    """What a piece of work is (:func:`jaxmotif.devices._checkpoint.fingerprint`), so that a checkpoint, and every other
    process, can be of the same; and the folder of checkpoints, if any."""

    folder: str | os.PathLike | None
    fingerprint: str


def store_for(folder: str | os.PathLike | None, together: bool, parts: Callable[[], tuple]) -> Store | None:
    """The store of a piece of work; ``None`` where nothing is kept and no other process takes part.

    Args:
      folder: of checkpoints, or ``None``.
      together: whether other processes take part.
      parts: gives those of the fingerprint: all input and options that count.
    """
    return None if folder is None and not together else Store(folder, checkpoint.fingerprint(*parts()))


class Record:
    """Which stretches are done and what they gave: in memory, and in this process's file where there is a folder.

    The first process's file holds what earlier runs had done, too; the others hold what theirs did in this run.
    """

    def __init__(self, name: str, items: int, merge: Merge, store: Store | None, process: int):
        self._name, self._merge, self._process = name, merge, process
        self._folder = None if store is None or store.folder is None else Path(store.folder)
        self._owner = "" if store is None else checkpoint.fingerprint(name, store.fingerprint, items)
        # In one place, so that not even Ctrl-C comes between.
        self._state: tuple[list[Span], Arrays] = [], {}
        self._left: Arrays = {}
        self._notes: list[str] = []
        self._lock = threading.Lock()
        self._held: checkpoint.Lock | None = None
        self._changed = False
        self._begun = self._failing = False
        self._next_save = time.monotonic() + SAVE_SECONDS

    @property
    def keeps(self) -> bool:
        """Whether there is a folder."""
        return self._folder is not None

    @property
    def work(self) -> str:
        """What work this is; the same in all processes, or they do not do the same."""
        return self._owner

    @property
    def found(self) -> Arrays:
        """What was handed in, merged; nothing at first."""
        return self._state[1]

    def open(self) -> np.ndarray:
        """What is done: in the first process what the files say, which it takes over into its own; else nothing."""
        # One process at a time writes a file: the folder may be shared by runs.
        if self._folder is not None:
            self._held = checkpoint.Lock(self._path(self._folder, self._process))
        if self._folder is not None and self._process == 0:
            own, others = self._path(self._folder, 0), sorted(self._folder.glob(f"{self._name}.*.checkpoint"))
            for path in (own, *others):
                kept = checkpoint.load(path, self._owner)
                if kept is not None:
                    self._take_over(path, kept)
            # Only when its own file holds all of it are the others' taken away.
            if self._save():
                for path in others:
                    path.unlink(missing_ok=True)
        return as_array(self._state[0])

    def close(self) -> None:
        """Lets other processes have the folder."""
        if self._held is not None:
            self._held.release()

    def _take_over(self, path: Path, kept: Arrays) -> None:
        spans, done = from_array(kept.pop("spans")), self._state[0]
        # Either all of it is known, or none: else work would count twice.
        together = length(united([*done, *spans]))
        if together == length(done):
            return  # nothing new: a run was killed between taking it over and removing it
        if together != length(done) + length(spans):
            raise ValueError(f"{path}: checkpoint of work that another one holds, too; delete it")
        self._add(spans, {name.removeprefix("found/"): array for name, array in kept.items()})

    def add(self, spans: Sequence[Span], found: Arrays) -> None:
        with self._lock:
            self._add(spans, found)
            self._changed = True

    def _add(self, spans: Sequence[Span], found: Arrays) -> None:
        done, before = self._state
        # Both at once: whoever saves sees stretches together with what they gave.
        self._state = united([*done, *spans]), self._merge(before, found) if before else found

    def leave(self, found: Arrays) -> None:
        """Adds what an unfinished step gave, which counts in this run only."""
        with self._lock:
            self._left = self._merge(self._left, found) if self._left else found

    def note(self, text: str) -> None:
        with self._lock:
            self._notes.append(text)

    def due(self) -> bool:
        return self._folder is not None and time.monotonic() >= self._next_save

    def save(self) -> None:
        with self._lock:
            if self._changed:
                self._save()

    def _save(self) -> bool:
        """Whether it could be saved. A disk that fails does not end work that has begun: the result needs none."""
        if self._folder is None:
            return False
        path, started = self._path(self._folder, self._process), time.monotonic()
        done, found = self._state
        arrays = {f"found/{name}": array for name, array in found.items()}
        try:
            checkpoint.save(path, self._owner, {"spans": as_array(done)} | arrays)
        except OSError as error:
            # A folder that cannot be written is told at once; later a full disk only costs the checkpoint.
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
        # Nineteen times what the save took: a twentieth of the time at most.
        self._next_save = ended + max(SAVE_SECONDS, 19 * (ended - started) if SAVE_SECONDS else 0.0)
        return not self._failing

    def report(self) -> dict[str, Any]:
        done, found = self._state
        found = {f"done/{name}": array for name, array in found.items()}
        left = {f"left/{name}": array for name, array in self._left.items()}
        return {"spans": as_array(done), "notes": np.array(self._notes, dtype=str)} | found | left

    def _path(self, folder: Path, process: int) -> Path:
        return folder / (f"{self._name}.{process}.checkpoint" if process else f"{self._name}.checkpoint")
