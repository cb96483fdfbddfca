"""The selection of the devices that a job runs on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import jax

from jaxmotif.arrays._fork import using_jax

if TYPE_CHECKING:
    from distributed import Client

    from jaxmotif.devices._cluster_call import RunningCall

Order = Literal["degree", "-degree", "volume", "-volume"]
"""Order of a queue of edges (Rossi & Zhou, 4.3 and Table 4): the most difficult first, with ``-`` the easiest first."""


@dataclasses.dataclass(frozen=True)
class Hybrid:
    """A division of a job between GPUs and the CPU, which empty one queue together, the CPU from the difficult end.

    Attributes:
      order: The measure of difficulty by which graphlets of up to four nodes order the queue: the mean degree of edges,
        or their volume (the degrees of all neighbours). Other jobs have an order of their own. With ``-`` the CPU
        begins at the other end.
      alpha: The largest share of the work that the CPU may do (0 means none, 1 no limit).
      chunk: The share of the work that a GPU takes from the queue at a time; the CPU takes single units.
      workers: The number of threads on the CPU, each with memory of its own (by default up to 8, and one for a color
        search).

    Raises:
      ValueError: A share is not between 0 and 1, the order is unknown, or there is less than one worker.

    Example:
      >>> Hybrid(alpha=0.1)  # as jaxmotif.graphlet_counts(graph, devices=Hybrid(alpha=0.1)) takes it
      Hybrid(order='degree', alpha=0.1, chunk=0.05, workers=None)

    References:
      Rossi & Zhou, "Hybrid CPU-GPU framework for network motifs", 2016, 4.3 and 4.4.
    """

    order: Order = "degree"
    alpha: float = 1.0
    chunk: float = 0.05
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise ValueError(f"unknown order {self.order!r}; use one of {', '.join(get_args(Order))}")
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha={self.alpha} is not a share of the work; use 0 (no CPU) to 1 (no limit)")
        if not 0 <= self.chunk <= 1:
            raise ValueError(f"chunk={self.chunk} is not a share of the work; use 0 (single units) to 1 (all of it)")
        if self.workers is not None and self.workers < 1:
            raise ValueError(f"workers={self.workers}; use at least 1, or alpha=0 for no CPU")


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A cluster of Dask's, whose workers share a job: they may die, come or be slow at any time.

    The whole call is made on the workers: this process needs no accelerator. All workers have the same versions of
    Python, jaxmotif, JAX and NumPy as this process, and devices of one kind.

    Attributes:
      client: The ``distributed.Client`` of the cluster.
      devices: The devices that each worker uses, in a form of :data:`Devices` other than a list, since the devices are
        not those of this process.

    Example:
      >>> from distributed import Client, LocalCluster  # doctest: +SKIP
      >>> client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"))
      ... # doctest: +SKIP
      >>> jaxmotif.graphlet_counts(graph, devices=Cluster(client))  # doctest: +SKIP
    """

    client: Client
    devices: str | int | Hybrid | None = None


Devices = None | str | int | Hybrid | Cluster | Sequence[jax.Device] | jax.sharding.Mesh
"""Devices that a user asks for.

- ``None`` is JAX's default device, ``"cpu"`` the CPU and ``"gpu"`` the first GPU.
- ``"hybrid"`` is every GPU together with the CPU; a :class:`Hybrid` says how they share the work.
- A number is that many devices of the default kind.
- A list or a mesh names the devices.
- A :class:`Cluster` is the workers of a cluster.

With several processes ``None``, ``"cpu"`` and ``"gpu"`` mean one device in each process, and the other forms count over
all processes. Every process must then make the same call, unless it lists only devices of its own.
"""


class Selection(NamedTuple):
    """Devices of one kind and, in a hybrid run, the CPU that helps them.

    Attributes:
      devices: The devices, in all processes.
      helper: The CPU of this process that helps the GPUs, or ``None``.
      together: Whether all processes, or all workers of a cluster, share the work.
      hybrid: How the CPU shares it.
    """

    devices: tuple[jax.Device, ...]
    helper: jax.Device | None = None
    together: bool = False
    hybrid: Hybrid = Hybrid()

    @property
    def local(self) -> tuple[jax.Device, ...]:
        """The devices of this process."""
        return tuple(device for device in self.devices if device.process_index == jax.process_index())

    @property
    def several(self) -> bool:
        """Return whether several devices or processes share the work."""
        return len(self.devices) > 1 or self.helper is not None or self.together

    @property
    def main(self) -> jax.Device:
        """The device on which this process does what is not shared."""
        return (*self.local, *jax.local_devices(backend=self.devices[0].platform))[0]


