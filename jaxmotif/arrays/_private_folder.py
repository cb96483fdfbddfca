"""Folders for compiled code that nobody but this user, or root, can write to."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def user_cache_folder() -> Path:
    """Return jaxmotif's folder in ``XDG_CACHE_HOME`` or ``~/.cache``; it need not exist.

    Raises:
      FileNotFoundError: the user has no home folder.
    """
    cache = os.environ.get("XDG_CACHE_HOME")
    if not cache:
        try:
            cache = Path.home() / ".cache"
        except RuntimeError:
            raise FileNotFoundError("this user has no home folder, so name one for compiled programs") from None
    return Path(cache).absolute() / "jaxmotif"


def make_private(folder: Path) -> None:
    """Make each level of a folder that is missing, with mode 0700 whatever the umask."""
    for level in (*reversed(folder.parents), folder):
        with contextlib.suppress(FileExistsError):
            if not level.is_dir():  # some systems say of a root that it cannot be made, not that it is there
                os.mkdir(level, 0o700)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def why_not_private(folder: Path) -> str | None:
    """Return why the code in a folder could be somebody else's, or ``None`` if only this user or root can have put it.

    Nobody else may be able to write to the folder. The same is true of each folder above it, except for sticky ones
    such as ``/tmp``, in which nobody can rename the files of others. Everything in the folder must belong to this user
    or root, and if others may enter the folder, they may not be able to write to any file in it.
    """
    if not hasattr(os, "geteuid"):  # Windows gives each user a cache folder of their own
        return None
    trusted = (0, os.geteuid())
    real = folder.resolve()  # links are followed once, so that each level is looked at as it is
    for level in (real, *real.parents):
        status = os.lstat(level)
        shared_but_sticky = status.st_mode & stat.S_ISVTX and level != real
        if status.st_uid not in trusted:
            return f"{level} belongs to another user"
        if status.st_mode & 0o022 and not shared_but_sticky:
            return f"others may write to {level}"
    is_closed = not os.lstat(real).st_mode & 0o077
    for entry in real.rglob("*"):  # Files that others put there while the folder was open to them are dangerous.
        status = os.lstat(entry)
        is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        if status.st_uid not in trusted or not is_plain or (status.st_mode & 0o022 and not is_closed):
            return f"{entry} may be another user's"
    return None
