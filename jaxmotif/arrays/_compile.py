"""Compiled functions: in 64-bit mode, and told which device they are traced for."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import jax
from jax.core import Tracer
from jax.sharding import Sharding
from jax.stages import Lowered, Wrapped

from jaxmotif.arrays._ahead import placed, rehearsal
from jaxmotif.arrays._fork import using_jax
from jaxmotif.arrays._programs import NEVER, Brief, Kept

T = TypeVar("T")

Kernels = Literal["xla", "triton", "ptx", "ptx-plugin", "mosaic", "interpreted"]
"""Forms of a kernel: plain XLA; a Pallas body through Triton; as PTX of our own, which XLA launches, or JAX's CUDA
plugin; for a TPU by Mosaic, Pallas' compiler there; or interpreted, as tests do on a CPU."""

PREFERRED: dict[str, tuple[Kernels, ...]] = {"cuda": ("ptx", "ptx-plugin", "triton"), "tpu": ("mosaic",)}
"""A device of a platform is given the first of these that works there; plain XLA if none does. The kernels were written
for, and measured on, NVIDIA GPUs; a TPU has one of its own."""


class Target(NamedTuple):
    """What a program is compiled for.

    Attributes:
      platform: ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"tpu"``.
      kernels: which form they take.
      sparing: whether XLA is kept from running several kernels to see which is fastest: their memory is beyond any
        budget.
    """

    platform: str
    kernels: Kernels = "xla"
    sparing: bool = False

    @property
    def fused(self) -> bool:
        """Whether a GPU's kernels run their bodies in tiles, instead of plain XLA."""
        return self.kernels not in ("xla", "mosaic")

    @property
    def is_accelerator(self) -> bool:
        """Whether many small steps cost more than few large ones: sizes are chosen by this."""
        return self.platform != "cpu"


_traced_for: ContextVar[Target | None] = ContextVar("traced_for", default=None)
_sparing: ContextVar[bool] = ContextVar("sparing", default=False)


_find_form: Callable[[jax.Device, tuple[Kernels, ...]], Kernels] | None = None


def register_kernels(find_form: Callable[[jax.Device, tuple[Kernels, ...]], Kernels]) -> None:
    """Register the function that returns the first of some forms in which kernels run on a device.

    The room of kernels lies above this one, so that it registers the function itself when it is imported. A program
    that is compiled before then has no kernels, and its target says plain XLA.
    """
    global _find_form
    _find_form = find_form


def default_device() -> jax.Device:
    """Where JAX puts what is bound to no device."""
    given = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    return given if isinstance(given, jax.Device) else jax.devices(given)[0]


def target_of(device: jax.Device | None = None) -> Target:
    """What is compiled for a device (default: JAX's default device).

    ``JAXMOTIF_KERNELS`` says which form kernels take (one of :data:`Kernels`; those that a device does not have are
    plain XLA).

    Raises:
      ValueError: it is set to something else.
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
    forms = tuple(form for form in PREFERRED.get(platform, ()) if asked in (None, "", form))
    if not forms or _find_form is None:
        return Target(platform)
    # Only a kernel that runs shows that kernels run on this device.
    return Target(platform, _find_form(device, forms))


def target() -> Target:
    """What the function that is being traced will be compiled for: known inside :func:`jit64`, elsewhere that of JAX's
    default device."""
    return _traced_for.get() or target_of()


@contextlib.contextmanager
def compiling_for(target: Target) -> Iterator[None]:
    """Functions called inside are compiled for this, wherever their arguments lie (tests; programs for elsewhere)."""
    token = _traced_for.set(target)
    try:
        yield
    finally:
        _traced_for.reset(token)


@contextlib.contextmanager
def compiling_within(memory: int | None) -> Iterator[None]:
    """Where memory is limited, programs compiled inside take but their own."""
    token = _sparing.set(memory is not None)
    try:
        yield
    finally:
        _sparing.reset(token)


def jit64(function: Callable[..., Any] | None = None, *, brief: Brief = NEVER, **options: Any) -> Any:
    """``jax.jit`` in 64-bit mode, whatever the user's switch, for the device where the arguments lie.

    One compiled function is kept for each :class:`Target`, since the same shapes may take another form there. Works as
    a decorator with and without options, under ``jax.jit``, ``vmap`` and ``shard_map`` too.

    Args:
      brief: which programs are compiled quickly at first, where that is asked for; options: of ``jax.jit``.

    Example:
      >>> import jax.numpy as jnp
      >>> square = jit64(lambda x: x.astype(jnp.int64) ** 2)
      >>> square(jnp.int32(2**20)).dtype, int(square(jnp.int32(2**20)))
      (dtype('int64'), 1099511627776)
    """
    if function is None:
        return functools.partial(jit64, brief=brief, **options)
    compiled: dict[Target, Wrapped] = {}
    kept = Kept(function, options, brief)

    def form(args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[Target, Wrapped]:
        using_jax()
        whole = _traced_for.get()
        now = whole or _where((*args, *kwargs.values()))
        # The program that a function is part of says how it is compiled.
        now = now._replace(sparing=whole is None and now.platform == "cuda" and _sparing.get())
        if now not in compiled:
            # jax.jit shares its cache between equal functions: each target needs one of its own.
            own = functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))
            how = {"xla_gpu_autotune_level": 0} if now.sparing else None
            compiled[now] = jax.jit(own, **options, compiler_options=how)
        return now, compiled[now]

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> Any:
        is_part = _traced_for.get() is not None  # of a program that is being traced, perhaps for elsewhere
        now, run = form(args, kwargs)
        with compiling_for(now), jax.enable_x64(True):
            if is_part:
                return run(*args, **kwargs)
            if (ahead := rehearsal()) is not None:
                return ahead.take(kept, now, run, args, kwargs)
            return kept.call(now, run, args, kwargs)

    def lower(*args: object, **kwargs: object) -> Lowered:
        now, run = form(args, kwargs)
        with compiling_for(now), jax.enable_x64(True):
            return run.lower(*args, **kwargs)

    # A name of its own: ``jax.jit(jax.vmap(call))`` takes over what the function holds, and has a ``lower`` itself.
    call.lower64 = lower  # pyright: ignore[reportAttributeAccessIssue]
    return call


def _where(args: tuple[object, ...]) -> Target:
    """The target of the device that the arguments are bound to; without such, that of JAX's default device."""
    for leaf in jax.tree.leaves(args):
        if isinstance(leaf, jax.Array) and not isinstance(leaf, Tracer) and leaf.committed:
            return target_of(next(iter(leaf.sharding.device_set)))
        if isinstance(leaf, jax.ShapeDtypeStruct) and leaf.sharding is not None:
            return target_of(next(iter(leaf.sharding.device_set)))
    return target_of()


def put64(arrays: T, place: jax.Device | Sharding | None) -> T:
    """``jax.device_put`` of a pytree that keeps 64-bit values, whatever the user's switch."""
    with jax.enable_x64(True):
        return placed(arrays, place)


def for_host(x: jax.Array) -> jax.Array:
    """Inside a compiled function: a result that the host waits for. It is written to the host's memory, which is faster
    than to fetch it afterwards."""
    return jax.device_put(x, jax.memory.Space.Host)
