"""The color motif sieve: the tables and figures of its paper, on one device and on several.

    python experiments/sieve.py ROW [--data FOLDER]

Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs (SEA 2018); its seconds are of V100s. "Paper's count"
is its operation count, which compares times and not instructions: our recurrence does fewer neighbour sums. Times are
CPU seconds on a CPU. Rows that are drawn write results/figures/sieve_*.json.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Rows, Table, clock, measure, numbers, option, words
from jax import lax

from jaxmotif import Graph

# What is not public: one run of the sieve alone, its recurrence, and the bound of a run.
from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._memory import device_memory
from jaxmotif.graph import synthetic
from jaxmotif.kernels import _sieve_round as sieve_round
from jaxmotif.kernels import _sieve_rows as sieve_rows
from jaxmotif.sieve import _polynomials as polynomials
from jaxmotif.sieve import find_color_motif
from jaxmotif.sieve._prune import ColoredGraph, components
from jaxmotif.sieve._runner import Sieve
from jaxmotif.sieve._search import run_bound

rows = Rows(__doc__)

PAPER_SIZE = {
    10: (0.0352, 0.0432, 0.0957),
    11: (0.0828, 0.0416, 0.1180),
    12: (0.1553, 0.0696, 0.0938),
    13: (0.3808, 0.0585, 0.1046),
    14: (0.7768, 0.1062, 0.1025),
    15: (1.7244, 0.1847, 0.1111),
    16: (3.9035, 0.3968, 0.1474),
    17: (8.7340, 0.8377, 0.1906),
    18: (19.3674, 1.8950, 0.3564),
    19: (42.9873, 4.1417, 0.6480),
    20: (94.2593, 9.1468, 1.2425),
    21: (None, 20.1962, 2.6556),
    22: (None, 44.4414, 5.6852),
    23: (None, 97.2945, 12.3074),
    24: (None, 212.3904, 26.6797),
    25: (None, 461.7525, 57.8421),
    26: (None, 1000.1718, 125.0891),
    27: (None, 2160.4430, 270.0623),
    28: (None, None, 581.5915),
    29: (None, None, 1249.4652),
    30: (None, None, 2676.9140),
}
"""Seconds by motif size, n = 2^10: CPU (24 cores), one V100, eight V100s."""
PAPER_HOST = {
    10: (0.0456, 0.0353, 0.1009),
    11: (0.0923, 0.0344, 0.0924),
    12: (0.1042, 0.0363, 0.1081),
    13: (0.2199, 0.0586, 0.1204),
    14: (0.3339, 0.0685, 0.1242),
    15: (0.6859, 0.1014, 0.1109),
    16: (1.5949, 0.1752, 0.1842),
    17: (4.7021, 0.3292, 0.2171),
    18: (10.6986, 0.6302, 0.4022),
    19: (20.7284, 1.2187, 0.6465),
    20: (38.8648, 2.6742, 1.1552),
}
"""Seconds by log2 of the host's vertices, k = 10: CPU, one V100, eight V100s."""
UNKNOWN = (None, None, None)
DEGREE, NODES = 20, 1 << 10


# ---- hosts


def host_graph(u: np.ndarray, v: np.ndarray, n: int, size: int) -> ColoredGraph:
    """Make a graph of edges, loops and repeats left out, in which every vertex may take all ``size`` shades."""
    u, v = u.astype(np.uint64), v.astype(np.uint64)
    keys = np.concatenate([(u << np.uint64(32) | v)[u != v], (v << np.uint64(32) | u)[u != v]])
    keys.sort()
    keys = np.delete(keys, np.flatnonzero(keys[1:] == keys[:-1]))
    degrees = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=n)
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return ColoredGraph(offsets, keys.astype(np.uint32).astype(np.int32), np.full(n, (1 << size) - 1, np.uint32))


