"""Figures and tables of the hybrid graphlet paper (Rossi, Zhou 2016).

    python experiments/graphlets_paper.py ROW [NETWORK ...] [--data FOLDER] [--out FOLDER]

Counts are checked against verified ones, and between modes. Rows that are drawn add their networks to
``graphlets_ROW.json`` in results/figures, or in ``--out``, which figures.py draws.
"""

from __future__ import annotations

import argparse
import ctypes
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from graphlets_algorithms import Counts, by_degree, count_by_lanes, neighbor_sets
from harness import Rows, Table, measure, option

import jaxmotif
from jaxmotif.devices import Hybrid

# What is not public: the queue's units of work, which ``sides`` listens to, and the name of a type.
from jaxmotif.devices._select import Order
from jaxmotif.graph import Graph
from jaxmotif.graphlets import _run

rows = Rows(__doc__)
Points = dict[str, dict[Any, Any] | tuple[list, list]]

ORDERS: dict[Order, str] = {"degree": "d", "volume": "vol", "-degree": "d^-1", "-volume": "vol^-1"}
"""Orders of the edges in the queue, and their names in the paper."""
PGD = {
    "internet-as": 0.358,
    "web-spam": 0.253,
    "facebook_combined": 2.11,
    "wiki-Vote": 3.08,
    "twitch-DE": 6.35,
    "email-Enron": 3.54,
    "ca-AstroPh": 1.77,
    "socfb-MIT8": 6.84,
    "pgd-C500-9": 32.3,
    "syn-er-1k-150k": 28.9,
    "soc-Slashdot0902": 13.4,
    "socfb-Cornell5": 36.6,
}
"""Seconds of PGD on one core of the CPU of results/graphlets_cpu.md."""
PRINTED = {
    "socfb-MIT8": (13.7, 88.5, 909, 50.9, 498, 3800),
    "email-Enron": (2.3, 22.5, 376, 6.8, 185, 1400),
    "ca-HepPh": (150, 35.2, 462, 0.821, 143, 204),
    "pgd-C500-9": (656, 909, 201, 50.2, 7.3, 22.3),
}
"""Entries of the paper's Table 3, in millions, in the order of CONNECTED."""
CONNECTED = ("4-clique", "chordal-cycle", "tailed-triangle", "4-cycle", "3-star", "4-path")


def networks(*default: str) -> harness.Argument:
    """Describe the argument of a row that names its networks."""
    return option("networks", nargs="*", metavar="NETWORK", default=list(default), help="default: %(default)s")


out = option("--out", type=Path, default=harness.FIGURES, help="folder of the figure's data")


def draw(options: argparse.Namespace, series: Points, kind: str, title: str, paper: str, **told: Any) -> None:
    """Add series to the row's figure; after each network, so that a run which is cut short keeps what it has."""
    told = {"title": title, "kind": kind, "paper": paper, "xlabel": "", "logy": True} | told
    harness.figure(f"graphlets_{options.row}", series, options.out, **told)


def seconds_of(options: argparse.Namespace, name: str, graph: Graph, runs: int = 2, **chosen: Any) -> float:
    """Return the least seconds of some calls after a first, of one where they take long; stop at wrong counts."""
    found = measure(lambda: jaxmotif.graphlet_counts(graph, **chosen).counts, calls=runs, seconds=3)
    harness.check_counts(options.data, name, found.result)
    harness.check(f"{name}, {chosen}", found.result, _counts.setdefault(name, found.result))
    return found.best


_counts: dict[str, dict[str, int]] = {}
"""Counts of each network in the first mode that was run; all other modes must give the same."""


def needs_gpu() -> None:
    """End the program where there is no GPU."""
    if harness.backend() != "gpu":
        raise SystemExit("this row needs a GPU")


