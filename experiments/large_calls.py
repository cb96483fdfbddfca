"""Calls of a size that fills a machine, once and again: building, counting, counts at each edge, a long list.

    python experiments/large_calls.py [--data FOLDER] [--rows rmat,hubs,parquet] [--scale 24]
    python experiments/large_calls.py --rows passes --scale 24     # under a minute

`rmat` builds an R-MAT graph of 16 rows a node from an edge array in host memory, and counts it; `passes` times
stretches of what its counts take, in G tests or wedges a second; `hubs` counts at each of some 92 million edges around
a thousand hubs; `parquet` writes 132 million matches of 30 nodes to a file (which needs pyarrow) and reads its number
of rows. All with default options. Seconds, and the most that the host, and the device, had in use.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from networks import instance, parse_with_data

import jaxmotif
from jaxmotif.arrays._compile import jit64, put64
from jaxmotif.arrays._sizes import graph_class
from jaxmotif.graph import Graph
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._run import prepare
from jaxmotif.graphlets._sparse import Ranges
from jaxmotif.graphlets._tuning import choose_tuning
from jaxmotif.kernels._codegree import heavy_cycles, light_cycles
from jaxmotif.kernels._wedges import wedge_block

AT_ONCE = 1 << 22  # edges drawn together


def timed(label: str, call: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    found = jax.block_until_ready(call())
    seconds = time.perf_counter() - started
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    device = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0) / 2**30
    print(f"| {label} | {seconds:.2f} | {host:.1f} | {device:.1f} |", flush=True)
    return found


def drawn(draw: Callable[[jax.Array], jax.Array], chunks: int) -> np.ndarray:
    """Edges int32 ``[E, 2]`` in host memory, drawn on the device."""
    keys = jax.random.split(jax.random.key(0), chunks)
    draw = jax.jit(draw)
    return np.concatenate([np.asarray(draw(key)) for key in keys])


def rmat_edges(scale: int) -> np.ndarray:
    """16 rows for each of 2^scale nodes, int32 ``[E, 2]``."""

    def draw(key: jax.Array) -> jax.Array:
        def bit(index: jax.Array, ends: jax.Array) -> jax.Array:
            at = jax.random.uniform(jax.random.fold_in(key, index), (AT_ONCE,))
            u = at >= 0.76
            v = ((at >= 0.57) & ~u) | (at >= 0.95)
            return 2 * ends + jnp.stack([u, v], axis=1).astype(jnp.int32)

        return jax.lax.fori_loop(0, scale, bit, jnp.zeros((AT_ONCE, 2), jnp.int32))

    return drawn(draw, max(1, (16 << scale) // AT_ONCE))


def rmat(data: Path, scale: int) -> None:
    edges = rmat_edges(scale)
    print(f"R-MAT {scale}: {len(edges):,} rows", flush=True)
    graph = timed("built, first", lambda: Graph.from_edges(edges))
    del graph
    graph = timed("built again", lambda: Graph.from_edges(edges))
    print(graph.report, flush=True)
    timed("graphlet_counts, first", lambda: jaxmotif.graphlet_counts(graph).counts)
    print(timed("graphlet_counts, again", lambda: jaxmotif.graphlet_counts(graph).counts), flush=True)


def passes(data: Path, scale: int) -> None:
    graph = Graph.from_edges(rmat_edges(scale))
    graph = graph.with_padding(graph_class(graph.n, graph.num_slots, True))
    device, edges = jax.devices()[0], graph.slot_capacity // 2
    tuning = choose_tuning(graph.node_capacity, edges, device, detail="graph")
    order, plan = put64(prepare(graph, tuning, device), device)
    print(f"{tuning}\n{int(plan.triangles.total):,} tests, {int(plan.wedges.heavy.total):,} heavy wedges", flush=True)
    block, most = tuning.heavy_block, 1 << (scale + 7)
    starts = np.asarray(plan.wedges.heavy_starts)

    def found(order: Any, work: Any, first: Any, stop: Any) -> jax.Array:
        """The wedges alone, each block's made and added up."""

        def step(number: jax.Array, total: jax.Array) -> jax.Array:
            wedges = wedge_block(order, work, first + number.astype(jnp.int64) * block, stop, block=block)
            return total + jnp.where(wedges.valid, wedges.v ^ wedges.w, 0).sum(dtype=jnp.int32)

        return jax.lax.fori_loop(0, ((stop - first + block - 1) // block).astype(jnp.int32), step, jnp.int32(0))

    alone, none = jit64(found), np.zeros((), np.int64)
    triangles = jit64(lambda order, plan, t, tests: sparse.count_triangles(order, plan, t, tests, tuning))
    cliques = jit64(
        lambda order, plan, t, total, tails: sparse.second_pass(
            order, plan, t, (total,), Ranges(tails, tails, tails, tails), tuning
        )
    )
    sizes = {"block": tuning.light_block, "slots": tuning.slots, "most_light": tuning.most_light}
    hashed, light = jit64(partial(light_cycles, **sizes)), np.asarray(plan.wedges.light_starts)
    tails, t = np.asarray(plan.triangle_starts), put64(np.zeros(edges + 1, np.int32), device)

    def place(starts: np.ndarray, work: float) -> int:
        return min(int(np.searchsorted(starts, work)), starts.size - 1)

    for part in (0.1, 0.5, 0.9):
        low = place(starts, part * starts[-1])
        stop = max(low + 1, place(starts, starts[low] + most))
        work, here = int(starts[stop] - starts[low]), (np.int64(starts[low]), np.int64(starts[stop]))
        print(f"heavy nodes {low} to {stop}: {work:,} wedges", flush=True)
        rate("wedges found, added up", work, lambda here=here: alone(order, plan.wedges.heavy, *here))
        for rows in {tuning.rows, max(1, tuning.rows // 4)}:
            count = jit64(partial(heavy_cycles, block=block, rows=rows))
            nodes = np.int32(low), np.int32(stop)
            rate(f"4-cycles, {rows} rows", work, lambda n=nodes, f=count: f(order, plan.wedges, none, *n))
        low, stop = (place(light, part * light[-1] + more) for more in (0, most // 16))
        work, ends = int(light[stop] - light[low]), (np.int32(low), np.int32(stop))
        print(f"light nodes to {stop}: {work:,} wedges", flush=True)
        rate("4-cycles by hash", work, lambda ends=ends: hashed(order, plan.wedges, none, *ends))
        low, stop = (place(tails, part * tails[-1] + more) for more in (0, most // 4))
        tests = np.int64(tails[low]), np.int64(tails[stop])
        work = int(tests[1] - tests[0])
        print(f"lowest nodes {low} to {stop}: {work:,} tests", flush=True)
        rate("tests", work, lambda tests=tests: triangles(order, plan, t, tests))
        ends = np.int32(low), np.int32(stop)
        rate("4-cliques", work, lambda ends=ends: cliques(order, plan, t, none, ends))


def rate(label: str, work: int, call: Callable[[], Any]) -> None:
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        jax.block_until_ready(call())
        seconds.append(time.perf_counter() - started)
    print(f"  {label}: {work / min(seconds) / 1e9:.2f} G a second (first {seconds[0]:.1f} s)", flush=True)


def hubs(data: Path, scale: int) -> None:
    nodes, hubs, each = 1_000_000, 1000, 100_000

    def draw(key: jax.Array) -> jax.Array:
        hub, other = jax.random.split(key)
        u = jax.random.randint(hub, (AT_ONCE,), 0, hubs)
        return jnp.stack([u, jax.random.randint(other, (AT_ONCE,), hubs, nodes)], axis=1)

    edges = drawn(draw, hubs * each // AT_ONCE)
    graph = timed("built", lambda: Graph.from_edges(edges))
    print(graph.report, flush=True)
    timed("edge_graphlets, first", lambda: jaxmotif.edge_graphlets(graph).on_device().block_until_ready().shape)
    found = timed("edge_graphlets, again", lambda: jaxmotif.edge_graphlets(graph))
    # Bipartite: no triangle; each edge's 2-stars are the other edges at its ends.
    ends = np.asarray(graph.degrees)[graph.edge_list()[:1000]].sum(axis=1) - 2
    columns = {name: np.asarray(found.raw_counts[:1000, i]) for i, name in enumerate(found.columns)}
    assert (columns["2-star"] == ends).all()
    assert not columns["triangle"].any()


def parquet(data: Path, scale: int) -> None:
    import pyarrow.parquet

    query, target = instance(data, "cmap_1a0g_a/sparse_e32_0")
    timed("counted", lambda: jaxmotif.count_matches(query, target).count)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "matches.parquet"
        timed("to Parquet", lambda: jaxmotif.find_matches(query, target, sink=path) and None)
        rows = pyarrow.parquet.ParquetFile(path).metadata.num_rows
        print(f"{rows:,} rows, {path.stat().st_size / 2**30:.1f} GiB", flush=True)
        assert rows == 132_350_220


ROWS = {f.__name__: f for f in (rmat, passes, hubs, parquet)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="rmat,hubs,parquet")
    parser.add_argument("--scale", type=int, default=24)
    args = parse_with_data(parser)
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}\n| | s | host GiB | device GiB |\n|---|---|---|---|")
    for name in args.rows.split(","):
        ROWS[name](args.data, args.scale)


if __name__ == "__main__":
    main()
