"""The memory that jobs use: the default for every job, a user's budget, and smaller steps when a device runs out."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from jaxmotif.devices._select import on_worker

T = TypeVar("T")
R = TypeVar("R")

UNKNOWN_MEMORY = 2**31
"""Number of bytes that are assumed to be free on a device that does not say how many are."""


def device_memory(device: jax.Device) -> int | None:
    """Return all the memory, in bytes, that JAX may take on a device of this process.

    For a CPU this is the memory of the machine. The result is ``None`` for a device or a system that does not say.
    """
    if device.platform == "cpu":
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None
    return (device.memory_stats() or {}).get("bytes_limit")


def compiled_bytes(function: Any, *args: object, **static: object) -> int:
    """Return how many bytes XLA says a function of ``jit64`` needs for its arguments, results and work space.

    The function is compiled, which the calls that follow need not do again.

    Example:
      >>> from jaxmotif.arrays._compile import jit64
      >>> compiled_bytes(jit64(lambda x: x + 1), jax.numpy.zeros(256, jax.numpy.int32)) >= 2048
      True
    """
    needs = function.lower64(*args, **static).compile().memory_analysis()
    results = needs.output_size_in_bytes - needs.alias_size_in_bytes
    return needs.argument_size_in_bytes + needs.temp_size_in_bytes + results


def free_memory(device: jax.Device) -> int:
    """Return how many bytes JAX may still take on a device of this process, whatever it has preallocated.

    For a CPU this is what the operating system has available, within the limits of a container or a batch job, divided
    by the number of JAX's CPU devices, which share it. Where nothing is known the result is :data:`UNKNOWN_MEMORY`.
    On the workers of a cluster it is the least that any of them had when the call began, so that all plan alike.
    """
    if (call := on_worker.get()) is not None:
        return call.memory
    if device.platform == "cpu":
        available = _available()
        return UNKNOWN_MEMORY if available is None else available // jax.local_device_count("cpu")
    stats = device.memory_stats() or {}
    if "bytes_limit" not in stats:
        return UNKNOWN_MEMORY
    return max(stats["bytes_limit"] - stats.get("bytes_in_use", 0), 0)


def default_memory(device: jax.Device) -> int:
    """Return how many bytes a job works in by default: half of what is free on the device.

    The number is rounded down to a power of two, so that sizes of arrays, and with them compiled programs, do not
    change whenever another program takes or frees memory.

    Example:
      >>> size = default_memory(jax.devices()[0])
      >>> size.bit_count()
      1
    """
    return 1 << max(free_memory(device) // 2, 1).bit_length() - 1


def working_memory(asked: int | None, device: jax.Device, least: int, what: str) -> int:
    """Return how many bytes a job may work in: what the user asked for, or else the default.

    The default is never less than what the job needs; a device that does not have this much reports it itself.

    Args:
      asked: The user's ``memory``, or ``None``.
      device: The device that the job works on.
      least: The number of bytes without which the job cannot begin.
      what: What takes these bytes, in words.

    Raises:
      ValueError: The user asked for less than the least.

    Example:
      >>> working_memory(4096, jax.devices()[0], 1024, "a table")
      4096
    """
    asked = check_budget(asked, least, what)
    return max(default_memory(device), least) if asked is None else asked


def check_within_device(memory: int | None, device: jax.Device) -> None:
    """Refuse a budget in bytes that is more than all the memory of a device.

    Args:
      memory: The user's budget, or ``None``.
      device: The device that the work is done on.

    Raises:
      ValueError: The budget is larger; the error says how much memory the device has.
    """
    total = device_memory(device)
    if memory is not None and total is not None and memory > total:
        raise ValueError(
            f"memory={memory} bytes is more than {device} has, {total} ({total / 2**30:.1f} GiB); allow less, or leave "
            "it out: the default is half of what is free"
        )


def check_memory(memory: object) -> int | None:
    """Return a user's budget as an int, or ``None``; raise TypeError unless it is a number of bytes."""
    if memory is None:
        return None
    if isinstance(memory, bool) or not isinstance(memory, int | float | np.number) or not math.isfinite(memory):
        raise TypeError(f"memory must be a number of bytes, such as 2**30, got {memory!r}")
    return int(memory)


def check_budget(memory: int | None, least: int, what: str) -> int | None:
    """Return a user's budget in bytes; raise ValueError if it is less than the least that something takes."""
    memory = check_memory(memory)
    if memory is not None and memory < least:
        raise ValueError(f"memory={memory} bytes is too little for {what}: allow at least {least}")
    return memory


def _available() -> int | None:
    """Return how many bytes of this machine programs may take, by Linux's count; ``None`` on other systems."""
    try:
        words = Path("/proc/meminfo").read_text().split()
        available = 1024 * int(words[words.index("MemAvailable:") + 1])
    except (OSError, ValueError, IndexError):
        return None
    return min([available, *_left_by_limits()])


def _left_by_limits(root: Path = Path("/sys/fs/cgroup"), groups: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Return how many bytes each control group with a limit (container or batch job) still allows this process."""
    left = []
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return left
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        # Version 2 of control groups has one tree. Version 1 has one for each controller, and other file names.
        top = root / controllers
        limit_file = "memory.limit_in_bytes" if controllers else "memory.max"
        usage_file = "memory.usage_in_bytes" if controllers else "memory.current"
        inner = top / path.lstrip("/")
        # Every group above this process's may have a limit; the caller takes the tightest.
        for group in (inner, *inner.parents):
            try:
                unused = int((group / limit_file).read_text()) - int((group / usage_file).read_text())
                # This file is long, so it is read only where there is a limit.
                stats = (group / "memory.stat").read_text().split()
                cache = int(stats[stats.index("inactive_file") + 1])  # The system gives this up when asked for memory.
                left.append(max(unused + cache, 0))
            except (OSError, ValueError, IndexError):
                pass  # The group has no such file, or its limit is "max", which is none.
            if group == top:
                break
    return left


def out_of_memory(failure: BaseException) -> bool:
    """Return whether an error says that a device has no memory left."""
    return isinstance(failure, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(failure)


def with_smaller_steps(
    attempt: Callable[[T], R], size: T, halve: Callable[[T], tuple[T, str] | None], device: jax.Device
) -> tuple[R, tuple[str, ...]]:
    """Call a function, and call it again with a smaller size each time the device runs out of memory.

    The job runner uses this, and so do jobs that need no runner.

    Args:
      attempt: A function of a size.
      size: The first size.
      halve: A function that returns the next smaller size and what it is in words, or ``None`` when there is none.
      device: The device, which messages name.

    Returns:
      What the function returned, and a note for each smaller size.

    Raises:
      MemoryError: Even the smallest size does not fit.
    """
    notes: tuple[str, ...] = ()
    while True:
        try:
            return attempt(size), notes
        except Exception as failure:
            if not out_of_memory(failure):
                raise
            exhausted = failure.with_traceback(None)  # The frames of a traceback would keep arrays alive.
        smaller = halve(size)
        if smaller is None:
            raise MemoryError(
                f"{device} has too little memory even for the smallest steps; use a device with more, or free some"
            ) from exhausted
        size, change = smaller
        notes = (*notes, f"{device} ran out of memory; went on with {change}")
        logging.getLogger("jaxmotif").warning("%s", notes[-1])
