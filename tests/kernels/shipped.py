"""Which kernels the package ships PTX of; ``python -m tests.kernels.shipped`` makes it (NVRTC 12.4, extra ``dev``).

PTX is found by the text of a kernel, which holds no sizes, so that a few shapes stand for all. Another version of JAX
may trace a kernel otherwise: there, ``--keep`` adds what it needs.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import Target, compiling_for
from jaxmotif.graph._order import degree_order
from jaxmotif.graphlets._copies import MOST_CLIQUE, ClosedFormWords, add_ways
from jaxmotif.kernels import _launch, _sieve_pallas
from jaxmotif.kernels import _subgraphs as subgraphs
from jaxmotif.kernels._cliques import Matrices, common_bits, count_cliques
from jaxmotif.kernels._expand import FlatWork
from jaxmotif.kernels._sha256 import hash_leaves
from jaxmotif.kernels._sieve_rows import plan_rows
from jaxmotif.kernels._triangles import TriangleBlock, triangle_block
from jaxmotif.kernels._wedges import wedge_block
from jaxmotif.kernels.cuda import _call
from jaxmotif.kernels.cuda._call import shipped_name
from jaxmotif.kernels.cuda._nvrtc import compile_ptx
from jaxmotif.kernels.cuda._translate import Program
from jaxmotif.search._layout import Operands, Sizes
from jaxmotif.search._loop import advance, start_state
from jaxmotif.sieve import _polynomials as polynomials
from tests.samples import DENSE, build

FOLDER = Path(_call.__file__).parent / "ptx"
BLOCK = 4096

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def _ints(*shape: int, dtype: Any = jnp.int32) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


WORK, SCALAR, PLACE = FlatWork(_ints(9), _ints(10, dtype=jnp.int64)), _ints(), _ints(dtype=jnp.int64)


def graphlets() -> Iterator[Case]:
    order = degree_order(jax.tree.map(np.asarray, build(*DENSE)))
    for kernel in (triangle_block, wedge_block):
        yield partial(kernel, block=BLOCK), (order, WORK, PLACE, PLACE)
    triangles = TriangleBlock(*[_ints(BLOCK)] * 3)
    matrices, bits = Matrices(_ints(9)), _ints(9, dtype=jnp.uint32)
    yield common_bits, (order, matrices, bits, triangles)
    yield partial(count_cliques, nodes=MOST_CLIQUE, block=BLOCK), (order, matrices, bits, (SCALAR, SCALAR))
    program, lanes = ClosedFormWords(_ints(1), _ints(9), _ints(9)), _ints(BLOCK)
    for limbs in (2, 4, 8):
        sums = _ints(limbs, dtype=jnp.uint64)
        yield partial(add_ways, limbs=limbs), (program, sums, lanes, [lanes])


def _dyads(directed: bool, matrix: bool) -> subgraphs.Dyads:
    states = _ints(9, dtype=jnp.uint8)
    return subgraphs.Dyads(
        _ints(9),
        _ints(9),
        states,
        states if matrix else None,
        None,
        _ints(3),
        subgraphs.Codes(2 * directed, 1 + directed, 0),
        9,
    )


def motifs() -> Iterator[Case]:
    words = _ints(9, dtype=jnp.uint32)
    for directed in (False, True):
        for matrix in (False, True):
            dyads = _dyads(directed, matrix)
            for nodes in range(1, 6):
                rows = subgraphs.Rows(_ints(9), _ints(nodes, 9), _ints(nodes, 9), _ints(9), words, words)
                added = subgraphs.Candidates(_ints(9), _ints(9), _ints(9), WORK, words, words, words)
                for wide in (False, True):
                    visit = partial(subgraphs.visit_codes, block=BLOCK, wide=wide)
                    yield visit, (dyads, rows, added, PLACE)


def searches() -> Iterator[Case]:
    op = Operands(*(_ints(9) for _ in Operands._fields))
    for bitmap in (False, True):
        for limbs in (0, 2, 4):
            for ahead in (False, True):
                for in_order, cells in ((False, 0), (True, 0), (False, 9)):
                    sizes = Sizes(BLOCK, 1024, bitmap, ahead, limbs, in_order, cells)
                    state = jax.eval_shape(partial(start_state, entries=2**14, tables=4, sizes=sizes))
                    yield partial(advance, sizes=sizes), (op, state, SCALAR)


def sieves() -> Iterator[Case]:
    """By the sieve itself, whose operands are its own. Motifs of up to ten vertices have less than a block of words;
    the kernels of one that is taken have that many lanes, and of the forms, a power of two."""
    rows, shades, key = (_ints(9), _ints(40)), _ints(8, dtype=jnp.uint32), jax.eval_shape(lambda: jax.random.key(0))
    for size in (2, 3, 5, 6, 7, 8, 9, 10, 11, 18):
        for pieces in (0, 3):

            def total(*args: Any, size: int = size, pieces: int = pieces) -> jax.Array:
                offsets, targets, shades, key = args
                rows, rank = plan_rows(offsets, targets, pieces)
                drawn = polynomials.draw(rows, rank, shades, key, size)
                return polynomials.accumulate(drawn, 0, 1, min(polynomials.num_words(size), _sieve_pallas.BLOCK_WORDS))

            yield total, (*rows, shades, key)


def probes() -> Iterator[Case]:
    yield _launch.probe, (_ints(64),)


def certificates() -> Iterator[Case]:
    yield partial(hash_leaves, end=b"leaf"), (_ints(128, 1024, dtype=jnp.uint32),)


JOBS = (probes, graphlets, sieves, searches, motifs, certificates)


def programs(cases: Iterator[Case]) -> dict[str, Program]:
    """The kernels that some functions use, by the names of their files."""
    found: dict[str, Program] = {}

    def record(program, operands, shapes, aliases, grid):
        found[shipped_name(program)] = program
        return [jnp.zeros(shape.shape, shape.dtype) for shape in shapes]

    recorded = Target("cuda", "recorded")  # pyright: ignore[reportArgumentType]
    _call.LAUNCHERS["recorded"] = record
    with compiling_for(recorded), jax.enable_x64(True):
        for function, args in cases:
            jax.eval_shape(lambda *args, function=function: function(*args), *args)
    del _call.LAUNCHERS["recorded"]
    return found


def packed(ptx: str) -> bytes:
    return zlib.compress(ptx.encode(), 9)


if __name__ == "__main__":
    wanted = {name: program for job in JOBS for name, program in programs(job()).items()}
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        if "--keep" not in sys.argv and file.name not in wanted:
            file.unlink()
    for name, program in wanted.items():
        if not (FOLDER / name).exists():
            (FOLDER / name).write_bytes(packed(compile_ptx(program.text)))
    files = list(FOLDER.iterdir())
    sys.stdout.write(f"{len(files)} kernels, {sum(file.stat().st_size for file in files) // 1024} KiB\n")
