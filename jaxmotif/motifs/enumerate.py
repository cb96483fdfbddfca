"""How often every adjacency code occurs: bounded-memory search, level by level, and the group-by of codes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels import census as kernel
from jaxmotif.kernels.census import Dyads, Phase, Rows
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import take
from jaxmotif.kernels.wide import wide_ints

MERGE_AT = 1 << 23  # (code, count) entries held before they are merged


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Memory of a search.

    Attributes:
      block: positions tried at once; table: rows a level holds; codes: codes grouped at once.
      distinct: distinct codes that the device hands over from one group-by (more are grouped on the host); 0 for
        grouping on the host.
    """

    block: int
    table: int
    codes: int
    distinct: int


CPU_SIZES = Sizes(1 << 14, 1 << 17, 1 << 20, 0)
GPU_SIZES = Sizes(1 << 22, 1 << 23, 1 << 27, 1 << 22)
DENSE_BITS = 24  # codes up to this are counted in one table on the device


@dataclasses.dataclass(frozen=True)
class Codes:
    """Distinct codes, uint64 ascending, and how often each occurs, int64."""

    codes: np.ndarray
    counts: np.ndarray


def count_codes(
    dyads: Dyads,
    size: int,
    bits: int,
    backend: Backend,
    sizes: Sizes,
    advance: Callable[[int], None] = lambda found: None,
) -> Codes:
    """Count the connected induced subgraphs of ``size`` nodes by code.

    Args:
      dyads: on the device to use.
      size: at least 2.
      bits: of a whole code with the graph's number in front; at most 63.
      advance: told how many subgraphs were found, now and then.
    """
    wide = bits > 31
    total = Accumulator()
    dense = None
    if sizes.distinct and bits <= DENSE_BITS:
        with wide_ints():
            dense = jnp.zeros(1 << bits, jnp.int64)

    def leaves(rows: Rows, count: int, opened: Phase, phase: int, positions: int) -> None:
        if dyads.pendants.shape[0]:
            with wide_ints():
                add(*_pendants(dyads, rows, np.int32(count), np.int32(phase), wide=wide))
        per_call = sizes.codes // sizes.block
        with wide_ints():
            for first in range(0, positions, per_call * sizes.block):
                blocks = min(per_call, -(-(positions - first) // sizes.block))
                codes = _leaves(
                    dyads, rows, opened, np.int32(phase), np.int64(first), np.int32(blocks),
                    per_call=_pieces(blocks, per_call), block=sizes.block, wide=wide, backend=backend,
                )  # fmt: skip
                add(codes)

    def add(codes: jax.Array, weights: jax.Array | None = None) -> None:
        nonlocal dense
        if dense is not None:
            dense = _add_dense(dense, codes, weights)
        else:
            advance(total.add(_group(codes, sizes.distinct, weights)))

    search(dyads, size, sizes, leaves)
    if dense is not None:
        counts = np.asarray(dense)
        codes = np.flatnonzero(counts)
        advance(total.add((codes.astype(np.uint64), counts[codes])))
    return total.result()


def count_participation(
    dyads: Dyads, size: int, codes: np.ndarray, index: np.ndarray, classes: int, sizes: Sizes
) -> np.ndarray:
    """How many subgraphs of each class each node lies in, for one graph.

    Args:
      codes: uint64, ascending, every code that occurs; index: the class of each, int64.

    Returns:
      int64 ``[n, classes]``, nodes in the order of the dyads.
    """
    with wide_ints():
        counts = jnp.zeros((dyads.offsets.shape[0] - 1) * classes, jnp.int64)
        known = jnp.asarray(codes), jnp.asarray(index.astype(np.int32))

    def leaves(rows: Rows, count: int, opened: Phase, phase: int, positions: int) -> None:
        nonlocal counts
        with wide_ints():
            counts = _participate(
                dyads, rows, opened, np.int32(phase), np.int64(positions), counts, *known,
                classes=classes, block=sizes.block,
            )  # fmt: skip

    search(dataclasses.replace(dyads, pendants=dyads.pendants[:0]), size, sizes, leaves)
    return np.asarray(counts).reshape(-1, classes)


@partial(jax.jit, static_argnames=("classes", "block"))
def _participate(
    dyads: Dyads, rows: Rows, opened: Phase, phase: Any, positions: Any, counts: Any, codes: Any, index: Any,
    *, classes: int, block: int,
) -> Any:  # fmt: skip
    def body(number: Any, counts: Any) -> Any:
        valid, row, node, _, low, high = kernel.extensions(dyads, rows, opened, phase, number * block, block=block)
        code = (high.astype(jnp.uint64) << 32) | low.astype(jnp.uint64)
        at = jnp.minimum(jnp.searchsorted(codes, code), codes.shape[0] - 1)
        one = valid.astype(jnp.int64)
        for member in [*(take(nodes, row) for nodes in rows.nodes), node]:
            counts = counts.at[member * classes + take(index, at)].add(one, mode="promise_in_bounds")
        return counts

    return lax.fori_loop(jnp.int64(0), -(-positions // block), body, counts)


def search(dyads: Dyads, size: int, sizes: Sizes, leaves: Callable[[Rows, int, Phase, int, int], None]) -> None:
    """Walk every connected subgraph of ``size - 1`` nodes, in tables of bounded size.

    Args:
      leaves: called with a table of such rows, how many it holds, an opened phase of theirs (without pendants), its
        number, and its flat positions.
    """

    def descend(rows: Rows, count: int) -> None:
        i = rows.nodes.shape[0]
        table = None if i == size - 1 else _empty(i + 1, sizes)
        held = 0
        for phase in range(i):
            with wide_ints():
                opened = _open(dyads, rows, np.int32(count), np.int32(phase), last=table is None)
                positions = int(opened.work.total)
            if table is None:
                leaves(rows, count, opened, phase, positions)
                continue
            first = 0
            while first < positions:
                with wide_ints():
                    table, held, first = _fill(
                        dyads, rows, opened, np.int32(phase), np.int64(first), table, np.int32(held), block=sizes.block
                    )
                    held, first = int(held), int(first)
                if held + sizes.block > sizes.table:
                    descend(table, held)
                    held = 0
        if table is not None and held:
            descend(table, held)

    nodes = dyads.offsets.shape[0] - 1
    if nodes:
        descend(_roots(dyads), nodes)


class Accumulator:
    """Adds up groups of codes."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._held = 0

    def add(self, group: tuple[np.ndarray, np.ndarray]) -> int:
        """Returns how many codes the group holds in all."""
        self._parts.append(group)
        self._held += group[0].size
        if self._held > MERGE_AT:
            self._merge()
        return int(group[1].sum())

    def result(self) -> Codes:
        self._merge()
        return Codes(*self._parts[0]) if self._parts else Codes(np.zeros(0, np.uint64), np.zeros(0, np.int64))

    def _merge(self) -> None:
        if len(self._parts) > 1:
            codes = np.concatenate([part[0] for part in self._parts])
            counts = np.concatenate([part[1] for part in self._parts])
            order = np.argsort(codes, kind="stable")
            codes, counts = codes[order], counts[order]
            begins = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])[: codes.size])
            self._parts = [(codes[begins], np.add.reduceat(counts, begins) if begins.size else counts)]
        self._held = sum(part[0].size for part in self._parts)


def _pieces(blocks: int, most: int) -> int:
    """Capacity of a call in blocks: few different ones, so few compilations."""
    return min(most, next(p for p in (1, 16, most) if p >= blocks))


def _empty(nodes: int, sizes: Sizes) -> Rows:
    capacity = sizes.table + sizes.block
    column, word = jnp.zeros(capacity, jnp.int32), jnp.zeros(capacity, jnp.uint32)
    return Rows(column, jnp.zeros((nodes, capacity), jnp.int32), column, column, word, word)


_roots = jax.jit(kernel.roots)
_open = jax.jit(kernel.open_phase, static_argnames="last")
_pendants = jax.jit(kernel.pendant_codes, static_argnames="wide")
_fill = jax.jit(kernel.fill, static_argnames="block")


@partial(jax.jit, static_argnames=("per_call", "block", "wide", "backend"))
def _leaves(
    dyads: Dyads, rows: Rows, opened: Phase, phase: Any, first: Any, blocks: Any,
    *, per_call: int, block: int, wide: bool, backend: Backend,
) -> Any:  # fmt: skip
    """The codes of up to ``per_call`` blocks, all ones where there is none."""
    start = jnp.full((2, per_call * block) if wide else (per_call * block,), kernel.NO_CODE, jnp.uint32)

    def body(index: Any, codes: Any) -> Any:
        at = index * block
        new = kernel.leaf_codes(
            dyads, rows, opened, phase, first + at.astype(jnp.int64), block=block, wide=wide, backend=backend
        )
        return lax.dynamic_update_slice(codes, new, (jnp.int32(0), at)[-codes.ndim :])

    return lax.fori_loop(jnp.int32(0), blocks, body, start)


def _group(codes: jax.Array, distinct: int, weights: jax.Array | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct codes and their counts, or the sums of their weights."""
    if distinct:
        found, counts, number = _group_on_device(codes, weights, distinct)
        number = int(number)
        if number <= distinct:
            some = min(distinct, 1 << number.bit_length())  # few different sizes, so few compilations
            found, counts = jax.device_get((found[:some], counts[:some]))
            real = np.flatnonzero(found[:number] != np.iinfo(found.dtype).max)
            return found[real].astype(np.uint64), counts[real].astype(np.int64)
    words = np.asarray(codes)
    if words.ndim == 2:
        words = (words[0].astype(np.uint64) << np.uint64(32)) | words[1]
    if weights is None:
        words = np.sort(words)
        words = words[: np.searchsorted(words, np.iinfo(words.dtype).max)]
        times = None
    else:
        some = np.flatnonzero(np.asarray(weights))
        words, times = words[some], np.asarray(weights)[some]
        if words.dtype == np.uint32:  # one sort of both together is much faster than sorting an order
            both = np.sort((words.astype(np.uint64) << np.uint64(32)) | times.astype(np.uint64))
            words, times = both >> np.uint64(32), (both & np.uint64(0xFFFFFFFF)).astype(np.int64)
        else:
            order = np.argsort(words)
            words, times = words[order], times[order].astype(np.int64)
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), words[1:] != words[:-1]])[: words.size])
    if times is None:
        return words[begins].astype(np.uint64), np.diff(np.append(begins, words.size))
    return words[begins].astype(np.uint64), np.add.reduceat(times, begins) if begins.size else times


