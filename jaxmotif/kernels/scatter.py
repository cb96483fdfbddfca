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


def put_at(array: jax.Array, index: jax.Array, values: Any, backend: Backend) -> jax.Array:
    """Write values at int32 indices in ``0 .. size``; of several to one entry any one wins whole."""
    return array.at[index].set(values, mode=_mode(backend))


def _mode(backend: Backend) -> str:
    return "promise_in_bounds" if backend == "xla" else "drop"
