"""A folder in which JAX keeps compiled programs, so that no process compiles again what another has compiled.

The cache is JAX's own persistent compilation cache. What this module adds is the choice of a folder, a limit to its
size, and the refusal of folders in which somebody else could have put a program: a compiled program is code, and runs
with the rights of the user who loads it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
from pathlib import Path

import jax

from jaxmotif.arrays._compile import compile_quickly
from jaxmotif.arrays._private_folder import make_private, user_cache_folder, why_not_private

DEFAULT_BYTES = 1 << 30


def keep_compiled(
    path: str | os.PathLike[str] | None = None, max_bytes: int = DEFAULT_BYTES, *, quick: bool = False
) -> Path:
    """Keep the programs that JAX compiles in a folder, for this process and later ones.

    The ``jaxmotif`` command does so by itself. In Python call it once, before the first result is asked for. It sets
    JAX's persistent compilation cache, for all that this process compiles, whatever library asks.

    Args:
      path: the folder, made if it is not there. If not given, or empty: where JAX keeps compiled programs already
        (``JAX_COMPILATION_CACHE_DIR``), else ``jaxmotif`` in ``XDG_CACHE_HOME`` or ``~/.cache``.
      max_bytes: programs that were used longest ago are dropped, when this is called, until the others take no more;
        a folder that JAX was told of by other means is left alone.
      quick: for a process that asks for few results: on a CPU, programs that never run for long are compiled with few
        optimisations. An option that is set in ``XLA_FLAGS`` is left as it is.

    Returns:
      The folder in use: one for each kind of processor, since programs compiled for one may not run on another.

    Raises:
      OSError: the folder cannot be made.
      PermissionError: the folder, one that it lies in, or a file in it belongs to somebody else than this user (or
        root), or others may write to it, or it is a URL and no folder of this machine. Compiled programs are code, and
        are run as this user. No cache is used then, not even one that JAX was told of.
      ValueError: ``max_bytes`` is negative.

    Example:
      >>> import tempfile
      >>> before = jax.config.jax_compilation_cache_dir
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     used = keep_compiled(folder)
      ...     used.parent == Path(folder), jax.config.jax_compilation_cache_dir == str(used)
      (True, True)
      >>> jax.config.update("jax_compilation_cache_dir", before)
    """
    if max_bytes < 0:
        raise ValueError(f"max_bytes must not be negative, got {max_bytes}")
    compile_quickly(quick)
    told = _told(path)
    # Until the folder has been looked at there is no cache.
    jax.config.update("jax_compilation_cache_dir", None)
    if told and "://" in told:
        raise PermissionError(f"compiled programs in {told}, outside this machine, could be somebody else's code")
    folder = Path(told) if told else _own_folder(path)
    make_private(folder)
    if reason := why_not_private(folder):
        raise PermissionError(f"{reason}: compiled programs in {folder} could be somebody else's code")
    if not told:
        drop_oldest(folder, max_bytes)
    # A job runs many programs that take less than a second each; JAX would keep only those that take longer. XLA's own
    # caches are folders beside the programs, for trials that jaxmotif's programs do without.
    settings = {"min_compile_time_secs": 0.0, "min_entry_size_bytes": -1, "enable_xla_caches": "none"}
    for name, value in settings.items():
        if f"JAX_PERSISTENT_CACHE_{name.upper()}" not in os.environ:
            jax.config.update(f"jax_persistent_cache_{name}", value)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    return folder


def _own_folder(path: str | os.PathLike[str] | None) -> Path:
    """Return the folder for this kind of processor in ``path``, or in the user's cache folder."""
    return (Path(path).expanduser().absolute() if path else user_cache_folder()) / _machine()


def _told(path: str | os.PathLike[str] | None) -> str | None:
    """Return where JAX has been told to keep compiled programs, or ``None``, also where a path says otherwise."""
    return None if path else jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]


def kept_programs(path: str | os.PathLike[str] | None = None) -> dict[str, str | int]:
    """Return the folder that :func:`keep_compiled` uses, and the number and bytes of the programs there."""
    told = _told(path)
    folder = Path(told) if told else _own_folder(path)
    sizes = [size for _, size, _ in _programs_by_use(folder)]
    return {"compiled code": str(folder), "programs": len(sizes), "bytes": sum(sizes)}


def _programs_by_use(folder: Path) -> list[tuple[float, int, Path]]:
    """Return when each program was last used, its bytes and its file, those used longest ago first."""
    programs = []
    for file in folder.glob("*-cache"):
        with contextlib.suppress(OSError):  # another process has removed it meanwhile
            status = file.stat()
            programs.append((max(status.st_atime, status.st_mtime), status.st_size, file))
    return sorted(programs)


def drop_oldest(folder: Path, max_bytes: int) -> None:
    """Remove the programs that were used longest ago until the others take at most ``max_bytes``."""
    programs = _programs_by_use(folder)
    total = sum(size for _, size, _ in programs)
    for _, size, file in programs:
        if total <= max_bytes:
            return
        _remove(file)
        total -= size


def forget_broken(warning: str) -> bool:
    """Remove a compiled program from the cache if JAX has just warned that it cannot read it.

    If a process is killed while JAX writes a program, half of the file remains, which JAX can neither read nor would
    write again. The warning only names the program's function, so all programs of that function are removed. This does
    no harm to a process that is just writing one of them, except that its program is not kept.

    Args:
      warning: the text of a warning.

    Returns:
      Whether the warning is about a program that cannot be read.
    """
    named = re.match(r"Error reading persistent compilation cache entry for '(\w+)", warning)
    if named is None:
        return False
    folder: str | None = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    for file in Path(folder or os.devnull).glob(f"{named[1]}-*-cache"):
        _remove(file)
    return True


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()


def _machine() -> str:
    """Return a name for this kind of processor, since home folders are shared by machines of several kinds."""
    kind = platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        kind += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()}-{hashlib.sha256(kind.encode()).hexdigest()[:12]}"
