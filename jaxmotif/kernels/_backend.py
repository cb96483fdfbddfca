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
