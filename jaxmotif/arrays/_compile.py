"""Compiled functions: in 64-bit mode, and told which device they are traced for."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, TypeVar, get_args, overload

import jax
import numpy as np
from jax.core import Tracer, eval_context
from jax.sharding import Sharding, SingleDeviceSharding
from jax.stages import Lowered, Wrapped

from jaxmotif.arrays._ahead import rehearsal, set_within
from jaxmotif.arrays._fork import using_jax

T = TypeVar("T")
R = TypeVar("R")

Kernels = Literal["xla", "triton", "ptx", "interpreted"]
"""Forms of a kernel.

They are plain XLA; a Pallas body through Triton; PTX of our own, which XLA launches; or a body that is interpreted, as
tests do on a CPU.
"""

PREFERRED: dict[str, tuple[Kernels, ...]] = {"cuda": ("ptx", "triton")}
"""Forms of kernels by platform: a device is given the first form that works there, and plain XLA if none does.

The kernels were written for, and measured on, NVIDIA GPUs.
"""


class Target(NamedTuple):
    """Device and form of kernels that a program is compiled for.

    Attributes:
      platform: ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"tpu"``.
      kernels: which form kernels take.
    """

    platform: str
    kernels: Kernels = "xla"

    @property
    def fused(self) -> bool:
        """Form of kernels: a GPU's kernels run their bodies in tiles, instead of plain XLA."""
        return self.kernels != "xla"

    @property
    def is_accelerator(self) -> bool:
        """Kind of device by which sizes are chosen: many small steps cost more than few large ones."""
        return self.platform != "cpu"


_traced_for: ContextVar[Target | None] = ContextVar("traced_for", default=None)

Options = tuple[tuple[str, bool | int | str], ...]
"""XLA's options for one program, by name; a tuple, so that it can be part of a key."""

_WITHOUT_TRIALS: Options = (("xla_gpu_autotune_level", 0), ("xla_gpu_enable_triton_gemm", False))
"""Options for NVIDIA GPUs. By default XLA times several forms of each matrix product and fusion while it compiles.
That takes most of the time of compiling (52 of 64 s for the programs of five nodes) and memory beyond any budget.
Without the trials XLA must not choose Triton's matrix products, which are slow unless they are tuned: those of cuBLAS
are as fast as what the trials find."""

_UNMERGED: Options = (("xla_disable_hlo_passes", "multi_output_fusion"),)
"""Option for NVIDIA GPUs. By default XLA merges kernels that read the same arrays into one with several results."""

_ON_ONE_THREAD: Options = (("xla_disable_hlo_passes", "cpu-parallel-task-assigner"),)
"""Option for CPUs. By default XLA divides loops over arrays of more than a few hundred KiB among threads. Where a loop
is short, to begin it on several threads takes longer than it saves."""

_UNFUSED: Options = (("xla_cpu_use_fusion_emitters", False), ("xla_cpu_parallel_codegen_split_count", 1))
_UNOPTIMISED: Options = (*_UNFUSED, ("xla_backend_optimization_level", 0))


class QuickLimits(NamedTuple):
    """Limits, in bytes of all arguments, up to which :func:`compile_quickly` leaves out optimisations of a program.

    With arguments of at most this size, and whatever their values, the program runs so briefly on a CPU that most of
    the time goes into compiling it.

    Attributes:
      unoptimised: up to here without LLVM's optimisations. Compiling then takes a fifth of the time, and running two
        to eight times as long.
      unfused: up to here without fusion emitters. Compiling then takes half of the time, and running as a rule a
        little longer.
    """

    unoptimised: int = 0
    unfused: int = 0


_quick = False
_unknown_options: set[str] = set()  # to the XLA at hand


def compile_quickly(quick: bool) -> None:
    """Say whether this process asks for few results, so that small programs on a CPU are compiled quickly."""
    global _quick
    _quick = quick


_find_form: Callable[[jax.Device, tuple[Kernels, ...]], Kernels] | None = None


def register_kernels(find_form: Callable[[jax.Device, tuple[Kernels, ...]], Kernels]) -> None:
    """Register the function that tries some forms of kernels on a device, and returns the first one that runs.

    This package cannot import :mod:`jaxmotif.kernels`, which builds on it. So that package registers the function when
    it is imported. A program that is compiled before then has no kernels, and its target says plain XLA.
    """
    global _find_form
    _find_form = find_form


def default_device() -> jax.Device:
    """Return the device on which JAX puts arrays that are bound to none."""
    given = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    return given if isinstance(given, jax.Device) else jax.devices(given)[0]


