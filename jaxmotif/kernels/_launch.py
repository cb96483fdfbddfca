"""How a GPU is given a kernel: a Pallas body through Triton, as PTX of our own, or interpreted.

This file alone knows these forms; each is imported where a program takes it, and only there. Beside what Pallas allows
a body on any backend, it may use the operations below. Each is a small compiled function whose own body says what it
means, which is how it is interpreted; the forms for a GPU know it by its name.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import PREFERRED, Kernels, Target, compiling_for, default_device, target


def kernel_call(kernel: Callable[..., None], *, lanes: int, warps: int = 4, **options: Any) -> Callable[..., Any]:
    """``pl.pallas_call``, in 32-bit mode, for what the program is compiled for.

    Args:
      lanes: of the kernel's vectors, whose shape is ``(lanes,)``; all other values are the same in all of them.
      warps: of a program, for Triton.
      options: of ``pl.pallas_call``.
    """
    now = target()

    def by_pallas(form: Kernels) -> Callable[..., Any]:
        from jax.experimental import pallas as pl

        more = {}
        if form == "triton":
            from jax.experimental.pallas import triton

            more["compiler_params"] = triton.CompilerParams(num_warps=warps, num_stages=1)
        # A function of its own: Pallas keeps what it has traced, whatever the form.
        return pl.pallas_call(lambda *refs: kernel(*refs), interpret=form == "interpreted", **more, **options)

    def call(*operands: Any) -> Any:
        # In 64-bit mode the Python integers of a body, such as its loops' bounds, would be int64.
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
    """The form that is left for one kernel whose PTX is not shipped and could not be made, with a warning."""
    form: Kernels = "interpreted" if _error(default_device(), "triton") else "triton"
    warnings.warn(
        f"kernel {name} runs {'through Triton' if form == 'triton' else 'interpreted, which is slow'}: no PTX of it is "
        f"shipped for JAX {jax.__version__}, and none could be made ({error})",
        RuntimeWarning,
        stacklevel=3,
    )
    return form


def whole() -> Any:
    """An operand that a kernel sees whole, not in blocks."""
    from jax.experimental import pallas as pl

    return pl.BlockSpec()


# ---- which form


@functools.cache
def first_that_works(device: jax.Device, forms: tuple[Kernels, ...]) -> Kernels:
    """The first form in which a tiny kernel runs, with the right result; if there is none ``"xla"``, with a warning."""
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
    if not isinstance(device, jax.Device):
        return None  # the description of one: nothing can run there
    if device.process_index != jax.process_index():
        device = jax.local_devices(backend=device.platform)[0]  # another process's: of the same kind, as a rule

    def run() -> str | None:
        with compiling_for(Target("tpu" if form == "mosaic" else "cuda", form)):
            # A function of its own: jax.jit shares what it traced between equal ones.
            found = jax.jit(lambda numbers: probe(numbers))(jax.device_put(np.arange(64, dtype=np.int32), device))
            return None if np.array_equal(found, 63 - np.arange(64)) else "a kernel gave a wrong result"

    try:
        # Whoever asks may be tracing, which is a thread's own: in another one this is run now.
        with ThreadPoolExecutor(1) as other:
            return other.submit(run).result()
    except Exception as error:  # whatever it is, there is another way
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"


def probe(numbers: jax.Array) -> jax.Array:
    """Int32 ``[64]`` from 0 on in falling order, by a kernel."""
    if target().kernels == "mosaic":
        from jaxmotif.kernels import _sieve_tpu

        return _sieve_tpu.probe(numbers)

    def kernel(numbers: jax.Array, out: jax.Array) -> None:
        lane = jnp.arange(64, dtype=jnp.int32)
        out[...] = load(numbers, 63 - lane, lane < 63)

    shape = jax.ShapeDtypeStruct((64,), jnp.int32)
    return kernel_call(kernel, lanes=64, out_shape=shape, in_specs=[whole()], out_specs=whole(), name="probe")(numbers)


# ---- what a kernel's body may do


def load(ref: Any, index: Any, mask: jax.Array | None = None) -> Any:
    """Gather from a whole operand; masked lanes read nothing and give 0."""
    if target().kernels == "triton":
        from jax.experimental.pallas import triton

        return triton.load(ref.at[index], mask=mask, other=None if mask is None else 0)
    return ref[index] if mask is None else masked_load(ref, index, mask)


def store(ref: Any, index: jax.Array, values: jax.Array, mask: jax.Array) -> None:
    """Scatter to a whole operand; masked lanes write nothing."""
    if target().kernels == "triton":
        from jax.experimental.pallas import triton

        triton.store(ref.at[index], values, mask=mask)
    else:
        masked_store(ref, index, values, mask)


def fetch_add(ref: Any, value: jax.Array) -> Any:
    """Add a scalar to the only entry of an operand, programs one after another; what it held before."""
    if target().kernels == "triton":
        from jax.experimental.pallas import triton

        return triton.atomic_add(ref, (value * 0,), value)  # a literal index fails in some versions
    return add_and_fetch(ref, value)


def sign_of_byte(words: jax.Array, byte: int) -> jax.Array:
    """All ones where the highest bit of a byte (0: the lowest) of int32 words is set, else 0: one instruction."""
    if target().kernels != "triton":
        return spread_sign(words, np.int32(byte))
    from jax.experimental.pallas import triton

    # A selector's nibble 8 + byte repeats that byte's sign.
    (mask,) = triton.elementwise_inline_asm(
        f"prmt.b32 $0, $1, 0, 0x{0x8888 + 0x1111 * byte:x};",
        args=[words],
        constraints="=r,r",
        pack=1,
        result_shape_dtypes=[jax.ShapeDtypeStruct(words.shape, jnp.int32)],
    )
    return mask


def each_alone(work: Callable[[], None]) -> None:
    """Do what is decorated, whose lanes have nothing to do with each other, so that each may run by itself: a ``max``
    over lanes in it, as the bound of a loop, may be that of some of them."""
    if target().kernels == "triton":
        work()
        return

    def lane_alone() -> None:
        work()

    jax.jit(lane_alone)()


@jax.jit
def masked_load(ref: Any, index: jax.Array, mask: jax.Array) -> Any:
    values = ref[jnp.where(mask, index, 0)]
    return jnp.where(mask, values, jnp.zeros_like(values))


@jax.jit
def masked_store(ref: Any, index: jax.Array, values: jax.Array, mask: jax.Array) -> None:
    ref[jnp.where(mask, index, ref.shape[0])] = values  # past the end, where nothing is written


@jax.jit
def add_and_fetch(ref: Any, value: jax.Array) -> Any:
    before = ref[0]
    ref[0] = before + value
    return before


@jax.jit
def spread_sign(words: jax.Array, byte: int | jax.Array) -> jax.Array:
    return lax.shift_right_arithmetic(words << (24 - 8 * jnp.asarray(byte, jnp.int32)), jnp.int32(31))
