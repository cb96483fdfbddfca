"""Devices that jobs run on: the job runner, several processes, checkpoints, memory and progress.

:data:`Devices` is the type of every job's argument ``devices``, and :class:`Hybrid` says how GPUs and the CPU share a
job. :func:`join_processes` makes this process one of a cluster, and :class:`ClusterError` is raised when another
process of the cluster fails. All four are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmotif.devices._channel import ClusterError as ClusterError
    from jaxmotif.devices._processes import join_processes as join_processes
    from jaxmotif.devices._select import Devices as Devices
    from jaxmotif.devices._select import Hybrid as Hybrid

_HOMES = {"Devices": "_select", "Hybrid": "_select", "ClusterError": "_channel", "join_processes": "_processes"}

__all__ = ["ClusterError", "Devices", "Hybrid", "join_processes"]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'jaxmotif.devices' has no attribute {name!r}")
    return getattr(import_module(f"jaxmotif.devices.{_HOMES[name]}"), name)
