"""Five-node graphlets: time of the 73 node orbits and 68 edge orbits, checked against the stored answers first.

    python experiments/graphlets5.py [--data FOLDER] [NAME ...]
    python experiments/graphlets5.py --gpu-bars [--data FOLDER] [--seconds 110]
    python experiments/graphlets5.py --peers [--data FOLDER] [NAME ...]
    python experiments/graphlets5.py --escape [--data FOLDER] NAME ...
    python experiments/graphlets5.py --devices 1,2 [--data FOLDER] NAME ...
    python experiments/graphlets5.py --memory GIB [--data FOLDER] NAME ...

`first` is the first call for a graph of this size, which compiles; the others are the best of three public calls, from
a `Graph` in memory to orbits that are ready on the device. `--gpu-bars` compiles for all networks at once, then gives
the time of each pass too, and stops when its seconds are over: node orbits of all networks, small graphs under vmap,
and the counts in the graph beside them, then edge orbits. web-cnr-2000 goes alone: `--gpu-bars web-cnr-2000`. It
reads `FOLDER/undirected/NAME.edges.gz` of those networks that are there, and `graphlets5.json`.
`--peers`: CPU seconds of this process beside EVOKE's (`pip install orbitsi`; nodes alone), and of nodes and edges
beside ORCA's (`orbit-count`) where that is known to end within a minute. `--escape`: the 34 counts as ESCAPE has them,
of subgraphs that need not be induced, beside those it found in doubles (`escape_subgraph_counts`), or beside these made
of stored induced counts.
`--devices`: node orbits on so many devices in turn, their times and whether their bits are the same. `--memory`: the
most that node orbits took beside the graph, on a GPU by what its allocator saw, on a CPU by the process (set
`MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072`, so that it gives back what is free).
"""

from __future__ import annotations

import argparse
import hashlib
import pkgutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import Table, in_turn, measure, numbers, option

import jaxmotif
from jaxmotif.graph import stack_graphs

# What is not public: the passes, whose modules are found by their room, and tables of the small graphs.
from jaxmotif.graphlets import dense_node_orbits, five
from jaxmotif.patterns._catalogue import CONNECTED
from jaxmotif.patterns._totals import copies

BARS = {
    "wiki-Vote": 30,
    "socfb-MIT8": 60,
    "socfb-Cornell5": 200,
    "email-Enron": 120,
    "pgd-C500-9": 200,
    "soc-Slashdot0902": 300,
    "web-cnr-2000": 6000,
}
"""Aims for node orbits on an NVIDIA H200, ms; edge orbits: twice that."""
NAMES = ("PGPgiantcompo", "wiki-Vote", "email-Enron", "socfb-MIT8", "socfb-Cornell5", "pgd-C500-9", "soc-Slashdot0902")
Door = Callable[..., Any]


def milliseconds(call: Callable[[], Any]) -> float:
    """Return the ms of the fastest of three calls of a program that is compiled."""
    return 1e3 * measure(call, calls=2).best


def orbits(door: Door, graph: jaxmotif.Graph) -> Any:
    """Count, and wait until the orbits are ready where they were counted."""
    return jax.block_until_ready(door(graph, size=5).raw_counts)


def checked(graph: jaxmotif.Graph, known: dict[str, Any], door: Door) -> str:
    """Compare orbits with what is stored of them, and say in words what is right."""
    result = door(graph, size=5)
    values = np.ascontiguousarray(result.to_numpy(), np.int64)
    kind = "edge" if door is jaxmotif.edge_graphlets else "node"
    said = []
    if (sha := known.get(f"sha256_{kind}_orbits_int64")) is not None:
        said.append("sha256" if hashlib.sha256(values.tobytes()).hexdigest() == sha else "SHA256 WRONG")
    if (sums := known.get("prototype_orbit_sums")) is not None and kind == "node":
        said.append("sums" if [str(x) for x in values.astype(object).sum(0)] == sums else "SUMS WRONG")
    if (counts := known.get("counts")) is not None:
        right = all(result.counts[name] == int(count) for name, count in counts.items())
        said.append("counts" if right else "COUNTS WRONG")
    if kind == "edge":
        said.append("nodes" if as_at_nodes(graph, values) else "NODES WRONG")
    return f"{kind}s: {', '.join(said) or 'nothing stored'}"