@rows(networks("internet-as", "email-Enron", "socfb-MIT8", "pgd-C500-9"), out)
def work(options: argparse.Namespace) -> None:
    """Count the work of each edge (Fig. 1), on no device: the neighbours that the paper's algorithms look at (its 4.7).

    They are the degrees of all in T and S_u, of the smaller of two sides (property P3): sums over the neighbours of one
    end but for the other end itself.
    """
    for name in options.networks:
        graph = harness.network(options.data, name)
        edges, degrees = graph.edge_list(), graph.degrees.astype(np.int64)
        volume = np.bincount(edges.ravel(), degrees[edges[:, ::-1]].ravel(), graph.n).astype(np.int64)
        found = np.sort(np.minimum(*(volume[edges] - degrees[edges[:, ::-1]]).T))[::-1]
        part = float(found.cumsum()[graph.m // 100] / found.sum())
        middle = found[graph.m // 2]
        print(f"{name}: 1% of {graph.m} edges have {part:.0%} of the work, largest {found[0]}, median {middle}")
        rank = np.unique(np.geomspace(1, graph.m, 60).astype(int))
        points = dict(zip(rank.tolist(), np.maximum(found[rank - 1], 1).tolist(), strict=True))
        draw(
            options,
            {f"{name}: 1 % of edges have {part:.0%}": points},
            "line",
            "Work of each edge",
            "Fig. 1: the time of each edge of tech-internet-as obeys a power law",
            xlabel="edges, most work first",
            ylabel="neighbours looked at",
            logx=True,
            where="CPU",
        )


@rows(networks(*PGD), out)
def devices(options: argparse.Namespace) -> None:
    """Time one GPU, all GPUs, and GPUs with the CPU, over PGD and over the CPU alone (Table 2)."""
    needs_gpu()
    gpus = len(jax.devices())
    modes: dict[str, Any] = {"CPU": "cpu", "1 GPU": 1}
    modes |= {f"{gpus} GPUs": gpus} if gpus > 1 else {}
    modes |= {f"hybrid, alpha {alpha}": Hybrid(alpha=alpha) for alpha in (0.05, 1.0)}
    for name in options.networks:
        graph = harness.network(options.data, name)
        seconds = {label: seconds_of(options, name, graph, devices=chosen) for label, chosen in modes.items()}
        base = PGD.get(name, seconds["CPU"])
        print(f"\n{name}: {graph.m} edges, largest degree {graph.degrees.max()}, PGD {PGD.get(name, '-')} s\n")
        table = Table("mode | ms | over PGD | over the CPU")
        for label, s in seconds.items():
            table.row(label, s * 1e3, f"{base / s:.1f}x", f"{seconds['CPU'] / s:.1f}x")
        draw(
            options,
            {label: {name: base / s} for label, s in seconds.items()},
            "bar",
            "GPUs and the CPU over PGD",
            "Table 2 (over PGD on 16 cores: one GPU, eight, hybrid): MIT 12x, 28x, 106x; C500-9 3.1x, 22x, 33x; "
            "ia-enron-large 2.9x, 10.8x, 28x; tech-internet-as 1.3x, 3.6x, 12.8x",
            ylabel="times faster than PGD on one core",
            note="PGD: one core of another CPU (results/graphlets_cpu.md); 16 of them are at most 16 times faster.",
        )


@rows(networks("internet-as", "email-Enron", "wiki-Vote", "ca-AstroPh", "socfb-MIT8", "pgd-C500-9"), out)
def orders(options: argparse.Namespace) -> None:
    """Time GPUs and the CPU together by four orders of the edges, over the CPU alone (Table 4)."""
    needs_gpu()
    for name in options.networks:
        graph = harness.network(options.data, name)
        base = seconds_of(options, name, graph, devices="cpu")
        found = {label: seconds_of(options, name, graph, devices=Hybrid(order)) for order, label in ORDERS.items()}
        print(f"\n{name}: largest degree {graph.degrees.max() / graph.degrees.mean():.1f} times the mean\n")
        table = Table("order | ms | over the CPU")
        for label, s in {"CPU": base, **found}.items():
            table.row(label, s * 1e3, f"{base / s:.2f}x")
        draw(
            options,
            {label: {name: base / s} for label, s in found.items()},
            "bar",
            "Hybrid by order of the edges",
            "Table 4, socfb-Texas84: d 263x, vol 284x, d^-1 23.5x, vol^-1 10.8x over PGD",
            ylabel="times faster than the CPU alone",
        )


@rows(networks("internet-as", "email-Enron", "wiki-Vote", "ca-AstroPh", "socfb-MIT8", "pgd-C500-9"))
def shares(options: argparse.Namespace) -> None:
    """Time GPUs and the CPU together by the share of the edges that a GPU takes at once, at first and later (4.3).

    The paper gives GPUs 80 % at first. Whoever has nothing left takes over what another one has not begun.
    """
    needs_gpu()
    parts = (0.01, 0.05, 0.2, 0.5, 0.8, 1.0)
    table = Table("network | " + " | ".join(f"{100 * part:g} %, ms" for part in parts))
    for name in options.networks:
        graph = harness.network(options.data, name)
        found = [seconds_of(options, name, graph, devices=Hybrid(chunk=part)) for part in parts]
        table.row(name, *(s * 1e3 for s in found))


@rows(networks("email-Enron"), out)
def sides(options: argparse.Namespace) -> None:
    """Tell which edges the CPU took in a hybrid run, which the GPU, and how long each took (Fig. 4).

    A point is a unit of work: the mean degree of its edges' ends, and the time an edge of it takes.
    """
    needs_gpu()
    for name in options.networks:
        graph = harness.network(options.data, name)
        units = heard_units(lambda graph=graph, name=name: seconds_of(options, name, graph, devices=Hybrid(alpha=0.5)))
        order = _run._order_for(jax.tree.map(np.asarray, graph), jax.devices("cpu")[0])
        skip, m = order.node_capacity - int(order.num_nodes), int(order.num_edges)
        degree = np.asarray(order.degree).astype(np.float64)
        tails, heads = np.asarray(order.tail)[:m], np.asarray(order.head)[:m]
        found: dict[str, tuple[list, list]] = {}
        for kind, span, seconds in units:
            mine = (tails >= skip + span.first) & (tails < skip + span.stop)
            if mine.any():
                x, y = found.setdefault(kind, ([], []))
                x.append(float((degree[tails[mine]] + degree[heads[mine]]).mean() / 2))
                y.append(seconds / int(mine.sum()) * 1e6)
        table = Table("device | units | median degree | largest | us an edge")
        for kind, (x, y) in found.items():
            table.row(kind, len(x), float(np.median(x)), float(max(x)), float(np.median(y)))
        draw(
            options,
            dict(found),
            "scatter",
            "Who took which edges (hybrid by degree, CPU at most half)",
            "Fig. 4: the CPU takes the edges that take long, the GPU the others",
            xlabel="mean degree of a unit's edges",
            ylabel="us an edge",
            logx=True,
        )


def heard_units(call: Callable[[], object]) -> list[tuple[str, Any, float]]:
    """Return the units of the last run of a call: kind of device, nodes of the degree order, seconds."""
    log: list[tuple[str, Any, float]] = []
    step, begin = _run._PassTask.step, _run.run_units

    def noted(self: Any, span: Any) -> None:
        started = time.perf_counter()
        step(self, span)
        (device,) = self.order.tail.devices()
        log.append((device.platform, span, time.perf_counter() - started))

    def anew(*args: Any, **options: Any) -> Any:
        log.clear()
        return begin(*args, **options)

    _run._PassTask.step, _run.run_units = noted, anew
    try:
        call()
    finally:
        _run._PassTask.step, _run.run_units = step, begin
    return log


# ---- energy


@rows(networks("socfb-MIT8", "socfb-Cornell5", "pgd-C500-9"), out)
def energy(options: argparse.Namespace) -> None:
    """Measure joules of the GPU a call and a graphlet, idle power included, by the counters of the driver (NVML).

    Beside them those of the CPU for the same counts, by the counters of Linux (RAPL), where these can be read.
    """
    needs_gpu()
    for name in options.networks:
        graph = harness.network(options.data, name)
        meter, calls = EnergyMeter(), 0
        seconds_of(options, name, graph, runs=1, devices=1)
        idle, _ = meter.watts(lambda: time.sleep(1.0))

        def count_for_a_while(graph: Graph = graph) -> None:
            nonlocal calls
            until = time.perf_counter() + 3.0
            while time.perf_counter() < until:
                jaxmotif.graphlet_counts(graph, devices=1)
                calls += 1

        watts, seconds = meter.watts(count_for_a_while)
        counts = jaxmotif.graphlet_counts(graph, devices=1).counts
        graphlets = sum(count for kind, count in counts.items() if "node" not in kind)  # the connected ones
        joules = watts * seconds / calls
        seconds_of(options, name, graph, runs=1, devices="cpu")
        before = cpu_joules()
        jaxmotif.graphlet_counts(graph, devices="cpu")
        by_cpu = "no counter" if before is None else f"{(cpu_joules() or 0.0) - before:.3g}"
        print(f"\n{name}: {calls} calls in {seconds:.2f} s, by {meter.source}\n")
        table = Table("W | W idle | ms a call | J a call | nJ a connected graphlet | J of the CPU")
        table.row(watts, idle, seconds / calls * 1e3, joules, joules / graphlets * 1e9, by_cpu)
        draw(
            options,
            {"J a call": {name: joules}, "nJ a connected graphlet": {name: joules / graphlets * 1e9}},
            "bar",
            "Energy of the GPU",
            "'superior performance per watt', without a figure",
            ylabel="J, nJ",
        )


def cpu_joules() -> float | None:
    """Return the energy that the CPUs have used, or ``None`` where their counters cannot be read."""
    counters = list(Path("/sys/class/powercap").glob("intel-rapl:?/energy_uj"))
    try:
        return sum(int(counter.read_text()) for counter in counters) / 1e6 if counters else None
    except OSError:
        return None


class EnergyMeter:
    """The energy counter of the first GPU; where the driver has none, its power, read every 20 ms."""

    def __init__(self) -> None:
        self._nvml, self._device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        for status in (
            self._nvml.nvmlInit_v2(),
            self._nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device)),
        ):
            if status:
                raise SystemExit(f"NVML: error {status}")
        nothing = ctypes.byref(ctypes.c_ulonglong())
        self._counts = not self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._device, nothing)
        self.source = "NVML's energy counter" if self._counts else "NVML's power every 20 ms"

    def watts(self, call: Callable[[], None]) -> tuple[float, float]:
        """Return the mean power while a function runs, and its seconds."""
        samples, ended = [self._power()], threading.Event()

        def sample() -> None:
            while not ended.wait(0.02):
                samples.append(self._power())

        sampler = threading.Thread(target=sample)
        if not self._counts:
            sampler.start()
        before, started = self._joules(), time.perf_counter()
        call()
        seconds, used = time.perf_counter() - started, self._joules() - before
        ended.set()
        if self._counts:
            return used / seconds, seconds
        sampler.join()
        return float(np.mean(samples)), seconds

    def _joules(self) -> float:
        value = ctypes.c_ulonglong()
        self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._device, ctypes.byref(value))
        return value.value / 1e3

    def _power(self) -> float:
        value = ctypes.c_uint()
        self._nvml.nvmlDeviceGetPowerUsage(self._device, ctypes.byref(value))
        return value.value / 1e3


