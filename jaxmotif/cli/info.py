"""``jaxmotif info``: versions, devices, memory, and which kernels will run."""

from __future__ import annotations

import argparse
import os
import platform
from importlib.metadata import version

import jaxmotif
from jaxmotif.cli.output import Report, write_report


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("info", help="versions, devices, memory, kernels", allow_abbrev=False)
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: %(default)s")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    import jax

    from jaxmotif.kernels.choice import kernel_backend

    devices = jax.local_devices()
    if devices[0].platform != "cpu":
        devices += jax.local_devices(backend="cpu")
    versions = {name: version(name) for name in ("jax", "jaxlib", "numpy", "chex")}
    scalars = {"jaxmotif": jaxmotif.__version__, "python": platform.python_version(), **versions}
    columns = {
        "device": [str(device) for device in devices],
        "kind": [device.device_kind for device in devices],
        "memory": [_memory(device) for device in devices],
        "kernels": [kernel_backend(device) for device in devices],
    }
    write_report(Report(scalars | {"cores": os.cpu_count()}, columns), args.format)


def _memory(device) -> str:
    """All the memory that JAX may take on a device; on the CPU, that of the host."""
    if device.platform == "cpu":
        known = hasattr(os, "sysconf")
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else None
    else:
        from jaxmotif.devices.memory import device_memory

        size = device_memory(device)
    return f"{size / 2**30:.1f} GiB" if size else "unknown"
