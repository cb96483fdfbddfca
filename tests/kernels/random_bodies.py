"""Random kernel bodies of what the translator knows, and the two forms of a kernel compared.

``python -m tests.kernels.random_bodies FIRST LAST`` compares the kernels of those seeds, each of several bodies.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl

from jaxmotif.arrays._compile import Target, compiling_for
from jaxmotif.kernels._launch import each_alone, fetch_add, kernel_call, load, store, whole
from tests import emulated

KINDS = [np.dtype(x) for x in ("int8", "uint8", "int16", "uint16", "int32", "uint32")]
WORDS = [np.dtype(x) for x in ("int32", "uint32")]
INT, BOOL = np.dtype("int32"), np.dtype(bool)
ENTRIES, ROWS, PROGRAMS, BODIES = 64, 4, 3, 8
COMPARED = (lax.lt, lax.le, lax.gt, lax.ge, lax.eq, lax.ne)
BINARY = (lax.add, lax.sub, lax.mul, lax.max, lax.min)
BITWISE = (lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor)
SHIFTS = (lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic)


class Body:
    """Values made so far, and the steps that make more of them."""

    def __init__(
        self, rng: np.random.Generator, refs: dict[np.dtype, Any], table: Any, lanes: int, alone: bool = False
    ):
        self.rng, self.refs, self.table, self.lanes, self.alone = rng, refs, table, lanes, alone
        self.values: list[jax.Array] = []

    def of(self, kind: np.dtype, vector: bool | None = None) -> jax.Array:
        """Some value of a kind: one of those made, or a number."""
        shape = None if vector is None else (self.lanes,) if vector else ()
        made = [x for x in self.values if x.dtype == kind and shape in (None, x.shape)]
        if made and self.rng.random() < 0.8:
            return made[self.rng.integers(len(made))]
        if kind == BOOL:
            number = jnp.asarray(bool(self.rng.integers(2)))
        else:
            info = np.iinfo(kind)
            few = [0, 1, 2, int(info.max), int(info.min), 5]
            number = jnp.asarray(few[self.rng.integers(6)] if self.rng.random() < 0.5 else
                                 int(self.rng.integers(info.min, info.max, endpoint=True)), kind)  # fmt: skip
        return (
            jnp.broadcast_to(number, (self.lanes,))
            if vector or (vector is None and self.rng.random() < 0.5)
            else number
        )

    def kind(self, kinds: list[np.dtype] = KINDS) -> np.dtype:
        return kinds[self.rng.integers(len(kinds))]

    def pair(self, kind: np.dtype) -> tuple[jax.Array, jax.Array]:
        vector = bool(self.rng.random() < 0.7)
        return self.of(kind, vector), self.of(kind, vector)

    def index(self, vector: bool, below: int = ENTRIES) -> jax.Array:
        return self.of(INT, vector) & jnp.int32(below - 1)

    # ---- steps

    def arithmetic(self) -> Any:
        return BINARY[self.rng.integers(5)](*self.pair(self.kind()))

    def bitwise(self) -> Any:
        return BITWISE[self.rng.integers(3)](*self.pair(self.kind([*KINDS, BOOL])))

    def divided(self) -> Any:
        x, y = self.pair(self.kind())
        y = (y & y.dtype.type(7)) + y.dtype.type(1)  # by 0 no two devices do the same
        return (lax.div, lax.rem, jnp.floor_divide)[self.rng.integers(3)](x, y)

    def shifted(self) -> Any:
        x, y = self.pair(self.kind())
        if self.rng.random() < 0.5:
            y = jnp.full(y.shape, int(self.rng.integers(0, 9)), y.dtype)
        return SHIFTS[self.rng.integers(3)](x, y)

    def compared(self) -> Any:
        return COMPARED[self.rng.integers(6)](*self.pair(self.kind([*KINDS, BOOL])))

    def chosen(self) -> Any:
        vector, kind = bool(self.rng.random() < 0.7), self.kind([*KINDS, BOOL])
        return lax.select(self.of(BOOL, vector), self.of(kind, vector), self.of(kind, vector))

    def single(self) -> Any:
        x = self.of(self.kind())
        return (lax.bitwise_not, lax.sign)[self.rng.integers(2)](x)

    def negated(self) -> Any:
        return ~self.of(BOOL)

    def counted(self) -> Any:
        x = self.of(self.kind(WORDS))
        # XLA gives -32 for the leading zeros of a constant that is negative.
        return lax.population_count(x) if self.rng.random() < 0.5 else lax.clz(x.astype(jnp.uint32))

    def converted(self) -> Any:
        return self.of(self.kind([*KINDS, BOOL])).astype(self.kind([*KINDS, BOOL]))

    def same_bits(self) -> Any:
        x = self.of(self.kind())
        return lax.bitcast_convert_type(
            x, np.dtype(("u" if x.dtype.kind == "i" else "") + f"int{8 * x.dtype.itemsize}")
        )

    def spread(self) -> Any:
        return jnp.broadcast_to(self.of(self.kind([*KINDS, BOOL]), False), (self.lanes,))

    def numbered(self) -> Any:
        return jnp.arange(self.lanes, dtype=jnp.int32)

    def gathered(self) -> Any:
        ref, where = self.refs[self.kind()], self.of(BOOL, True)
        if self.rng.random() < 0.5:
            return load(ref, self.index(True))
        # A lane that does not ask may ask for anything.
        return load(ref, jnp.where(where, self.index(True), self.of(INT, True)), where)

    def got(self) -> Any:
        if self.rng.random() < 0.5:
            return self.refs[self.kind()][self.index(False)]
        return self.table[self.index(False, ROWS), self.index(False, 16)]

    def row(self) -> Any:
        return self.table[self.index(False, ROWS), pl.ds(self.index(False, 16), self.lanes)]

    def reduced(self) -> Any:
        kind = self.kind(WORDS)
        if self.rng.random() < 0.2:
            return (jnp.any, jnp.all)[self.rng.integers(2)](self.of(BOOL, True))
        return (lambda x: jnp.sum(x, dtype=kind), jnp.max, jnp.min)[self.rng.integers(3)](self.of(kind, True))

    def summed(self) -> Any:
        kind = self.kind(WORDS)
        return jnp.cumsum(self.of(kind, True), dtype=kind)

    def looped(self) -> Any:
        start = [self.of(self.kind([*KINDS, BOOL])) for _ in range(int(self.rng.integers(1, 4)))]
        times = self.index(False, 4)

        def turn(i: Any, carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
            return self.inner([jnp.asarray(i, jnp.int32), *carry], carry)

        return lax.fori_loop(0, times, turn, tuple(start))

    def repeated(self) -> Any:
        start = (jnp.int32(0), *(self.of(self.kind([*KINDS, BOOL])) for _ in range(2)))
        last = self.index(False, 4)

        def turn(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
            return carry[0] + 1, *self.inner([*carry], carry[1:])

        return lax.while_loop(lambda carry: carry[0] < last, turn, start)

    def branched(self) -> Any:
        like = tuple(self.of(self.kind([*KINDS, BOOL])) for _ in range(2))
        branches = [lambda: self.inner([], like) for _ in range(int(self.rng.integers(2, 4)))]
        if len(branches) == 2:
            return lax.cond(self.of(BOOL, False), *branches)
        return lax.switch(self.index(False, 4) % 3, branches)

    def inner(self, more: list[jax.Array], like: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        """Values like some, made by steps of which nothing else is seen from outside."""
        body = Body(self.rng, self.refs, self.table, self.lanes, self.alone)
        body.values = [*self.values, *more]
        body.steps(3, nested=True)
        made = [[x for x in body.values if x.dtype == y.dtype and x.shape == y.shape] for y in like]
        return tuple(some[-1 - int(self.rng.integers(min(2, len(some))))] if some else y
                     for some, y in zip(made, like, strict=True))  # fmt: skip

    def steps(self, count: int, nested: bool = False) -> None:
        known: list[Callable[[], Any]] = [
            self.arithmetic, self.bitwise, self.divided, self.shifted, self.compared, self.chosen, self.single,
            self.negated, self.counted, self.converted, self.same_bits, self.spread, self.numbered,
            self.gathered, self.got,
        ]  # fmt: skip
        if not self.alone:
            known += [self.row]
            if self.lanes >= 32:
                known += [self.reduced, self.summed]
        if not nested:
            known += 2 * [self.looped, self.repeated, self.branched]
        for _ in range(count):
            found = known[self.rng.integers(len(known))]()
            self.values += found if isinstance(found, tuple | list) else [found]

    def digest(self) -> tuple[jax.Array, jax.Array]:
        """All values in one of each lane, and in one of all."""
        lanes, scalar = jnp.zeros(self.lanes, jnp.uint32), jnp.uint32(0)
        for x in self.values:
            word = x.astype(jnp.uint32)
            if x.shape:
                lanes = lanes * jnp.uint32(31) + word
            else:
                scalar = scalar * jnp.uint32(31) + word
        return lanes, scalar


def lanes_alone(body: Body, out: Any) -> None:
    """Loops of as many turns as each lane wants, by the form that kernels have."""

    @each_alone
    def _() -> None:
        body.alone = True
        lane, turns = jnp.arange(body.lanes, dtype=jnp.int32), body.index(True, 8)

        def turn(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            i, x = carry
            inside = Body(body.rng, body.refs, body.table, body.lanes, True)
            inside.values = [i, x]
            inside.steps(4, nested=True)
            grown = inside.digest()[0].astype(jnp.int32)
            return i + 1, jnp.where(i < turns, grown, x)

        _, found = lax.while_loop(
            lambda carry: jnp.max(turns - carry[0]) > 0, turn, (jnp.zeros(body.lanes, jnp.int32), lane)
        )
        out[...] = found.astype(jnp.uint32)


def kernel_of(seed: int, lanes: int) -> Callable[..., None]:
    def kernel(total_in: Any, scattered_in: Any, table: Any, *refs: Any) -> None:
        inputs, (total, scattered, by_lane, alone, by_body) = refs[: len(KINDS)], refs[len(KINDS) :]
        rng, number = np.random.default_rng([seed, 1]), pl.program_id(0)
        for place in range(BODIES):
            body = Body(rng, dict(zip(KINDS, inputs, strict=True)), table, lanes)
            body.values.append(number)
            body.steps(10)
            if place == 0:
                body.values.append(fetch_add(total, body.of(INT, False)))
            found, by_body[number, place] = body.digest()
            by_lane[place] = found
            if place == 1:
                at = number * lanes + (jnp.arange(lanes, dtype=jnp.int32) ^ jnp.int32(rng.integers(lanes)))
                store(scattered, at, found, found > jnp.uint32(2**31))
            if place == 2:
                lanes_alone(body, alone)

    return kernel


def results(seed: int, target: Target) -> list[np.ndarray]:
    """Of a kernel of several bodies, in one form."""
    rng = np.random.default_rng(seed)
    lanes, warps = int(rng.choice([16, 32, 64, 512])), int(rng.choice([1, 4]))
    arrays = [rng.integers(np.iinfo(k).min, np.iinfo(k).max, ENTRIES, k, endpoint=True) for k in KINDS]
    table, size = rng.integers(-9, 99, (ROWS, lanes + 16)).astype(np.int32), PROGRAMS * lanes
    word = partial(jax.ShapeDtypeStruct, dtype=jnp.uint32)
    mine = pl.BlockSpec((lanes,), lambda number: (number,))
    with compiling_for(target):
        call = kernel_call(
            kernel_of(seed, lanes), lanes=lanes, warps=warps, grid=(PROGRAMS,), name="bodies",
            in_specs=[whole()] * (3 + len(KINDS)), input_output_aliases={0: 0, 1: 1},
            out_specs=[whole(), whole(), pl.BlockSpec((BODIES, lanes), lambda number: (0, number)), mine, whole()],
            out_shape=[jax.ShapeDtypeStruct((1,), jnp.int32), word((size,)), word((BODIES, size)), word((size,)),
                       word((PROGRAMS, BODIES))],
        )  # fmt: skip
        found = jax.jit(call)(np.zeros(1, np.int32), np.arange(size, dtype=np.uint32), table, *arrays)
        return [np.asarray(x) for x in found]


def differences(seed: int) -> list[str]:
    """In which results the two forms of a kernel differ, and in which bodies."""
    found = [results(seed, target) for target in (Target("cpu", "interpreted"), emulated.TARGET)]
    names = "total", "scattered", "by lane", "alone", "by body"
    return [
        f"seed {seed}: {name} {np.argwhere((x != y).reshape(-1, x.shape[-1]))[:4].tolist()}"
        for name, x, y in zip(names, *found, strict=True)
        if not np.array_equal(x, y)
    ]


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        begin = time.process_time()
        try:
            told = differences(seed) or ["equal"]
        except Exception as error:
            told = [f"{type(error).__name__}: {str(error)[:300]}"]
        sys.stdout.write(f"{seed} {time.process_time() - begin:.1f} s {'; '.join(told)}\n")
        sys.stdout.flush()
