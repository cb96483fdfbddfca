"""Host graphs, counts of work, timing, tables and figures for the experiments on the sieve."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from figure_data import FIGURES, backend, write_figure
from networks import data_folder, directed, undirected

from jaxmotif.kernels import _sieve_round as sieve_round
from jaxmotif.sieve._prune import ColoredGraph
from jaxmotif.sieve._runner import Sieve


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


def permuted(n: int, size: int, degree: int = 20, seed: int = 0) -> ColoredGraph:
    """Random d-regular as the union of d / 2 permutations, loops and repeats left out: no sort of all edges."""
    rng = np.random.default_rng(seed)
    vertices = np.arange(n, dtype=np.int32)
    rows = np.empty((n, degree), np.int32)
    for column in range(0, degree, 2):
        rows[:, column] = permutation = rng.permutation(vertices)
        rows[permutation, column + 1] = vertices
    rows.sort(axis=1)
    keep = rows != vertices[:, None]
    keep[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(keep, axis=1))]).astype(np.int32)
    return ColoredGraph(offsets, rows[keep], np.full(n, (1 << size) - 1, np.uint32))


def power_law(n: int, size: int, alpha: float, mean: float = 20, offset: int = 100, seed: int = 0) -> ColoredGraph:
    """Degrees proportional to ``(i + offset) ** alpha`` at vertex ``i``, with a given mean."""
    weight = (np.arange(n) + float(offset)) ** alpha
    return with_degrees(np.maximum(1, np.round(weight * (mean * n / weight.sum()))).astype(np.int64), size, seed)


def cliques(n: int, size: int, degree: int = 40) -> ColoredGraph:
    """Disjoint complete graphs of ``degree + 1`` vertices."""
    i, j = np.triu_indices(degree + 1, 1)
    first = np.arange(n // (degree + 1))[:, None] * (degree + 1)
    return host_graph((first + i).ravel(), (first + j).ravel(), n, size)


def real(data: Path, name: str, size: int) -> ColoredGraph:
    """A network of the undirected or the directed ones, without directions."""
    packed = data_folder(data, "undirected") / f"{name}.edges.gz"
    graph = undirected(data, name) if packed.exists() else directed(data, name)
    edges = graph.edge_list()
    return host_graph(edges[:, 0], edges[:, 1], graph.n, size)


def seconds(host: ColoredGraph, size: int, devices=None, repeats: int = 3) -> tuple[float, float]:
    """Least time of one run, labels to per-vertex answers, graph on the devices; and of the first, with compilation."""
    sieve = Sieve(size, tuple(devices or jax.devices()[:1]))
    placed = jax.block_until_ready(sieve.place(host))
    times = []
    for repeat in range(repeats + 1):
        begin = clock()
        sieve.values(placed, jax.random.key(repeat))
        times.append(clock() - begin)
    return min(times[1:]), times[0]


def multiplications(host: ColoredGraph, size: int) -> float:
    """The paper's operation count of one run of its recurrence."""
    return host.targets.size * 2.0**size * (size * (size - 1) / 2 + size - 1)


class Work(NamedTuple):
    """What one run of our recurrence does, counted from its circuit.

    Attributes:
      sums: products of a weight and a row's element, in neighbour sums.
      products: products of two rows' elements.
      bytes: read and written in rows, from whatever memory.
    """

    sums: float
    products: float
    bytes: float

    @property
    def operations(self) -> float:
        """Word operations: about 80 for 32 sums (selections of 27 terms, and making them), 140 for 32 products."""
        return (80 * self.sums + 140 * self.products) / 32


def work(host: ColoredGraph, size: int) -> Work:
    """Of one run on a host."""
    forms = sieve_round.num_forms(size)
    arcs, live = host.targets.size, np.count_nonzero(np.diff(host.offsets))
    # Round 1 multiplies up k - 1 rows; round t adds to the rows above t.
    later = sum(size - t for t in range(2, size))
    # A pass over the neighbours serves two sums; an update reads two rows and writes one. A row of a word is 32 bytes.
    passes = sum(-(-count // 2) for count in forms)
    rows = live * (size + 3 * later + 1) + arcs * passes
    subsets = 2.0**size
    return Work(subsets * arcs * sum(forms), subsets * live * (size - 1 + later), subsets * rows)


def clock() -> float:
    """Seconds: of all threads on a CPU, which others may share, else as they pass."""
    return time.process_time() if jax.devices()[0].platform == "cpu" else time.perf_counter()


def machine() -> str:
    """What the figures call this machine."""
    device = jax.devices()[0]
    return f"CPU seconds, {len(os.sched_getaffinity(0))} cores" if device.platform == "cpu" else device.device_kind


def figure(name: str, series: Mapping[str, dict], **what: object) -> None:
    """Writes the JSON of a figure: points by series; those of earlier runs on such a machine stay."""
    path = FIGURES / f"{name}_{backend()}.json"
    old = json.loads(path.read_text())["series"] if path.exists() else []
    merged = {one["label"]: dict(zip(one["x"], one["y"], strict=True)) for one in old}
    for label, points in series.items():
        merged[label] = merged.get(label, {}) | points
    if all(not isinstance(x, str) for points in merged.values() for x in points):
        merged = {label: dict(sorted(points.items())) for label, points in merged.items()}
    told = [{"label": label, "x": list(points), "y": list(points.values())} for label, points in merged.items()]
    write_figure(path.stem, {**what, "machine": machine(), "series": told})


def row(*cells) -> None:
    """Prints a row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def heading(*cells) -> None:
    row(*cells)
    row(*["---"] * len(cells))
