"""Calls of a size that fills a machine, once and again: building, counting, counts at each edge, a long list.

    python experiments/large_calls.py [--data FOLDER] [--rows rmat,hubs,parquet] [--scale 24]

`rmat` builds an R-MAT graph of 16 rows a node from an edge array in host memory, and counts it; `hubs` counts at each
of some 92 million edges around a thousand hubs; `parquet` writes 132 million matches of 30 nodes to a file (which needs
pyarrow) and reads its number of rows. All with default options. Seconds, and the most that the host, and the device,
had in use.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotif
from jaxmotif.graph import Graph

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
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


def hubs(data: Path, scale: int) -> None:
    nodes, hubs, each = 1_000_000, 1000, 100_000

    def draw(key: jax.Array) -> jax.Array:
        hub, other = jax.random.split(key)
        u = jax.random.randint(hub, (AT_ONCE,), 0, hubs)
        return jnp.stack([u, jax.random.randint(other, (AT_ONCE,), hubs, nodes)], axis=1)

    edges = drawn(draw, hubs * each // AT_ONCE)
    graph = timed("built", lambda: Graph.from_edges(edges))
    print(graph.report, flush=True)
    timed("edge_graphlets, first", lambda: jaxmotif.edge_graphlets(graph).held)
    found = timed("edge_graphlets, again", lambda: jaxmotif.edge_graphlets(graph))
    # Bipartite: no triangle; each edge's 2-stars are the other edges at its ends.
    ends = np.asarray(graph.degrees)[graph.edge_list()[:1000]].sum(axis=1) - 2
    columns = {name: np.asarray(found.held[:1000, i]) for i, name in enumerate(found.columns)}
    assert (columns["2-star"] == ends).all()
    assert not columns["triangle"].any()


def parquet(data: Path, scale: int) -> None:
    import pyarrow.parquet

    folder = data / "labelled" / "cmap_1a0g_a"
    target = jaxmotif.read_graph(folder / "target.txt.gz")
    query = jaxmotif.read_graph(folder / "queries" / "sparse_e32_0.txt")
    timed("counted", lambda: jaxmotif.count_matches(query, target).count)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "matches.parquet"
        timed("to Parquet", lambda: jaxmotif.find_matches(query, target, sink=path) and None)
        rows = pyarrow.parquet.ParquetFile(path).metadata.num_rows
        print(f"{rows:,} rows, {path.stat().st_size / 2**30:.1f} GiB", flush=True)
        assert rows == 132_350_220


ROWS = {f.__name__: f for f in (rmat, hubs, parquet)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", default="rmat,hubs,parquet")
    parser.add_argument("--scale", type=int, default=24)
    args = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}\n| | s | host GiB | device GiB |\n|---|---|---|---|")
    for name in args.rows.split(","):
        ROWS[name](args.data, args.scale)


if __name__ == "__main__":
    main()
