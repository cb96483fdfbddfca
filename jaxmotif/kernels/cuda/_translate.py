"""Translation of a Pallas kernel to CUDA C++, from the kernel's jaxpr, equation by equation.

One program of the kernel is one block of threads. A vector of ``lanes`` values is a few registers of each thread, and
every other value is the same in all threads. Inside :func:`jaxmotif.kernels._launch.each_alone` a thread takes its
lanes one after another, each with its own loops, unless all lanes take the same steps. The translation knows the
primitives that jaxmotif's kernels use, and refuses others by name.

The text has no sizes of arrays except those of vectors, so that one kernel serves all shapes. The lengths of arrays
with several axes are read from an operand of their own, ``sizes``, which comes after all other operands that are read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental import pallas as pl
from jax.extend import core as jcore

OF_SIGNED = {"int8": "signed char", "int16": "short", "int32": "int", "int64": "long long"}
UNSIGNED = {
    "signed char": "unsigned char",
    "short": "unsigned short",
    "int": "unsigned",
    "long long": "unsigned long long",
}
SIGNED = {unsigned: signed for signed, unsigned in UNSIGNED.items()}
C = {"bool": "bool", **OF_SIGNED, **{f"u{dtype}": UNSIGNED[kind] for dtype, kind in OF_SIGNED.items()}}
"""Types of C++ by dtype."""
COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
INFIX = {"and": "&", "or": "|", "xor": "^", "div": "/", "rem": "%", **COMPARED}
WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
REDUCED = {"reduce_sum": "Sum", "reduce_max": "Max", "reduce_min": "Min", "reduce_or": "Or", "reduce_and": "And"}
SAME = ("broadcast_in_dim", "broadcast_to", "reshape", "squeeze", "expand_dims", "stop_gradient", "copy")
SMALL = 16
"""Most values of an array that is not a vector."""


class Program(NamedTuple):
    """A translated kernel.

    Attributes:
      name: The name of the kernel.
      text: Its CUDA C++.
      threads: The number of threads of a block.
      sizes: The lengths of axes that the kernel reads, which are its operand ``sizes``.
    """

    name: str
    text: str
    threads: int
    sizes: np.ndarray


class _Ref(NamedTuple):
    """An operand of a kernel.

    Attributes:
      name: The name of its pointer.
      strides: How far entries are apart along each axis, as C++.
      only_read: Whether no thread writes to it.
    """

    name: str
    strides: tuple[str, ...]
    only_read: bool


Env = dict[jcore.Var, Any]
"""Names of values in C++, or their :class:`_Ref`, for each variable of a jaxpr."""


def translate(equation: Any, lanes: int, warps: int, name: str) -> Program:
    """Translate a ``pallas_call`` equation.

    Args:
      equation: The equation.
      lanes: The length of vectors.
      warps: The number of warps of a program; only whether it is 1 matters.
      name: The name of the kernel.

    Raises:
      NotImplementedError: The kernel has a primitive or a shape that is not translated.
    """
    mapping, jaxpr = equation.params["grid_mapping"], equation.params["jaxpr"]
    threads = 32 if warps == 1 else max(32, min(256, lanes))
    aliases = dict(equation.params["input_output_aliases"])
    inputs = [v.aval for v in equation.invars]
    arrays = [*inputs, *equation.params["out_avals"]]
    # An operand that is written in place has the same pointer as a result.
    shared = {*aliases, *(len(inputs) + out for out in aliases.values())}
    writer, formals, refs, sizes = _Writer(name, threads, lanes), [], [], []
    for k, (block, array) in enumerate(zip(mapping.block_mappings, arrays, strict=True)):
        only_read = k < len(inputs) and k not in shared
        kind = ("const " if only_read else "") + writer.kind(array)
        formals.append(f"{kind}*{'' if k in shared else ' __restrict__'} p{k}")
        strides = ["1"]
        for length in reversed(array.shape[1:]):
            writer.put(f"const long long p{k}_{len(strides)} = {strides[0]} * sizes[{len(sizes)}];")
            strides.insert(0, f"p{k}_{len(strides)}")
            sizes.append(length)
        grid = [f"(int)blockIdx.{axis}" for axis in "xyz"]
        index_map = block.index_map_jaxpr.jaxpr
        at = writer.run(index_map, grid[: len(index_map.invars)])
        lengths = [getattr(length, "block_size", length) for length in block.block_shape]
        terms = [f"(long long){i} * {n} * {s}" for i, n, s in zip(at, lengths, strides, strict=False) if i != "0"]
        if terms:
            writer.put(f"{kind}* q{k} = p{k} + {' + '.join(terms)};")
        refs.append(_Ref(f"{'q' if terms else 'p'}{k}", tuple(strides), only_read))
    formals.insert(len(inputs), "const int* __restrict__ sizes")
    writer.run(jaxpr, refs)
    head = f'extern "C" __global__ void __launch_bounds__(THREADS) {name}({", ".join(formals)})'
    fours = ["struct alignas(16) Four { unsigned of[4]; };"] if writer.has_fours else []
    text = "\n".join([f"#define THREADS {threads}", prelude(), *fours, f"{head} {{", *writer.lines, "}", ""])
    return Program(name, text, threads, np.array(sizes or [0], np.int32))


@cache
def prelude() -> str:
    return files("jaxmotif.kernels.cuda").joinpath("prelude.cuh").read_text()


class _Writer:
    """A writer of the C++ of one kernel."""

    def __init__(self, kernel: str, threads: int, lanes: int):
        self.kernel, self.threads, self.lanes = kernel, threads, lanes
        self.each = -(-lanes // threads)  # the number of lanes of a thread
        self.lines: list[str] = []
        self._ids, self._depth = itertools.count(), 1
        self.has_fours = False  # whether four words are read or written at once
        self.single_lane = False  # whether the code is that of one lane, number e of its thread

    # ---- text

    def put(self, line: str) -> None:
        self.lines.append("  " * self._depth + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write a block in braces, of what is written inside the ``with`` statement."""
        self.put(head + " {")
        self._depth += 1
        yield
        self._depth -= 1
        self.put("}")

    def refuse(self, what: object) -> NotImplementedError:
        return NotImplementedError(f"kernel {self.kernel}: no translation to CUDA C++ for {what}")

    # ---- values

    def is_vector(self, aval: Any) -> bool:
        """Return whether a value differs between threads, each of which has an array of it."""
        is_operand = hasattr(aval, "inner_aval")
        return aval.shape == (self.lanes,) and not (self.single_lane or is_operand)

    def length(self, aval: Any) -> int:
        """Return the length of the array that holds a value in each thread; 0 where it is not an array."""
        if aval.shape == () or aval.shape == (self.lanes,):
            return self.each if self.is_vector(aval) else 0
        if math.prod(aval.shape) > SMALL:
            raise self.refuse(f"an array of shape {aval.shape} beside vectors of {self.lanes}")
        return math.prod(aval.shape)

    def kind(self, aval: Any) -> str:
        if str(aval.dtype) not in C:
            raise self.refuse(f"values of type {aval.dtype}")
        return C[str(aval.dtype)]

    def declare(self, aval: Any, kind: str | None = None) -> str:
        name, length = f"v{next(self._ids)}", self.length(aval)
        self.put(f"{kind or self.kind(aval)} {name}{f'[{length}]' if length else ''};")
        return name

    def set(self, aval: Any, name: str, text: str) -> None:
        """Write the assignment of a whole value, from the C++ of its element ``e``."""
        if not (length := self.length(aval)):
            self.put(f"{name} = {text};")
        else:
            self.put(f"UNROLL for (int e = 0; e < {length}; e++) {name}[e] = {text};")

    def new(self, aval: Any, text: str) -> str:
        if self.length(aval):
            name = self.declare(aval)
            self.set(aval, name, text)
        else:
            name = f"v{next(self._ids)}"
            self.put(f"const {self.kind(aval)} {name} = {text};")
        return name

    def literal(self, value: Any, aval: Any) -> str:
        number, kind = np.asarray(value).item(), self.kind(aval)
        if kind == "bool":
            return "true" if number else "false"
        if kind in ("int", "long long") and number == np.iinfo(np.dtype(aval.dtype)).min:
            return f"({number + 1}{'ll' if 'long' in kind else ''} - 1)"
        suffix = ("u" if "unsigned" in kind else "") + ("ll" if "long" in kind else "")
        narrow = kind.endswith(("char", "short"))
        text = f"({kind}){number}" if narrow else f"{number}{suffix}"
        return text if number >= 0 else f"({text})"

    def read(self, env: Env, v: Any, e: str = "e") -> str:
        """Return the C++ of element ``e`` of a value."""
        if isinstance(v, jcore.Literal):
            return self.literal(v.val, v.aval)
        return f"{env[v]}[{e}]" if self.length(v.aval) else env[v]

    def operand(self, env: Env, v: Any) -> Any:
        """Return the name or the reference of a variable, and for a literal its C++ or, if it is an array, a name."""
        if not isinstance(v, jcore.Literal):
            return env[v]
        text = self.literal(v.val, v.aval)
        return self.new(v.aval, text) if self.length(v.aval) else text

    # ---- equations

    def run(self, jaxpr: Any, args: Sequence[Any]) -> list[Any]:
        """Write the equations of a jaxpr, and return the names of its results."""
        if jaxpr.constvars:
            raise self.refuse("constant arrays")
        env = dict(zip(jaxpr.invars, args, strict=True))
        for equation in jaxpr.eqns:
            self.equation(equation, env)
        return [self.operand(env, v) for v in jaxpr.outvars]

    def equation(self, equation: Any, env: Env) -> None:
        name, outs = equation.primitive.name, equation.outvars
        if name in _RULES:
            results = _RULES[name](self, env, equation)
        else:
            results = [self.new(outs[0].aval, self.elementwise(name, env, equation))]
        env.update(zip(outs, results, strict=False))

    def elementwise(self, name: str, env: Env, equation: Any) -> str:
        """Return the C++ of element ``e`` of the result of a primitive that works element by element."""
        ins, out = equation.invars, equation.outvars[0].aval
        kind = self.kind(out)
        a = [self.read(env, v) for v in ins]
        if name in WRAPPING:
            # Overflow of signed integers is undefined in C++, which computes with narrow integers as int.
            by = "unsigned long long" if "long" in kind else "unsigned"
            return f"({kind})(({by}){a[0]} {WRAPPING[name]} ({by}){a[1]})"
        if name in INFIX:
            return f"({kind})({a[0]} {INFIX[name]} {a[1]})"
        if name in ("max", "min"):
            return f"({a[0]} {'>' if name == 'max' else '<'} {a[1]} ? {a[0]} : {a[1]})"
        if name == "not":
            return f"!{a[0]}" if kind == "bool" else f"({kind})~{a[0]}"
        if name == "sign":
            return f"({kind})(({a[0]} > 0) - ({a[0]} < 0))"
        if name == "clamp":
            return f"({a[1]} < {a[0]} ? {a[0]} : {a[1]} > {a[2]} ? {a[2]} : {a[1]})"
        if name == "select_n" and len(ins) == 3 and self.kind(ins[0].aval) == "bool":
            return f"({a[0]} ? {a[2]} : {a[1]})"
        if name.startswith("shift_"):
            return self.shift(name, kind, a, ins[1])
        if name in ("clz", "population_count") and self.kind(ins[0].aval) in ("int", "unsigned"):
            return f"({kind}){'__clz' if name == 'clz' else '__popc'}({a[0]})"
        if name in ("convert_element_type", "bitcast_convert_type"):
            # Values are integers or bools, and no kernel takes the bits of a bool.
            return f"({kind}){a[0]}"
        if name in SAME:
            # A single value is repeated; other values keep their order.
            one = math.prod(ins[0].aval.shape) == 1 and not self.is_vector(ins[0].aval)
            return self.read(env, ins[0], "0") if one else a[0]
        if name == "iota":
            return self.lane() if out.shape == (self.lanes,) else f"({kind})e"
        if name == "program_id":
            return f"(int)blockIdx.{'xyz'[equation.params['axis']]}"
        raise self.refuse(f"the primitive {name} of {', '.join(str(v.aval) for v in ins)}")

    def shift(self, name: str, kind: str, a: list[str], by: Any) -> str:
        """Return the C++ of a shift.

        A shift by the width or more gives 0 or the sign in XLA, and is undefined in C++.
        """
        bits = 8 * np.dtype(by.aval.dtype).itemsize
        plain = isinstance(by, jcore.Literal) and 0 <= int(by.val) < bits
        unsigned = UNSIGNED.get(kind, kind)
        is_defined = f"({unsigned}){a[1]} < {bits}u"
        if name == "shift_right_arithmetic":
            places = a[1] if plain else f"({is_defined} ? {a[1]} : {bits - 1})"
            # The bits are shifted as those of a signed number.
            return f"({kind})(({SIGNED[kind]}){a[0]} >> {places})" if kind in SIGNED else f"({a[0]} >> {places})"
        text = f"({kind})(({unsigned}){a[0]} {'<<' if name == 'shift_left' else '>>'} {a[1]})"
        return text if plain else f"({is_defined} ? {text} : ({kind})0)"

    # ---- memory

    def lane(self) -> str:
        return f"(e * {self.threads} + (int)threadIdx.x)" if self.each > 1 else "(int)threadIdx.x"

    def lane_guard(self) -> str | None:
        """Return the C++ of whether a thread has a lane, or ``None`` where every thread has."""
        return f"{self.lane()} < {self.lanes}" if self.lanes % self.threads else None

    def element(self, env: Env, ref: _Ref, indices: Sequence[Any], out: Any) -> str:
        """Return the C++ of element ``e`` of an operand in memory."""
        element = self.lane() if out.shape == (self.lanes,) else "e"
        slices = [(axis, i.size) for axis, i in enumerate(indices) if hasattr(i, "size") and hasattr(i, "start")]
        terms = []
        for axis, (index, stride) in enumerate(zip(indices, ref.strides, strict=True)):
            if hasattr(index, "start"):
                if getattr(index, "stride", 1) != 1:
                    raise self.refuse("a slice with a stride")
                after = math.prod(size for later, size in slices if later > axis)
                at = element if len(slices) == 1 else f"({element} / {after} % {index.size})"
                parts = [self.scalar(env, index.start), "0" if index.size == 1 else at]
                text = " + ".join(part for part in parts if part != "0") or "0"
            else:
                text = self.scalar(env, index)
            if text != "0":
                terms.append(f"({text})" if stride == "1" else f"(long long)({text}) * {stride}")
        return f"{ref.name}[{' + '.join(terms) or '0'}]"

    def fours(self, env: Env, ref: Any, index: Sequence[Any], values: Sequence[Any]) -> str:
        """Return the C++ of four words in memory that a thread reads or writes at once, from the index of the first."""
        if len(values) != 4 or any(self.kind(v.aval) != "unsigned" for v in values):
            raise self.refuse(f"entries that are not words by fours: {', '.join(str(v.aval) for v in values)}")
        self.has_fours = True
        return f"*(Four*)&{self.element(env, env[ref], index, values[0].aval)}"

    def scalar(self, env: Env, i: Any) -> str:
        """Return the C++ of an index, which is a number or element ``e`` of a value."""
        return self.read(env, i) if isinstance(i, (jcore.Var, jcore.Literal)) else str(int(np.asarray(i)))

    def indices(self, tree: Any, leaves: Sequence[Any], shape: tuple[int, ...]) -> Sequence[Any]:
        """Return the indices of a reference's only indexer, as variables and literals."""
        transforms = jax.tree.unflatten(tree, leaves)
        if not transforms:
            return [pl.ds(0, length) for length in shape]
        if len(transforms) > 1 or not hasattr(transforms[0], "indices"):
            raise self.refuse("a reference that is transformed more than by an index")
        return transforms[0].indices

    def store(self, place: str, value: str, aval: Any, mask: str | None) -> None:
        """Write a store, which all threads do for vectors and the first thread does for other values."""
        length = self.length(aval)
        guards = [mask] if mask else []
        if aval.shape == (self.lanes,):
            guards += [guard] if (guard := self.lane_guard()) else []
        else:
            guards.append("threadIdx.x == 0")
        head = f"if ({' && '.join(guards)}) " if guards else ""
        loop = f"UNROLL for (int e = 0; e < {length}; e++) " if length else ""
        self.put(f"{loop}{head}{place} = {value};")


