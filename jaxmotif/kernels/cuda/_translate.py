"""A Pallas kernel as CUDA C++: its own jaxpr, equation by equation.

One program is one block of threads. A vector of ``lanes`` values is a few registers of each thread; any other value is
the same in all threads. Inside :func:`jaxmotif.kernels._launch.each_alone` a thread takes its lanes one after another,
each with its own loops, unless all lanes take the same steps. The primitives are a closed set, what jaxmotif's kernels
use. Anything else is refused by name.

The text holds no size of an array, but those of vectors: one kernel serves all shapes. The lengths of arrays of several
axes are read from an operand of their own, ``sizes``, behind all others that are read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from jax.extend import core as jcore

C = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long",
}  # fmt: skip
SIGNED = {
    "unsigned char": "signed char", "unsigned short": "short", "unsigned": "int", "unsigned long long": "long long",
}  # fmt: skip
UNSIGNED = {signed: unsigned for unsigned, signed in SIGNED.items()}
INFIX = {
    "and": "&", "or": "|", "xor": "^", "div": "/", "rem": "%", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "eq": "==", "ne": "!=",
}  # fmt: skip
WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
REDUCED = {"reduce_sum": "Sum", "reduce_max": "Max", "reduce_min": "Min", "reduce_or": "Or", "reduce_and": "And"}
SAME = ("broadcast_in_dim", "reshape", "squeeze", "expand_dims", "stop_gradient", "copy")
SMALL = 16
"""Most values of an array that is no vector."""


class Program(NamedTuple):
    """A kernel's text, the threads of a block, and the lengths of axes that it reads (the operand ``sizes``)."""

    name: str
    text: str
    threads: int
    sizes: np.ndarray


class _Ref(NamedTuple):
    """An operand: a pointer, and how far its axes' entries are apart, as C; whether no thread writes there."""

    name: str
    strides: tuple[str, ...]
    only_read: bool


Env = dict[jcore.Var, Any]
"""What variables hold: the name of a value, or a :class:`_Ref`."""


def translate(equation: Any, lanes: int, warps: int, name: str) -> Program:
    """The text of one ``pallas_call`` equation.

    Raises:
      NotImplementedError: it has a primitive, or a shape, that is not among those translated.
    """
    mapping, jaxpr = equation.params["grid_mapping"], equation.params["jaxpr"]
    threads = 32 if warps == 1 else max(32, min(256, lanes))
    aliases = dict(equation.params["input_output_aliases"])
    inputs = [v.aval for v in equation.invars]
    arrays = [*inputs, *equation.params["out_avals"]]
    # Where an operand is written in place, two pointers are one.
    shared = {*aliases, *(len(inputs) + out for out in aliases.values())}
    emit, formals, refs, sizes = _Emit(name, threads, lanes), [], [], []
    for k, (block, array) in enumerate(zip(mapping.block_mappings, arrays, strict=True)):
        only_read = k < len(inputs) and k not in shared
        kind = ("const " if only_read else "") + emit.kind(array)
        formals.append(f"{kind}*{'' if k in shared else ' __restrict__'} p{k}")
        strides = ["1"]
        for length in reversed(array.shape[1:]):
            emit.put(f"const long long p{k}_{len(strides)} = {strides[0]} * sizes[{len(sizes)}];")
            strides.insert(0, f"p{k}_{len(strides)}")
            sizes.append(length)
        grid = [f"(int)blockIdx.{axis}" for axis in "xyz"]
        index_map = block.index_map_jaxpr.jaxpr
        at = emit.run(index_map, grid[: len(index_map.invars)])
        lengths = [getattr(length, "block_size", length) for length in block.block_shape]
        terms = [f"(long long){i} * {n} * {s}" for i, n, s in zip(at, lengths, strides, strict=False) if i != "0"]
        if terms:
            emit.put(f"{kind}* q{k} = p{k} + {' + '.join(terms)};")
        refs.append(_Ref(f"{'q' if terms else 'p'}{k}", tuple(strides), only_read))
    formals.insert(len(inputs), "const int* __restrict__ sizes")
    emit.run(jaxpr, refs)
    head = f'extern "C" __global__ void __launch_bounds__(THREADS) {name}({", ".join(formals)})'
    text = "\n".join([f"#define THREADS {threads}", prelude(), f"{head} {{", *emit.lines, "}", ""])
    return Program(name, text, threads, np.array(sizes or [0], np.int32))


@cache
def prelude() -> str:
    return files("jaxmotif.kernels.cuda").joinpath("prelude.cuh").read_text()


