"""The ways in which a GPU runs a kernel: a Pallas body through Triton, as PTX of our own, or interpreted.

This file alone knows these forms, and imports each only where a program takes it. A kernel's body may use what Pallas
allows on every backend, the operations at the end of this file, and the arithmetic of ``_gf256``. Some of these
operations are small jitted functions, whose bodies define what they do. An interpreted kernel runs that body; the
translation to PTX recognises the functions by their names.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmotif.arrays._compile import PREFERRED, Kernels, Target, compiling_for, default_device, target


def kernel_call(kernel: Callable[..., None], *, lanes: int, warps: int = 4, **options: Any) -> Callable[..., Any]:
    """Return a function that calls a kernel, as ``pl.pallas_call`` does, in the form that the target takes.

    The kernel is traced in 32-bit mode.

    Args:
      kernel: The body of the kernel.
      lanes: The length of the kernel's vectors, whose shape is ``(lanes,)``. All other values are the same in all
        lanes.
      warps: The number of warps of a program, for Triton.
      options: Options of ``pl.pallas_call``. Operands and results without specifications are seen as a whole.
    """
    now = target()

    def by_pallas(form: Kernels) -> Callable[..., Any]:
        from jax.experimental import pallas as pl

        more = {}
        if form == "triton":
            from jax.experimental.pallas import triton

            more["compiler_params"] = triton.CompilerParams(num_warps=warps, num_stages=1)
        # Pallas caches traces by the function and not by the form, so each form has a function of its own.
        return pl.pallas_call(lambda *refs: kernel(*refs), interpret=form == "interpreted", **more, **options)

    def call(*operands: Any) -> Any:
        # In 64-bit mode the Python integers of a body, such as the bounds of its loops, would be int64.
        with jax.enable_x64(False):
            if now.kernels in ("triton", "interpreted"):
                return by_pallas(now.kernels)(*operands)
            from jaxmotif.kernels.cuda._call import ptx_call

            try:
                return ptx_call(by_pallas(now.kernels), operands, now.kernels, lanes, warps, options["name"])
            except RuntimeError as error:
                if now.kernels not in PREFERRED["cuda"]:
                    raise
                form = _without_ptx(options["name"], error)
            with compiling_for(now._replace(kernels=form)):
                return by_pallas(form)(*operands)

    return call


def _without_ptx(name: str, error: RuntimeError) -> Kernels:
    """Return the form for a kernel whose PTX is not shipped and could not be made, and warn the user."""
    form: Kernels = "interpreted" if _error(default_device(), "triton") else "triton"
    warnings.warn(
        f"kernel {name} runs {'through Triton' if form == 'triton' else 'interpreted, which is slow'}: no PTX of it is "
        f"shipped for JAX {jax.__version__}, and none could be made ({error})",
        RuntimeWarning,
        stacklevel=3,
    )
    return form


def whole() -> Any:
    """Return the specification of an operand that a kernel sees as a whole and not in blocks."""
    from jax.experimental import pallas as pl

    return pl.BlockSpec()


# ---- which form


@functools.cache
def first_that_works(device: jax.Device, forms: tuple[Kernels, ...]) -> Kernels:
    """Return the first form in which a tiny kernel runs and gives the right result.

    If there is none the result is ``"xla"``, and the user is warned.
    """
    errors = []
    for form in forms:
        error = _error(device, form)
        if error is None:
            return form
        errors.append(f"{form}: {error}")
    warnings.warn(
        f"kernels do not run on {device}, so plain XLA is used, which is slower ({'; '.join(errors)}); "
        "JAXMOTIF_KERNELS=xla says that this is meant",
        RuntimeWarning,
        stacklevel=2,
    )
    return "xla"


def _error(device: jax.Device, form: Kernels) -> str | None:
    """Return why a tiny kernel does not run in this form on this device, or ``None`` if it does."""
    if not isinstance(device, jax.Device):
        return None  # This is the description of a device, on which nothing can run.
    if device.process_index != jax.process_index():
        # Another process's device is in general of the same kind as this process's.
        device = jax.local_devices(backend=device.platform)[0]

    def run() -> str | None:
        with compiling_for(Target("cuda", form)):
            # jax.jit shares traces between equal functions, so each form needs a function of its own.
            result = jax.jit(lambda numbers: probe(numbers))(jax.device_put(np.arange(64, dtype=np.int32), device))
            return None if np.array_equal(result, 63 - np.arange(64)) else "a kernel gave a wrong result"

    try:
        # The caller may be tracing a function. Tracing belongs to a thread, so that in another one the kernel runs.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(run).result()
    except Exception as error:  # Any failure means that another form is taken.
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"


def probe(numbers: Array) -> Array:
    """Return the reverse of the numbers 0 to 63 (int32 ``[64]``), by a kernel of the target's form."""

    def kernel(numbers: Array, out: Array) -> None:
        lane = jnp.arange(64, dtype=jnp.int32)
        out[...] = load(numbers, 63 - lane, lane < 63)

    shape = jax.ShapeDtypeStruct((64,), jnp.int32)
    return kernel_call(kernel, lanes=64, out_shape=shape, name="probe")(numbers)


