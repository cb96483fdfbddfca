"""Several processes of ``jax.distributed``: what each has found, known to all."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

_PIECE = 2**26  # bytes of each process that are exchanged at once


def join_processes(text: str) -> None:
    """Makes this process one of several.

    Args:
      text: ``"auto"`` where JAX finds out by itself (Slurm, Open MPI, Kubernetes, TPU pods), or
        ``"NUMBER/COUNT@HOST:PORT"``: which process of how many, and an address of process 0 that all reach.

    Raises:
      ValueError: for anything else.
    """
    if text == "auto":
        jax.distributed.initialize()
        return
    match = re.fullmatch(r"(\d+)/(\d+)@(.+:\d+)", text)
    if match is None or not int(match[1]) < int(match[2]):
        raise ValueError(f"{text!r} is neither 'auto' nor NUMBER/COUNT@HOST:PORT such as 0/2@node1:1234")
    jax.distributed.initialize(match[3], int(match[2]), int(match[1]))


def keep_stdout() -> None:
    """Leaves standard output to Python: what libraries print there when processes meet goes to standard error."""
    sys.stdout.flush()
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)


def in_each_process(action: Callable[[], dict[str, Any]], together: bool) -> list[dict[str, np.ndarray]]:
    """Does something in this process, and in all others that call this too.

    Args:
      action: gives named arrays (no Python objects).
      together: ``False`` when this process is on its own.

    Returns:
      What the action gave in each process, in their order.

    Raises:
      Exception: what the action raised here.
      RuntimeError: what it raised elsewhere.

    Example:
      >>> in_each_process(lambda: {"found": np.int64(3)}, together=False)
      [{'found': array(3)}]
    """
    if not together:
        return [{name: np.asarray(array) for name, array in action().items()}]
    failure = None
    try:
        mine = action()
    except Exception as error:
        failure, mine = error, {"failure": f"{type(error).__name__}: {error}"}
    everything = _gather(mine)
    if failure is not None:
        raise failure
    for number, arrays in enumerate(everything):
        if "failure" in arrays:
            raise RuntimeError(f"process {number} failed: {arrays['failure']}")
    return everything


def _gather(arrays: dict[str, Any]) -> list[dict[str, np.ndarray]]:
    from jax.experimental.multihost_utils import process_allgather

    # As bytes, whose type and shape are the same everywhere, whatever JAX's 64-bit mode.
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **{name: np.asarray(array) for name, array in arrays.items()})
    mine = np.frombuffer(stream.getbuffer(), np.uint8)
    sizes = process_allgather(np.array([mine.size >> 32, mine.size & 0xFFFFFFFF], np.uint32)).astype(np.int64)
    lengths = ((sizes[:, 0] << 32) + sizes[:, 1]).tolist()
    parts = []
    for first in range(0, max(lengths), _PIECE):
        piece = np.zeros(min(_PIECE, max(lengths) - first), np.uint8)
        here = mine[first : first + piece.size]
        piece[: here.size] = here
        parts.append(np.asarray(process_allgather(piece)))
    everything = np.concatenate(parts, axis=1)
    found = []
    for row, length in zip(everything, lengths, strict=True):
        with np.load(io.BytesIO(row[:length].tobytes()), allow_pickle=False) as kept:
            found.append(dict(kept))
    return found