def with_degrees(degrees: np.ndarray, size: int, seed: int) -> ColoredGraph:
    """Draw a host with given degrees, by the configuration model."""
    ends = np.random.default_rng(seed).permutation(np.repeat(np.arange(degrees.size), degrees))
    return host_graph(ends[: ends.size // 2], ends[ends.size // 2 : ends.size // 2 * 2], degrees.size, size)


def regular(n: int, size: int, degree: int = DEGREE, seed: int = 0) -> ColoredGraph:
    """Draw a regular host; a few vertices lose an edge to a loop or a repeat."""
    return with_degrees(np.full(n, degree), size, seed)


def permuted(n: int, size: int, degree: int = DEGREE, seed: int = 0) -> ColoredGraph:
    """Draw a regular host as the union of ``degree / 2`` permutations, loops and repeats left out.

    It takes no sort of all edges, so that the largest hosts are made in a minute.
    """
    rng = np.random.default_rng(seed)
    vertices = np.arange(n, dtype=np.int32)
    targets = np.empty((n, degree), np.int32)
    for column in range(0, degree, 2):
        targets[:, column] = permutation = rng.permutation(vertices)
        targets[permutation, column + 1] = vertices
    targets.sort(axis=1)
    keep = targets != vertices[:, None]
    keep[:, 1:] &= targets[:, 1:] != targets[:, :-1]
    offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(keep, axis=1))]).astype(np.int32)
    return ColoredGraph(offsets, targets[keep], np.full(n, (1 << size) - 1, np.uint32))


def power_law(n: int, size: int, alpha: float, mean: float = DEGREE, offset: int = 100, seed: int = 0) -> ColoredGraph:
    """Draw a host whose degrees are proportional to ``(i + offset) ** alpha`` at vertex ``i``, with a given mean."""
    weight = (np.arange(n) + float(offset)) ** alpha
    return with_degrees(np.maximum(1, np.round(weight * (mean * n / weight.sum()))).astype(np.int64), size, seed)