# ---- rules of primitives that do not work element by element, which return the names of the results


def _get(writer: _Writer, env: Env, equation: Any) -> list[str]:
    ref, out = equation.invars[0], equation.outvars[0].aval
    indices = writer.indices(equation.params["tree"], equation.invars[1:], ref.aval.shape)
    place = writer.element(env, env[ref], indices, out)
    guard = writer.lane_guard() if out.shape == (writer.lanes,) else None
    return [writer.new(out, f"{guard} ? {place} : ({writer.kind(out)})0" if guard else place)]


def _swap(writer: _Writer, env: Env, equation: Any) -> list[str]:
    ref, value, *leaves = equation.invars
    place = writer.element(env, env[ref], writer.indices(equation.params["tree"], leaves, ref.aval.shape), value.aval)
    writer.store(place, writer.read(env, value), value.aval, None)
    return []  # No kernel uses the value that a swap returns.


def _masked_load(writer: _Writer, env: Env, equation: Any) -> list[str]:
    (ref, index, mask), out = equation.invars, equation.outvars[0].aval
    operand, guard = env[ref], writer.read(env, mask)
    if out.shape == (writer.lanes,) and (lane_guard := writer.lane_guard()):
        guard = f"({guard} && {lane_guard})"
    only_read = "true" if operand.only_read else "false"
    return [writer.new(out, f"masked_load<{only_read}>({operand.name} + {writer.read(env, index)}, {guard})")]


