"""Compiled programs kept in a folder, so that no process compiles again what another has compiled."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import time
from pathlib import Path

import jax

from jaxmotif.arrays._programs import SUFFIX, keep_programs_in

DEFAULT_BYTES = 1 << 30
_WRITTEN_SECONDS = 60  # a file this young may still be under way to the disk


def keep_compiled(
    path: str | os.PathLike[str] | None = None, max_bytes: int = DEFAULT_BYTES, *, quick: bool = False
) -> Path:
    """Keep the programs that JAX compiles in a folder, for this process and later ones.

    The ``jaxmotif`` command does so by itself. In Python call it once, before the first result is asked for. It sets
    JAX's persistent compilation cache, for all that this process compiles, whatever library asks. Whoever may write to
    the folder may have his code run: share it with nobody you do not trust.

    Args:
      path: the folder, made if it is not there. If not given: where JAX keeps compiled code already
        (``JAX_COMPILATION_CACHE_DIR``), else ``jaxmotif`` in ``XDG_CACHE_HOME`` or ``~/.cache``.
      max_bytes: programs that were used longest ago are dropped, when this is called, until the others take no more;
        a folder that JAX was told of by other means is left alone.
      quick: for a process that asks for few results: on a CPU, programs that never run for long are compiled with few
        optimisations at first, and once more, with all, after some calls. Where ``XLA_FLAGS`` is set nothing changes.

    Returns:
      The folder in use: one for each kind of processor, since programs compiled for one may not run on another.

    Raises:
      OSError: the folder cannot be made, or none is named and the user has no home folder.
      ValueError: ``max_bytes`` is negative.

    Example:
      >>> import tempfile
      >>> before = jax.config.jax_compilation_cache_dir
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     kept = keep_compiled(folder)
      ...     kept.parent == Path(folder), jax.config.jax_compilation_cache_dir == str(kept)
      (True, True)
      >>> jax.config.update("jax_compilation_cache_dir", before)
    """
    if max_bytes < 0:
        raise ValueError(f"max_bytes must not be negative, got {max_bytes}")
    told: str | None = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if path is None and told:
        folder = Path(told)
        folder.mkdir(parents=True, exist_ok=True)
    else:
        folder = _user_folder(path) / _machine()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        drop_oldest(folder, max_bytes)
        jax.config.update("jax_compilation_cache_dir", str(folder))
    # A job runs many programs that take less than a second each; JAX would keep only those that take longer.
    for name, value in (("min_compile_time_secs", 0.0), ("min_entry_size_bytes", -1)):
        if f"JAX_PERSISTENT_CACHE_{name.upper()}" not in os.environ:
            jax.config.update(f"jax_persistent_cache_{name}", value)
    keep_programs_in(folder, own=path is not None or not told, quick=quick)
    return folder


def _user_folder(path: str | os.PathLike[str] | None) -> Path:
    """Return the folder that was named, or the one for what programs of the user keep."""
    try:
        if path is not None:
            return Path(path).expanduser()
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jaxmotif"
    except RuntimeError:  # HOME is not set, and the system does not know the user
        raise OSError("this user has no home folder: name one for compiled code") from None


def drop_oldest(folder: Path, max_bytes: int) -> None:
    """Removes the programs used longest ago until the others take at most so many bytes; other processes may, too."""
    programs = []
    for file in (*folder.glob("*-cache"), *folder.glob(f"*{SUFFIX}")):
        with contextlib.suppress(OSError):  # gone meanwhile
            known = file.stat()
            programs.append((max(known.st_atime, known.st_mtime), known.st_size, file))
    total = sum(size for _, size, _ in programs)
    for _, size, file in sorted(programs):
        if total <= max_bytes:
            return
        _remove(file)
        total -= size


def forget_compiled() -> None:
    """Removes all programs of the folder in use: one of them is broken, and JAX does not say which.

    What was written just now stays, since another process may still be writing it.
    """
    folder: str | None = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    for file in Path(folder or os.devnull).glob("*-cache"):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < time.time() - _WRITTEN_SECONDS:
                _remove(file)


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()


def _machine() -> str:
    """A name for this kind of processor: home folders are shared by machines of several kinds."""
    kind = platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        kind += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()}-{hashlib.sha256(kind.encode()).hexdigest()[:12]}"
