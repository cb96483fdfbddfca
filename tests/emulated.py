"""Translated kernels on a CPU: their CUDA C++ compiled by g++, the threads of a block as coroutines."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target
from jaxmotif.kernels.cuda._call import LAUNCHERS

TARGET = Target("cpu", "emulated")  # pyright: ignore[reportArgumentType]
NEEDS = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
FOLDER = Path(__file__).parents[1] / ".pytest_cache" / "emulated"

_ONE = threading.Lock()  # a program's blocks and threads are the library's own, and ctypes lets others run meanwhile

# At a barrier a coroutine gives way to the next: all stand there before the first goes on.
SHIM = r"""
#include <ucontext.h>
#include <cstring>
#define __global__
#define __device__ inline
#define __shared__ static
#define __launch_bounds__(n)
struct Three { unsigned x, y, z; };
static Three blockIdx, threadIdx;
static ucontext_t fibers[1024], scheduler;
static char stacks[1024][1 << 16];
static bool done[1024];
static inline void __syncthreads() { swapcontext(&fibers[threadIdx.x], &scheduler); }
template <typename T> static T exchanged(T x, int other) {
  static T slots[1024];
  slots[threadIdx.x] = x;
  __syncthreads();
  T y = slots[other];
  __syncthreads();
  return y;
}
template <typename T> static T __shfl_xor_sync(unsigned, T x, int d) { return exchanged(x, threadIdx.x ^ d); }
template <typename T> static T __shfl_up_sync(unsigned, T x, int d) {
  return exchanged(x, (int)threadIdx.x % 32 >= d ? threadIdx.x - d : threadIdx.x);
}
template <typename T> static T atomicAdd(T* place, T value) { T old = *place; *place += value; return old; }
static inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
"""
RUN = r"""
static void** pointers;
static void thread() { %(name)s(%(arguments)s); done[threadIdx.x] = true; }
extern "C" void run(void** given, unsigned x, unsigned y, unsigned z) {
  pointers = given;
  for (blockIdx.z = 0; blockIdx.z < z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < x; blockIdx.x++) {
        for (unsigned t = 0; t < THREADS; t++) {
          done[t] = false;
          getcontext(&fibers[t]);
          fibers[t].uc_stack.ss_sp = stacks[t];
          fibers[t].uc_stack.ss_size = sizeof stacks[t];
          fibers[t].uc_link = &scheduler;
          makecontext(&fibers[t], thread, 0);
        }
        for (bool any = true; any;) {
          any = false;
          for (unsigned t = 0; t < THREADS; t++)
            if (!done[t]) { threadIdx.x = t; swapcontext(&scheduler, &fibers[t]); any |= !done[t]; }
        }
      }
}
"""


def launch(program, operands, shapes, aliases, grid):
    """A launcher of :mod:`jaxmotif.kernels.cuda._call`."""

    def call(*arrays):
        inputs = [np.ascontiguousarray(x) for x in arrays]
        # What is not written must not be read: no zeros.
        outputs = [np.frombuffer(b"\xa5" * (max(s.size, 1) * s.dtype.itemsize), s.dtype).copy() for s in shapes]
        outputs = [x[: s.size].reshape(s.shape) for x, s in zip(outputs, shapes, strict=True)]
        for operand, out in aliases.items():
            inputs[operand] = outputs[out] = inputs[operand].copy()
        pointers = (ctypes.c_void_p * (len(inputs) + len(outputs)))(*(x.ctypes.data for x in (*inputs, *outputs)))
        with _ONE:
            _compiled(program).run(pointers, *grid)
        return outputs

    return jax.pure_callback(call, shapes, *operands, vmap_method="sequential")


def _compiled(program) -> ctypes.CDLL:
    signature = re.search(rf"\b{program.name}\((.*)\) {{", program.text)
    kinds = [re.sub(r"( __restrict__)? \w+$", "", formal) for formal in signature[1].split(", ")]
    arguments = ", ".join(f"({kind})pointers[{place}]" for place, kind in enumerate(kinds))
    text = SHIM + program.text + RUN % {"name": program.name, "arguments": arguments}
    library = FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.so"
    if not library.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        own = library.with_suffix(f".{os.getpid()}")
        command = ["g++", "-O1", "-w", "-fno-strict-aliasing", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(own)]
        subprocess.run(command, input=text, text=True, check=True)
        own.rename(library)
    return ctypes.CDLL(str(library))


LAUNCHERS["emulated"] = launch