def cliques(n: int, size: int, degree: int = 40) -> ColoredGraph:
    """Make disjoint complete graphs of ``degree + 1`` vertices."""
    i, j = np.triu_indices(degree + 1, 1)
    first = np.arange(n // (degree + 1))[:, None] * (degree + 1)
    return host_graph((first + i).ravel(), (first + j).ravel(), n, size)


def real(data: Path, name: str, size: int) -> ColoredGraph:
    """Read a network, of the undirected or the directed ones, without directions."""
    packed = harness.data_folder(data, "undirected") / f"{name}.edges.gz"
    graph = harness.undirected(data, name) if packed.exists() else harness.directed(data, name)
    edges = graph.edge_list()
    return host_graph(edges[:, 0], edges[:, 1], graph.n, size)


# ---- one run, and what it does


def run_once(host: ColoredGraph, size: int, devices: Any = None, repeats: int = 3) -> tuple[float, float]:
    """Return the least seconds of one run, labels to answers at each vertex, graph on the devices; and of the first."""
    sieve = Sieve(size, tuple(devices or jax.devices()[:1]))
    placed = jax.block_until_ready(sieve.place(host))
    times = []
    for repeat in range(repeats + 1):
        begin = clock()
        sieve.values(placed, jax.random.key(repeat))
        times.append(clock() - begin)
    return min(times[1:]), times[0]


def multiplications(host: ColoredGraph, size: int) -> float:
    """Return the paper's operation count of one run of its recurrence."""
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
    """Count the work of one run on a host."""
    forms = sieve_round.num_forms(size)
    arcs, live = host.targets.size, np.count_nonzero(np.diff(host.offsets))
    # Round 1 multiplies up k - 1 rows; round t adds to the rows above t.
    later = sum(size - t for t in range(2, size))
    # A pass over the neighbours serves two sums; an update reads two rows and writes one. A row of a word is 32 bytes.
    passes = sum(-(-count // 2) for count in forms)
    touched = live * (size + 3 * later + 1) + arcs * passes
    subsets = 2.0**size
    return Work(subsets * arcs * sum(forms), subsets * live * (size - 1 + later), subsets * touched)


def draw(name: str, series: harness.Series, **told: Any) -> None:
    """Write a figure, one for each kind of device."""
    where = f"CPU seconds, {len(os.sched_getaffinity(0))} cores" if harness.backend() == "cpu" else None
    harness.figure(f"sieve_{name}_{harness.backend()}", series, where=where, **told)


# ---- time by size of motif and host


@rows(
    option("--sizes", type=numbers, default=[10, 11, 12], help="of motifs, n = 2^10"),
    option("--hosts", type=numbers, default=[10, 11, 12], help="log2 of the vertices, k = 10"),
    option("--devices", type=numbers, default=[1], help="how many, for --split"),
    option("--split", type=numbers, default=[], help="sizes of motifs for several devices"),
)
def scaling(options: argparse.Namespace) -> None:
    """Time one run by motif size and host size, and on several devices (Tables 1, 5 and 6, Figures 1 and 2).

    The bars on an H200, ms: 30, 150, 650 and 3000 for k = 16, 18, 20 and 22, and 5, 80 and 320 for 2^14, 2^18 and 2^20.
    """
    head = ("s", "first call s", "10^9 mult/s, paper's count", "paper: CPU", "V100", "8 V100")
    cases = [("k", size, size, NODES, PAPER_SIZE.get(size, UNKNOWN)) for size in options.sizes]
    cases += [("log2 n", log, 10, 1 << log, PAPER_HOST.get(log, UNKNOWN)) for log in options.hosts]
    titles = {"k": "Tables 1 and 6, Figure 2 (bottom): n = 2^10", "log2 n": "Table 5, Figure 2 (top): k = 10"}
    table, over = None, ""
    for what, at, size, n, paper in cases:
        if what != over:
            over = what
            print(f"\n{titles[what]}, d = 20\n")
            table = Table(what, *head)
        host = regular(n, size)
        best, first = run_once(host, size, repeats=3 if size < 22 else 1)
        rate = f"{multiplications(host, size) / best / 1e9:.0f}"
        assert table is not None
        table.row(at, f"{best:.4f}", f"{first:.1f}", rate, *paper)
    if options.split:
        print("\nTable 6: several devices, n = 2^10, d = 20\n")
        table = Table("k", *(f"{count} devices s (speed-up)" for count in options.devices), "paper: 8 V100 over 1")
        for size in options.split:
            host = regular(NODES, size)
            times = [run_once(host, size, jax.devices()[:count], repeats=2)[0] for count in options.devices]
            cells = [f"{time:.4f} ({times[0] / time:.2f})" for time in times]
            _, one, eight = PAPER_SIZE.get(size, UNKNOWN)
            table.row(size, *cells, f"{one / eight:.2f}" if one and eight else "-")


# ---- shapes of hosts


SHAPES = {
    "regular, d = 20": regular,
    "cliques, d = 40": lambda n, size: cliques(n // 2, size),
    "power law, -0.5": lambda n, size: power_law(n, size, -0.5),
    "power law, -1.0": lambda n, size: power_law(n, size, -1.0),
}
NINE = {
    "web-cnr-2000": "Google (links of pages)",
    "soc-Slashdot0902": "Douban (online contacts)",
    "roget": "WordNet (words)",
    "ca-AstroPh": "Stack Overflow (who worked on what)",
    "PGPgiantcompo": "Discogs (who goes with whom)",
    "wiki-Vote": "MovieLens (votes)",
    "socfb-MIT8": "Hamsterster (friends online)",
    "social_prison67": "Adolescent health (friends)",
    "yeastppi_listed": "Human protein (Stelzl)",
}
"""One of ours of each kind that the paper's nine networks have, which are not among the data."""


@rows(
    option("--logs", type=numbers, default=[12], help="log2 of the vertices of hosts of --size"),
    option("--size", type=int, default=10),
    option("--sizes", type=numbers, default=[10, 12], help="of motifs in hosts of 2^10 vertices"),
)
def topology(options: argparse.Namespace) -> None:
    """Time one run on hosts of different shapes (Figure 3); every vertex may take every shade.

    The paper's own code takes up to three times as long on power-law hosts as on regular ones of as many edges.
    """
    table = Table("host | n | k | edges | largest degree | s | time an edge over regular")
    cases = [(1 << log, options.size) for log in options.logs] + [(NODES, size) for size in options.sizes]
    for n, size in cases:
        base = None
        for name, make in SHAPES.items():
            host = make(n, size)
            best, _ = run_once(host, size)
            edge = best / host.targets.size
            base = base or edge
            degree = int(np.diff(host.offsets).max())
            table.row(name, n, size, host.targets.size // 2, degree, f"{best:.4f}", f"{edge / base:.2f}")


@rows(
    option("networks", type=words, help="between commas; nine: one of each kind"),
    option("--size", type=int, default=10),
)
def networks(options: argparse.Namespace) -> None:
    """Find a planted motif again in real networks, and time a run with every vertex in play (Figure 3).

    The motif has one color and lies on a random connected set, as in the paper; all other vertices have another color.
    """
    size, nine = options.size, options.networks == ["nine"]
    columns = "network", "n", "edges", "largest degree", "k", "planted motif", "s", "run s"
    table = Table(*columns, "10^9 mult/s, paper's count", "the paper's of this kind")
    rates = {}
    for name in NINE if nine else options.networks:
        host = real(options.data, name, size)
        chosen = connected_set(host, size)
        colors = np.full(host.n, 1)
        colors[chosen] = 0
        sources = np.repeat(np.arange(host.n), np.diff(host.offsets))
        graph = Graph.from_edges(np.stack([sources, host.targets], 1)[sources < host.targets], host.n)
        begin = clock()
        result = find_color_motif(graph, colors, {0: size}, key=0)
        found = clock() - begin
        best, _ = run_once(host, size, repeats=1 if harness.backend() == "cpu" else 3)
        harness.check(f"{name}, vertices", result.vertices.tolist(), sorted(chosen))
        harness.check(f"{name}, matches", result.matches, [tuple(sorted(chosen))])
        rates[name] = multiplications(host, size) / best / 1e9
        degree = int(np.diff(host.offsets).max())
        cells = "found", f"{found:.2f}", f"{best:.4f}", f"{rates[name]:.1f}", NINE.get(name, "-")
        table.row(name, host.n, host.targets.size // 2, degree, size, *cells)
    if nine:
        draw(
            "networks",
            {f"k = {size}": rates},
            title="One run on real networks",
            xlabel="network",
            ylabel="10^9 products a second, the paper's count",
            kind="bar",
            paper="Figure 3: nine networks of the Koblenz collection, about alike for each edge; up to 3 times apart",
        )


def connected_set(host: ColoredGraph, size: int) -> list[int]:
    """Draw a connected set of vertices in the largest component."""
    rng = np.random.default_rng(0)
    label = components(host)
    largest = np.flatnonzero(label == np.bincount(label).argmax())
    chosen: list[int] = [int(rng.choice(largest))]
    while len(chosen) < size:
        vertex = int(rng.choice(chosen))
        near = int(rng.choice(host.targets[host.offsets[vertex] : host.offsets[vertex + 1]]))
        chosen += [near] * (near not in chosen)
    return chosen


# ---- large motifs and large hosts


def found_vertices(size: int, devices: tuple[jax.Device, ...], checkpoint: str | None = None) -> tuple[float, str]:
    """Run the public search once for k vertices of one color, in which all lie: seconds, and what was found."""
    graph = synthetic.random_regular(NODES, DEGREE, 0)
    how = {"error": run_bound(size), "limit": 0, "devices": devices, "checkpoint": checkpoint, "progress": True}
    begin = clock()
    found = find_color_motif(graph, [0] * NODES, {0: size}, 0, **how)
    seconds = clock() - begin
    harness.check("runs", found.repetitions, 1)
    harness.check("enough vertices", len(found.vertices) > NODES * (1 - run_bound(size)), True)
    return seconds, f"{len(found.vertices)} {hashlib.sha256(found.vertices.tobytes()).hexdigest()[:12]}"


@rows(
    option("sizes", type=numbers, help="of motifs, between commas"),
    option("--checkpoint", metavar="FOLDER", help="keep finished work there, and go on with what is there"),
    option("--kill-after", type=float, metavar="SECONDS", help="end the run by SIGKILL once, and go on"),
    option("--devices", type=int, default=1),
)
def sizes(options: argparse.Namespace) -> None:
    """Time one run of large motifs, to k = 30, n = 2^10 (Table 6), beside a prediction from a smaller one.

    What the smaller motif takes, times the ratio of the work, is told first.
    """
    killed = 0.0
    if options.kill_after:  # before this process takes the device
        if options.checkpoint is None:
            raise SystemExit("--kill-after takes --checkpoint FOLDER")
        again = ["sizes", ",".join(map(str, options.sizes)), "--checkpoint", options.checkpoint]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([sys.executable, sys.argv[0], *again], timeout=options.kill_after, check=True)
            raise SystemExit("it had ended before it was to be killed")
        killed = options.kill_after
    devices = tuple(jax.devices()[: options.devices])
    host, small = regular(NODES, 30), 12 if harness.backend() == "cpu" else 20
    found_vertices(small, devices)
    base, _ = found_vertices(small, devices)
    print(f"k = {small}: {base:.4f} s, to predict from\n")
    table = Table("k | predicted s | s | compilation | vertices found, digest | V100 | 8 V100")
    for size in options.sizes:
        predicted = base * work(host, size).operations / work(host, small).operations
        seconds, found = found_vertices(size, devices, options.checkpoint)
        how = f"{seconds:.2f} after {killed:.0f} s that ended by SIGKILL" if killed else f"{seconds:.2f}"
        table.row(size, f"{predicted:.1f}", how, "included", found, *PAPER_SIZE.get(size, UNKNOWN)[1:])
        if options.checkpoint is None or killed:
            ours = "ours" if options.devices == 1 else f"ours, {options.devices} devices"
            paper = {"one V100 (paper)": 1, "eight V100 (paper)": 2}
            known = {label: {k: v[at] for k, v in PAPER_SIZE.items() if v[at]} for label, at in paper.items()}
            draw(
                "sizes",
                {ours: {small: base, size: seconds + killed}, **known},
                title="One run by motif size, n = 1024, d = 20",
                xlabel="motif size k",
                ylabel="seconds",
                logy=True,
                kind="line",
                paper="Table 6 and Figure 2 (bottom): k to 30 on eight V100s, to 27 on one",
            )


@rows(option("sizes", type=numbers, help="of motifs, between commas"))
def paths(options: argparse.Namespace) -> None:
    """Check large motifs: in a path of k colors every value must not be zero, and with a color twice every one must.

    In the second path 2^k values cancel.
    """
    table = Table("k | s, compilation included | zero in the path of k colors | not zero in the other")
    for size in options.sizes:
        first = np.concatenate([np.arange(size - 1), size + np.arange(size - 1)])
        host = host_graph(first, first + 1, 2 * size, size)
        shades = np.uint32(1) << np.tile(np.arange(size, dtype=np.uint32), 2)
        shades[-1] = shades[-2]
        sieve = Sieve(size, tuple(jax.devices()[:1]))
        begin = clock()
        placed, shown = sieve.place(host._replace(shades=shades)), JobOptions(sieve.selection, progress=True)
        values = sieve.values(placed, jax.random.key(1), options=shown)
        missed, wrong = int((values[:size] == 0).sum()), int((values[size:] != 0).sum())
        table.row(size, f"{clock() - begin:.1f}", missed, wrong)
        harness.check(f"k = {size}, values", (missed, wrong), (0, 0))


@rows(
    option("logs", type=numbers, help="log2 of the vertices, between commas"),
    option("--size", type=int, default=10),
    option("--devices", type=int, default=1),
    option("--memory", type=float, help="GiB on a device; by default nearly all of it"),
)
def hosts(options: argparse.Namespace) -> None:
    """Time one run on large hosts, n = 2^22 and 2^24, k = 10 (beyond Table 5), beside a prediction."""
    size, base, devices = options.size, None, tuple(jax.devices()[: options.devices])
    table = Table("log2 n | edges | made s | predicted s | s | first call s | 10^9 mult/s, paper's count | peak GiB")
    for log in sorted({min(options.logs) - 2, *options.logs}):
        begin = clock()
        host = permuted(1 << log, size, DEGREE)
        made, limit = clock() - begin, device_memory(devices[0])
        predicted = f"{base[0] * work(host, size).operations / base[1]:.2f}" if base else "-"
        # Blocks are to be as large as they fit: by default half of a GPU is left to others.
        memory = int(options.memory * 2**30) if options.memory else limit and int(0.95 * limit)
        sieve = Sieve(size, devices, memory)
        placed, times, values = jax.block_until_ready(sieve.place(host)), [], np.zeros(0)
        for repeat in range(3):
            begin = clock()
            values = sieve.values(placed, jax.random.key(repeat))
            times.append(clock() - begin)
        # Every vertex lies in a match: the share that one run misses is within its bound.
        harness.check("missed", np.count_nonzero(values) > (1 - run_bound(size)) * values.size, True)
        best = min(times[1:])
        base = best, work(host, size).operations
        rate = f"{multiplications(host, size) / best / 1e9:.0f}"
        figures = f"{best:.4f}", f"{times[0]:.1f}", rate, f"{harness.peak_gib():.2f}"
        table.row(log, host.targets.size // 2, f"{made:.0f}", predicted, *figures)
        if size == 10:
            known = {1 << at: times[1] for at, times in PAPER_HOST.items()}
            draw(
                "hosts",
                {"ours": {1 << log: best}, "one V100 (paper)": known},
                title="One run by host size, k = 10, d = 20",
                xlabel="vertices",
                ylabel="seconds",
                logx=True,
                logy=True,
                kind="line",
                paper="Table 5: n to 2^20, on a V100",
            )
        del placed, sieve


# ---- the recurrence alone


def all_blocks(draw: polynomials.Draw, words: int, localised: bool) -> jax.Array:
    """Return the XOR over all blocks of subsets: ``[V]``, or ``[1]`` of all vertices together."""
    size = draw.first.shape[0] + 1
    if localised:
        return polynomials.accumulate(draw, 0, polynomials.num_words(size) // words, words)
    first_forms = jnp.asarray(np.cumsum([0, *sieve_round.num_forms(size)])[:-1], jnp.int32)
    live = jnp.arange(draw.labels.shape[0], dtype=jnp.int32)[:, None, None] < draw.rows.live

    def block(index: jax.Array, found: jax.Array) -> jax.Array:
        P = sieve_round.start(draw.labels, draw.first, index * words, words, draw.rows)
        P = lax.fori_loop(2, size, lambda t, P: sieve_round.extend(P, t, first_forms[t], draw.later, draw.rows), P)
        last = jnp.where(live, sieve_round.by_plane(P[size - 1], words), jnp.uint32(0))
        return found ^ polynomials.sums(lax.reduce(last, np.uint32(0), lax.bitwise_xor, (0,))[None], size)

    return lax.fori_loop(0, polynomials.num_words(size) // words, block, jnp.zeros(1, jnp.uint8))


def draw_values(host: ColoredGraph, size: int) -> polynomials.Draw:
    """Draw the random values of a run on a host without long rows."""

    def make(offsets: jax.Array, targets: jax.Array, shades: jax.Array, key: jax.Array) -> polynomials.Draw:
        return polynomials.draw(*sieve_rows.plan_rows(offsets, targets, 0), shades, key, size)

    return jax.block_until_ready(jit64(make)(*map(jnp.asarray, host[:3]), jax.random.key(0)))


def recurrence(host: ColoredGraph, size: int) -> tuple[float, float]:
    """Return seconds of the recurrence with a sum at every vertex, and with one sum of all; the two must agree."""
    drawn = draw_values(host, size)
    words = polynomials.block_words(size, host.n, target_of(jax.devices()[0]))
    times, sums = [], []
    for localised in (True, False):
        call = jit64(partial(all_blocks, words=words, localised=localised))
        timing = measure(partial(call, drawn), calls=2)
        found = np.asarray(timing.result)
        sums.append(np.bitwise_xor.reduce(found, keepdims=True) if localised else found)
        times.append(timing.seconds)
    np.testing.assert_array_equal(*sums)
    return times[0], times[1]


def copied() -> float:
    """Return the bytes a second, read and written, of a copy."""
    large = jnp.zeros(1 << (26 if harness.backend() == "cpu" else 30), jnp.uint32)
    copy = jit64(lambda x: x ^ jnp.uint32(1))
    jax.block_until_ready(copy(large))
    begin = clock()
    found = None
    for _ in range(4):
        found = copy(large)
    jax.block_until_ready(found)
    return 4 * 2 * large.nbytes / (clock() - begin)


@rows(
    option("--sizes", type=numbers, help="of motifs (default: 10,14,18,22; on a CPU 8,10,12)"),
    option("--hosts", type=numbers, help="log2 of the vertices (default: 14,18,20; on a CPU 10,12)"),
)
def bandwidth(options: argparse.Namespace) -> None:
    """Time what localising costs (Figure 7), and tell products and bytes a second (Figure 2, center and right).

    The recurrence alone is timed, labels and weights on the device, over all subsets: once with a sum at every vertex,
    once with one sum over all vertices. Bytes and products are counted from the circuit, as the paper counts: what rows
    are read and written, from cache or memory. A copy of a large array tells what the memory gives.
    """
    small = harness.backend() == "cpu"
    motifs = options.sizes if options.sizes is not None else [8, 10, 12] if small else [10, 14, 18, 22]
    logs = options.hosts if options.hosts is not None else [10, 12] if small else [14, 18, 20]
    cases = {
        ("size", "motif size k (n = 1024)"): {size: (NODES, size) for size in motifs},
        ("host", "vertices (k = 10)"): {1 << log: (1 << log, 10) for log in logs},
    }
    rate = copied() / 1e9
    print(f"A copy: {rate:.0f} 10^9 bytes/s")
    for (over, label), given in cases.items():
        print()
        rates = ("10^9 products/s", "paper's count", "10^9 bytes/s", "10^9 word operations/s")
        table = Table(label, "s", "one sum, s", "localising", *rates)
        columns: dict[str, dict[int, float]] = {key: {} for key in ("every", "one", "products", "paper", "bytes")}
        for at, (n, size) in given.items():
            host = regular(n, size)
            localised, plain = recurrence(host, size)
            done = work(host, size)
            told = {
                "every": localised,
                "one": plain,
                "products": (done.sums + done.products) / localised / 1e9,
                "paper": multiplications(host, size) / localised / 1e9,
                "bytes": done.bytes / localised / 1e9,
            }
            for key, value in told.items():
                columns[key][at] = value
            shown = (f"{told[key]:.1f}" for key in ("products", "paper", "bytes"))
            operations = f"{done.operations / localised / 1e9:.0f}"
            table.row(at, f"{localised:.4f}", f"{plain:.4f}", f"{localised / plain - 1:+.1%}", *shown, operations)
        told = {"xlabel": label, "kind": "line", "logx": over == "host"}
        draw(
            f"localising_by_{over}",
            {"at every vertex": columns["every"], "one sum": columns["one"]},
            title="What localising costs",
            ylabel="seconds",
            logy=True,
            paper="Figure 7: negligible, on a P100",
            **told,
        )
        draw(
            f"memory_by_{over}",
            {"rows": columns["bytes"], "a copy": dict.fromkeys(columns["bytes"], rate)},
            title="Bytes of rows read and written",
            ylabel="10^9 bytes a second",
            paper="Figure 2 (center): 896 at k = 27 and 727 at n = 2^20 (835 and 677 GiB/s), a copy 774, one V100",
            **told,
        )
        draw(
            f"arithmetic_by_{over}",
            {"our circuit": columns["products"], "paper's count": columns["paper"]},
            title="Products in GF(2^8)",
            ylabel="10^9 a second",
            logy=True,
            paper="Figure 2 (right): 480 at k = 27, 430 at n = 2^20, one V100; Table 4: 2441 without memory",
            **told,
        )


@rows(
    option("--size", type=int, default=16),
    option("--words", type=int, default=2048, help="of 32 subsets"),
    option("--calls", type=int, default=5),
)
def rounds(options: argparse.Namespace) -> None:
    """Time each round of one block of subsets on the regular host with n = 2^10, d = 20.

    Whether the kernels give the bits of plain XLA is for kernels_gpu.py to tell.
    """
    size = options.size
    drawn = draw_values(regular(NODES, size), size)
    extend = jit64(sieve_round.extend, donate_argnums=0)
    forms = sieve_round.num_forms(size)
    begin = partial(jit64(partial(sieve_round.start, num_words=options.words)), drawn.labels, drawn.first, jnp.int32(0))
    begin = partial(begin, rows=drawn.rows)
    table = Table("round | neighbour sums a vertex | rows updated | ms")
    table.row(1, "-", size, f"{1e3 * harness.back_to_back(begin, options.calls):.3f}")
    P = jax.block_until_ready(begin())
    for t in range(2, size):
        given = jnp.int32(t), jnp.int32(sum(forms[:t])), drawn.later, drawn.rows
        P = jax.block_until_ready(extend(P, *given))
        started = clock()
        for _ in range(options.calls):  # each takes the memory of what the one before gave
            P = extend(P, *given)
        jax.block_until_ready(P)
        table.row(t, forms[t], size - t, f"{1e3 * (clock() - started) / options.calls:.3f}")


# ---- how often a run misses


def shape_edges(shape: str, size: int) -> list[tuple[int, int]]:
    """Return the edges of a small graph: a path, a star, a clique or a binary tree."""
    if shape == "path":
        return [(i, i + 1) for i in range(size - 1)]
    if shape == "star":
        return [(0, i) for i in range(1, size)]
    if shape == "clique":
        return [(i, j) for i in range(size) for j in range(i)]
    return [((i - 1) // 2, i) for i in range(1, size)]


@rows(
    option("--sizes", type=numbers, default=[1, 2, 3, 4, 6, 8, 10]),
    option("--copies", type=int, default=1000),
    option("--runs", type=int, default=4),
)
def misses(options: argparse.Namespace) -> None:
    """Count how often one run misses a vertex that lies in a match, against the bound (2 k - 1) / 2^8.

    The paper says that this experiment is missing. Copies of one shape stand side by side, each a match as a whole, of
    one color or of k; a vertex is missed when its value is zero. A uniform field element would be zero once in 256.
    """
    table = Table("match | colors | k | vertices tried | missed | rate | bound | rate over 1/256")
    for size in options.sizes:
        for shape in ("path", "star", "tree", "clique"):
            edges = np.array(shape_edges(shape, size), np.int64).reshape(-1, 2)
            first = np.arange(options.copies)[:, None] * size
            u, v = (first + edges[:, 0]).ravel(), (first + edges[:, 1]).ravel()
            host = host_graph(u, v, size * options.copies, size)
            each = np.tile(np.uint32(1) << np.arange(size, dtype=np.uint32), options.copies)
            for colors, colored in (("one", host), (size, host._replace(shades=each))):
                sieve = Sieve(size, tuple(jax.devices()[:1]))
                placed = sieve.place(colored)
                zeros = [sieve.values(placed, jax.random.key(run)) == 0 for run in range(options.runs)]
                missed, tried = int(np.sum(zeros)), size * options.copies * options.runs
                rate = missed / tried
                cells = f"{rate:.5f}", f"{run_bound(size):.5f}", f"{rate * 256:.2f}"
                table.row(shape, colors, size, tried, missed, *cells)


if __name__ == "__main__":
    # A host of 2^24 vertices needs most of a GPU's memory; this is read when the first device starts.
    os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.95")
    rows.main()
