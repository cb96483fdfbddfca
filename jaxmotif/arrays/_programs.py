"""Whole compiled programs kept in a folder: a later process neither traces nor lowers nor compiles them.

JAX's own cache of compiled code is asked only after a function was traced and lowered, which takes most of the time of
a short command. Here a program is found before that, by all that it is made of: the function's name and the source of
the whole package, its static arguments, the kinds of the others, the device, versions and settings. Whatever is not
plainly the same is not found, and what cannot be described so is left to ``jax.jit``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import logging
import os
import pickle
import tempfile
import threading
import zlib
from collections.abc import Callable, Hashable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer
from jax.sharding import SingleDeviceSharding

SUFFIX = "-program"
_logger = logging.getLogger("jaxmotif")
_folder: Path | None = None
_own = False
_of_thread = threading.local()


def keep_programs_in(folder: Path | None, own: bool = False) -> None:
    """Where programs are kept from now on, ``None`` for nowhere; ``own``: what JAX keeps there too may be removed."""
    global _folder, _own
    _folder, _own = folder, own
    if folder is not None:
        _hear_of_hits()


@functools.cache
def _hear_of_hits() -> None:
    def hear(event: str, **_: Any) -> None:
        if event == "/jax/compilation_cache/cache_hits":
            _of_thread.hits = getattr(_of_thread, "hits", 0) + 1

    jax.monitoring.register_event_listener(hear)


class Kept:
    """The programs of one function."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        self._name = f"{function.__module__}.{function.__qualname__}"
        # What a function closes over is no part of its name.
        self._apt = function.__closure__ is None and "<" not in self._name and function.__module__[:9] == "jaxmotif."
        self._static = _static_names(function, options)
        self._names = list(inspect.signature(function).parameters) if self._apt else []
        self._programs: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, threading.Lock] = {}

    def call(self, target: Hashable, jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function's result, by a program that was kept or is kept now; or by ``jitted`` itself."""
        asked = self._asked(target, args, kwargs) if self._apt and _folder is not None else None
        if asked is None:
            return jitted(*args, **kwargs)
        program = self._programs.get(asked)
        if program is None:
            with self._locks.setdefault(asked, threading.Lock()):  # threads of a job come for it at the same time
                program = self._programs.get(asked) or self._load(asked) or self._compile(asked, jitted, args, kwargs)
                self._programs[asked] = program
        if program is jitted:
            return jitted(*args, **kwargs)
        # A compiled program takes no static arguments.
        free = (x for name, x in zip(self._names, args, strict=False) if name not in self._static)
        return program(*free, **{name: x for name, x in kwargs.items() if name not in self._static})

    def _asked(self, target: Hashable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Asked | None:
        named = [*zip(self._names, args, strict=False), *kwargs.items()]
        static = tuple((name, x) for name, x in named if name in self._static)
        leaves, tree = jax.tree.flatten({name: x for name, x in named if name not in self._static})
        kinds = [_kind(x) for x in leaves]
        device = _one_device(leaves)
        # Tracers, arrays over several devices, and what else is no plain array are left to jax.jit.
        if None in kinds or device is None:
            return None
        return _Asked(target, static, tree, tuple(kinds), device, len(args))

    def _file(self, asked: _Asked) -> Path | None:
        static = _described(asked.static)
        if static is None or _folder is None or jax.process_count() > 1:
            return None
        text = repr((self._name, static, asked[0], str(asked.tree), asked.kinds, str(asked.device), asked.placed))
        return _folder / f"{hashlib.sha256((text + _surroundings()).encode()).hexdigest()}{SUFFIX}"

    def _load(self, asked: _Asked) -> Any:
        file = self._file(asked)
        if file is None or not file.exists():
            return None
        from jax.experimental.serialize_executable import deserialize_and_load

        try:
            parts = pickle.loads(zlib.decompress(file.read_bytes()))
            program = deserialize_and_load(*parts, backend=asked.device.client, execution_devices=[asked.device])
            with contextlib.suppress(OSError):
                os.utime(file)  # the folder drops what was used longest ago
        except Exception as error:  # whatever a damaged file leads to
            _logger.info("compiled code that was kept is broken, and is made anew (%s)", type(error).__name__)
            with contextlib.suppress(OSError):
                file.unlink()
            return None
        return program

    def _compile(self, asked: _Asked, jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compiles, and keeps, a program; ``jitted`` where that cannot be."""
        file = self._file(asked)
        if file is None:
            return jitted
        from jax.experimental.serialize_executable import serialize

        before = getattr(_of_thread, "hits", 0)
        program = jitted.lower(*args, **kwargs).compile()
        # XLA cannot write again, with all its parts, what JAX has just read from its own cache.
        if getattr(_of_thread, "hits", 0) == before:
            try:
                _write(file, zlib.compress(pickle.dumps(serialize(program)), 1))
            except Exception as error:  # a full disk, or a kind of program that cannot be written
                note_once(f"compiled code cannot be kept ({error})"[:200])
                return program
        if _own:  # kept twice it would be in the way the next time
            for same in file.parent.glob(f"jit_{self._name.rpartition('.')[2]}-*-cache"):
                with contextlib.suppress(OSError):
                    same.unlink()
        return program


class _Asked(NamedTuple):
    """What tells the programs of a function apart; ``placed``: how many arguments were given by their place."""

    target: Hashable
    static: Hashable
    tree: Any
    kinds: tuple[Hashable, ...]
    device: jax.Device
    placed: int


def _kind(x: Any) -> Hashable:
    """What a program knows of an argument; ``None`` for a kind of argument that it is not kept for."""
    if isinstance(x, jax.Array) and not isinstance(x, Tracer):
        where = x.sharding
        if not isinstance(where, SingleDeviceSharding):
            return None
        (device,) = where.device_set
        weak = getattr(x, "weak_type", False)  # random keys are never
        return x.shape, str(x.dtype), weak, x.committed, str(device), where.memory_kind
    if isinstance(x, np.ndarray | np.generic) and x.dtype != object:
        return x.shape, str(x.dtype), type(x).__name__
    return type(x).__name__ if isinstance(x, bool | int | float) else None


def _one_device(leaves: list[Any]) -> jax.Device | None:
    """Where ``jax.jit`` would run: where arguments are bound to, else JAX's default; ``None`` unless all lie there."""
    arrays = [x for x in leaves if isinstance(x, jax.Array)]
    if any(isinstance(x, Tracer) or len(x.sharding.device_set) > 1 for x in arrays):
        return None
    places = {device for x in arrays for device in x.sharding.device_set}
    if any(x.committed for x in arrays):
        return next(iter(places)) if len(places) == 1 else None
    given = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    default = given if isinstance(given, jax.Device) else jax.local_devices(backend=given)[0]
    return default if places <= {default} else None


def _described(value: Any) -> str | None:
    """A text equal for equal static arguments and no others; ``None`` where there is no such text."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if not isinstance(value, tuple | frozenset):
        return None
    parts = [_described(part) for part in value]
    if None in parts:
        return None
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return f"{kind}({', '.join(map(str, sorted(map(str, parts)) if isinstance(value, frozenset) else parts))})"


def _static_names(function: Callable[..., Any], options: dict[str, Any]) -> frozenset[str]:
    names, places = options.get("static_argnames", ()), options.get("static_argnums", ())
    names = (names,) if isinstance(names, str) else tuple(names)
    places = (places,) if isinstance(places, int) else tuple(places)
    parameters = list(inspect.signature(function).parameters)
    return frozenset((*names, *(parameters[place] for place in places)))


@functools.cache
def _source() -> str:
    """A name for the code of the whole package: any function may be part of any program."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _surroundings() -> str:
    """Versions, devices and settings that may change a program."""
    settings = {
        name: str(value)
        for name, value in sorted(jax.config.values.items())  # pyright: ignore[reportAttributeAccessIssue]
        if "cache" not in name and name != "jax_default_device"
    }
    flags = {name: os.environ.get(name) for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")}
    devices = [(str(device), device.device_kind, device.client.platform_version) for device in jax.local_devices()]
    return repr((_source(), jax.__version__, version("jaxlib"), settings, flags, devices))


def _write(file: Path, content: bytes) -> None:
    """A file that appears whole or not at all, whoever else writes it."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as partial:
        try:
            partial.write(content)
            partial.close()
            os.replace(partial.name, file)
        except BaseException:
            Path(partial.name).unlink(missing_ok=True)
            raise


@functools.cache
def note_once(text: str) -> None:
    """Logs a note the first time."""
    _logger.info("%s", text)
