"""Which form of a kernel runs where: Pallas on the GPUs it was written for, plain XLA everywhere else."""

from __future__ import annotations

from typing import Literal

import jax

Backend = Literal["pallas-triton", "xla"]


def kernel_backend(device: jax.Device | None = None) -> Backend:
    """The form the kernels take on a device (default: JAX's default device)."""
    device = device if device is not None else jax.devices()[0]
    is_nvidia = device.platform == "gpu" and "amd" not in device.device_kind.lower()
    return "pallas-triton" if is_nvidia else "xla"


def for_host(x: jax.Array) -> jax.Array:
    """Inside a compiled function: a result that the host waits for. It is written to the host's memory, which is faster
    than to fetch it afterwards."""
    return jax.device_put(x, jax.memory.Space.Host)


def power_of_four(x: int, least: int) -> int:
    """The smallest of least, 4 least, 16 least, .. that is at least x."""
    while least < x:
        least *= 4
    return least
