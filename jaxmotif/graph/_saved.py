"""Graphs in NumPy's npz files: no pickles, whole or not at all, checked as edges are when they are read again."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np

FORMAT, VERSION = "jaxmotif graph", 1
_HEADER, _NAMES = "jaxmotif", "node_names"
_WORDS = ("node_label_names", "edge_label_names")


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


LabelNames: TypeAlias = Mapping[int, str] | None
"""The word of each label."""


class Saved(NamedTuple):
    """Contents of a file: arguments of ``Graph.from_edges``, and the words of node and edge labels."""

    edges: np.ndarray
    num_nodes: int
    directed: bool
    node_labels: np.ndarray | None
    edge_labels: np.ndarray | None
    node_names: np.ndarray | None
    node_label_names: LabelNames = None
    edge_label_names: LabelNames = None


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


def write(path: str | os.PathLike[str], saved: Saved) -> None:
    """Write a file, or leave the file that was there before as it was."""
    header = {"format": FORMAT, "version": VERSION, "nodes": saved.num_nodes, "directed": saved.directed}
    for kind in _WORDS:
        words = getattr(saved, kind)
        header[kind] = None if words is None else [[int(label), word] for label, word in words.items()]
    arrays = {"edges": saved.edges.astype(np.int32), "node_labels": saved.node_labels, "edge_labels": saved.edge_labels}
    names = saved.node_names
    if names is not None:
        header["names"] = names.dtype.kind
        # Numbers are kept as they are; words as JSON, since NumPy's own text takes the longest word's room for all.
        arrays[_NAMES] = names if names.dtype.kind in "iu" else _json(names.tolist())
    present = {name: array for name, array in arrays.items() if array is not None}
    header["arrays"] = list(present)  # so that a name that damage changes is missed
    with written_whole(path) as partial, open(partial, "xb") as file:
        np.savez(file, **{_HEADER: _json(header)}, **present)


def read(path: str | os.PathLike[str]) -> Saved:
    """Read a graph that :func:`write` wrote.

    Raises:
      GraphFileError: something else, or damaged.
      OSError: the file cannot be opened.
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        try:
            return contents(file)
        except Exception as error:  # zipfile and NumPy raise a dozen kinds at a damaged file
            message = f"{path}: this is not a graph that Graph.save wrote, or it is damaged: {error}"
            raise GraphFileError(message, path) from error


def contents(file: BinaryIO) -> Saved:
    """Return the contents of an open file; a damaged file raises an exception of any kind."""
    with zipfile.ZipFile(file) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("it is compressed")  # write() never compresses, so a small file cannot ask for much memory
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        header = json.loads(bytes(arrays[_HEADER]))
        if (header["format"], header["version"]) != (FORMAT, VERSION):
            raise ValueError(f"it is a {header['format']} of version {header['version']}, not {VERSION}")
        arrays_by_name = {name: arrays[name] for name in header["arrays"]}
    names = arrays_by_name.get(_NAMES)
    if names is not None and header["names"] not in "iu":
        names = _words([_tuples(name) for name in json.loads(bytes(names))], header["names"])
    labels = arrays_by_name.get("node_labels"), arrays_by_name.get("edge_labels")
    words = [None if header[kind] is None else dict(header[kind]) for kind in _WORDS]
    return Saved(arrays_by_name["edges"], header["nodes"], header["directed"], *labels, names, *words)


def _json(value: object) -> np.ndarray:
    return np.frombuffer(json.dumps(value, default=_plain).encode(), np.uint8)


def _plain(name: object) -> Any:
    """Return a name that JSON does not know as one that it does: a number of NumPy as one of Python."""
    if isinstance(name, np.generic) and not isinstance(name.item(), np.generic):
        return name.item()
    raise TypeError(
        f"node_names must be words, numbers or tuples of these to be saved, got {name!r}; rename the nodes before"
    )


def _tuples(name: object) -> Any:
    """Return a name as it was before JSON made a list of each tuple, which networkx allows as names."""
    return tuple(map(_tuples, name)) if isinstance(name, list) else name


def _words(names: Sequence[object], kind: str) -> np.ndarray:
    if kind != "O":
        return np.array(names, dtype=str if kind in "UT" else None)
    return np.fromiter(names, object, len(names))  # an assignment of all would take tuples apart
