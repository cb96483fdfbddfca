"""Two ways to launch PTX inside a compiled program, by what JAX and its CUDA plugin bring; each is one function.

Neither is promised to stay: both are tried by a tiny kernel before a device is given kernels.
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
"""``(program, operands, shapes of the results, which operand is which result's memory, grid)`` to the results."""


def by_xla(program: Program, operands: Sequence[jax.Array], shapes: Sequence[jax.ShapeDtypeStruct],
           aliases: dict[int, int], grid: tuple[int, int, int]) -> Sequence[jax.Array]:  # fmt: skip
    """XLA's own call of PTX: a custom call that its GPU compiler expands, nothing is registered."""
    block = {"block_x": np.int32(program.threads), "block_y": np.int32(1), "block_z": np.int32(1)}
    return jax.ffi.ffi_call(
        "__gpu$xla.gpu.ptx", shapes, input_output_aliases=aliases, vmap_method="sequential"
    )(
        *operands, name=program.name, kernel_type="ptx", kernel_data=ptx_of(program),
        grid_x=np.int32(grid[0]), grid_y=np.int32(grid[1]), grid_z=np.int32(grid[2]), **block,
        shared_mem_bytes=np.int32(0),
    )  # fmt: skip


def by_plugin(program: Program, operands: Sequence[jax.Array], shapes: Sequence[jax.ShapeDtypeStruct],
              aliases: dict[int, int], grid: tuple[int, int, int]) -> Sequence[jax.Array]:  # fmt: skip
    """The CUDA plugin's launch of compiled kernels, which is there for Triton's."""
    from jaxlib import gpu_triton

    # The plugin makes machine code of the PTX for the capability that it is told.
    arguments = program.name, program.threads // 32, 1, 0
    capability = gpu_triton.get_compute_capability(0)
    kernel = _first_accepted(gpu_triton.TritonKernel, [
        (*arguments, text, "", capability, *clusters)
        for clusters in ((0, 1), ()) for text in (ptx_of(program), ptx_of(program).encode())
    ])  # fmt: skip
    arrays = [gpu_triton.create_array_parameter(0, 16) for _ in range(len(operands) + len(shapes))]
    call = gpu_triton.TritonKernelCall(kernel, *grid, arrays)
    target = jax.ffi.ffi_call(
        "triton_kernel_call_ffi", shapes, input_output_aliases=aliases, vmap_method="sequential"
    )  # fmt: skip
    launch = partial(target, opaque=zlib.compress(call.to_proto(program.name, b"")))
    return in_place(launch, aliases)(*operands) if aliases else launch(*operands)


def in_place(launch: Callable[..., Sequence[jax.Array]], aliases: dict[int, int]) -> Callable[..., Sequence[jax.Array]]:
    """A call that writes operands, kept apart from what cuts them out of larger arrays and puts the results into such,
    as the loop under ``vmap`` does: XLA fuses this with calls of its FFI, and a result then gets memory of its own."""

    def apart(*operands: jax.Array) -> Sequence[jax.Array]:
        held = [jax.lax.optimization_barrier(x) if k in aliases else x for k, x in enumerate(operands)]
        return jax.lax.optimization_barrier(launch(*held))

    return jax.custom_batching.sequential_vmap(apart)


def _first_accepted(make: Callable[..., Any], ways: Sequence[tuple[object, ...]]) -> Any:
    """By the first of some argument lists that is accepted: they differ between versions of the plugin."""
    for number, arguments in enumerate(ways):
        try:
            return make(*arguments)
        except TypeError:
            if number == len(ways) - 1:
                raise
    return None


LAUNCHERS: dict[str, Launcher] = {"ptx": by_xla, "ptx-plugin": by_plugin}
