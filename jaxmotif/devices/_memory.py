"""Memory: the one default for every job, budgets, and the one answer where a device runs out of it: smaller steps."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import jax

T = TypeVar("T")
R = TypeVar("R")

UNKNOWN_MEMORY = 2**31
"""Bytes taken for free on a device that does not say."""


class Compiles(Protocol):
    """A function of ``jit64``."""

    def lower64(self, *args: object, **static: object) -> Any: ...


def device_memory(device: jax.Device) -> int | None:
    """Bytes that JAX may use on an accelerator of this process; ``None`` on a CPU, or where the device does not say."""
    return None if device.platform == "cpu" else (device.memory_stats() or {}).get("bytes_limit")


def compiled_bytes(function: Compiles, *args: object, **static: object) -> int:
    """Bytes for what a function of ``jit64`` is given, its results and its work space, as XLA says; it is compiled,
    once for this and the calls that follow.

    Example:
      >>> from jaxmotif.arrays._compile import jit64
      >>> compiled_bytes(jit64(lambda x: x + 1), jax.numpy.zeros(256, jax.numpy.int32)) >= 2048
      True
    """
    needs = function.lower64(*args, **static).compile().memory_analysis()
    made = needs.output_size_in_bytes - needs.alias_size_in_bytes
    return needs.argument_size_in_bytes + needs.temp_size_in_bytes + made


def free_memory(device: jax.Device) -> int:
    """Bytes that JAX may still take on a device of this process, whatever it preallocated; :data:`UNKNOWN_MEMORY` where
    nobody says.

    Of a CPU it is what the operating system has available, within the limits of a container or a batch job, divided by
    the number of JAX's CPU devices, which share it.
    """
    if device.platform == "cpu":
        found = _available()
        return UNKNOWN_MEMORY if found is None else found // jax.local_device_count("cpu")
    stats = device.memory_stats() or {}
    if "bytes_limit" not in stats:
        return UNKNOWN_MEMORY
    return max(stats["bytes_limit"] - stats.get("bytes_in_use", 0), 0)


def default_memory(device: jax.Device) -> int:
    """Bytes that a job takes to work in where the user says nothing: half of what is free on the device, rounded down
    to a power of two, so that sizes, and with them compiled programs, do not change with every other program's use.

    Example:
      >>> size = default_memory(jax.devices()[0])
      >>> size.bit_count()
      1
    """
    return 1 << max(free_memory(device) // 2, 1).bit_length() - 1


def working_memory(asked: int | None, device: jax.Device, least: int, what: str) -> int:
    """Bytes that a job may work in: what the user asked for, or the default and never less than it needs (a device that
    has not even that says so by itself).

    Args:
      asked: the user's ``memory``, or ``None``.
      least: bytes without which the job cannot begin.
      what: takes them, in words.

    Raises:
      ValueError: when the user asked for less than the least.

    Example:
      >>> working_memory(4096, jax.devices()[0], 1024, "a table")
      4096
    """
    check_budget(asked, least, what)
    return max(default_memory(device), least) if asked is None else asked


def check_within_device(memory: int | None, device: jax.Device) -> None:
    """Refuse a budget in bytes that is more than a device has at all.

    Args:
      memory: the user's budget, or ``None``.
      device: where the work is to be done.

    Raises:
      ValueError: the budget is larger; names what there is.
    """
    total = _total() if device.platform == "cpu" else device_memory(device)
    if memory is not None and total is not None and memory > total:
        raise ValueError(
            f"memory={memory} bytes is more than {device} has, {total} ({total / 2**30:.1f} GiB); allow less, or leave "
            "it out: the default is half of what is free"
        )


def check_budget(memory: int | None, least: int, what: str) -> None:
    """Raises ValueError when a budget in bytes is less than what something takes at least."""
    if memory is not None and memory < least:
        raise ValueError(f"memory={memory} bytes is too little for {what}: allow at least {least}")


def _available() -> int | None:
    """Return the bytes of this machine that programs may take, as Linux says; ``None`` elsewhere."""
    available = _of_machine("MemAvailable:")
    return None if available is None else min([available, *_left_by_limits()])


def _total() -> int | None:
    """Return the bytes of memory that this machine has, as Linux says; ``None`` elsewhere."""
    return _of_machine("MemTotal:")


def _of_machine(line: str) -> int | None:
    try:
        words = Path("/proc/meminfo").read_text().split()
        return 1024 * int(words[words.index(line) + 1])
    except (OSError, ValueError, IndexError):
        return None


def _left_by_limits(root: Path = Path("/sys/fs/cgroup"), groups: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Bytes that control groups leave this process: containers, Slurm."""
    found = []
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        # Version 2 has one tree; version 1 one for each controller, with other names for the same.
        top = root / controllers
        limit, used = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes") if controllers else ("memory.max", "memory.current")
        )
        inner = top / path.lstrip("/")
        # A limit may stand at any group above: the tightest counts.
        for group in (inner, *inner.parents):
            try:
                kept = int((group / limit).read_text()) - int((group / used).read_text())
                stats = (group / "memory.stat").read_text().split()  # long, and only where there is a limit
                found.append(max(kept + int(stats[stats.index("inactive_file") + 1]), 0))  # a cache that makes room
            except (OSError, ValueError, IndexError):  # no such file, or "max": no limit here
                pass
            if group == top:
                break
    return found


def out_of_memory(failure: BaseException) -> bool:
    """Whether an error says that a device has no memory left."""
    return isinstance(failure, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(failure)


def with_smaller_steps(
    attempt: Callable[[T], R], size: T, halve: Callable[[T], tuple[T, str] | None], device: jax.Device
) -> tuple[R, tuple[str, ...]]:
    """Attempts something, with smaller steps each time the device runs out of memory: the one answer to that, for the
    job runner and for jobs that need none.

    Args:
      attempt: of a size.
      size: to begin with.
      halve: the next smaller size and what it is in words; ``None`` when there is none.

    Returns:
      What the attempt gave, and notes.

    Raises:
      MemoryError: when the smallest steps do not fit.
    """
    notes: tuple[str, ...] = ()
    while True:
        try:
            return attempt(size), notes
        except Exception as failure:
            if not out_of_memory(failure):
                raise
            exhausted = failure.with_traceback(None)  # its frames would keep arrays alive
        smaller = halve(size)
        if smaller is None:
            raise MemoryError(
                f"{device} has too little memory even for the smallest steps; use a device with more, or free some"
            ) from exhausted
        size, change = smaller
        notes = (*notes, f"{device} ran out of memory; went on with {change}")
        logging.getLogger("jaxmotif").warning("%s", notes[-1])
