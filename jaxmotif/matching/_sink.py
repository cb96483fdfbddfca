"""Matches as a file of any size: Parquet, CSV or npz, which appears whole or not at all.

A listing that can go on after a kill keeps its finished stretches as *pieces*, files of raw rows, in a folder. In the
end the file is made of these. Its bytes are the same with and without pieces, since rows are always written in chunks
of one size.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.devices import _checkpoint as checkpoint
from jaxmotif.graph._saved import named_errors, written_whole
from jaxmotif.search._listing import Listed

ROWS = 2**17
"""Rows written at a time."""

NAME = "matches"
"""First part of the names of a checkpoint's files."""


Write = Callable[[np.ndarray], object]
"""A function that writes more rows, int32 ``[k, M]``."""


@contextlib.contextmanager
def _parquet(path: Path, size: int) -> Iterator[Write]:
    arrow, names = load_extra("pyarrow", "a Parquet file needs"), [str(u) for u in range(size)]
    schema = arrow.schema([(name, arrow.int32()) for name in names])
    with load_extra("pyarrow.parquet", "a Parquet file needs").ParquetWriter(path, schema) as writer:
        yield lambda nodes: writer.write_table(arrow.table(dict(zip(names, nodes, strict=True))))


@contextlib.contextmanager
def _csv(path: Path, size: int) -> Iterator[Write]:
    with open(path, "w", encoding="ascii", newline="") as stream:
        stream.write(",".join(map(str, range(size))) + "\n")
        yield lambda nodes: stream.writelines(",".join(map(str, row)) + "\n" for row in nodes.T.tolist())


@contextlib.contextmanager
def _npz(path: Path, size: int) -> Iterator[Write]:
    """Put rows into another file first: the shape of an array stands before its entries."""
    raw = path.with_suffix(".rows")
    try:
        with open(raw, "wb") as stream:
            yield lambda nodes: stream.write(np.ascontiguousarray(nodes.T).data)
        entry = zipfile.ZipInfo("nodes.npy", (1980, 1, 1, 0, 0, 0))  # no time of day: the same rows, the same bytes
        # The header is written last, in front: only then is the number of rows known.
        shape = raw.stat().st_size // (4 * size), size
        with zipfile.ZipFile(path, "w") as archive, archive.open(entry, "w", force_zip64=True) as out:
            np.lib.format.write_array_header_2_0(out, {"descr": "<i4", "fortran_order": False, "shape": shape})
            with open(raw, "rb") as rows:
                shutil.copyfileobj(rows, out, 2**24)
    finally:
        raw.unlink(missing_ok=True)


_WRITERS = {".parquet": _parquet, ".csv": _csv, ".npz": _npz}


