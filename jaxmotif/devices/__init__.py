"""Devices that jobs run on: the job runner, clusters, several processes, checkpoints, memory and progress.

:data:`Devices` is the type of every job's argument ``devices``. :class:`Hybrid` says how GPUs and the CPU share a job,
and :class:`Cluster` has the workers of a cluster share it. :class:`ClusterError` is raised when a worker, or another
process, fails. All four are imported when they are first used.
"""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
