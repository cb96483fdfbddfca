"""A mesh of devices, on which every device runs the same function on its own part of the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

AXIS = "work"
"""Name of the mesh's axis."""


def device_mesh(devices: Sequence[jax.Device]) -> Mesh:
    """Return a one-dimensional mesh over devices, whose axis is named :data:`AXIS`."""
    return Mesh(np.array(devices), (AXIS,), axis_types=(AxisType.Auto,))


def everywhere(arrays: Any, mesh: Mesh) -> Any:
    """Return the arrays of a pytree, replicated on every device of a mesh."""
    return jax.device_put(arrays, NamedSharding(mesh, PartitionSpec()))


def on_each_device(function: Callable[..., Any], mesh: Mesh, *, split: Sequence[int] = ()) -> Callable[..., Any]:
    """Return a function that runs ``function`` on every device of a mesh; call it under ``jax.jit``.

    Args:
      function: A function of arrays that returns the same on every device (``lax.psum(x, AXIS)`` adds over devices).
      mesh: The mesh (see :func:`device_mesh`).
      split: The positions of arguments that have a leading axis with one entry for each device; each device gets its
        entry. All other arguments are the same on every device.

    Example:
      >>> import jax.numpy as jnp
      >>> from jax import lax
      >>> mesh = device_mesh(jax.devices()[:1])
      >>> total = on_each_device(lambda x, scale: lax.psum(x * scale, AXIS), mesh, split=[0])
      >>> total(jnp.array([3]), jnp.int32(2)).tolist()
      6
    """

    def on_one_device(*args: Any) -> Any:
        return function(*(jax.tree.map(lambda x: x[0], a) if i in split else a for i, a in enumerate(args)))

    def mapped(*args: Any) -> Any:
        specs = tuple(PartitionSpec(AXIS) if i in split else PartitionSpec() for i in range(len(args)))
        return jax.shard_map(on_one_device, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(), check_vma=False)(
            *args
        )

    return mapped
