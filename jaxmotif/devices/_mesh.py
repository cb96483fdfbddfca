"""The same function on every device of a mesh, each on its own part of the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

AXIS = "work"


def device_mesh(devices: Sequence[jax.Device]) -> Mesh:
    """A one-dimensional mesh over the devices, its axis named :data:`AXIS`."""
    return Mesh(np.array(devices), (AXIS,), axis_types=(AxisType.Auto,))


def everywhere(arrays: Any, mesh: Mesh) -> Any:
    """The arrays of a pytree, whole on every device of the mesh."""
    return jax.device_put(arrays, NamedSharding(mesh, PartitionSpec()))


def on_each_device(function: Callable[..., Any], mesh: Mesh, *, split: Sequence[int] = ()) -> Callable[..., Any]:
    """Run ``function`` on every device; to be called under ``jax.jit``.

    Args:
      function: of arrays; must give the same on every device (add up with ``lax.psum(x, AXIS)``).
      split: which positional arguments have a leading axis of one entry a device; each device sees its entry. All
        others are the same everywhere.

    Example:
      >>> import jax.numpy as jnp
      >>> from jax import lax
      >>> mesh = device_mesh(jax.devices()[:1])
      >>> total = on_each_device(lambda x, scale: lax.psum(x * scale, AXIS), mesh, split=[0])
      >>> total(jnp.array([3]), jnp.int32(2)).tolist()
      6
    """

    def entry(*args: Any) -> Any:
        return function(*(jax.tree.map(lambda x: x[0], a) if i in split else a for i, a in enumerate(args)))

    def mapped(*args: Any) -> Any:
        specs = tuple(PartitionSpec(AXIS) if i in split else PartitionSpec() for i in range(len(args)))
        return jax.shard_map(entry, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(), check_vma=False)(*args)

    return mapped
