"""Two ways to launch PTX inside a compiled program, by means of JAX and its CUDA plugin; each is one function.

Neither is a public interface that will stay. Both are tried with a tiny kernel before a device runs kernels.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.custom_batching
import numpy as np

from jaxmotif.kernels.cuda._ptx import ptx_of
from jaxmotif.kernels.cuda._translate import Program

Launcher = Callable[
    [Program, Sequence[jax.Array], Sequence[jax.ShapeDtypeStruct], dict[int, int], tuple[int, int, int]],
    Sequence[jax.Array],
]
"""A function that runs a program and returns its results.

Its arguments are the program, the operands, the shapes of the results, for operands that are written in place the
number of the result by that of the operand, and the grid.
"""


def launch_by_xla(
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


def launch_by_plugin(
    program: Program,
    operands: Sequence[jax.Array],
    shapes: Sequence[jax.ShapeDtypeStruct],
    aliases: dict[int, int],
    grid: tuple[int, int, int],
) -> Sequence[jax.Array]:
    """Launch PTX by the CUDA plugin, whose launch of compiled kernels is meant for those of Triton."""
    from jaxlib import gpu_triton

    # The plugin compiles the PTX to machine code for this compute capability.
    arguments = program.name, program.threads // 32, 1, 0
    capability = gpu_triton.get_compute_capability(0)
    kernel = _first_accepted(
        gpu_triton.TritonKernel,
        [
            (*arguments, text, "", capability, *clusters)
            for clusters in ((0, 1), ())
            for text in (ptx_of(program), ptx_of(program).encode())
        ],
    )
    arrays = [gpu_triton.create_array_parameter(0, 16) for _ in range(len(operands) + len(shapes))]
    call = gpu_triton.TritonKernelCall(kernel, *grid, arrays)
    target = jax.ffi.ffi_call("triton_kernel_call_ffi", shapes, input_output_aliases=aliases, vmap_method="sequential")
    launch = partial(target, opaque=zlib.compress(call.to_proto(program.name, b"")))
    return isolate_aliases(launch, aliases)(*operands) if aliases else launch(*operands)


def isolate_aliases(
    launch: Callable[..., Sequence[jax.Array]], aliases: dict[int, int]
) -> Callable[..., Sequence[jax.Array]]:
    """Return a launch that writes operands in place, with barriers round those operands and the results.

    The loop under ``vmap`` cuts operands out of larger arrays and puts results into larger arrays. XLA would fuse this
    with the call, and a result would then get memory of its own.
    """

    def isolated(*operands: jax.Array) -> Sequence[jax.Array]:
        inputs = [jax.lax.optimization_barrier(x) if k in aliases else x for k, x in enumerate(operands)]
        return jax.lax.optimization_barrier(launch(*inputs))

    return jax.custom_batching.sequential_vmap(isolated)


def _first_accepted(make: Callable[..., Any], ways: Sequence[tuple[object, ...]]) -> Any:
    """Call a function with the first of some argument lists that it accepts, as versions of the plugin differ."""
    for number, arguments in enumerate(ways):
        try:
            return make(*arguments)
        except TypeError:
            if number == len(ways) - 1:
                raise
    return None


LAUNCHERS: dict[str, Launcher] = {"ptx": launch_by_xla, "ptx-plugin": launch_by_plugin}
"""The launchers by the names of the forms of kernels."""