def _masked_store(writer: _Writer, env: Env, equation: Any) -> list[str]:
    ref, index, values, mask = equation.invars
    place = f"{env[ref].name}[{writer.read(env, index)}]"
    writer.store(place, writer.read(env, values), values.aval, writer.read(env, mask))
    return []


def _load_entries(writer: _Writer, env: Env, equation: Any) -> list[str]:
    (ref, *index), outs = equation.invars, equation.outvars
    names = []
    for first in range(0, len(outs), 4):
        place = writer.fours(env, ref, [*index, first], outs[first : first + 4])
        four = writer.declare(outs[0].aval, "Four")
        writer.set(outs[0].aval, four, place)
        one = f"{four}[e]" if writer.length(outs[0].aval) else four
        names += [writer.new(v.aval, f"{one}.of[{i}]") for i, v in enumerate(outs[first : first + 4])]
    return names


def _store_entries(writer: _Writer, env: Env, equation: Any) -> list[str]:
    ref, *others = equation.invars
    count = ref.aval.shape[-1]
    index, values = others[:-count], others[-count:]
    for first in range(0, count, 4):
        four = values[first : first + 4]
        place = writer.fours(env, ref, [*index, first], four)
        writer.store(place, f"Four{{{', '.join(writer.read(env, v) for v in four)}}}", four[0].aval, None)
    return []


