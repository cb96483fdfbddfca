"""What localising costs (Figure 7); products and bytes a second by motif and host size (Figure 2, center and right).

Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs (SEA 2018). The recurrence alone is timed, labels and
weights on the device, over all subsets: once with a sum at every vertex, once with one sum over all vertices, as the
sieve before had it. Bytes and products are counted from the circuit (sieve_common.work), as the paper counts: what rows
are read and written, from cache or memory. A copy of a large array tells what the memory gives.
Usage: python experiments/sieve_bandwidth.py [--sizes 10,14,18,22] [--hosts 14,18,20]
"""

from __future__ import annotations

import argparse
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from sieve_common import clock, figure, heading, multiplications, regular, row, work
from sieve_scaling import numbers

from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.kernels import _sieve_round as sieve_round
from jaxmotif.sieve import _polynomials as polynomials
from jaxmotif.sieve._prune import ColoredGraph

COMMAND = "python experiments/sieve_bandwidth.py"


def total(draw: polynomials.Draw, words: int, localised: bool) -> jax.Array:
    """The XOR over all blocks of subsets: ``[V, 8]``, or ``[8]`` of all vertices together."""
    size = draw.forms.shape[0] + 1
    if localised:
        return polynomials.accumulate(draw, 0, polynomials.num_words(size) // words, words)
    first_forms = jnp.asarray(np.cumsum([0, *sieve_round.num_forms(size)])[:-1], jnp.int32)
    live = jnp.arange(draw.labels.shape[0], dtype=jnp.int32)[:, None, None] < draw.rows.live

    def block(index: jax.Array, found: jax.Array) -> jax.Array:
        P = sieve_round.start(draw.labels, draw.forms, index * words, words, draw.rows.live)
        P = lax.fori_loop(2, size, lambda t, P: sieve_round.extend(P, t, first_forms[t], draw.weights, draw.rows), P)
        return found ^ lax.reduce(jnp.where(live, P[size - 1], jnp.uint32(0)), np.uint32(0), lax.bitwise_xor, (0, 2))

    return lax.fori_loop(0, polynomials.num_words(size) // words, block, jnp.zeros(8, jnp.uint32))


def seconds(host: ColoredGraph, size: int) -> tuple[float, float]:
    """Of the recurrence with a sum at every vertex, and with one; which agree."""
    make = jit64(partial(polynomials.draw, size=size, pieces=0))
    draw = jax.block_until_ready(make(*map(jnp.asarray, host[:3]), jax.random.key(0)))
    words = polynomials.block_words(size, host.n, target_of(jax.devices()[0]))
    times, sums = [], []
    for localised in (True, False):
        run = jit64(partial(total, words=words, localised=localised))
        found = np.asarray(run(draw))
        sums.append(np.bitwise_xor.reduce(found, 0) if localised else found)
        taken = []
        for _ in range(2):
            begin = clock()
            jax.block_until_ready(run(draw))
            taken.append(clock() - begin)
        times.append(min(taken))
    np.testing.assert_array_equal(*sums)
    return times[0], times[1]


def copied() -> float:
    """Bytes a second, read and written, of a copy."""
    cpu = jax.devices()[0].platform == "cpu"
    large = jnp.zeros(1 << (26 if cpu else 30), jnp.uint32)
    copy = jit64(lambda x: x ^ jnp.uint32(1))
    jax.block_until_ready(copy(large))
    begin = clock()
    for _ in range(4):
        found = copy(large)
    jax.block_until_ready(found)
    return 4 * 2 * large.nbytes / (clock() - begin)


def measure(over: str, cases: dict[int, tuple[ColoredGraph, int]]) -> dict[str, dict[int, float]]:
    """A table of cases, and its columns by case."""
    heading(
        over,
        "s",
        "one sum, s",
        "localising",
        "10^9 products/s",
        "paper's count",
        "10^9 bytes/s",
        "10^9 word operations/s",
    )
    columns: dict[str, dict[int, float]] = {name: {} for name in ("localised", "one sum", "products", "paper", "bytes")}
    for at, (host, size) in cases.items():
        localised, plain = seconds(host, size)
        done = work(host, size)
        told = {
            "localised": localised, "one sum": plain, "products": (done.sums + done.products) / localised / 1e9,
            "paper": multiplications(host, size) / localised / 1e9, "bytes": done.bytes / localised / 1e9,
        }  # fmt: skip
        row(
            at, f"{localised:.4f}", f"{plain:.4f}", f"{localised / plain - 1:+.1%}", f"{told['products']:.1f}",
            f"{told['paper']:.1f}", f"{told['bytes']:.1f}", f"{done.operations / localised / 1e9:.0f}",
        )  # fmt: skip
        for name, value in told.items():
            columns[name][at] = value
    return columns


def main() -> None:
    parser = argparse.ArgumentParser()
    small = jax.devices()[0].platform == "cpu"
    parser.add_argument("--sizes", type=numbers, default=[8, 10, 12] if small else [10, 14, 18, 22])
    parser.add_argument("--hosts", type=numbers, default=[10, 12] if small else [14, 18, 20])
    options = parser.parse_args()
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}\n", flush=True)
    by_size = measure("k (n = 2^10)", {size: (regular(1 << 10, size), size) for size in options.sizes})
    print()
    by_host = measure("vertices (k = 10)", {1 << log: (regular(1 << log, 10), 10) for log in options.hosts})
    rate = copied() / 1e9
    print(f"\na copy: {rate:.0f} 10^9 bytes/s")
    for over, label, columns in (("size", "motif size k (n = 1024)", by_size), ("host", "vertices (k = 10)", by_host)):
        what = {"xlabel": label, "kind": "line", "command": COMMAND, "logx": over == "host"}
        figure(
            f"sieve_localising_by_{over}", {"at every vertex": columns["localised"], "one sum": columns["one sum"]},
            **what, title="What localising costs", ylabel="seconds", logy=True,
            paper="Figure 7: negligible, on a P100",
        )  # fmt: skip
        figure(
            f"sieve_memory_by_{over}", {"rows": columns["bytes"], "a copy": dict.fromkeys(columns["bytes"], rate)},
            **what, title="Bytes of rows read and written", ylabel="10^9 bytes a second", logy=False,
            paper="Figure 2 (center): 896 at k = 27 and 727 at n = 2^20 (835 and 677 GiB/s), a copy 774, one V100",
        )  # fmt: skip
        figure(
            f"sieve_arithmetic_by_{over}", {"our circuit": columns["products"], "paper's count": columns["paper"]},
            **what, title="Products in GF(2^8)", ylabel="10^9 a second", logy=True,
            paper="Figure 2 (right): 480 at k = 27, 430 at n = 2^20, one V100; Table 4: 2441 without memory",
        )  # fmt: skip


if __name__ == "__main__":
    main()
