"""Whole compiled programs kept in a folder: a later process neither traces nor lowers nor compiles them.

JAX's own cache of compiled code is asked only after a function was traced and lowered, which takes most of the time of
a short command. Here a program is found before that, by all that it is made of: the function's name and the source of
the whole package, its static arguments, the kinds of the others, the device, versions and settings. Whatever is not
plainly the same is not found, and what cannot be described so is left to ``jax.jit``.

Compiling takes longer than what a short command does with its programs. Where that is asked for, a *brief* program on
a CPU is compiled quickly at first, with few optimisations, and again with all of them once it has been called often.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import itertools
import logging
import os
import pickle
import tempfile
import threading
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer
from jax.sharding import SingleDeviceSharding
from jax.stages import Compiled, Lowered, Wrapped

SUFFIX = "-program"
_logger = logging.getLogger("jaxmotif")
_folder: Path | None = None
_own = _quick = False
_of_thread = threading.local()

# Split for several threads, code takes more of all of them together to compile.
_UNFUSED = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}
_UNOPTIMISED = {**_UNFUSED, "xla_backend_optimization_level": 0}

HOT = 8
"""Calls after which a program that was compiled quickly is compiled again: it has lost about what that takes."""


class Brief(NamedTuple):
    """Up to how many bytes of arguments a function's programs run so briefly on a CPU that compiling them is what takes
    time, whatever the values.

    Attributes:
      unoptimised: for code without LLVM's optimisations: a fifth of the time to compile, two to eight times as long to
        run.
      unfused: for code without fusion emitters: half of the time to compile, and as a rule a little longer to run.
    """

    unoptimised: int = 0
    unfused: int = 0


NEVER = Brief()


def keep_programs_in(folder: Path | None, own: bool = False, quick: bool = False) -> None:
    """Where programs are kept from now on, ``None`` for nowhere.

    Args:
      own: what JAX keeps there too may be removed.
      quick: brief programs are compiled quickly at first.
    """
    global _folder, _own, _quick
    _folder, _own, _quick = folder, own, quick
    if folder is not None:
        _hear_of_hits()


@functools.cache
def _hear_of_hits() -> None:
    def hear(event: str, **_: object) -> None:
        if event == "/jax/compilation_cache/cache_hits":
            _of_thread.hits = getattr(_of_thread, "hits", 0) + 1

    jax.monitoring.register_event_listener(hear)


class _Program(NamedTuple):
    """A program; of one that was compiled quickly, how often it was called, by the next call."""

    run: Callable[..., Any]  # compiled, or what compiles it
    calls: Iterator[int] | None = None

    @property
    def is_due(self) -> bool:
        """Whether this call, which it counts, is to be of one compiled again."""
        return self.calls is not None and next(self.calls) >= HOT  # `next` is atomic: threads share programs


class Kept:
    """The programs of one function.

    Args:
      brief: which of them are compiled quickly at first.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], brief: Brief):
        # What a function closes over, or a partial one is given, is no part of its name.
        named = inspect.isfunction(function) and function.__closure__ is None
        self._name = f"{function.__module__}.{function.__qualname__}" if named else ""
        self._apt = "<" not in self._name and self._name.startswith("jaxmotif.")
        self._static = _static_names(function, options)
        self._names = list(inspect.signature(function).parameters) if self._apt else []
        self._brief = brief
        self._programs: dict[Hashable, _Program] = {}
        self._locks: dict[Hashable, threading.Lock] = {}

    def call(self, target: Hashable, jitted: Wrapped, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """The function's result, by a program that was kept or is kept now; or by ``jitted`` itself."""
        program = self._program(target, jitted, args, kwargs)
        if program is None or program.run is jitted:
            return jitted(*args, **kwargs)
        # A compiled program takes no static arguments.
        free = (x for name, x in zip(self._names, args, strict=False) if name not in self._static)
        return program.run(*free, **{name: x for name, x in kwargs.items() if name not in self._static})

    def make(self, target: Hashable, jitted: Wrapped, *args: object, **kwargs: object) -> None:
        """Has the program ready that a call with such arguments will take; some may be a ``jax.ShapeDtypeStruct``."""
        program = self._program(target, jitted, args, kwargs)
        if program is None or program.run is jitted:
            jitted.lower(*args, **kwargs).compile()

    def has(self, target: Hashable, args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
        """Whether that program was kept, by this process or an earlier one."""
        asked = self._asked(target, args, kwargs) if self._apt and _folder is not None else None
        file = None if asked is None else self._file(asked, {})
        return file is not None and file.exists()

    def _program(
        self, target: Hashable, jitted: Wrapped, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> _Program | None:
        asked = self._asked(target, args, kwargs) if self._apt and _folder is not None else None
        if asked is None:
            return None
        program = self._programs.get(asked)
        if program is None or program.is_due:
            with self._locks.setdefault(asked, threading.Lock()):  # threads of a job come for it at the same time
                if self._programs.get(asked) is program:
                    quick = _quick and program is None and asked.device.platform == "cpu"
                    options = _quick_options(self._brief, args, kwargs) if quick else {}
                    self._programs[asked] = self._made(asked, options, jitted, args, kwargs)
                program = self._programs[asked]
        return program

    def _asked(self, target: Hashable, args: tuple[object, ...], kwargs: dict[str, object]) -> _Asked | None:
        named = [*zip(self._names, args, strict=False), *kwargs.items()]
        static = tuple((name, x) for name, x in named if name in self._static)
        leaves, tree = jax.tree.flatten({name: x for name, x in named if name not in self._static})
        kinds = [_kind(x) for x in leaves]
        device = _one_device(leaves)
        # Tracers, arrays over several devices, and what else is no plain array are left to jax.jit.
        if None in kinds or device is None:
            return None
        return _Asked(target, static, tree, tuple(kinds), device, len(args))

    def _made(
        self, asked: _Asked, options: Mapping[str, bool | int], jitted: Wrapped, args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> _Program:  # fmt: skip
        """The best program that is kept; else one compiled with these options, or ``jitted`` where that cannot be."""
        whole = self._file(asked, {})
        if whole is None:
            return _Program(jitted)
        run = self._load(asked, whole)
        if run is not None or not options:
            return _Program(run or self._compile(whole, {}, jitted, args, kwargs))
        file = self._file(asked, options) or whole
        return _Program(
            self._load(asked, file) or self._compile(file, options, jitted, args, kwargs), itertools.count(1)
        )

    def _file(self, asked: _Asked, options: Mapping[str, bool | int]) -> Path | None:
        static = _described(asked.static)
        if static is None or _folder is None or jax.process_count() > 1:
            return None
        text = repr((self._name, static, asked[0], str(asked.tree), asked.kinds, str(asked.device), asked.placed))
        text += repr(options or "") + _surroundings()
        return _folder / f"{hashlib.sha256(text.encode()).hexdigest()}{SUFFIX}"

    def _load(self, asked: _Asked, file: Path) -> Compiled | None:
        if not file.exists():
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

    def _compile(
        self,
        file: Path,
        options: Mapping[str, bool | int],
        jitted: Wrapped,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Compiled:
        """Compiles a program, and keeps it."""
        from jax.experimental.serialize_executable import serialize

        before = getattr(_of_thread, "hits", 0)
        program = _compiled(jitted.lower(*args, **kwargs), options)
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


def _quick_options(brief: Brief, args: tuple[object, ...], kwargs: dict[str, object]) -> Mapping[str, bool | int]:
    """What to compile a program with at first: nothing special where the user has settings of his own."""
    settings: dict[str, Any] = jax.config.values  # pyright: ignore[reportAttributeAccessIssue]
    if os.environ.get("XLA_FLAGS") or settings.get("jax_disable_most_optimizations"):
        return {}
    size = sum(x.nbytes for x in jax.tree.leaves((args, kwargs)) if isinstance(x, jax.Array | np.ndarray))
    return _UNOPTIMISED if size <= brief.unoptimised else _UNFUSED if size <= brief.unfused else {}


def _compiled(lowered: Lowered, options: Mapping[str, bool | int]) -> Compiled:
    """Compiles with the options that this XLA knows."""
    while True:
        try:
            settings: dict[str, Any] = dict(options)  # numbers are taken, too
            return lowered.compile(compiler_options=settings)
        except jax.errors.JaxRuntimeError as error:
            known = {name: value for name, value in options.items() if f"'{name}'" not in str(error)}
            if "No such compile option" not in str(error) or len(known) == len(options):
                raise
            options = known


class _Asked(NamedTuple):
    """What tells the programs of a function apart; ``placed``: how many arguments were given by their place."""

    target: Hashable
    static: Hashable
    tree: Hashable
    kinds: tuple[Hashable, ...]
    device: jax.Device
    placed: int


def _kind(x: object) -> Hashable:
    """What a program knows of an argument; ``None`` for a kind of argument that it is not kept for."""
    if isinstance(x, jax.ShapeDtypeStruct) and x.sharding is None:
        return None
    if isinstance(x, jax.Array | jax.ShapeDtypeStruct) and not isinstance(x, Tracer):
        where = x.sharding
        if not isinstance(where, SingleDeviceSharding):
            return None
        (device,) = where.device_set
        weak = getattr(x, "weak_type", False)  # random keys are never
        return x.shape, str(x.dtype), weak, getattr(x, "committed", True), str(device), where.memory_kind
    if isinstance(x, np.ndarray | np.generic) and x.dtype != object:
        return x.shape, str(x.dtype), type(x).__name__
    return type(x).__name__ if isinstance(x, bool | int | float) else None


def _one_device(leaves: list[object]) -> jax.Device | None:
    """Where ``jax.jit`` would run: where arguments are bound to, else JAX's default; ``None`` unless all lie there."""
    arrays: list[Any] = [x for x in leaves if isinstance(x, jax.Array | jax.ShapeDtypeStruct)]
    if any(isinstance(x, Tracer) or x.sharding is None or len(x.sharding.device_set) > 1 for x in arrays):
        return None
    places = {device for x in arrays for device in x.sharding.device_set}
    if any(getattr(x, "committed", True) for x in arrays):
        return next(iter(places)) if len(places) == 1 else None
    given = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    default = given if isinstance(given, jax.Device) else jax.local_devices(backend=given)[0]
    return default if places <= {default} else None


def _described(value: object) -> str | None:
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
