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

from jaxmotif.kernels.cuda._nvrtc import compile_ptx
from jaxmotif.kernels.cuda._translate import Program, translate


def shipped_name(program: Program) -> str:
    """Return the name of a kernel's file, which depends on its text, so that a file never belongs to another kernel."""
    return f"{program.name}-{hashlib.sha256(program.text.encode()).hexdigest()[:16]}.ptx.z"


def ptx_of(program: Program) -> str:
    """Return the PTX of a kernel, for compute capability 7.5 and later."""
    return _ptx(shipped_name(program), program.text)


@functools.cache
def _ptx(name: str, text: str) -> str:
    shipped = files("jaxmotif.kernels.cuda").joinpath("ptx", name)
    return zlib.decompress(shipped.read_bytes()).decode() if shipped.is_file() else compile_ptx(text)


Launcher = Callable[
    [Program, Sequence[jax.Array], Sequence[jax.ShapeDtypeStruct], dict[int, int], tuple[int, int, int]],
    Sequence[jax.Array],
]
"""A function that runs a program and returns its results.

Its arguments are the program, the operands, the shapes of the results, for operands that are written in place the
number of the result by that of the operand, and the grid.
"""


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
    results = LAUNCHERS[launcher](
        program,
        [*arrays, jnp.asarray(program.sizes)],
        shapes,
        dict(equation.params["input_output_aliases"]),
        (x, y, z),
    )
    return jax.tree.unflatten(jax.tree.structure(out), results)


def launch(
    program: Program,
    operands: Sequence[jax.Array],
    shapes: Sequence[jax.ShapeDtypeStruct],
    aliases: dict[int, int],
    grid: tuple[int, int, int],
) -> Sequence[jax.Array]:
    """Launch PTX by XLA itself, whose compiler for GPUs expands a custom call; nothing needs to be registered."""
    block = {"block_x": np.int32(program.threads), "block_y": np.int32(1), "block_z": np.int32(1)}
    return jax.ffi.ffi_call("__gpu$xla.gpu.ptx", shapes, input_output_aliases=aliases, vmap_method="sequential")(
        *operands,
        name=program.name,
        kernel_type="ptx",
        kernel_data=ptx_of(program),
        grid_x=np.int32(grid[0]),
        grid_y=np.int32(grid[1]),
        grid_z=np.int32(grid[2]),
        **block,
        shared_mem_bytes=np.int32(0),
    )


LAUNCHERS: dict[str, Launcher] = {"ptx": launch}
"""The launchers by the names of the forms of kernels; tests add some that need no GPU."""
