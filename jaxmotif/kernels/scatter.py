"""Scatters in which some positions are to be left out, in the form each kind of device likes.

The position left out is always ``size``. A CPU is fastest with a spare last entry and unchecked indices; on a GPU
a spare entry would be one contended address, and checked indices cost nothing.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxmotif.kernels.choice import Backend


def accumulator(size: int, dtype: Any, backend: Backend) -> jax.Array:
    """Zeros ``[size]`` for :func:`add_at` and :func:`put_at` (with the spare entry where there is one)."""
    return jnp.zeros(size + (backend == "xla"), dtype)


def add_at(array: jax.Array, index: jax.Array, values: Any, backend: Backend) -> jax.Array:
    """Add values at int32 indices in ``0 .. size``; those equal to ``size`` are left out."""
    return array.at[index].add(values, mode=_mode(backend))


def count_at(size: int, index: jax.Array, backend: Backend) -> jax.Array:
    """How often each int32 index in ``0 .. size`` occurs (``size`` itself is left out), ``[size]`` or one more."""
    small = backend == "xla" and index.size < 2**16  # a CPU is faster with few bytes
    return sum_at(size, index, jnp.ones(index.shape, jnp.uint16 if small else jnp.int32), backend)


def sum_at(size: int, index: jax.Array, values: jax.Array, backend: Backend) -> jax.Array:
    """Sums of the values at each int32 index in ``0 .. size`` (``size`` itself is left out), ``[size]`` or one more.

    On a CPU under ``vmap`` all rows are made one: XLA's scatter over several takes twice the time.
    """
    if backend != "xla":
        return add_at(accumulator(size, values.dtype, backend), index, values, backend)
    cells = size + 1

    def sums(index: jax.Array, values: jax.Array, cells: int) -> jax.Array:
        return jnp.zeros(cells, values.dtype).at[index].add(values, mode="promise_in_bounds")

    @jax.custom_batching.custom_vmap
    def one(index: jax.Array, values: jax.Array) -> jax.Array:
        return sums(index, values, cells)

    @one.def_vmap
    def several(rows: int, in_batched: Any, *arrays: jax.Array) -> tuple[jax.Array, bool]:
        index, values = (
            x if batched else jnp.broadcast_to(x[None], (rows, *x.shape))
            for x, batched in zip(arrays, in_batched, strict=True)
        )
        if rows * cells >= 2**31:
            return jax.lax.map(lambda row: sums(row[0], row[1], cells), (index, values)), True
        begins = jnp.arange(rows, dtype=jnp.int32).reshape(rows, *[1] * (index.ndim - 1)) * cells
        return sums((index + begins).reshape(-1), values.reshape(-1), rows * cells).reshape(rows, cells), True

    return one(index, values)


def put_at(array: jax.Array, index: jax.Array, values: Any, backend: Backend) -> jax.Array:
    """Write values at int32 indices in ``0 .. size``; of several to one entry any one wins whole."""
    return array.at[index].set(values, mode=_mode(backend))


def _mode(backend: Backend) -> str:
    return "promise_in_bounds" if backend == "xla" else "drop"
