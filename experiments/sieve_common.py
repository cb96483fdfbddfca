"""ColoredGraph graphs, timing and tables for the experiments on the sieve."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import jax
import numpy as np

from jaxmotif.sieve._prune import ColoredGraph
from jaxmotif.sieve._runner import Sieve


def data_folder() -> Path:
    """The folder of real networks: $JAXMOTIF_DATA, or shared/data beside the repository."""
    return Path(os.environ.get("JAXMOTIF_DATA") or Path(__file__).parents[2] / "shared" / "data")


def host_graph(u: np.ndarray, v: np.ndarray, n: int, size: int) -> ColoredGraph:
    """A graph from edges, loops and repeats left out, in which every vertex may take all ``size`` shades."""
    u, v = u.astype(np.uint64), v.astype(np.uint64)
    keys = np.concatenate([(u << np.uint64(32) | v)[u != v], (v << np.uint64(32) | u)[u != v]])
    keys.sort()
    keys = np.delete(keys, np.flatnonzero(keys[1:] == keys[:-1]))
    degrees = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=n)
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return ColoredGraph(offsets, keys.astype(np.uint32).astype(np.int32), np.full(n, (1 << size) - 1, np.uint32))


def with_degrees(degrees: np.ndarray, size: int, seed: int) -> ColoredGraph:
    """The configuration model."""
    ends = np.random.default_rng(seed).permutation(np.repeat(np.arange(degrees.size), degrees))
    return host_graph(ends[: ends.size // 2], ends[ends.size // 2 : ends.size // 2 * 2], degrees.size, size)


def regular(n: int, size: int, degree: int = 20, seed: int = 0) -> ColoredGraph:
    """Random d-regular (the configuration model: a few vertices lose an edge to a loop or a repeat)."""
    return with_degrees(np.full(n, degree), size, seed)


def power_law(n: int, size: int, alpha: float, mean: float = 20, offset: int = 100, seed: int = 0) -> ColoredGraph:
    """Degrees proportional to ``(i + offset) ** alpha`` at vertex ``i``, with a given mean."""
    weight = (np.arange(n) + float(offset)) ** alpha
    return with_degrees(np.maximum(1, np.round(weight * (mean * n / weight.sum()))).astype(np.int64), size, seed)


def cliques(n: int, size: int, degree: int = 40) -> ColoredGraph:
    """Disjoint complete graphs of ``degree + 1`` vertices."""
    i, j = np.triu_indices(degree + 1, 1)
    first = np.arange(n // (degree + 1))[:, None] * (degree + 1)
    return host_graph((first + i).ravel(), (first + j).ravel(), n, size)


def real(name: str, size: int) -> ColoredGraph:
    """A network of shared/data/undirected."""
    with gzip.open(data_folder() / "undirected" / f"{name}.edges.gz", "rb") as stream:
        edges = np.array(stream.read().split(), np.int64).reshape(-1, 2)
    return host_graph(edges[:, 0], edges[:, 1], int(edges.max()) + 1, size)


def seconds(host: ColoredGraph, size: int, devices=None, repeats: int = 3) -> tuple[float, float]:
    """Least time of one run, labels to per-vertex answers, graph on the devices; and of the first, with compilation."""
    sieve = Sieve(size, tuple(devices or jax.devices()[:1]))
    placed = jax.block_until_ready(sieve.place(host))
    times = []
    for repeat in range(repeats + 1):
        begin = time.perf_counter()
        sieve.values(placed, jax.random.key(repeat))
        times.append(time.perf_counter() - begin)
    return min(times[1:]), times[0]


def multiplications(host: ColoredGraph, size: int) -> float:
    """The paper's operation count of one run of its recurrence."""
    return host.targets.size * 2.0**size * (size * (size - 1) / 2 + size - 1)


def row(*cells) -> None:
    """Prints a row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def heading(*cells) -> None:
    row(*cells)
    row(*["---"] * len(cells))