on_worker: ContextVar[RunningCall | None] = ContextVar("on_worker", default=None)
"""The call of a cluster that this thread makes: it stops at each job, of which the worker then does some units."""


def select_devices(devices: Devices = None) -> Selection:
    """Return the devices that the user asked for.

    Returns:
      One or more different devices of one kind, and for ``"hybrid"`` the CPU with the GPUs.

    Raises:
      ValueError: The machine does not have the devices, the name is unknown, or a device is listed twice.
      TypeError: The argument is nothing that names devices.
      RuntimeError: This process was forked from one that had used JAX, so that JAX would hang.

    Example:
      >>> select_devices("cpu").devices[0].platform
      'cpu'
    """
    using_jax()
    if isinstance(devices, Cluster):
        raise TypeError("this call cannot be shared among the workers of a cluster; leave out devices=")
    check_backend()
    several = jax.process_count() > 1 or on_worker.get() is not None
    if devices is None:
        return Selection(_first_of_each(jax.devices()), together=several)
    if isinstance(devices, Hybrid):
        return Selection(_gpus("hybrid"), jax.local_devices(backend="cpu")[0], several, devices)
    if isinstance(devices, str):
        if devices not in ("cpu", "gpu", "hybrid"):
            raise ValueError(f"unknown device {devices!r}; use 'cpu', 'gpu' or 'hybrid'")
        if devices == "hybrid":
            return select_devices(Hybrid())
        return Selection(_first_of_each(jax.devices("cpu") if devices == "cpu" else _gpus("gpu")), together=several)
    if isinstance(devices, int) and not isinstance(devices, bool):
        available = jax.devices()
        if not 1 <= devices <= len(available):
            where = "these processes have" if several else "this machine has"
            raise ValueError(f"devices={devices}, but {where} {len(available)} ({available[0].platform})")
        return Selection(tuple(available[:devices]), together=several)
    items = devices.devices.flat if isinstance(devices, jax.sharding.Mesh) else devices
    items = list(items) if isinstance(items, Iterable) else []
    listed = tuple(item for item in items if isinstance(item, jax.Device))
    if not items or len(listed) < len(items):
        raise TypeError(f"devices must be a name, a number, a list of jax.Device or a Mesh, got {devices!r}")
    if len({device.platform for device in listed}) > 1:
        raise ValueError("devices of several kinds in one list; use devices='hybrid' for GPUs and the CPU together")
    if len(set(listed)) < len(listed):
        raise ValueError(f"a device is listed twice: {list(listed)}; list each once")
    return Selection(listed, together=any(device.process_index != jax.process_index() for device in listed))


def check_backend() -> None:
    """Start JAX's backend.

    Raises:
      ValueError: ``JAX_PLATFORMS`` names what JAX cannot use here.
    """
    try:
        jax.devices()
    except (AssertionError, RuntimeError) as error:  # the first where nothing at all can be used
        asked: str | None = jax.config.jax_platforms  # pyright: ignore[reportAttributeAccessIssue]
        if not asked:
            raise
        why = f" ({error})" if str(error) else ""
        raise ValueError(
            f"JAX_PLATFORMS is {asked!r}, and JAX finds no such device here{why}; unset it, or for a GPU install "
            "jaxmotif[cuda12] or jaxmotif[cuda13]"
        ) from None


def _first_of_each(devices: Sequence[jax.Device]) -> tuple[jax.Device, ...]:
    """Return the first device of each process."""
    first: dict[int, jax.Device] = {}
    for device in devices:
        first.setdefault(device.process_index, device)
    return tuple(first.values())


def _gpus(asked: str) -> tuple[jax.Device, ...]:
    try:
        return tuple(jax.devices("gpu"))
    except RuntimeError:
        raise ValueError(
            f"device {asked!r}, but JAX finds no GPU here (only {jax.devices()[0].platform}); install "
            "jaxmotif[cuda12] or jaxmotif[cuda13], or use 'cpu'"
        ) from None