def target_of(device: jax.Device | None = None) -> Target:
    """Return the target of programs for a device (default: JAX's default device).

    The environment variable ``JAXMOTIF_KERNELS`` may name a form of kernels, one of :data:`Kernels`. If the device
    does not have that form, it is plain XLA.

    Raises:
      ValueError: the variable is set to something else.
    """
    device = default_device() if device is None else device
    platform = device.platform
    if platform in ("gpu", "cuda", "rocm"):
        platform = "rocm" if "amd" in device.device_kind.lower() else "cuda"
    asked = os.environ.get("JAXMOTIF_KERNELS")
    if asked and asked not in get_args(Kernels):
        raise ValueError(f"JAXMOTIF_KERNELS must be one of {', '.join(get_args(Kernels))}, got {asked!r}")
    if asked == "interpreted":
        return Target(platform, asked)
    forms: tuple[Kernels, ...] = tuple(form for form in PREFERRED.get(platform, ()) if asked in (None, "", form))
    if not forms or _find_form is None:
        return Target(platform)
    # Only a kernel that runs shows that kernels run on this device.
    return Target(platform, _find_form(device, forms))


def target() -> Target:
    """Return the target of the function that is being traced.

    Inside :func:`jit64` it is the target of that function; elsewhere it is the target of JAX's default device.
    """
    return _traced_for.get() or target_of()


def compiling_for(target: Target) -> AbstractContextManager[None]:
    """Compile functions called inside for this target, wherever their arguments lie (tests; programs for elsewhere)."""
    return set_within(_traced_for, target)


