"""Which form a device is given, and what a kernel's text may be made of."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target, compiling_for, target_of
from jaxmotif.kernels._launch import each_alone, first_that_works, kernel_call, probe, whole
from jaxmotif.kernels.cuda import _call
from jaxmotif.kernels.cuda._nvrtc import NvrtcMissing
from tests import emulated

CPU = jax.devices("cpu")[0]


def test_nothing_needs_triton_on_a_cpu():
    """Without its module every module is imported, and kernels are interpreted."""
    code = """
import pkgutil, sys, warnings
warnings.simplefilter("error")
for name in ("jax.experimental.pallas.triton", "jax._src.pallas.triton"):
    sys.modules[name] = None
import jaxmotif
for _, name, _ in pkgutil.walk_packages(jaxmotif.__path__, "jaxmotif."):
    if not name.startswith(("jaxmotif.compat", "jaxmotif.learn", "jaxmotif.__main__")):
        __import__(name)
import jax, numpy
from jaxmotif.arrays._compile import jit64
from jaxmotif.kernels._launch import probe
print(jit64(probe)(jax.device_put(numpy.arange(64, dtype="int32")))[0])
"""
    environment = os.environ | {"JAXMOTIF_KERNELS": "interpreted"}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert shown.stdout.split() == ["63"], shown.stderr


@emulated.NEEDS
def test_the_first_form_that_works_is_taken():
    first_that_works.cache_clear()
    assert first_that_works(CPU, ("triton", "emulated")) == "emulated"


def test_where_no_form_works_there_is_one_warning():
    first_that_works.cache_clear()
    with pytest.warns(RuntimeWarning, match=r"kernels do not run on cpu:0, .*triton: .*; ptx: .*FFI") as warned:
        assert [first_that_works(CPU, ("triton", "ptx")) for _ in range(2)] == ["xla"] * 2
    assert len(warned) == 1


def test_triton_runs_all_lanes_at_once():
    runs = []
    with compiling_for(Target("cuda", "triton")):
        each_alone(lambda: runs.append(len(runs)))
    assert runs == [0]


def test_a_form_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("JAXMOTIF_KERNELS", "cutlass")
    with pytest.raises(ValueError, match="must be one of xla, triton, ptx, .*, got 'cutlass'"):
        target_of(CPU)
    monkeypatch.setenv("JAXMOTIF_KERNELS", "ptx")  # for GPUs
    assert target_of(CPU) == Target("cpu", "xla")


def test_a_tpu_is_given_plain_xla():
    described = jax.sharding.AbstractDevice("TPU v5 lite", num_cores=1, platform="tpu")
    assert target_of(described) == Target("tpu", "xla")


@emulated.NEEDS
def test_a_probe_runs_while_something_is_traced():
    first_that_works.cache_clear()
    assert jax.jit(lambda x: x + int(first_that_works(CPU, ("emulated",)) == "emulated"))(jnp.int32(1)) == 2


@pytest.mark.parametrize(("dtype", "what"), [(np.float32, "values of type float32"), (np.int32, "the primitive sort")])
def test_what_is_not_translated_is_refused_by_name(dtype, what):
    def kernel(x, out):
        out[...] = jnp.sort(x[...])

    shape = jax.ShapeDtypeStruct((64,), dtype)
    with compiling_for(emulated.TARGET), pytest.raises(NotImplementedError, match=f"kernel waves: no .* {what}"):
        jax.eval_shape(
            kernel_call(kernel, lanes=64, out_shape=shape, in_specs=[whole()], out_specs=whole(), name="waves"), shape
        )


def test_a_kernel_that_is_not_shipped_takes_another_form_without_nvrtc(monkeypatch, tmp_path, lowered_for_cuda):
    """That kernel alone, with a warning: through Triton, or interpreted where that is gone too."""
    numbers = jnp.arange(64, dtype=jnp.int32)
    monkeypatch.setattr("jaxmotif.kernels.cuda._nvrtc._library", _no_library)
    monkeypatch.setattr("jaxmotif.kernels.cuda._call.files", lambda package: tmp_path)
    _call._ptx.cache_clear()
    warning = pytest.warns(RuntimeWarning, match="kernel probe runs interpreted.* none could be made .*no NVRTC")
    with compiling_for(Target("cpu", "ptx")), warning:
        np.testing.assert_array_equal(jax.jit(lambda x: probe(x))(numbers), numbers[::-1])
    monkeypatch.setattr("jaxmotif.kernels._launch._error", lambda device, form: None)
    with pytest.warns(RuntimeWarning, match="kernel probe runs through Triton"):
        assert "triton" in lowered_for_cuda(probe, numbers, form="ptx")


def _no_library():
    raise NvrtcMissing("no NVRTC")
