"""Several processes of ``jax.distributed``: what each has found, known to all."""

from __future__ import annotations

import json
import math
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

    # As bytes, whose type and shape are the same everywhere, whatever JAX's 64-bit mode: what there is, then all of it.
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    head = json.dumps([(name, array.dtype.str, array.shape) for name, array in arrays.items()]).encode()
    mine = np.concatenate([np.frombuffer(head, np.uint8), *(_bytes(array) for array in arrays.values())])
    sizes = np.array([len(head), mine.size >> 32, mine.size & 0xFFFFFFFF], np.uint32)
    heads, high, low = process_allgather(sizes).astype(np.int64).T
    lengths = (high << 32) + low
    everything = [np.empty(length, np.uint8) for length in lengths]
    for first in range(0, lengths.max(), _PIECE):
        piece = np.zeros(min(_PIECE, lengths.max() - first), np.uint8)
        here = mine[first : first + piece.size]
        piece[: here.size] = here
        for whole, row in zip(everything, process_allgather(piece), strict=True):
            whole[first : first + piece.size] = row[: max(whole.size - first, 0)]
    return [_arrays(whole, head) for whole, head in zip(everything, heads.tolist(), strict=True)]


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(array, np.uint8) if array.nbytes else np.zeros(0, np.uint8)


def _arrays(whole: np.ndarray, first: int) -> dict[str, np.ndarray]:
    """Named arrays that lie behind a description of ``first`` bytes."""
    found = {}
    for name, kind, shape in json.loads(whole[:first].tobytes()):
        size = np.dtype(kind).itemsize * math.prod(shape)  # the copy is aligned
        found[name] = np.ndarray(shape, kind, whole[first : first + size].copy())
        first += size
    return found
