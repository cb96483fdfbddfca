"""The command ``jaxmotif info``, which shows versions, devices, memory, which kernels will run, and kept programs."""

from __future__ import annotations

import argparse
import os
import platform
from importlib.metadata import version

import jaxmotif
from jaxmotif.cli._output import Report


def run(args: argparse.Namespace) -> Report:
    """Show versions, devices, their memory, which kernels will run, and how much compiled code is kept."""
    import jax

    from jaxmotif import kernels  # noqa: F401  (registers how to find out in which form kernels run)
    from jaxmotif.arrays._compile import target_of
    from jaxmotif.arrays._program_cache import kept_programs
    from jaxmotif.devices._memory import device_memory
    from jaxmotif.devices._select import check_backend

    check_backend()
    devices = jax.local_devices()
    if devices[0].platform != "cpu":
        devices += jax.local_devices(backend="cpu")
    versions = {name: version(name) for name in ("jax", "jaxlib", "numpy", "chex")}
    scalars = {"jaxmotif": jaxmotif.__version__, "python": platform.python_version(), **versions}
    columns = {
        "device": [str(device) for device in devices],
        "kind": [device.device_kind for device in devices],
        "memory": [f"{size / 2**30:.1f} GiB" if size else "unknown" for size in map(device_memory, devices)],
        "kernels": [target_of(device).kernels for device in devices],
    }
    where = os.environ.get("JAXMOTIF_CACHE")
    kept = {} if where == "off" else kept_programs(where)
    return Report(scalars | {"cores": os.cpu_count()} | kept, columns)