def as_at_nodes(graph: jaxmotif.Graph, at_edges: np.ndarray) -> bool:
    """Tell whether edge orbits ``[m, 68]`` add up, around each node, to what its node orbits say, modulo 2^64."""
    of_node = np.zeros((73, 68), np.int64)
    for g in CONNECTED:
        for node, orbit in enumerate(g.node_orbits):
            ends = [edge for edge, pair in zip(g.edge_orbits, g.edges, strict=False) if node in pair]
            of_node[orbit] = np.bincount(np.array(ends, np.int64), minlength=68)
    at_nodes, ends = jaxmotif.node_orbits(graph, size=5).to_numpy(), graph.edge_list().T
    for expected, values in zip((at_nodes.astype(np.int64) @ of_node).T, at_edges.T, strict=True):
        found = np.zeros(graph.n, np.int64)
        for end in ends:
            np.add.at(found, end, values)
        if not np.array_equal(found, expected):
            return False
    return True


@contextmanager
def split() -> Iterator[dict[str, float]]:
    """Collect the ms that each pass takes meanwhile, ready on the device, by name; calls of a pass are added up."""
    times: dict[str, float] = defaultdict(float)
    kept = []

    def timed(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            jax.block_until_ready((args, kwargs))
            clock = time.perf_counter()
            found = jax.block_until_ready(run(*args, **kwargs))
            times[name] += 1e3 * (time.perf_counter() - clock)
            return found

        return call

    for module in [import_module(f"{five.__name__}.{found.name}") for found in pkgutil.iter_modules(five.__path__)]:
        for name, run in vars(module).copy().items():
            if callable(run) and hasattr(run, "lower64"):
                kept.append((module, name, run))
                setattr(module, name, timed(name.strip("_"), run))
    clock = time.perf_counter()
    try:
        yield times
    finally:
        times["whole call"] = 1e3 * (time.perf_counter() - clock)
        for module, name, run in kept:
            setattr(module, name, run)


def gpu_bars(networks: dict[str, jaxmotif.Graph], stored: dict[str, Any], end: float) -> None:
    """Print times and passes of all networks, beside their bars, until the time is over."""
    clock = time.perf_counter()
    with ThreadPoolExecutor(max(2 * len(networks), 1)) as pool:  # compiling is what takes the time
        nodes = pool.map(partial(orbits, jaxmotif.node_orbits), networks.values())
        for calls in (pool.map(partial(jaxmotif.graphlet_counts, size=5), networks.values()), nodes):
            list(calls)
    print(f"first calls of all, side by side: {time.perf_counter() - clock:.1f} s\n", flush=True)
    doors: tuple[tuple[str, Door, int], ...] = (
        ("nodes", jaxmotif.node_orbits, 1),
        ("edges", jaxmotif.edge_graphlets, 2),
    )
    for what, door, factor in doors:
        for name, graph in networks.items():
            if time.perf_counter() > end:
                print(f"{what} {name}: no time left")
                continue
            clock = time.perf_counter()
            orbits(door, graph)
            first = time.perf_counter() - clock
            took = milliseconds(partial(orbits, door, graph))
            with split() as times:
                orbits(door, graph)
            print(f"{what} {name}: {took:.1f} ms [bar {factor * BARS.get(name, 0)}], first call {first:.1f} s")
            passes = sorted(times.items(), key=lambda item: -item[1])
            print("   " + ", ".join(f"{which} {ms:.1f}" for which, ms in passes if ms >= 0.5))
            print("   " + checked(graph, stored.get(name, {}), door), flush=True)
            if what == "nodes" and time.perf_counter() < end:
                in_graph(graph, stored.get(name, {}), took)
        if what == "nodes" and "web-cnr-2000" not in networks:
            small_graphs()


def in_graph(graph: jaxmotif.Graph, known: dict[str, Any], nodes_ms: float) -> None:
    """Print the time of the counts in the graph alone beside that of node orbits."""

    def count() -> dict[str, int]:
        return jaxmotif.graphlet_counts(graph, size=5).counts

    clock = time.perf_counter()
    counts = count()
    first = time.perf_counter() - clock
    right = all(counts[what] == int(value) for what, value in known.get("counts", {}).items())
    took = milliseconds(count)
    print(f"   counts in the graph: {took:.1f} ms, {took / nodes_ms:.2f} of nodes [.7], first {first:.1f} s, {right=}")
    with split() as times:
        count()
    print("   " + ", ".join(f"{which} {ms:.1f}" for which, ms in times.items() if ms >= 0.5), flush=True)


def peers(name: str, graph: jaxmotif.Graph, known: dict[str, Any]) -> None:
    """Print CPU seconds of node orbits beside EVOKE's, and of node and edge orbits beside ORCA's where it ends soon.

    A figure is the least (and the median) of up to nine calls in turn.
    """
    from _evoke_cpp import evoke_count_csr  # pyright: ignore[reportMissingImports]

    offsets, targets = (np.asarray(x) for x in (graph.out_offsets, graph.out_targets))
    csr = offsets[: graph.n + 1].astype(np.int64), targets[: graph.num_slots].astype(np.int64)

    def evoke() -> None:
        with harness.silent():  # it prints as it goes
            evoke_count_csr(*csr, size=5, parallel=False)

    def row(what: str, door: Door, other: str, call: Callable[[], Any]) -> None:
        ours = partial(orbits, door, graph)
        first = harness.once(ours)[2]
        turns = in_turn(ours, call)
        ratio = min(turns.theirs) / min(turns.ours)
        right = checked(graph, known, door)
        print(f"| {name} | {graph.m} | {what} | {other} | {turns} | {ratio:.1f} | {first:.1f} | {right} |", flush=True)

    row("nodes", jaxmotif.node_orbits, "EVOKE", evoke)
    orca = known.get("cpu_s", {}).get("orca5n")
    if orca is not None and orca < 60:
        import networkx as nx
        import orbit_count  # pyright: ignore[reportMissingImports]

        other, nodes = nx.Graph(graph.edge_list().tolist()), list(range(graph.n))
        other.add_nodes_from(nodes)
        pairs = list(other.edges)
        at_nodes = partial(orbit_count.node_orbit_counts, other, graphlet_size=5, node_list=nodes)
        row("nodes", jaxmotif.node_orbits, "ORCA", at_nodes)
        at_edges = partial(orbit_count.edge_orbit_counts, other, 5, edge_list=pairs)
        row("edges", jaxmotif.edge_graphlets, "ORCA", at_edges)


def by_escape(name: str, graph: jaxmotif.Graph, known: dict[str, Any]) -> None:
    """Print the relative differences of the counts of subgraphs from those of doubles, the largest first."""
    clock = time.perf_counter()
    found = jaxmotif.graphlet_counts(graph, size=5, induced=False).counts
    took = time.perf_counter() - clock
    stored = known.get("escape_subgraph_counts")
    if stored is None:  # made of exact induced counts
        induced = jaxmotif.graphlet_counts(graph).counts | {what: int(n) for what, n in known["counts"].items()}
        every = copies(None, tuple(induced)).astype(object) @ np.array(list(induced.values()), object)
        stored = {what: n for what, n in zip(induced, every, strict=True) if what in known["counts"]}
    differ = {what: abs(found[what] - int(value)) / max(int(value), 1) for what, value in stored.items()}
    print(f"{name}: {len(differ)} counts of subgraphs, {took:.1f} s with compiling; relative differences")
    for what, by in sorted(differ.items(), key=lambda item: -item[1]):
        print(f"   {by:.1e}  {what}: {found[what]}, stored {int(stored[what])}")


def on_devices(name: str, graph: jaxmotif.Graph, known: dict[str, Any], counts: list[int]) -> None:
    """Print for each number of devices the time, the first one's over it, and whether the bits are the same."""
    first = expected = None
    for count in counts:
        door = partial(jaxmotif.node_orbits, devices=jax.devices()[:count])
        values = np.asarray(orbits(door, graph))
        took = milliseconds(partial(orbits, door, graph))
        first, expected = first or took, values if expected is None else expected
        same = np.array_equal(values, expected)
        print(f"{name}, {count} devices: {took:.0f} ms, {first / took:.2f} times as fast, {same=}", flush=True)
        with split() as times:  # of several devices side by side: waits in one are work in another
            orbits(door, graph)
        print("   " + ", ".join(f"{which} {ms:.0f}" for which, ms in sorted(times.items(), key=lambda x: -x[1])[:12]))
    print("   " + checked(graph, known, jaxmotif.node_orbits))


def in_memory(name: str, graph: jaxmotif.Graph, known: dict[str, Any], gib: float) -> None:
    """Print time and memory of node orbits within a budget, of the second call, which compiles nothing."""
    device, memory = jax.devices()[0], int(gib * 2**30)
    door = partial(jaxmotif.node_orbits, memory=memory)
    first = 1e3 * harness.once(partial(orbits, door, graph))[1]
    if device.platform == "cpu":
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = kilobytes("VmRSS") * 1024
    else:
        before = (device.memory_stats() or {})["bytes_in_use"]
    took = 1e3 * harness.once(partial(orbits, door, graph))[1]
    # An allocator's peak is that of both calls.
    peak = kilobytes("VmHWM") * 1024 if device.platform == "cpu" else (device.memory_stats() or {})["peak_bytes_in_use"]
    used = (peak - before) / 2**30
    print(
        f"{name}: {took / 1e3:.1f} s (first {first / 1e3:.1f}), {used:.2f} GiB of {gib}, {checked(graph, known, door)}"
    )


def kilobytes(what: str) -> int:
    """Return a figure of this process from the system."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


def small_graphs(count: int = 1000, nodes: int = 30) -> None:
    """Print the time of many small graphs under vmap; the aim is 20 ms for 1,000 of 30 nodes."""
    rng = np.random.default_rng(0)
    made = []
    for i in range(count):
        upper = np.triu(rng.random((nodes, nodes)) < 0.05 + 0.9 * i / count, 1)
        made.append(jaxmotif.Graph.from_edges(np.argwhere(upper), nodes, pad=(32, 896)))
    batch = jax.device_put(stack_graphs(made))
    run = jax.jit(jax.vmap(partial(dense_node_orbits, size=5)))
    clock = time.perf_counter()
    values = jax.block_until_ready(run(batch)).to_numpy()
    first = time.perf_counter() - clock
    some = range(0, count, 97)
    right = all(np.array_equal(values[i, :nodes], jaxmotif.node_orbits(made[i], size=5).to_numpy()) for i in some)
    took = milliseconds(lambda: run(batch))
    print(
        f"{count} graphs of {nodes} nodes under vmap: {took:.1f} ms [bar 20], first {first:.1f} s, {right=}", flush=True
    )


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
for names, settings in (
    option("--gpu-bars", action="store_true"),
    option("--peers", action="store_true"),
    option("--escape", action="store_true"),
    option("--devices", type=numbers),
    option("--memory", type=float, metavar="GIB"),
    option("--seconds", type=float, default=110),
):
    parser.add_argument(*names, **settings)
harness.add_common(parser)


def main(options: argparse.Namespace) -> None:
    """Run what the command line asks for."""
    end = time.perf_counter() + options.seconds
    folder = harness.data_folder(options.data, "undirected")
    stored = harness.verified(options.data, "undirected", "graphlets5.json")
    if options.gpu_bars:
        there = [name for name in options.names if name in BARS and (folder / f"{name}.edges.gz").exists()]
        gpu_bars({name: harness.undirected(options.data, name) for name in there}, stored, end)
        return
    row: Callable[[str, jaxmotif.Graph, dict[str, Any]], None] | None = None
    if options.peers:
        row = peers
        head = "network | edges | orbits | peer | jaxmotif, CPU s | peer, CPU s | peer took as much or more"
        Table(f"{head} | times as fast | first call | checked")
    elif options.escape:
        row = by_escape
    elif options.devices:
        row = partial(on_devices, counts=options.devices)
    elif options.memory:
        row = partial(in_memory, gib=options.memory)
    if row is not None:
        for name in options.names:
            row(name, harness.undirected(options.data, name), stored.get(name, {}))
        return
    table = Table("network | nodes | edges | first, s | node orbits, ms | edge orbits, ms | checked")
    for name in options.names:
        graph, first, times, said = harness.undirected(options.data, name), 0.0, [], []
        for door in (jaxmotif.node_orbits, jaxmotif.edge_graphlets):
            timing = measure(partial(orbits, door, graph))
            first += timing.first
            times.append(f"{1e3 * timing.best:.1f}")
            said.append(checked(graph, stored.get(name, {}), door))
        table.row(name, graph.n, graph.m, f"{first:.1f}", *times, "; ".join(said))


if __name__ == "__main__":
    harness.run(main, parser.parse_args())
