"""Devices that jobs run on: the job runner, clusters, several processes, checkpoints, memory and progress.

:data:`Devices` is the type of every job's argument ``devices``. :class:`Hybrid` says how GPUs and the CPU share a job,
and :class:`Cluster` has the workers of a cluster share it. :class:`ClusterError` is raised when a worker, or another
process, fails. All four are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmotif.devices._gather import ClusterError as ClusterError
    from jaxmotif.devices._select import Cluster as Cluster
    from jaxmotif.devices._select import Devices as Devices
    from jaxmotif.devices._select import Hybrid as Hybrid

_HOMES = {"Cluster": "_select", "Devices": "_select", "Hybrid": "_select", "ClusterError": "_gather"}

__all__ = ["Cluster", "ClusterError", "Devices", "Hybrid"]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'jaxmotif.devices' has no attribute {name!r}")
    return getattr(import_module(f"jaxmotif.devices.{_HOMES[name]}"), name)
