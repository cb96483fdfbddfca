"""Calls of Pallas kernels by PTX of our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxmotif.kernels.cuda._launchers import LAUNCHERS
from jaxmotif.kernels.cuda._translate import translate


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
