"""Processes of ``jax.distributed`` that all make the same call: they compare it, and exchange what they found.

This uses JAX's public collectives alone. JAX itself ends all processes when one of them dies. An exception in one of
them is told to the others, which raise :class:`ClusterError`. JAX's collectives need the same number of devices in each
process.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ClusterError(RuntimeError):
    """Another process or a worker of a cluster failed, is gone, or does not do the same work."""


def in_each_process(action: Callable[[], Mapping[str, ArrayLike]], together: bool) -> list[dict[str, np.ndarray]]:
    """Run a function in this process and in all others that call this, and return what it returned in each.

    Args:
      action: A function that returns arrays by name (no arrays of Python objects).
      together: Whether there are other processes.

    Returns:
      The arrays of each process, in the order of their numbers.

    Raises:
      Exception: The exception that the function raised in this process.
      ClusterError: The function raised an exception in another process.

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
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **{name: np.asarray(array) for name, array in mine.items()})
    by_process = [dict(np.load(io.BytesIO(content))) for content in _gather(packed.getvalue())]
    if failure is not None:
        raise failure
    for number, arrays in enumerate(by_process):
        if "failure" in arrays:
            raise ClusterError(f"process {number} failed: {arrays['failure']}")
    return by_process


def _gather(content: bytes) -> list[bytes]:
    """Return the bytes that each process passes in."""
    from jax.experimental.multihost_utils import process_allgather

    # Sizes go as bytes, because JAX would make 32-bit numbers of them; then all contents, padded to one size.
    sizes = process_allgather(np.frombuffer(len(content).to_bytes(8, "little"), np.uint8))
    lengths = [int.from_bytes(row.tobytes(), "little") for row in np.asarray(sizes)]
    padded = np.frombuffer(content.ljust(max(lengths)), np.uint8)
    rows = np.asarray(process_allgather(padded))
    return [row[:length].tobytes() for row, length in zip(rows, lengths, strict=True)]


def check_alike(processes: Sequence[Mapping[str, object]], parts: Sequence[str]) -> None:
    """Check that all processes were given the same work.

    Args:
      processes: What each process tells of its work.
      parts: The names of what must be the same.

    Raises:
      ClusterError: One was given different work; the error says which process, and what. It is raised in all.

    Example:
      >>> check_alike([{"size": np.int64(3)}, {"size": np.int64(3)}], ["size"])
    """
    for number, other in enumerate(processes):
        unlike = [part for part in parts if str(other[part]) != str(processes[0][part])]
        if unlike:
            what = ", ".join(f"{part} {other[part]} and not {processes[0][part]}" for part in unlike)
            raise ClusterError(f"process {number} was given other work than process 0: {what}")