# ---- what is not drawn


@rows(networks("er-1k", "ba-1k", "geometric-1k"))
def random(options: argparse.Namespace) -> None:
    """Time random graphs of 1,000 nodes and 150,000 edges (Fig. 3): Erdos-Renyi, Barabasi-Albert, geometric."""
    table = Table("graph | edges | 4-cliques | counts, ms | per edge | per edge, CPU")
    for name in options.networks:
        graph = harness.network(options.data, name)
        counts = measure(lambda graph=graph: jaxmotif.graphlet_counts(graph))
        by_edge = measure(lambda graph=graph: jaxmotif.edge_graphlets(graph))
        on_cpu = measure(lambda graph=graph: jaxmotif.edge_graphlets(graph, devices="cpu"), calls=1)
        for other in (by_edge, on_cpu):
            harness.check(name, other.result.counts, counts.result.counts)
        times = [1e3 * found.best for found in (counts, by_edge, on_cpu)]
        table.row(name, graph.m, counts.result.counts["4-clique"], *times)


@rows(networks("ca-AstroPh", "email-Enron", "socfb-MIT8"))
def algorithms(options: argparse.Namespace) -> None:
    """Time the paper's Algorithms 1 to 6 beside the package's counts, on a CPU and (2 to 4) on a GPU.

    Each is timed for all edges. Algorithms 5 and 6, and 3 and 4, are what a run takes longer with them than without.
    """
    on_gpu = harness.backend() == "gpu"
    names = (
        "T and S by search (2) | 4-cliques (3) | 4-cycles (4)"
        if on_gpu
        else "by table (1) | (5) | (6) | by search (2) | (3) | (4)"
    )
    table = Table(f"network | edges | {names} | all graphlets, ours")
    for name in options.networks:
        graph = harness.network(options.data, name)
        ours = measure(lambda g=graph: jaxmotif.graphlet_counts(g).counts)
        ranked = by_degree(graph)
        times = list[float]()
        if on_gpu:
            sets = measure(lambda g=ranked: jax.block_until_ready(neighbor_sets(g)))
            pairs = [measure(lambda g=ranked, s=sets.result, c=c: count_by_lanes(g, s, c)) for c in (True, False)]
            found = Counts(sets.result[0].nodes.size, *(one.result for one in pairs))
            times = [sets.best, *(one.best for one in pairs)]
            check_algorithms(name, found, ours.result)
        else:
            from graphlets_loops import count_by_search, count_by_table  # needs numba

            for count in (count_by_table, count_by_search):
                alone, cliques, cycles = (
                    measure(partial(count, ranked, *which)) for which in ((False, False), (True, False), (False, True))
                )
                check_algorithms(name, Counts(alone.result[0], cliques.result[1], cycles.result[2]), ours.result)
                times += [alone.best, cliques.best - alone.best, cycles.best - alone.best]
        table.row(name, graph.m, *times, ours.best)