def _fetch_add(writer: _Writer, env: Env, equation: Any) -> list[str]:
    ref, value = equation.invars
    if writer.single_lane:
        raise writer.refuse("an atomic addition of a lane alone")
    return [writer.new(equation.outvars[0].aval, f"fetch_add({env[ref].name}, {writer.read(env, value)})")]


def _in_prelude(writer: _Writer, env: Env, equation: Any) -> list[str]:
    """Write a call that the prelude's function of the same name computes, element by element."""
    values = ", ".join(writer.read(env, v) for v in equation.invars)
    return [writer.new(equation.outvars[0].aval, f"{equation.params['name']}({values})")]


def _lane_alone(writer: _Writer, env: Env, equation: Any) -> list[str]:
    if equation.outvars or writer.single_lane:
        raise writer.refuse("lanes alone that do more than write")
    if not _reduces_lanes(_inner(equation), writer.lanes):
        # All lanes take the same steps, so that a thread's lanes run side by side and their loads wait together.
        return writer.run(_inner(equation), [writer.operand(env, v) for v in equation.invars])
    args = [writer.read(env, v) if writer.is_vector(v.aval) else writer.operand(env, v) for v in equation.invars]

    # A thread takes one lane after another, and other threads run while it waits for memory.
    with writer.block(f"NO_UNROLL for (int e = 0; e < {writer.each}; e++)"):
        writer.single_lane = True
        writer.run(_inner(equation), args)
        writer.single_lane = False
    return []


