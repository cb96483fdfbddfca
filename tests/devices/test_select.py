"""Choosing devices by name, number, list or mesh."""

import os
import subprocess
import sys

import jax
import pytest

from jaxmotif.devices._select import Hybrid, Selection, select_devices

HAS_GPU = jax.default_backend() == "gpu"


def test_default_is_one_device():
    assert select_devices() == Selection((jax.devices()[0],))


def test_names():
    assert select_devices("cpu") == Selection((jax.devices("cpu")[0],))


@pytest.mark.gpu
def test_names_of_gpus():
    assert select_devices("gpu") == Selection((jax.devices("gpu")[0],))
    assert select_devices("hybrid") == Selection(tuple(jax.devices("gpu")), jax.devices("cpu")[0])


@pytest.mark.gpu
def test_hybrids_that_say_how():
    assert select_devices(Hybrid(alpha=0.2)).hybrid.alpha == 0.2


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"alpha": 1.1}, r"alpha=1.1 is not a share of the work; use 0 \(no CPU\) to 1 \(no limit\)"),
        ({"alpha": -0.1}, "alpha=-0.1 is not a share"),
        ({"alpha": float("nan")}, "alpha=nan is not a share"),
        ({"chunk": 2}, "chunk=2 is not a share"),
        ({"order": "size"}, "unknown order 'size'; use one of degree, -degree, volume, -volume"),
        ({"workers": 0}, "workers=0; use at least 1, or alpha=0"),
    ],
)
def test_hybrids_that_make_no_sense(how, message):
    with pytest.raises(ValueError, match=message):
        Hybrid(**how)


def test_numbers_and_lists():
    every = jax.devices()
    assert select_devices(len(every)) == Selection(tuple(every))
    assert select_devices(1) == Selection((every[0],))
    last = every[-2:]
    mesh = jax.make_mesh((len(last),), ("x",), axis_types=(jax.sharding.AxisType.Auto,), devices=last)
    for listed in (last, tuple(last), mesh, iter(last)):
        assert select_devices(listed) == Selection(tuple(last))


@pytest.mark.parametrize("asked", ["gpu", "hybrid"])
@pytest.mark.skipif(HAS_GPU, reason="there is a GPU")
def test_gpus_that_are_not_there(asked):
    with pytest.raises(
        ValueError, match=rf"'{asked}', but JAX finds no GPU here \(only cpu\); install jaxmotif\[cuda12\]"
    ):
        select_devices(asked)


@pytest.mark.parametrize("number", [0, -1, 1000])
def test_numbers_out_of_range(number):
    count = jax.device_count()
    with pytest.raises(ValueError, match=rf"devices={number}, but this machine has {count} \("):
        select_devices(number)


def test_a_device_twice():
    device = jax.devices()[0]
    with pytest.raises(ValueError, match="listed twice.*list each once"):
        select_devices([device, device])


@pytest.mark.gpu
def test_several_kinds():
    with pytest.raises(ValueError, match="use devices='hybrid'"):
        select_devices([jax.devices("gpu")[0], jax.devices("cpu")[0]])


def test_unknown_names():
    with pytest.raises(ValueError, match="unknown device 'tpu'; use 'cpu', 'gpu' or 'hybrid'"):
        select_devices("tpu")


@pytest.mark.parametrize("asked", [[], ["cpu"], [0], 2.5, {"cpu": 1}, True])
def test_no_devices(asked):
    with pytest.raises(TypeError, match="must be a name, a number, a list of jax.Device or a Mesh, got"):
        select_devices(asked)


def test_a_bare_device():
    with pytest.raises(TypeError, match="a list of jax.Device"):
        select_devices(jax.devices()[0])


def test_a_platform_that_is_not_here():
    """JAX tells of no backend at all by an assertion without words."""
    if any(device.platform != "cpu" for device in jax.devices()):
        pytest.skip("there is a GPU")
    commands = ["graphlets karate", "info", "graphlets karate --device gpu"]
    code = f"import jaxmotif.cli as c; print([c.main(command.split()) for command in {commands}])"
    environment = os.environ | {"JAX_PLATFORMS": "cuda"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "[1, 1, 1]\n"
    told = [line for line in done.stderr.splitlines() if not line.endswith(": at work")]  # as slow machines say
    assert len(told) == 3
    assert all("JAX_PLATFORMS is 'cuda', and JAX finds no such device here" in line for line in told)