@overload
def jit64(
    function: Callable[..., R],
    *,
    quick: QuickLimits | None = None,
    merge: bool = True,
    one_thread: int = 0,
    **options: Any,
) -> Callable[..., R]: ...
@overload
def jit64(
    *, quick: QuickLimits | None = None, merge: bool = True, one_thread: int = 0, **options: Any
) -> Callable[[Callable[..., R]], Callable[..., R]]: ...
def jit64(
    function: Callable[..., Any] | None = None,
    *,
    quick: QuickLimits | None = None,
    merge: bool = True,
    one_thread: int = 0,
    **options: Any,
) -> Any:
    """Compile a function as ``jax.jit`` does, in 64-bit mode and for the device where its arguments lie.

    The user's own 64-bit switch is neither heeded nor changed. One compiled function is kept for each :class:`Target`
    and choice of XLA's options, since each may need another program for the same shapes. The decorator may be used
    with or without options, and the functions that it returns may be called under ``jax.jit``, ``vmap`` and
    ``shard_map``.

    Args:
      function: the function to compile; it is left out if the decorator is given options.
      quick: which of its programs may be compiled quickly on a CPU, see :func:`compile_quickly` (default: none).
      merge: whether XLA may merge kernels that read the same arrays. This saves reading on a GPU. But if a program has
        many cumulative sums, XLA makes a few huge kernels of them: compiling takes up to twice as long, since each
        kernel is compiled on one core, and the program runs no faster.
      one_thread: up to how many bytes of all arguments a CPU runs the program on one thread, for programs of many
        short loops (default: XLA divides each loop as it sees fit).
      options: the options of ``jax.jit``.

    Example:
      >>> import jax.numpy as jnp
      >>> square = jit64(lambda x: x.astype(jnp.int64) ** 2)
      >>> square(jnp.int32(2**20)).dtype, int(square(jnp.int32(2**20)))
      (dtype('int64'), 1099511627776)
    """
    if function is None:
        return functools.partial(jit64, quick=quick, merge=merge, one_thread=one_thread, **options)
    compiled: dict[tuple[Target, Options], Wrapped] = {}

    def program(now: Target, how: Options) -> Wrapped:
        if (now, how) not in compiled:
            # jax.jit shares its cache between equal functions, so each target and choice of options needs its own.
            own = functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))
            # Several threads may be here at once. They must get the same object, or each would compile the program.
            compiled.setdefault((now, how), jax.jit(own, **options, compiler_options=dict(how) or None))
        return compiled[now, how]

    def target_and_program(args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[Target, Wrapped, bool]:
        """Return the target, the program, and whether it is part of another one that is being traced."""
        using_jax()
        if (whole := _traced_for.get()) is not None:
            return whole, program(whole, ()), True
        device, is_part, arrays = _look_at((args, kwargs))
        now = target_of(device)
        # XLA takes options for whole programs only: one that is part of the user's has none.
        return now, program(now, () if is_part else _compiler_options(now, quick, merge, one_thread, arrays)), is_part

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> Any:
        now, run, is_part = target_and_program(args, kwargs)
        with compiling_for(now), jax.enable_x64(True):
            if is_part:
                return run(*args, **kwargs)
            if (ahead := rehearsal()) is not None:
                return ahead.take(run, args, kwargs)
            try:
                return call_program(run, args, kwargs)
            except jax.errors.JaxRuntimeError as error:
                if not _is_unknown_option(error):
                    raise
        return call(*args, **kwargs)

    def lower(*args: object, **kwargs: object) -> Lowered:
        now, run, _ = target_and_program(args, kwargs)
        with compiling_for(now), jax.enable_x64(True):
            return run.lower(*args, **kwargs)

    # It cannot be called ``lower``: ``jax.jit(jax.vmap(call))`` copies the attributes of ``call``, and this one would
    # take the place of the method ``lower`` that the jitted function has itself.
    call.lower64 = lower  # pyright: ignore[reportAttributeAccessIssue]
    return call


def call_program(run: Wrapped, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a program from the host: the one place through which all of the library's own calls go."""
    # A user may trace a function that closes over a graph. The graph's counts are then computed at once, instead of
    # being traced, and become constants of the user's program.
    with eval_context():
        return run(*args, **kwargs)


def _look_at(arguments: object) -> tuple[jax.Device | None, bool, list[jax.Array | np.ndarray]]:
    """Gather from the arguments of a call what decides its program, in one pass, since every call does this.

    Returns:
      The device of the first argument that is bound to a device; whether there is a tracer among the arguments; and
      the arrays among them.
    """
    device, traced, arrays = None, False, []
    for leaf in jax.tree.leaves(arguments):
        role = _role(type(leaf))
        if role == "tracer":
            traced = True
        elif role != "other":
            if role != "placeholder":
                arrays.append(leaf)
            if device is None and role != "numpy" and getattr(leaf, "committed", True) and leaf.sharding is not None:
                device = next(iter(leaf.sharding.device_set))
    return device, traced, arrays


@functools.cache
def _role(kind: type) -> Literal["tracer", "array", "numpy", "placeholder", "other"]:
    """Return what an argument of a type is to a program.

    The answer is cached by type, since asking JAX about each argument would take longer than everything else here.
    """
    if issubclass(kind, Tracer):
        return "tracer"
    if issubclass(kind, np.ndarray):
        return "numpy"
    if issubclass(kind, jax.ShapeDtypeStruct):
        return "placeholder"
    return "array" if issubclass(kind, jax.Array) else "other"


def _compiler_options(
    now: Target, quick: QuickLimits | None, merge: bool, one_thread: int, arrays: list[jax.Array | np.ndarray]
) -> Options:
    """Return XLA's options for a program that is called with some arrays.

    An option that the user has set in ``XLA_FLAGS`` is left as it is, and so is one that this XLA does not know.
    """
    options: Options = ()
    if now.platform == "cuda":
        options = _WITHOUT_TRIALS if merge else _WITHOUT_TRIALS + _UNMERGED
    elif now.platform == "cpu" and quick is not None and _quick:
        size = sum(x.nbytes for x in arrays)
        options = _UNOPTIMISED if size <= quick.unoptimised else _UNFUSED if size <= quick.unfused else ()
    elif now.platform == "cpu" and one_thread and sum(x.nbytes for x in arrays) <= one_thread:
        options = _ON_ONE_THREAD
    flags = os.environ.get("XLA_FLAGS", "") if options else ""
    return tuple((name, value) for name, value in options if name not in flags and name not in _unknown_options)


def _is_unknown_option(error: Exception) -> bool:
    """Return whether an error says that this XLA does not know an option; the option is then no longer used."""
    named = re.search(r"No such compile option: '(\w+)'", str(error))
    if named is None:
        return False
    _unknown_options.add(named[1])
    return True


def put64(arrays: T, place: jax.Device | Sharding | None) -> T:
    """Put a pytree on a device as ``jax.device_put`` does, keeping 64-bit values whatever the user's switch.

    In a rehearsal (:mod:`jaxmotif.arrays._ahead`) the pytree may hold placeholders of arrays.
    """

    def put(x: Any) -> Any:
        if not isinstance(x, jax.ShapeDtypeStruct):
            return jax.device_put(x, place)
        where = place
        if isinstance(place, jax.Device):
            where = SingleDeviceSharding(place, memory_kind=place.default_memory().kind)  # pyright: ignore[reportAttributeAccessIssue]
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=where)

    with jax.enable_x64(True):
        if rehearsal() is not None:
            return jax.tree.map(put, arrays)
        # Arrays that are bound to the place already are left alone, since moving many small arrays takes a while.
        if isinstance(place, jax.Device) and all(_is_on(place, x) for x in jax.tree.leaves(arrays)):
            return arrays
        return jax.device_put(arrays, place)


def _is_on(device: jax.Device, x: Any) -> bool:
    if not isinstance(x, jax.Array) or isinstance(x, Tracer) or not x.committed:
        return False
    memory = x.sharding.memory_kind
    # Some results of a program are in memory of the host.
    return x.sharding.device_set == {device} and memory in (None, device.default_memory().kind)  # pyright: ignore[reportAttributeAccessIssue]


def for_host(x: jax.Array) -> jax.Array:
    """Put a result that the host waits for in the host's memory, inside a compiled function.

    Writing it there is faster than fetching it afterwards.
    """
    return jax.device_put(x, jax.memory.Space.Host)