# ---- operations that a kernel's body may use


def load(ref: Any, index: Any, mask: Array | None = None) -> Any:
    """Gather from an operand that the kernel sees whole; lanes outside the mask read nothing and get 0."""
    if target().kernels == "triton":
        from jax.experimental.pallas import triton

        return triton.load(ref.at[index], mask=mask, other=None if mask is None else 0)
    return ref[index] if mask is None else masked_load(ref, index, mask)


def store(ref: Any, index: Array, values: Array, mask: Array) -> None:
    """Scatter to an operand that the kernel sees whole; lanes outside the mask write nothing."""
    if target().kernels == "triton":
        from jax.experimental.pallas import triton

        triton.store(ref.at[index], values, mask=mask)
    else:
        masked_store(ref, index, values, mask)


def fetch_add(ref: Any, value: Array) -> Any:
    """Add a scalar to the only entry of an operand, one program after another, and return the value before."""
    if target().kernels == "triton":
        from jax.experimental.pallas import triton

        return triton.atomic_add(ref, (value * 0,), value)  # Some versions fail for an index that is a literal.
    return add_and_fetch(ref, value)


def each_alone(work: Callable[[], None]) -> None:
    """Run a function whose lanes are independent, so that a thread may take one lane after another.

    This is a decorator that calls the function at once. A ``max`` over lanes in the function, as a bound of a loop, may
    be the maximum of some of the lanes only.
    """
    if target().kernels == "triton":
        work()
        return

    def lane_alone() -> None:
        work()

    jax.jit(lane_alone)()


@jax.jit
def masked_load(ref: Any, index: Array, mask: Array) -> Any:
    values = ref[jnp.where(mask, index, 0)]
    return jnp.where(mask, values, jnp.zeros_like(values))


@jax.jit
def masked_store(ref: Any, index: Array, values: Array, mask: Array) -> None:
    ref[jnp.where(mask, index, ref.shape[0])] = values  # An index past the end writes nothing.


@jax.jit
def load_entries(ref: Any, index: tuple) -> tuple[Array, ...]:
    """Load all entries of the last axis at an index of the other axes, as an array for each entry.

    A thread of our own PTX loads four entries at once, which are 32-bit words; their number is a multiple of four.
    """
    return tuple(ref[(*index, place)] for place in range(ref.shape[-1]))


@jax.jit
def store_entries(ref: Any, index: tuple, values: Sequence[Array]) -> None:
    """Store all entries of the last axis at an index of the other axes; see :func:`load_entries`."""
    for place, value in enumerate(values):
        ref[(*index, place)] = value


@jax.jit
def add_and_fetch(ref: Any, value: Array) -> Any:
    before = ref[0]
    ref[0] = before + value
    return before
