"""Counting connected induced subgraphs by class: bounded-memory search, level by level."""

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
from jaxmotif.kernels.census import Candidates, Dyads, Rows, Runs, Walks
from jaxmotif.kernels.choice import Backend, for_host, power_of_four
from jaxmotif.kernels.expand import FlatWork, take
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.motifs.classes import Classifier, normal_codes
from jaxmotif.motifs.dyads import Alphabet
from jaxmotif.motifs.tally import Tally


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Memory of a search.

    Attributes:
      block: positions tried at once; table: rows a level holds; candidates: of the last table, looked at together.
      codes: codes grouped at once; distinct: different ones looked at together when a device does it, 0 for the host.
      least: no smaller where less would do, so that few sizes are compiled.
    """

    block: int
    table: int
    candidates: int
    codes: int
    distinct: int
    least: int

    def fit(self, need: int, most: int) -> int:
        """A size of at most ``most`` for so many, or for a part of them."""
        return min(most, power_of_four(need, self.least))


CPU_SIZES = Sizes(1 << 14, 1 << 17, 1 << 17, 1 << 20, 0, 1 << 15)
GPU_SIZES = Sizes(1 << 22, 1 << 23, 1 << 25, 1 << 27, 1 << 22, 1 << 17)


def count_classes(
    dyads: Dyads,
    size: int,
    classifier: Classifier,
    backend: Backend,
    sizes: Sizes,
    advance: Callable[[int], None] = lambda rows: None,
) -> np.ndarray:
    """Count the connected induced subgraphs of ``size`` nodes of every graph by class.

    Args:
      dyads: on the device to use.
      size: at least 2.
      advance: told how many subgraphs of one node less were extended, now and then.

    Returns:
      int64 ``[graphs, classes]``, as many classes as the classifier knows at the end.
    """
    tally = Tally(dyads, size, classifier, sizes.distinct)
    if size == 2:
        with wide_ints():
            tally.add(_edges(dyads, wide=tally.wide))
        return tally.counts()

    def close(rows: Rows, count: int, walks: Walks, positions: int) -> None:
        first, block = 0, sizes.fit(max(count, positions), sizes.candidates)
        static = {"bits": dyads.new_bits(size - 2), "backend": backend}
        while first < count:
            at = np.array([first, count], np.int32)
            with wide_ints():
                if sizes.distinct:
                    added, runs, numbers = _added_in_runs(dyads, rows, walks, at, block=block, **static)
                    stop, visits, total, found = np.asarray(numbers).tolist()
                else:
                    added, numbers = _added(dyads, rows, walks, at, block=block, backend=backend)
                    runs, more = _runs(np.sort(np.asarray(added.keys)), at, **static)
                    (stop, visits), (total, found) = np.asarray(numbers).tolist(), np.asarray(more).tolist()
            if stop == first:  # a row that no block holds
                block *= 2
                continue
            advance(found)
            pairs(rows, runs, total)
            visit(rows, added, visits)
            first = stop

    def pairs(rows: Rows, runs: Runs, positions: int) -> None:
        block = sizes.fit(positions, sizes.candidates)
        with wide_ints():
            for first in range(0, positions, block):
                tally.add(*_pairs(dyads, rows, runs, np.int64(first), block=block, wide=tally.wide))

    def visit(rows: Rows, added: Candidates, positions: int) -> None:
        block = sizes.fit(positions, sizes.block)
        per_call = sizes.codes // block
        with wide_ints():
            for first in range(0, positions, per_call * block):
                blocks = min(per_call, -(-(positions - first) // block))
                tally.add(_visits(
                    dyads, rows, added, np.array([first, blocks]), per_call=_pieces(blocks, per_call), block=block,
                    wide=tally.wide, backend=backend,
                ))  # fmt: skip

    search(dyads, size - 2, sizes, backend, close)
    return tally.counts()


def count_participation(dyads: Dyads, size: int, classifier: Classifier, backend: Backend, sizes: Sizes) -> np.ndarray:
    """How many subgraphs of each class each node lies in, for one graph.

    Args:
      size: at least 3. classifier: that knows every form that occurs.

    Returns:
      int64 ``[n, classes]``, nodes in the order of the dyads.
    """
    forms, index = classifier.known
    alphabet = classifier.alphabet
    classes = len(classifier.classes)
    with wide_ints():
        counts = jnp.zeros((dyads.offsets.shape[0] - 1) * classes, jnp.int64)
        known = jnp.asarray(forms), jnp.asarray(index.astype(np.int32))

    def close(rows: Rows, count: int, walks: Walks, positions: int) -> None:
        nonlocal counts
        with wide_ints():
            counts = _participate(
                dyads, rows, walks.work, counts, *known, alphabet=alphabet, classes=classes, block=sizes.block
            )

    if classes:
        search(dyads, size - 1, sizes, backend, close)
    return np.asarray(counts).reshape(-1, classes)


@partial(jax.jit, static_argnames=("alphabet", "classes", "block"))
def _participate(
    dyads: Dyads, rows: Rows, work: FlatWork, counts: Any, forms: Any, index: Any,
    *, alphabet: Alphabet, classes: int, block: int,
) -> Any:  # fmt: skip
    size = rows.nodes.shape[0] + 1

    def body(number: Any, counts: Any) -> Any:
        found = kernel.extensions(dyads, rows, work, number * block, work.total, block=block)
        low, high = take(rows.low, found.row), take(rows.high, found.row)
        code = kernel.ordered_pair(dyads, low, high, found.pattern, size - 2)
        at = jnp.searchsorted(forms, normal_codes(jnp, code, alphabet, size))
        at = jnp.minimum(at, forms.shape[0] - 1)  # where no subgraph is
        one = found.valid.astype(jnp.int64)
        for member in [*(take(nodes, found.row) for nodes in rows.nodes), take(rows.base, found.row) + found.local]:
            counts = counts.at[member * classes + take(index, at)].add(one, mode="promise_in_bounds")
        return counts

    return lax.fori_loop(jnp.int64(0), -(-work.total // block), body, counts)


def search(
    dyads: Dyads, size: int, sizes: Sizes, backend: Backend, close: Callable[[Rows, int, Walks, int], None]
) -> None:
    """Make every connected subgraph of ``size`` nodes, in tables of bounded size.

    Args:
      close: called with a table of them, how many it holds, their walks, and how long these are together.
    """

    def descend(rows: Rows, count: int) -> None:
        i = rows.nodes.shape[0]
        with wide_ints():
            walks, positions = _walks(dyads, rows, np.int32(count), backend=backend)
            positions = int(positions)
        if i == size:
            close(rows, count, walks, positions)
            return
        first, held = 0, 0
        block = sizes.fit(positions, sizes.block)
        capacity = sizes.fit(positions + block, sizes.table)
        table = _empty(i + 1, capacity + block)
        while first < positions:
            with wide_ints():
                table, numbers = _fill(
                    dyads, rows, walks.work, np.int64(first), table, np.int32(held), block=block, backend=backend
                )
                held, first = np.asarray(numbers).tolist()
            if held + block > capacity or (first >= positions and held):
                descend(table, held)
                held = 0

    nodes = dyads.offsets.shape[0] - 1
    if nodes:
        descend(_roots(dyads), nodes)


def _pieces(blocks: int, most: int) -> int:
    """Capacity of a call in blocks: few different ones, so few compilations."""
    return min(most, 1 << (blocks - 1).bit_length())


@partial(jax.jit, static_argnums=(0, 1))
def _empty(nodes: int, capacity: int) -> Rows:
    column, word = jnp.zeros(capacity, jnp.int32), jnp.zeros(capacity, jnp.uint32)
    columns = jnp.zeros((nodes, capacity), jnp.int32)
    return Rows(column, columns, columns, column, word, word)


_roots = jax.jit(kernel.roots)
_edges = jax.jit(kernel.edge_codes, static_argnames="wide")
_pairs = jax.jit(kernel.pair_codes, static_argnames=("block", "wide"))

# Totals come with what they are totals of: an index taken outside copies the whole array.


def _numbers(*scalars: Any) -> jax.Array:
    return for_host(jnp.stack([jnp.asarray(x, jnp.int64) for x in scalars]))


@partial(jax.jit, static_argnames=("block", "backend"))
def _fill(
    dyads: Dyads, rows: Rows, work: FlatWork, first: Any, table: Rows, held: Any, *, block: int, backend: Backend
) -> tuple[Rows, Any]:
    table, held, first = kernel.fill(dyads, rows, work, first, table, held, block=block, backend=backend)
    return table, _numbers(held, first)


@partial(jax.jit, static_argnames="backend")
def _walks(dyads: Dyads, rows: Rows, size: Any, *, backend: Backend) -> tuple[Walks, Any]:
    walks = kernel.open_walks(dyads, rows, size, backend=backend)
    return walks, for_host(walks.work.total)


@partial(jax.jit, static_argnames=("block", "backend"))
def _added(
    dyads: Dyads, rows: Rows, walks: Walks, at: Any, *, block: int, backend: Backend
) -> tuple[Candidates, Any]:  # fmt: skip
    added, stop = kernel.candidates(dyads, rows, at[1], walks, at[0], block=block, backend=backend)
    return added, _numbers(stop, added.work.total)


@partial(jax.jit, static_argnames=("bits", "backend"))
def _runs(keys: Any, at: Any, *, bits: int, backend: Backend) -> tuple[Runs, Any]:
    runs = kernel.pattern_runs(keys, at[0], bits=bits, backend=backend)
    return runs, _numbers(runs.work.total, runs.count.sum(dtype=jnp.int32))


@partial(jax.jit, static_argnames=("block", "bits", "backend"))
def _added_in_runs(
    dyads: Dyads, rows: Rows, walks: Walks, at: Any, *, block: int, bits: int, backend: Backend
) -> tuple[Candidates, Runs, Any]:
    """Both in one dispatch, so that the host waits once."""
    added, numbers = _added(dyads, rows, walks, at, block=block, backend=backend)
    runs, more = _runs(jnp.sort(added.keys), at, bits=bits, backend=backend)
    return added, runs, for_host(jnp.concatenate([numbers, more]))


@partial(jax.jit, static_argnames=("per_call", "block", "wide", "backend"))
def _visits(
    dyads: Dyads, rows: Rows, added: Candidates, at: Any,
    *, per_call: int, block: int, wide: bool, backend: Backend,
) -> Any:  # fmt: skip
    """The codes of up to ``per_call`` blocks, all ones where there is none."""
    first, blocks = at[0], at[1].astype(jnp.int32)
    start = jnp.full((2, per_call * block) if wide else (per_call * block,), kernel.NO_CODE, jnp.uint32)

    def body(index: Any, codes: Any) -> Any:
        at = index * block
        new = kernel.visit_codes(
            dyads, rows, added, first + at.astype(jnp.int64), block=block, wide=wide, backend=backend
        )
        return lax.dynamic_update_slice(codes, new, (jnp.int32(0), at)[-codes.ndim :])

    return lax.fori_loop(jnp.int32(0), blocks, body, start)