def check_sink(sink: str | os.PathLike) -> Path:
    """Return the path of a file to write.

    Raises:
      ValueError: for another ending. OSError: for a folder that is not there.
    """
    path = Path(sink)
    if path.suffix.lower() not in _WRITERS:
        raise ValueError(f"sink must end in {', '.join(_WRITERS)}; got {str(sink)!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(path.parent))
    return path


class _NotWhole(Exception):
    """Raised where a file is given up."""


@contextlib.contextmanager
def open_writer(path: Path, size: int, whole: Callable[[], bool] = lambda: True) -> Iterator[Write]:
    """Yield a function that writes blocks of matches, int32 ``[k, M]`` each, to a file.

    The file gets its name at the end of the context. If the context fails, nothing is left of it.

    Args:
      path: the file; its ending chooses the format.
      size: k, the number of query nodes.
      whole: tells at the end of the context whether all is written; if not, nothing is left of the file either.
    """
    waiting, held = np.empty((size, ROWS), np.int32), 0
    with contextlib.suppress(_NotWhole), written_whole(path) as partial:
        with _WRITERS[path.suffix.lower()](partial, size) as write_rows:

            def write(nodes: np.ndarray) -> None:
                nonlocal held
                done = 0
                while done < nodes.shape[1]:
                    more = min(ROWS - held, nodes.shape[1] - done)
                    waiting[:, held : held + more] = nodes[:, done : done + more]
                    # Chunks of one size however blocks come: the same rows are the same bytes.
                    done, held = done + more, held + more
                    if held == ROWS:
                        write_rows(waiting)
                        held = 0

            yield write
            if not whole():
                raise _NotWhole
            if held:
                write_rows(waiting[:, :held])
        # The file is on the disk before it gets its name, so that no crash leaves an empty file of that name.
        with open(partial, "rb") as stream:
            os.fsync(stream.fileno())


def parts_of(sink: Path) -> Path:
    """Return the folder in which the workers of a cluster put the parts of a listing until all are there."""
    return sink.with_name(f".{sink.name}.parts")


def prepare_parts(sink: str | os.PathLike, keep: bool) -> None:
    """Check that workers can write a folder of Parquet files, and remove what an earlier run has left of it.

    Args:
      sink: the folder.
      keep: whether a checkpoint knows which parts are done.

    Raises:
      ValueError: for another ending than ``.parquet``. OSError: if the parent folder does not exist, or the sink does.
    """
    path = check_sink(sink)
    if path.suffix.lower() != ".parquet":
        raise ValueError(f"a cluster lists to a folder of Parquet files: sink must end in .parquet; got {str(sink)!r}")
    if path.exists():
        raise FileExistsError(17, "is there already; remove it, or choose another name", str(path))
    if not keep and parts_of(path).exists():
        shutil.rmtree(parts_of(path))


class Pieces:
    """The finished stretches of a listing, one file each, in the order in which they are found.

    As a context manager it surrounds work with all rows. The files are removed at the end, unless the work failed.
    """

    def __init__(self, folder: str | os.PathLike, size: int):
        self._folder, self._size = checkpoint.folder_of(folder), size
        self._head = self._folder / f"{NAME}.checkpoint"
        self._lock = checkpoint.Lock(self._head)
        self._open: BinaryIO | None = None
        self._tail: Path | None = None

    def begin(self, fingerprint: str) -> tuple[int, int]:
        """Return how many stretches are done, and how many rows they have.

        Raises:
          ValueError: for a folder of another listing.
        """
        if checkpoint.load(self._head, fingerprint) is None:
            self.remove()  # what is there is of a listing whose head was removed
            checkpoint.save(self._head, fingerprint, {})
        # A stretch has a file only once it is complete, so that those before the first missing file are done.
        done = 0
        while self._piece(done).exists():
            done += 1
        # Rows have one length: the size of the files says how many there are.
        return done, sum(self._piece(i).stat().st_size for i in range(done)) // (4 * self._size)

    def _piece(self, stretch: int) -> Path:
        return self._folder / f"{NAME}.{stretch:05d}.piece"

    def add(self, block: Listed) -> None:
        """Add rows to a stretch; the last ones give its file its name."""
        path = self._piece(block.stretch)
        partial = path.with_suffix(".part")
        with named_errors(path):
            if self._open is None:
                self._open, self._tail = open(partial, "wb"), partial  # noqa: SIM115
            self._open.write(np.ascontiguousarray(block.nodes.T).data)
            if block.ends:
                # The rows are on the disk before the file gets its name, since every file of that name counts as done.
                self._open.flush()
                os.fsync(self._open.fileno())
                self._close()
                os.replace(partial, path)
                self._tail = None

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield all rows, int32 ``[k, M]`` at a time; those of a stretch that a limit has cut short come last."""
        self._close()
        # A stretch that a limit has cut short never ends: its rows are in the file without a final name.
        pieces = itertools.takewhile(Path.exists, map(self._piece, itertools.count()))
        for path in (*pieces, *([] if self._tail is None else [self._tail])):
            with open(path, "rb") as stream:
                while part := stream.read(4 * self._size * ROWS):
                    yield np.frombuffer(part, np.int32).reshape(-1, self._size).T

    def __enter__(self) -> Pieces:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is None:
            self.remove()
        self.release()

    def remove(self) -> None:
        """Remove the files, and last the head, which says what they belong to."""
        for path in (*self._folder.glob(f"{NAME}.*.piece"), *self._folder.glob(f"{NAME}.*.part"), self._head):
            path.unlink(missing_ok=True)

    def release(self) -> None:
        """Let other processes have the folder."""
        self._close()
        self._lock.release()
