"""Memory: budgets, and devices that run out of it, which is known by the error and answered with smaller steps."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import jax

T = TypeVar("T")
R = TypeVar("R")


def device_memory(device: jax.Device) -> int | None:
    """Bytes that JAX may use on an accelerator of this process; ``None`` on a CPU, or where the device does not say."""
    return None if device.platform == "cpu" else (device.memory_stats() or {}).get("bytes_limit")


def compiled_bytes(function: Any, *args: Any, **static: Any) -> int:
    """Bytes for what a jitted function is given, its results and its work space, as XLA says; it is compiled, once for
    this and the calls that follow.

    Example:
      >>> compiled_bytes(jax.jit(lambda x: x + 1), jax.numpy.zeros(256, jax.numpy.int32)) >= 2048
      True
    """
    needs = function.lower(*args, **static).compile().memory_analysis()
    made = needs.output_size_in_bytes - needs.alias_size_in_bytes
    return needs.argument_size_in_bytes + needs.temp_size_in_bytes + made


def check_budget(memory: int | None, least: int, what: str) -> None:
    """Raises ValueError when a budget in bytes is less than what something takes at least."""
    if memory is not None and memory < least:
        raise ValueError(f"memory={memory} bytes is too little for {what}: allow at least {least}")


def out_of_memory(failure: BaseException) -> bool:
    """Whether an error says that a device has no memory left."""
    return isinstance(failure, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(failure)


def smaller_steps_note(device: jax.Device, change: str) -> str:
    """What is reported when a device goes on with smaller steps; logged, too."""
    note = f"{device} ran out of memory; went on with {change}"
    logging.getLogger("jaxmotif").warning("%s", note)
    return note


def no_smaller_steps(device: jax.Device) -> MemoryError:
    """The error where there are no smaller steps."""
    return MemoryError(
        f"{device} has too little memory even for the smallest steps; use a device with more, or free some"
    )


def with_smaller_steps(
    attempt: Callable[[T], R], size: T, halve: Callable[[T], tuple[T, str] | None], device: jax.Device
) -> tuple[R, tuple[str, ...]]:
    """Attempts something, with smaller steps each time the device runs out of memory.

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
            smaller = halve(size)
            if smaller is None:
                raise no_smaller_steps(device) from failure
        size, change = smaller
        notes = (*notes, smaller_steps_note(device, change))