def check_algorithms(name: str, found: Counts, counts: dict[str, int]) -> None:
    """Check sums over edges; a graphlet is counted at each of its edges, and a cycle at four."""
    wanted = Counts(3 * counts["triangle"], 6 * counts["4-clique"], 4 * counts["4-cycle"])
    harness.check(f"{name}, sums over edges", found, wanted)


@rows(networks(*PRINTED))
def table3(options: argparse.Namespace) -> None:
    """Check the entries of Table 3: counts of connected graphlets of four nodes of the networks that can be had.

    An entry is printed right unless the sum over edges behind it (X_7 = C_7 / 6, X_11 = (C_11 - X_9) / 3) passes 2^32:
    then it comes of that sum modulo 2^32. Both are computed for every entry.
    """
    table = Table("network | graphlet | count | printed | the printed figure is")
    for name in options.networks:
        counts = jaxmotif.graphlet_counts(harness.network(options.data, name)).counts
        harness.check_counts(options.data, name, counts)
        for graphlet, printed in zip(CONNECTED, PRINTED[name], strict=True):
            true, wrapped = counts[graphlet], wrapped_count(graphlet, counts)
            close = [abs(value / 1e6 - printed) <= 0.06 * printed for value in (true, wrapped)]
            verdict = "right" if close[0] else "wrapped" if close[1] else "neither"
            table.row(name, graphlet, true, f"{printed}M", verdict)


def wrapped_count(graphlet: str, counts: dict[str, int]) -> int:
    """Return what the paper's equations give when the sum over edges is kept in 32 bits."""
    if graphlet == "4-clique":
        return 6 * counts[graphlet] % 2**32 // 6
    if graphlet == "3-star":
        return ((3 * counts[graphlet] + counts["tailed-triangle"]) % 2**32 - counts["tailed-triangle"]) // 3
    return counts[graphlet] % 2**32


if __name__ == "__main__":
    rows.main()