def _reduces_lanes(jaxpr: Any, lanes: int) -> bool:
    """Return whether a jaxpr reduces a value over lanes, on which a loop may depend."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in REDUCED and equation.invars[0].aval.shape == (lanes,):
            return True
        if any(_reduces_lanes(inner, lanes) for inner in jcore.jaxprs_in_params(equation.params)):
            return True
    return False


_NAMED = {
    "masked_load": _masked_load,
    "masked_store": _masked_store,
    "load_entries": _load_entries,
    "store_entries": _store_entries,
    "add_and_fetch": _fetch_add,
    "add_selected": _in_prelude,
    "spread_sign": _in_prelude,
    "lane_alone": _lane_alone,
}


def _call(writer: _Writer, env: Env, equation: Any) -> list[Any]:
    rule = _NAMED.get(equation.params.get("name"))
    if rule:
        return rule(writer, env, equation)
    return writer.run(_inner(equation), [writer.operand(env, v) for v in equation.invars])


def _inner(equation: Any) -> Any:
    """Return the jaxpr of a call."""
    closed = equation.params["jaxpr"]
    return getattr(closed, "jaxpr", closed)


def _reduce(writer: _Writer, env: Env, equation: Any) -> list[str]:
    (v,), out = equation.invars, equation.outvars[0].aval
    function, kind = REDUCED[equation.primitive.name], writer.kind(out)
    if v.aval.shape == (writer.lanes,) and writer.single_lane:
        if function == "Sum":
            raise writer.refuse("a sum over lanes that are alone")
        return [env[v]]
    if writer.is_vector(v.aval) and writer.lanes % writer.threads:
        raise writer.refuse(
            f"{equation.primitive.name} over {writer.lanes} lanes: no multiple of {writer.threads} threads"
        )
    if out.shape != ():
        raise writer.refuse(f"{equation.primitive.name} to shape {out.shape}")
    name, length = writer.declare(out), writer.length(v.aval)
    writer.put(f"{name} = {env[v]}[0];")
    writer.put(f"for (int e = 1; e < {length}; e++) {name} = {function}::of({name}, {env[v]}[e]);")
    if writer.is_vector(v.aval):
        writer.put(f"{name} = of_all<{function}, {kind}>({name});")
    return [name]


def _cumsum(writer: _Writer, env: Env, equation: Any) -> list[str]:
    (v,), out = equation.invars, equation.outvars[0].aval
    if not writer.is_vector(out) or writer.lanes % writer.threads or equation.params.get("reverse"):
        raise writer.refuse(f"cumsum of shape {out.shape}")
    name, kind = writer.declare(out), writer.kind(out)
    carry = f"{name}_carry"
    writer.put(f"{kind} {carry} = 0;")
    writer.put(f"for (int e = 0; e < {writer.each}; e++) {name}[e] = running_sum<{kind}>({env[v]}[e], {carry});")
    return [name]


def _carry(writer: _Writer, env: Env, start: Sequence[Any], like: Sequence[Any]) -> list[str]:
    names = []
    for v, own in zip(start, like, strict=True):
        names.append(writer.declare(own.aval))
        writer.set(own.aval, names[-1], writer.read(env, v))
    return names


def _assign(writer: _Writer, names: Sequence[str], results: Sequence[str], like: Sequence[Any]) -> None:
    # A result may be the old value of another variable, so that such values are copied before any is written.
    old = {result for result in results if result in names}
    moved = {}
    for name, result, v in zip(names, results, like, strict=True):
        if result in old and result != name:
            moved[name] = writer.new(v.aval, f"{result}[e]" if writer.length(v.aval) else result)
    for name, result, v in zip(names, results, like, strict=True):
        text = moved.get(name, result)
        if text != name:
            writer.set(v.aval, name, f"{text}[e]" if writer.length(v.aval) else text)


def _while(writer: _Writer, env: Env, equation: Any) -> list[str]:
    params, ins = equation.params, equation.invars
    test, body = params["cond_jaxpr"].jaxpr, params["body_jaxpr"].jaxpr
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    of_test, of_body = ([writer.operand(env, v) for v in part] for part in (ins[:first], ins[first:second]))
    like = body.invars[params["body_nconsts"] :]
    names = _carry(writer, env, ins[second:], like)

    with writer.block("while (true)"):
        (goes_on,) = writer.run(test, of_test + names)
        writer.put(f"if (!{goes_on}) break;")
        _assign(writer, names, writer.run(body, of_body + names), like)
    return names


def _cond(writer: _Writer, env: Env, equation: Any) -> list[str]:
    index, args = writer.read(env, equation.invars[0]), [writer.operand(env, v) for v in equation.invars[1:]]
    if writer.is_vector(equation.invars[0].aval):
        raise writer.refuse("a branch by lanes")
    outs = equation.outvars
    names = [writer.declare(v.aval) for v in outs]
    for number, branch in enumerate(equation.params["branches"]):
        with writer.block(f"{'else ' if number else ''}if ((int){index} == {number})"):
            _assign(writer, names, writer.run(branch.jaxpr, args), outs)
    return names


_RULES: dict[str, Callable[[_Writer, dict[Any, Any], Any], list[Any]]] = {
    "get": _get,
    "swap": _swap,
    "jit": _call,
    "pjit": _call,
    "while": _while,
    "cond": _cond,
    "cumsum": _cumsum,
    **dict.fromkeys(REDUCED, _reduce),
}