class _Emit:
    """Writes C++; an environment gives each variable of a jaxpr its C++ name, or its :class:`_Ref`."""

    def __init__(self, kernel: str, threads: int, lanes: int):
        self.kernel, self.threads, self.lanes = kernel, threads, lanes
        self.each = -(-lanes // threads)  # lanes of a thread
        self.lines: list[str] = []
        self._ids, self._depth = itertools.count(), 1
        self._alone = False  # whether a lane is by itself, number e of its thread's

    # ---- text

    def put(self, line: str) -> None:
        self.lines.append("  " * self._depth + line)

    def block(self, head: str, body: Callable[[], None]) -> None:
        self.put(head + " {")
        self._depth += 1
        body()
        self._depth -= 1
        self.put("}")

    def refuse(self, what: object) -> NotImplementedError:
        return NotImplementedError(f"kernel {self.kernel}: no translation to CUDA C++ for {what}")

    # ---- values

    def is_vector(self, aval: Any) -> bool:
        """Whether the threads hold different values, in arrays."""
        is_operand = hasattr(aval, "inner_aval")  # a reference
        return aval.shape == (self.lanes,) and not (self._alone or is_operand)

    def length(self, aval: Any) -> int:
        """Of the array that a value is in each thread; 0 for none."""
        if aval.shape == () or aval.shape == (self.lanes,):
            return self.each if self.is_vector(aval) else 0
        if math.prod(aval.shape) > SMALL:
            raise self.refuse(f"an array of shape {aval.shape} beside vectors of {self.lanes}")
        return math.prod(aval.shape)

    def kind(self, aval: Any) -> str:
        try:
            return C[str(aval.dtype)]
        except KeyError:
            raise self.refuse(f"values of type {aval.dtype}") from None

    def declare(self, aval: Any) -> str:
        name, length = f"v{next(self._ids)}", self.length(aval)
        self.put(f"{self.kind(aval)} {name}{f'[{length}]' if length else ''};")
        return name

    def set(self, aval: Any, name: str, text: str) -> None:
        """All of a value, from the C++ of its element ``e``."""
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
        """The C++ of element ``e`` of a value."""
        if isinstance(v, jcore.Literal):
            return self.literal(v.val, v.aval)
        return f"{env[v]}[{e}]" if self.length(v.aval) else env[v]

    def held(self, env: Env, v: Any) -> Any:
        """What a variable's environment holds; a literal is given a name where it is an array."""
        if not isinstance(v, jcore.Literal):
            return env[v]
        text = self.literal(v.val, v.aval)
        return self.new(v.aval, text) if self.length(v.aval) else text

    # ---- equations

    def run(self, jaxpr: Any, args: Sequence[Any]) -> list[Any]:
        """The equations of a jaxpr; what its results are held in."""
        if jaxpr.constvars:
            raise self.refuse("constant arrays")
        env = dict(zip(jaxpr.invars, args, strict=True))
        for equation in jaxpr.eqns:
            self.equation(equation, env)
        return [self.held(env, v) for v in jaxpr.outvars]

    def equation(self, equation: Any, env: Env) -> None:
        name, outs = equation.primitive.name, equation.outvars
        if name in _RULES:
            results = _RULES[name](self, env, equation)
        else:
            results = [self.new(outs[0].aval, self.elementwise(name, env, equation))]
        env.update(zip(outs, results, strict=False))

    def elementwise(self, name: str, env: Env, equation: Any) -> str:
        """Element ``e`` of the result of a primitive that takes element by element."""
        ins, out = equation.invars, equation.outvars[0].aval
        kind = self.kind(out)
        a = [self.read(env, v) for v in ins]
        if name in WRAPPING:  # signed overflow is undefined in C++
            by = "unsigned long long" if "long" in kind else "unsigned"  # C++ takes narrow ones as int
            return f"({kind})(({by}){a[0]} {WRAPPING[name]} ({by}){a[1]})"
        if name in INFIX:
            return f"({kind})({a[0]} {INFIX[name]} {a[1]})"
        if name in ("max", "min"):
            return f"({a[0]} {'>' if name == 'max' else '<'} {a[1]} ? {a[0]} : {a[1]})"
        if name == "not":
            return f"!{a[0]}" if kind == "bool" else f"({kind})~{a[0]}"
        if name == "neg":
            return f"({kind})(0 - ({UNSIGNED.get(kind, kind)}){a[0]})"
        if name == "sign":
            return f"({kind})(({a[0]} > 0) - ({a[0]} < 0))"
        if name == "clamp":
            return f"({a[1]} < {a[0]} ? {a[0]} : {a[1]} > {a[2]} ? {a[2]} : {a[1]})"
        if name == "select_n" and len(ins) == 3 and self.kind(ins[0].aval) == "bool":
            return f"({a[0]} ? {a[2]} : {a[1]})"
        if name.startswith("shift_"):
            return self.shifted(name, kind, a, ins[1])
        if name in ("clz", "population_count") and self.kind(ins[0].aval) in ("int", "unsigned"):
            return f"({kind}){'__clz' if name == 'clz' else '__popc'}({a[0]})"
        if name in ("convert_element_type", "bitcast_convert_type"):  # of integers, of which none is a bool's bits
            return f"({kind}){a[0]}"
        if name in SAME:
            # Of one value all; otherwise the values stay in their order.
            one = math.prod(ins[0].aval.shape) == 1 and not self.is_vector(ins[0].aval)
            return self.read(env, ins[0], "0") if one else a[0]
        if name == "iota":
            return self.lane() if out.shape == (self.lanes,) else f"({kind})e"
        if name == "program_id":
            return f"(int)blockIdx.{'xyz'[equation.params['axis']]}"
        raise self.refuse(f"the primitive {name} of {', '.join(str(v.aval) for v in ins)}")

    def shifted(self, name: str, kind: str, a: list[str], by: Any) -> str:
        """Shifts by the width or more give 0, or the sign, as in XLA; they are undefined in C++."""
        bits = 8 * np.dtype(by.aval.dtype).itemsize
        plain = isinstance(by, jcore.Literal) and 0 <= int(by.val) < bits
        unsigned = UNSIGNED.get(kind, kind)
        inside = "true" if plain else f"({unsigned}){a[1]} < {bits}u"
        if name == "shift_right_arithmetic":
            places = a[1] if plain else f"({inside} ? {a[1]} : {bits - 1})"
            # Of the bits as a signed number.
            return f"({kind})(({SIGNED[kind]}){a[0]} >> {places})" if kind in SIGNED else f"({a[0]} >> {places})"
        text = f"({kind})(({unsigned}){a[0]} {'<<' if name == 'shift_left' else '>>'} {a[1]})"
        return text if plain else f"({inside} ? {text} : ({kind})0)"

    # ---- memory

    def lane(self) -> str:
        return f"(e * {self.threads} + (int)threadIdx.x)" if self.each > 1 else "(int)threadIdx.x"

    def inside(self) -> str | None:
        """Where threads may stand past the last lane: which do not."""
        return f"{self.lane()} < {self.lanes}" if self.lanes % self.threads else None

    def place(self, env: Env, ref: _Ref, indices: Sequence[Any], out: Any) -> str:
        """The C++ of element ``e`` in memory."""
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

    def scalar(self, env: Env, i: Any) -> str:
        """An index: a number, or element ``e`` of a value."""
        return self.read(env, i) if isinstance(i, (jcore.Var, jcore.Literal)) else str(int(np.asarray(i)))

    def indices(self, tree: Any, leaves: Sequence[Any], shape: tuple[int, ...]) -> Sequence[Any]:
        """Of a reference's only indexer, as variables and literals."""
        import jax

        transforms = jax.tree.unflatten(tree, leaves)
        if not transforms:
            return [_Whole(0, length) for length in shape]
        if len(transforms) > 1 or not hasattr(transforms[0], "indices"):
            raise self.refuse("a reference that is transformed more than by an index")
        return transforms[0].indices

    def put_out(self, place: str, value: str, aval: Any, mask: str | None) -> None:
        """Stores: vectors by all threads, the rest by the first."""
        length = self.length(aval)
        guards = [mask] if mask else []
        if aval.shape == (self.lanes,):
            guards += [guard] if (guard := self.inside()) else []
        else:
            guards.append("threadIdx.x == 0")
        head = f"if ({' && '.join(guards)}) " if guards else ""
        loop = f"UNROLL for (int e = 0; e < {length}; e++) " if length else ""
        self.put(f"{loop}{head}{place} = {value};")


class _Whole(NamedTuple):
    start: int
    size: int


# ---- rules of primitives that are not elementwise: what the results are held in


def _get(emit: _Emit, env: Env, equation: Any) -> list[str]:
    ref, out = equation.invars[0], equation.outvars[0].aval
    indices = emit.indices(equation.params["tree"], equation.invars[1:], ref.aval.shape)
    place = emit.place(env, env[ref], indices, out)
    guard = emit.inside() if out.shape == (emit.lanes,) else None
    return [emit.new(out, f"{guard} ? {place} : ({emit.kind(out)})0" if guard else place)]


def _swap(emit: _Emit, env: Env, equation: Any) -> list[str]:
    ref, value, *leaves = equation.invars
    place = emit.place(env, env[ref], emit.indices(equation.params["tree"], leaves, ref.aval.shape), value.aval)
    emit.put_out(place, emit.read(env, value), value.aval, None)
    return []  # what was there before is not asked for


def _masked_load(emit: _Emit, env: Env, equation: Any) -> list[str]:
    (ref, index, mask), out = equation.invars, equation.outvars[0].aval
    operand, guard = env[ref], emit.read(env, mask)
    if out.shape == (emit.lanes,) and (inside := emit.inside()):
        guard = f"({guard} && {inside})"
    kept = "true" if operand.only_read else "false"
    return [emit.new(out, f"masked_load<{kept}>({operand.name} + {emit.read(env, index)}, {guard})")]


def _masked_store(emit: _Emit, env: Env, equation: Any) -> list[str]:
    ref, index, values, mask = equation.invars
    place = f"{env[ref].name}[{emit.read(env, index)}]"
    emit.put_out(place, emit.read(env, values), values.aval, emit.read(env, mask))
    return []


def _fetch_add(emit: _Emit, env: Env, equation: Any) -> list[str]:
    ref, value = equation.invars
    if emit._alone:
        raise emit.refuse("an atomic addition of a lane alone")
    return [emit.new(equation.outvars[0].aval, f"fetch_add({env[ref].name}, {emit.read(env, value)})")]


def _spread_sign(emit: _Emit, env: Env, equation: Any) -> list[str]:
    words, byte = equation.invars
    return [emit.new(words.aval, f"sign_of_byte<{int(byte.val)}>({emit.read(env, words)})")]


def _lane_alone(emit: _Emit, env: Env, equation: Any) -> list[str]:
    if equation.outvars or emit._alone:
        raise emit.refuse("lanes alone that do more than write")
    if not _reduces_lanes(_inner(equation), emit.lanes):
        # All lanes take the same steps: side by side, a thread's loads wait for memory together.
        return emit.run(_inner(equation), [emit.held(env, v) for v in equation.invars])
    args = [emit.read(env, v) if emit.is_vector(v.aval) else emit.held(env, v) for v in equation.invars]

    def body() -> None:
        emit._alone = True
        emit.run(_inner(equation), args)
        emit._alone = False

    # One lane after another: others of the multiprocessor run while it waits for memory.
    emit.block(f"NO_UNROLL for (int e = 0; e < {emit.each}; e++)", body)
    return []


def _reduces_lanes(jaxpr: Any, lanes: int) -> bool:
    """Whether a value over lanes is reduced, on which a loop may depend."""
    return any(
        (e.primitive.name in REDUCED and e.invars[0].aval.shape == (lanes,))
        or any(_reduces_lanes(inner, lanes) for inner in jcore.jaxprs_in_params(e.params))
        for e in jaxpr.eqns
    )  # fmt: skip


_NAMED = {
    "masked_load": _masked_load, "masked_store": _masked_store, "add_and_fetch": _fetch_add,
    "spread_sign": _spread_sign, "lane_alone": _lane_alone,
}  # fmt: skip


def _call(emit: _Emit, env: Env, equation: Any) -> list[Any]:
    rule = _NAMED.get(equation.params.get("name"))
    if rule:
        return rule(emit, env, equation)
    return emit.run(_inner(equation), [emit.held(env, v) for v in equation.invars])


def _inner(equation: Any) -> Any:
    """The jaxpr of a call, a loop's body or a branch."""
    closed = equation.params["jaxpr"]
    return getattr(closed, "jaxpr", closed)


def _reduce(emit: _Emit, env: Env, equation: Any) -> list[str]:
    (v,), out = equation.invars, equation.outvars[0].aval
    function, kind = REDUCED[equation.primitive.name], emit.kind(out)
    if v.aval.shape == (emit.lanes,) and emit._alone:
        if function == "Sum":
            raise emit.refuse("a sum over lanes that are alone")
        return [env[v]]
    if emit.is_vector(v.aval) and emit.lanes % emit.threads:
        raise emit.refuse(f"{equation.primitive.name} over {emit.lanes} lanes: no multiple of {emit.threads} threads")
    if out.shape != ():
        raise emit.refuse(f"{equation.primitive.name} to shape {out.shape}")
    name, length = emit.declare(out), emit.length(v.aval)
    emit.put(f"{name} = {env[v]}[0];")
    emit.put(f"for (int e = 1; e < {length}; e++) {name} = {function}::of({name}, {env[v]}[e]);")
    if emit.is_vector(v.aval):
        emit.put(f"{name} = of_all<{function}, {kind}>({name});")
    return [name]


def _cumsum(emit: _Emit, env: Env, equation: Any) -> list[str]:
    (v,), out = equation.invars, equation.outvars[0].aval
    if not emit.is_vector(out) or emit.lanes % emit.threads or equation.params.get("reverse"):
        raise emit.refuse(f"cumsum of shape {out.shape}")
    name, kind = emit.declare(out), emit.kind(out)
    carry = f"{name}_carry"
    emit.put(f"{kind} {carry} = 0;")
    emit.put(f"for (int e = 0; e < {emit.each}; e++) {name}[e] = running_sum<{kind}>({env[v]}[e], {carry});")
    return [name]


def _concatenate(emit: _Emit, env: Env, equation: Any) -> list[str]:
    out = equation.outvars[0].aval
    if emit.is_vector(out) or any(emit.is_vector(v.aval) for v in equation.invars):
        raise emit.refuse("concatenate of vectors")
    name, at = emit.declare(out), itertools.count()
    for v in equation.invars:
        for e in range(math.prod(v.aval.shape)):
            emit.put(f"{name}[{next(at)}] = {emit.read(env, v, str(e))};")
    return [name]


def _carry(emit: _Emit, env: Env, start: Sequence[Any], like: Sequence[Any]) -> list[str]:
    names = []
    for v, own in zip(start, like, strict=True):
        names.append(emit.declare(own.aval))
        emit.set(own.aval, names[-1], emit.read(env, v))
    return names


def _assign(emit: _Emit, names: Sequence[str], results: Sequence[str], like: Sequence[Any]) -> None:
    # A result may be another's old value: all are held before any is written.
    old = {result for result in results if result in names}
    moved = {}
    for name, result, v in zip(names, results, like, strict=True):
        if result in old and result != name:
            moved[name] = emit.new(v.aval, f"{result}[e]" if emit.length(v.aval) else result)
    for name, result, v in zip(names, results, like, strict=True):
        text = moved.get(name, result)
        if text != name:
            emit.set(v.aval, name, f"{text}[e]" if emit.length(v.aval) else text)


def _while(emit: _Emit, env: Env, equation: Any) -> list[str]:
    params, ins = equation.params, equation.invars
    test, body = params["cond_jaxpr"].jaxpr, params["body_jaxpr"].jaxpr
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    of_test, of_body = ([emit.held(env, v) for v in part] for part in (ins[:first], ins[first:second]))
    like = body.invars[params["body_nconsts"] :]
    names = _carry(emit, env, ins[second:], like)

    def turn() -> None:
        (goes_on,) = emit.run(test, of_test + names)
        emit.put(f"if (!{goes_on}) break;")
        _assign(emit, names, emit.run(body, of_body + names), like)

    emit.block("while (true)", turn)
    return names


def _scan(emit: _Emit, env: Env, equation: Any) -> list[str]:
    params, ins = equation.params, equation.invars
    body = params["jaxpr"].jaxpr
    # Newer versions of JAX keep these numbers in a tree.
    consts = params["num_consts"] if "num_consts" in params else len([*params["ft_in"].unpack()[0].vals])
    like = body.invars[consts:]
    if params["reverse"] or len(body.outvars) != len(like):
        raise emit.refuse("a scan that is not a counted loop")
    names, of_body = _carry(emit, env, ins[consts:], like), [emit.held(env, v) for v in ins[:consts]]
    number = f"v{next(emit._ids)}"
    emit.block(
        f"for (int {number} = 0; {number} < {params['length']}; {number}++)",
        lambda: _assign(emit, names, emit.run(body, of_body + names), like),
    )
    return names


def _cond(emit: _Emit, env: Env, equation: Any) -> list[str]:
    index, args = emit.read(env, equation.invars[0]), [emit.held(env, v) for v in equation.invars[1:]]
    if emit.is_vector(equation.invars[0].aval):
        raise emit.refuse("a branch by lanes")
    outs = equation.outvars
    names = [emit.declare(v.aval) for v in outs]
    for number, branch in enumerate(equation.params["branches"]):
        emit.block(
            f"{'else ' if number else ''}if ((int){index} == {number})",
            lambda branch=branch: _assign(emit, names, emit.run(branch.jaxpr, args), outs),
        )
    return names


_RULES: dict[str, Callable[[_Emit, dict[Any, Any], Any], list[Any]]] = {
    "get": _get, "swap": _swap, "jit": _call, "pjit": _call, "while": _while, "scan": _scan, "cond": _cond,
    "cumsum": _cumsum, "concatenate": _concatenate, **dict.fromkeys(REDUCED, _reduce),
}  # fmt: skip
