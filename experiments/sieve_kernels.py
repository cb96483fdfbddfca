"""The sieve's Pallas kernels on a GPU: equal to their XLA twins there, then the time of each round.

Usage: python experiments/sieve_kernels.py [--size 16] [--words 2048]
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from sieve_common import heading, host_graph, regular, row

from jaxmotif.arrays._compile import Target, compiling_for, jit64, target_of
from jaxmotif.kernels import _sieve_round as sieve_round
from jaxmotif.kernels import _sieve_rows as sieve_rows
from jaxmotif.sieve import _polynomials as polynomials


def same_as_twin(size: int = 7) -> bool:
    """On a graph with a hub that is cut, for blocks of 1, 2 and 4 words."""
    rng = np.random.default_rng(0)
    u, v = np.nonzero(np.triu(rng.random((96, 96)) < 0.1, 1))
    hub = np.zeros(95, np.int64)
    host = host_graph(np.concatenate([u, hub]), np.concatenate([v, np.arange(1, 96)]), 96, size)
    shades = jnp.asarray(rng.integers(0, 2**size, 96), jnp.uint32)
    pieces = int(sieve_rows.num_pieces(np.diff(host.offsets)).sum())
    arrays = jnp.asarray(host.offsets), jnp.asarray(host.targets), shades, jax.random.key(1)
    found = []
    for form in (Target("cuda"), target_of()):
        for words in (1, 2, 4):
            with compiling_for(form):
                drawn = jit64(partial(polynomials.draw, size=size, pieces=pieces))(*arrays)
                total = jit64(partial(polynomials.accumulate, words=words))(drawn, jnp.int32(0), jnp.int32(4 // words))
            found.append((np.asarray(drawn.forms), np.asarray(polynomials.values(total, drawn.rank, size))))
    return bool(found[0][1].any()) and all(
        np.array_equal(a, b) for other in found[1:] for a, b in zip(found[0], other, strict=True)
    )


def rounds(size: int, words: int, repeats: int = 5) -> None:
    """One block of subsets on the regular host with n = 2^10, d = 20."""
    graph = regular(1 << 10, size)
    make = jit64(partial(polynomials.draw, size=size, pieces=0))
    arrays = (jnp.asarray(x) for x in (graph.offsets, graph.targets, graph.shades))
    drawn = make(*arrays, jax.random.key(0))
    begin = jit64(partial(sieve_round.start, num_words=words))
    extend = jit64(sieve_round.extend, donate_argnums=0)
    forms = sieve_round.num_forms(size)
    arguments = drawn.labels, drawn.forms, jnp.int32(0)
    begin = partial(begin, live=drawn.rows.live)
    P = jax.block_until_ready(begin(*arguments))
    at = time.perf_counter()
    for _ in range(repeats):
        P = begin(*arguments)
    jax.block_until_ready(P)
    heading("round", "neighbour sums a vertex", "rows updated", "ms")
    row(1, "-", size, f"{(time.perf_counter() - at) / repeats * 1e3:.3f}")
    for t in range(2, size):
        arguments = jnp.int32(t), jnp.int32(sum(forms[:t])), drawn.weights, drawn.rows
        P = jax.block_until_ready(extend(P, *arguments))
        at = time.perf_counter()
        for _ in range(repeats):
            P = extend(P, *arguments)
        jax.block_until_ready(P)
        row(t, forms[t], size - t, f"{(time.perf_counter() - at) / repeats * 1e3:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--words", type=int, default=2048)
    options = parser.parse_args()
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}, kernels for {target_of()}\n")
    print("equal to the XLA twins:", same_as_twin(), "\n", flush=True)
    print(f"k = {options.size}, {options.words} words of 32 subsets\n")
    rounds(options.size, options.words)


if __name__ == "__main__":
    main()
