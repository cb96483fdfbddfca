"""Calls of Pallas kernels by PTX of our own, which XLA launches.

The PTX of a translated kernel is shipped with the package, or else compiled by NVRTC.

XLA's custom call for PTX is no public interface that will stay. It is tried with a tiny kernel before a device runs
kernels.
"""

from __future__ import annotations

import functools
import hashlib
import zlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmotif.kernels.cuda._nvrtc import compile_ptx
from jaxmotif.kernels.cuda._translate import Program, translate


def shipped_name(program: Program) -> str:
    """Return the name of a kernel's file, which depends on its text, so that a file never belongs to another kernel."""
    return f"{program.name}-{hashlib.sha256(program.text.encode()).hexdigest()[:16]}.ptx.z"


@functools.cache
def _ptx(name: str, text: str) -> str:
    """Return the PTX of a kernel, for compute capability 7.5 and later, from its :func:`shipped_name` and its text."""
    shipped = files("jaxmotif.kernels.cuda").joinpath("ptx", name)
    return zlib.decompress(shipped.read_bytes()).decode() if shipped.is_file() else compile_ptx(text)


def ptx_call(
    call: Callable[..., Any], operands: tuple[Any, ...], launcher: str, lanes: int, warps: int, name: str
) -> Any:
    """Return what a ``pl.pallas_call`` returns, but run the kernel as PTX of our own.

    Args:
      call: The result of ``pl.pallas_call``, which is only traced.
      operands: The arguments of the call.
      launcher: The name of one of :data:`LAUNCHERS`.
      lanes: See :func:`jaxmotif.kernels._launch.kernel_call`, also for ``warps``.
      warps: The number of warps of a program.
      name: The name of the kernel.
    """
    traced, out = jax.make_jaxpr(call, return_shape=True)(*operands)
    (equation,) = (e for e in traced.jaxpr.eqns if e.primitive.name == "pallas_call")
    program = translate(equation, lanes, warps, name)
    leaves = jax.tree.leaves(operands)
    # The kernel's operands are inputs of the traced function, because nothing but the kernel was traced.
    arrays = [leaves[traced.jaxpr.invars.index(v)] for v in equation.invars]
    x, y, z = (*(int(n) for n in equation.params["grid_mapping"].grid), 1, 1, 1)[:3]
    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in equation.params["out_avals"]]
    aliases = dict(equation.params["input_output_aliases"])
    results = LAUNCHERS[launcher](program, [*arrays, jnp.asarray(program.sizes)], shapes, aliases, (x, y, z))
    return jax.tree.unflatten(jax.tree.structure(out), results)


def launch(
    program: Program,
    operands: Sequence[Array],
    shapes: Sequence[jax.ShapeDtypeStruct],
    aliases: dict[int, int],
    grid: tuple[int, int, int],
) -> Sequence[Array]:
    """Launch PTX by XLA itself, whose compiler for GPUs expands a custom call; nothing needs to be registered.

    Args:
      program: The program.
      operands: What it reads.
      shapes: The shapes of the results.
      aliases: For operands that are written in place, the number of the result by that of the operand.
      grid: The number of programs along each axis.
    """
    numbers = {"block_x": program.threads, "block_y": 1, "block_z": 1, "shared_mem_bytes": 0}
    numbers |= {f"grid_{axis}": size for axis, size in zip("xyz", grid, strict=True)}
    return jax.ffi.ffi_call("__gpu$xla.gpu.ptx", shapes, input_output_aliases=aliases, vmap_method="sequential")(
        *operands,
        name=program.name,
        kernel_type="ptx",
        kernel_data=_ptx(shipped_name(program), program.text),
        **{name: np.int32(number) for name, number in numbers.items()},
    )


LAUNCHERS: dict[str, Callable[..., Sequence[Array]]] = {"ptx": launch}
"""The functions that run programs, as :func:`launch` does, by the names of the forms of kernels.

Tests add some that need no GPU.
"""
