"""Kernels on an NVIDIA GPU in all their forms: the same bits? how long?

    python experiments/kernels_gpu.py --smoke     # the smallest kernel by each launcher, errors in full (seconds)
    python experiments/kernels_gpu.py             # every kernel, in every form (about a minute)
    python experiments/kernels_gpu.py triangles sieve_round --forms xla ptx

PTX that the package does not hold is made by NVRTC, which comes with JAX's CUDA wheels (`nvidia/*/lib/libnvrtc.so.*` on
`sys.path`), or is the library that `JAXMOTIF_NVRTC` names.
"""

from __future__ import annotations

import argparse
import time
import traceback
from importlib.metadata import PackageNotFoundError, version

import jax
import numpy as np

from jaxmotif.arrays._compile import Target, compiling_for
from jaxmotif.kernels import _launch
from jaxmotif.kernels.cuda import _nvrtc

FORMS = ("xla", "triton", "ptx", "ptx-plugin")


def _say_where() -> None:
    device = jax.devices()[0]
    print(f"jax {jax.__version__}, {device.device_kind}, {device.client.platform_version}")
    for package in ("jax-cuda12-plugin", "jax-cuda13-plugin", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"):
        try:
            print(f"  {package} {version(package)}")
        except PackageNotFoundError:
            print(f"  {package}: not installed")
    try:
        print("  NVRTC", _nvrtc.nvrtc_version(), "among", _nvrtc.candidates())
    except _nvrtc.NvrtcMissing as error:
        print(" ", error)


def _smoke() -> None:
    numbers = jax.device_put(np.arange(64, dtype=np.int32))
    for form in FORMS[1:]:
        print(f"-- {form}", flush=True)
        try:
            begin = time.perf_counter()
            with compiling_for(Target("cuda", form)):
                found = np.asarray(jax.jit(lambda x: _launch.probe(x))(numbers))
            seconds = time.perf_counter() - begin
            print("right" if np.array_equal(found, 63 - np.arange(64)) else f"WRONG: {found}", f"{seconds:.3f} s")
        except Exception:
            traceback.print_exc()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="the smallest kernel alone")
    options = parser.parse_args()
    _say_where()
    _smoke()