@partial(jax.jit, donate_argnums=0)
def _add_dense(table: Any, codes: Any, weights: Any) -> Any:
    """Count codes (uint32) in a table with an entry for each: sorted first, so that no two meet at one entry."""
    with wide_ints():
        codes, before = _sorted_sums(codes, weights)
        change = codes[1:] != codes[:-1]
        one = jnp.ones(1, bool)
        real = codes != jnp.uint32(kernel.NO_CODE)

        def at(edge: Any) -> Any:
            return jnp.where(edge & real, codes, jnp.uint32(table.shape[0]))

        table = table.at[at(jnp.concatenate([change, one]))].add(before[1:], mode="drop")
        return table.at[at(jnp.concatenate([one, change]))].add(-before[:-1], mode="drop")


@partial(jax.jit, static_argnames="distinct")
def _group_on_device(codes: Any, weights: Any, distinct: int) -> tuple[Any, Any, Any]:
    """Distinct codes in order, their counts, and how many they are (if over ``distinct``, ask the host)."""
    with wide_ints():
        if codes.ndim == 2:
            codes = (codes[0].astype(jnp.uint64) << 32) | codes[1].astype(jnp.uint64)
        codes, before = _sorted_sums(codes, weights)
        begins = jnp.concatenate([jnp.ones(1, bool), codes[1:] != codes[:-1]])
        order = jnp.cumsum(begins, dtype=jnp.int32)
        place = jnp.arange(codes.shape[0], dtype=jnp.int32)
        at = jnp.full(distinct + 1, codes.shape[0], jnp.int32)
        at = at.at[jnp.where(begins, order - 1, distinct + 1)].set(place, mode="drop")
        return codes.at[at[:-1]].get(mode="fill", fill_value=0), before[at[1:]] - before[at[:-1]], order[-1]


def _sorted_sums(codes: Any, weights: Any) -> tuple[Any, Any]:
    """Codes in order, and what lies before each and after the last: codes, or their weights; int64 ``[L + 1]``."""
    if weights is None:
        return jnp.sort(codes), jnp.arange(codes.shape[0] + 1, dtype=jnp.int64)
    codes, weights = lax.sort((codes, weights), num_keys=1)
    return codes, jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum(weights.astype(jnp.int64))])
