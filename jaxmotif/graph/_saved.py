"""Graphs written to NumPy's npz files, without pickles, whole or not at all; ``jaxmotif.io`` reads them."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from jaxmotif.graph._container import Graph

FORMAT, VERSION = "jaxmotif graph", 1
HEADER, LABELS = "jaxmotif", ("node_labels", "edge_labels")
WORDS = ("node_label_names", "edge_label_names")


class GraphFileError(ValueError):
    """A graph file that cannot be read.

    Attributes:
      path: the file.
      line: the number of the offending line, from 1; ``None`` when the file as a whole is at fault.
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None):
        super().__init__(message)
        self.path = path
        self.line = line


@contextlib.contextmanager
def named_errors(what: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of a file to an error that does not name it, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError) or (error.filename and not str(error.filename).endswith(".part")):
            raise
        raise OSError(error.errno, error.strerror or str(error), os.fspath(what)) from error


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write to, which replaces the file once all is written; on an error the old file stays as it was.

    Where the path is a link, the file that it leads to is replaced.

    Raises:
      OSError: the file cannot be written; it is named.
    """
    target = Path(path).resolve()
    partial = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        with named_errors(path):
            yield partial
            os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError, which names the file, where it cannot be written: before the work whose result it is to hold."""
    target = Path(path).resolve()
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "is read-only")
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def write(path: str | os.PathLike[str], graph: Graph) -> None:
    """Write a file, or leave the file that was there before as it was; :func:`jaxmotif.read_graph` reads it."""
    header = {"format": FORMAT, "version": VERSION, "nodes": graph.n, "directed": graph.directed}
    for kind, words in zip(WORDS, graph._label_words, strict=True):
        header[kind] = None if words is None else [[int(label), word] for label, word in words.items()]
    arrays = {"edges": graph.edge_list().astype(np.int32), **dict(zip(LABELS, graph._labels(), strict=True))}
    names = graph.node_names
    if names is not None:
        header["names"] = names.dtype.kind
        # Numbers are kept as they are; words as JSON, since NumPy's own text takes the longest word's room for all.
        arrays["node_names"] = names if names.dtype.kind in "iu" else _json(names.tolist())
    present = {name: array for name, array in arrays.items() if array is not None}
    header["arrays"] = list(present)  # so that a name that damage changes is missed
    with written_whole(path) as partial, open(partial, "xb") as file:
        np.savez(file, **{HEADER: _json(header)}, **present)


def _json(value: object) -> np.ndarray:
    return np.frombuffer(json.dumps(value, default=_plain).encode(), np.uint8)


def _plain(name: object) -> Any:
    """Return a name that JSON does not know as one that it does: a number of NumPy as one of Python."""
    if isinstance(name, np.generic) and not isinstance(name.item(), np.generic):
        return name.item()
    raise TypeError(
        f"node_names must be words, numbers or tuples of these to be saved, got {name!r}; rename the nodes before"
    )
