"""Checkpoints of long work: named arrays in one file, which is written as a whole and by one process at a time.

A file belongs to one piece of work, which the :func:`fingerprint` of its input and options identifies. The file has a
line with the name and version of the format, a line of JSON (the fingerprint, and the length and SHA-256 of the rest),
and the arrays in NumPy's npz format.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import numpy as np

from jaxmotif.graph._saved import named_errors, written_whole

if TYPE_CHECKING:
    from jax.typing import ArrayLike

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_FORMAT = b"jaxmotif checkpoint "
_VERSION = b"1"


def folder_of(path: str | os.PathLike) -> Path:
    """Return the folder of checkpoints that an argument names.

    Raises:
      ValueError: for an empty path, which would be the current folder.
    """
    if not os.fspath(path):
        raise ValueError("checkpoint is an empty path; name a folder")
    return Path(path)


def fingerprint(*parts: object) -> str:
    """Return the identity of a piece of work, which is a SHA-256 of its input and options.

    Args:
      *parts: Arrays (whose type, shape and content count), random keys, strings, numbers, ``None``, and tuples, lists
        and mappings of these (the order of a mapping does not count).

    Returns:
      A string of 64 hexadecimal digits.

    Raises:
      TypeError: A part is none of these.

    Example:
      >>> import numpy as np
      >>> a = fingerprint("census", np.arange(3), {"size": 4, "seed": 0})
      >>> a == fingerprint("census", np.arange(3), {"seed": 0, "size": 4}), a == fingerprint("census", np.arange(4))
      (True, False)
    """
    digest = hashlib.sha256()
    for part in parts:
        _feed(digest, part)
    return digest.hexdigest()


def _feed(digest, part: object) -> None:
    if isinstance(part, jax.Array) and jax.numpy.issubdtype(part.dtype, jax.dtypes.prng_key):
        _feed(digest, ("key", str(jax.random.key_impl(part)), jax.random.key_data(part)))
    elif isinstance(part, np.ndarray | np.generic | jax.Array):
        array = np.ascontiguousarray(part)
        if array.dtype.hasobject:
            raise TypeError(f"a fingerprint takes no arrays of Python objects, got dtype {array.dtype}")
        digest.update(f"array {array.dtype.str} {np.shape(part)}:".encode())
        digest.update(array.data)
    elif part is None or isinstance(part, str | bytes | int | float):
        text = repr(part).encode()
        digest.update(f"{type(part).__name__} {len(text)}:".encode() + text)
    elif isinstance(part, tuple | list):
        digest.update(f"sequence {len(part)}:".encode())
        for item in part:
            _feed(digest, item)
    elif isinstance(part, Mapping):
        digest.update(f"mapping {len(part)}:".encode())
        for item in sorted(fingerprint(key, value) for key, value in part.items()):
            digest.update(item.encode())
    else:
        raise TypeError(f"a fingerprint takes arrays, keys, strings, numbers and containers of them, got {type(part)}")


def save(path: str | os.PathLike, fingerprint: str, arrays: Mapping[str, ArrayLike]) -> None:
    """Write a checkpoint, in the place of an older one if there is one.

    Whatever happens meanwhile, the file is either the old one or the new one.

    Args:
      path: The path of the file, whose folder is made if it does not exist.
      fingerprint: The identity of the work.
      arrays: The arrays by name: of NumPy or JAX, or numbers, but no Python objects.

    Raises:
      OSError: The file cannot be written; the error names the path.
    """
    path = Path(path)
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, **{name: np.asarray(array) for name, array in arrays.items()})
    content = payload.getbuffer()
    header = {"fingerprint": fingerprint, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    with named_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as partial, open(partial, "xb") as stream:
        stream.write(_FORMAT + _VERSION + b"\n" + json.dumps(header).encode() + b"\n")
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


class Lock:
    """The right to write a checkpoint, which one process has at a time.

    It ends with :meth:`release`, or when the process dies. Half-written files of killed writers are removed.

    Args:
      path: The path of the checkpoint.

    Raises:
      ValueError: Another process has the right; the error names it.
      OSError: The folder cannot be written; the error names the checkpoint.
    """

    def __init__(self, path: Path):
        self._path = path.with_name(f".{path.name}.lock")
        self._file: int | None = None
        with named_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            while self._file is None:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
                try:
                    self._take(file, path)
                except BaseException:
                    os.close(file)
                    raise
        for partial in path.parent.glob(f".{path.name}.*.part"):
            with contextlib.suppress(OSError):
                partial.unlink()

    def _take(self, file: int, path: Path) -> None:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.pread(file, 200, 0).decode(errors="replace").strip() or "another process"
                raise ValueError(f"{path}: in use by {owner}; wait for it to end, or choose another folder") from None
            except OSError:  # The file system has no locks; random names still keep every file whole.
                pass
        try:
            is_current = os.path.samestat(os.fstat(file), os.stat(self._path))
        except FileNotFoundError:
            is_current = False
        if not is_current:
            os.close(file)  # The last owner removed the file after this process had opened it, so the caller retries.
            return
        os.truncate(file, 0)
        os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        self._file = file

    def release(self) -> None:
        """Give up the right; doing so again has no effect."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._file)
            self._file = None


def load(path: str | os.PathLike, fingerprint: str) -> dict[str, np.ndarray] | None:
    """Read a checkpoint.

    Args:
      path: The path of the file.
      fingerprint: The identity of the work that is to go on.

    Returns:
      The arrays by name, or ``None`` if there is no file.

    Raises:
      ValueError: The file is damaged, has another version, or belongs to other work.

    Example:
      >>> import os, tempfile
      >>> import numpy as np
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     file = os.path.join(folder, "work.checkpoint")
      ...     before = load(file, "abc")
      ...     save(file, "abc", {"done": np.arange(3)})
      ...     print(before, load(file, "abc"))
      None {'done': array([0, 1, 2])}
    """
    try:
        with open(path, "rb") as stream:
            first, second, content = stream.readline(), stream.readline(), stream.read()
    except FileNotFoundError:
        return None
    remedy = "delete it to start again"
    if not first.startswith(_FORMAT):
        raise ValueError(f"{path}: not a jaxmotif checkpoint; choose another place or delete it")
    if first != _FORMAT + _VERSION + b"\n":
        version = first[len(_FORMAT) :].decode(errors="replace").strip()
        raise ValueError(f"{path}: checkpoint version {version!r}, this jaxmotif reads {_VERSION.decode()}; {remedy}")
    try:
        header = json.loads(second)
        size, digest, owner = header["bytes"], header["sha256"], header["fingerprint"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path}: damaged checkpoint (header); {remedy}") from None
    if len(content) != size:
        raise ValueError(f"{path}: damaged checkpoint ({len(content)} of {size} bytes); {remedy}")
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"{path}: damaged checkpoint (content does not match its checksum); {remedy}")
    if owner != fingerprint:
        raise ValueError(f"{path}: checkpoint of other input or options; choose another place, or {remedy}")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return dict(arrays)
    except Exception as error:  # Where the file is no archive of arrays, zipfile and NumPy raise many kinds of errors.
        problem = f"{type(error).__name__}: {error}"[:100]
        raise ValueError(f"{path}: damaged checkpoint (its arrays cannot be read: {problem}); {remedy}") from error
