"""The same function on every device of a mesh."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxmotif.devices._mesh import AXIS, device_mesh, everywhere, on_each_device

SIZES = [size for size in (1, 2, 4) if size <= jax.device_count()]


@pytest.fixture(params=SIZES)
def mesh(request):
    return device_mesh(jax.devices()[-request.param :])


def test_mesh_has_one_axis(mesh):
    assert mesh.axis_names == (AXIS,)
    assert list(mesh.devices.flat) == jax.devices()[-mesh.size :]


def test_everywhere_is_whole_on_every_device(mesh):
    placed = everywhere({"x": np.arange(6), "y": np.float32(2)}, mesh)
    for array in placed.values():
        assert array.sharding.is_fully_replicated
        assert set(array.sharding.device_set) == set(mesh.devices.flat)
    assert placed["x"].tolist() == list(range(6))


def test_each_device_sees_its_entry(mesh):
    """Split arguments lose their leading axis; pytrees split leaf by leaf; others are whole."""

    def function(share, table):
        first, last = share
        assert first.shape == ()
        assert table.shape == (20,)
        here = (jnp.arange(20, dtype=jnp.int32) >= first) & (jnp.arange(20, dtype=jnp.int32) < last)
        return lax.psum({"sum": jnp.where(here, table, 0).sum(), "devices": jnp.int32(1)}, AXIS)

    cuts = np.linspace(0, 20, mesh.size + 1).astype(np.int32)
    table = np.arange(20, dtype=np.int32) ** 2
    run = jax.jit(on_each_device(function, mesh, split=[0]))
    found = run((cuts[:-1], cuts[1:]), everywhere(table, mesh))
    assert found["sum"] == table.sum()
    assert found["devices"] == mesh.size
    assert found["sum"].sharding.is_fully_replicated


def test_parts_can_differ_in_length_of_loops(mesh):
    """A loop runs as often as each device's own share says."""

    def function(count):
        return lax.psum(lax.fori_loop(0, count, lambda _, x: x + 1, jnp.int32(0)), AXIS)

    shares = np.arange(mesh.size, dtype=np.int32) * 100
    assert jax.jit(on_each_device(function, mesh, split=[0]))(shares) == shares.sum()
