"""Figures and tables of the hybrid graphlet paper (Rossi & Zhou 2016) that other scripts do not have.

    python experiments/graphlets_paper.py ROW [NETWORK ...] [--data FOLDER] [--out FOLDER]

    work      Fig. 1: how the work is spread over edges (no device)
    sides     Fig. 4: which edges the CPU took in a hybrid run, which the GPU, and how long each took
    orders    Table 4: the hybrid by four orders of the edges, against the CPU alone
    devices   Table 2: one GPU, all GPUs, and GPUs with the CPU, against PGD and against the CPU alone
    energy    joules a call and a graphlet, by the counters of the driver (NVML)

Counts are checked against verified ones, and between modes. Each row adds its networks to ``graphlets_ROW.json`` in
``results/figures`` (or in ``--out``), which ``figures.py`` draws.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from figure_data import FIGURES, write_figure
from graphlets_common import check, machine, network, print_table, verified
from networks import parse_with_data

import jaxmotif
from jaxmotif.devices import Hybrid
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._select import Order
from jaxmotif.graph import Graph
from jaxmotif.graphlets import _run

ORDERS: dict[Order, str] = {"degree": "d", "volume": "vol", "-degree": "d^-1", "-volume": "vol^-1"}
# Single-thread seconds of PGD on the CPU of results/graphlets_cpu.md.
PGD = {
    "internet-as": 0.358, "web-spam": 0.253, "facebook_combined": 2.11, "wiki-Vote": 3.08, "twitch-DE": 6.35,
    "email-Enron": 3.54, "ca-AstroPh": 1.77, "socfb-MIT8": 6.84, "pgd-C500-9": 32.3, "syn-er-1k-150k": 28.9,
    "soc-Slashdot0902": 13.4, "socfb-Cornell5": 36.6,
}  # fmt: skip
NETWORKS = {
    "work": ("internet-as", "email-Enron", "socfb-MIT8", "pgd-C500-9"),
    "sides": ("email-Enron",),
    "orders": ("internet-as", "email-Enron", "wiki-Vote", "ca-AstroPh", "socfb-MIT8", "pgd-C500-9"),
    "devices": tuple(PGD),
    "energy": ("socfb-MIT8", "socfb-Cornell5", "pgd-C500-9"),
}
Log = list[tuple[str, Span, float]]
"""Of each unit: the kind of device, the nodes of the degree order, and seconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("row", choices=tuple(NETWORKS))
    parser.add_argument("networks", nargs="*", help="default: those of the row")
    parser.add_argument("--out", type=Path, default=FIGURES, help="folder of the JSON (default: %(default)s)")
    options = parse_with_data(parser)
    names, known = options.networks or list(NETWORKS[options.row]), verified(options.data)
    if options.row != "work" and jax.default_backend() != "gpu":
        raise SystemExit(f"{options.row} needs a GPU")
    print(machine(), flush=True)
    for name in names:
        graph = network(name, options.data)
        series = ROWS[options.row](name, graph, known)
        write(options.out, options.row, series)  # after each: a run that is cut short keeps what it has


# ---- Fig. 1


def work(name: str, graph: Graph, known: dict) -> dict[str, tuple[list, list]]:
    """The neighbours that the paper's algorithms look at for each edge (its 4.7): the degrees of all in T and S_u."""
    edges, degrees = graph.edge_list(), graph.degrees.astype(np.int64)
    volume = np.bincount(edges.ravel(), degrees[edges[:, ::-1]].ravel(), graph.n).astype(np.int64)
    # The smaller side (its property P3): sums over the neighbours of one end but for the other end itself.
    found = np.sort(np.minimum(*(volume[edges] - degrees[edges[:, ::-1]]).T))[::-1]
    share = found.cumsum() / found.sum()
    part = float(share[graph.m // 100])
    print(f"{name}: 1% of {graph.m} edges have {part:.0%} of the work, largest {found[0]} median {found[graph.m // 2]}")
    rank = np.unique(np.geomspace(1, graph.m, 60).astype(int))
    return {f"{name}: 1 % of edges have {part:.0%}": (rank.tolist(), np.maximum(found[rank - 1], 1).tolist())}


# ---- Table 2, Table 4, Fig. 4


def devices(name: str, graph: Graph, known: dict) -> dict[str, tuple[list, list]]:
    """Times over PGD's, where there is one, and over those of the CPU alone."""
    gpus = len(jax.devices())
    modes: dict[str, dict[str, Any]] = {"CPU": {"devices": "cpu"}, "1 GPU": {"devices": 1}}
    if gpus > 1:
        modes[f"{gpus} GPUs"] = {"devices": gpus}
    for alpha in (0.05, 1.0):
        modes[f"hybrid, alpha {alpha}"] = {"devices": Hybrid(alpha=alpha)}
    seconds = {label: timed(name, graph, known, **chosen) for label, chosen in modes.items()}
    base = PGD.get(name, seconds["CPU"])
    rows = [(k, s * 1e3, f"{base / s:.1f}x", f"{seconds['CPU'] / s:.1f}x") for k, s in seconds.items()]
    title = f"{name}: {graph.m} edges, largest degree {graph.degrees.max()}, PGD {PGD.get(name, '-')} s"
    print_table(title, ("mode", "ms", "over PGD", "over the CPU"), rows)
    return {label: ([name], [base / s]) for label, s in seconds.items()}


def orders(name: str, graph: Graph, known: dict) -> dict[str, tuple[list, list]]:
    """Times over those of the CPU alone, by the order of the queue."""
    base = timed(name, graph, known, devices="cpu")
    found = {label: timed(name, graph, known, devices=Hybrid(order)) for order, label in ORDERS.items()}
    skew = float(graph.degrees.max() / graph.degrees.mean())
    rows = [("CPU", base * 1e3, "1")] + [(k, s * 1e3, f"{base / s:.2f}x") for k, s in found.items()]
    print_table(f"{name}: largest degree {skew:.1f} times the mean", ("order", "ms", "over the CPU"), rows)
    return {label: ([name], [base / s]) for label, s in found.items()}


def sides(name: str, graph: Graph, known: dict) -> dict[str, tuple[list, list]]:
    """Of each unit of a hybrid run: the mean degree of its edges' ends, and the time an edge of it takes."""
    log = recorded(lambda: timed(name, graph, known, devices=Hybrid(alpha=0.5)))
    order = _run._order_for(jax.tree.map(np.asarray, graph), jax.devices("cpu")[0])
    skip, m = order.node_capacity - int(order.num_nodes), int(order.num_edges)
    degree = np.asarray(order.degree).astype(np.float64)
    tails, heads = np.asarray(order.tail)[:m], np.asarray(order.head)[:m]
    found: dict[str, tuple[list, list]] = {}
    for kind, span, seconds in log:
        mine = (tails >= skip + span.first) & (tails < skip + span.stop)
        if mine.any():
            x, y = found.setdefault(kind, ([], []))
            x.append(float((degree[tails[mine]] + degree[heads[mine]]).mean() / 2))
            y.append(seconds / int(mine.sum()) * 1e6)
    rows = [(k, len(x), float(np.median(x)), float(max(x)), float(np.median(y))) for k, (x, y) in found.items()]
    print_table(name, ("device", "units", "median degree", "largest", "us an edge"), rows)
    return found


def recorded(call: Callable[[], object]) -> Log:
    """The units of a call, in the last of its runs."""
    log: Log = []
    step, begin = _run._PassTask.step, _run.run_units

    def noted(self: Any, span: Span) -> None:
        started = time.perf_counter()
        step(self, span)
        (device,) = self.near[0].tail.devices()
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


def timed(name: str, graph: Graph, known: dict, runs: int = 2, **options: Any) -> float:
    """Fewest seconds of some calls after a first, of one where they take long; stops at wrong counts."""
    seconds = []
    while len(seconds) < 2 or (len(seconds) <= runs and sum(seconds[1:]) < 3):
        started = time.perf_counter()
        counts = jaxmotif.graphlet_counts(graph, **options).counts
        seconds.append(time.perf_counter() - started)
        check(name, counts, known)
        _same.setdefault(name, counts)
        if counts != _same[name]:
            raise SystemExit(f"{name}: {options} gives other counts")
    return min(seconds[1:])


_same: dict[str, dict[str, int]] = {}


# ---- energy


def energy(name: str, graph: Graph, known: dict) -> dict[str, tuple[list, list]]:
    """Joules of the GPU a call and a graphlet, above nothing: what it draws idle is told beside."""
    meter = Energy()
    timed(name, graph, known, runs=1, devices=1)
    idle, _ = meter.watts(lambda: time.sleep(1.0))
    calls = 0

    def loop() -> None:
        nonlocal calls
        until = time.perf_counter() + 3.0
        while time.perf_counter() < until:
            jaxmotif.graphlet_counts(graph, devices=1)
            calls += 1

    watts, seconds = meter.watts(loop)
    counts = jaxmotif.graphlet_counts(graph, devices=1).counts
    graphlets = sum(count for key, count in counts.items() if "node" not in key)  # the connected ones
    joules = watts * seconds / calls
    print_table(
        f"{name}: {calls} calls in {seconds:.2f} s, by {meter.source}",
        ("W", "W idle", "ms a call", "J a call", "nJ a connected graphlet"),
        [(watts, idle, seconds / calls * 1e3, joules, joules / graphlets * 1e9)],
    )
    return {"J a call": ([name], [joules]), "nJ a connected graphlet": ([name], [joules / graphlets * 1e9])}


class Energy:
    """The energy counter of the first GPU; where the driver has none, its power, read every 20 ms."""

    def __init__(self) -> None:
        self._nvml, self._device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        for status in (
            self._nvml.nvmlInit_v2(),
            self._nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device)),
        ):
            if status:
                raise SystemExit(f"NVML: error {status}")
        self._counts = not self._nvml.nvmlDeviceGetTotalEnergyConsumption(
            self._device, ctypes.byref(ctypes.c_ulonglong())
        )
        self.source = "NVML's energy counter" if self._counts else "NVML's power every 20 ms"

    def watts(self, call: Callable[[], None]) -> tuple[float, float]:
        """Mean power while a function runs, and seconds."""
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


# ---- figures

TOLD: dict[str, dict[str, Any]] = {
    "work": {
        "title": "Work of each edge", "xlabel": "edges, most work first", "ylabel": "neighbours looked at",
        "logx": True, "logy": True, "kind": "line",
        "paper": "Fig. 1: the time of each edge of tech-internet-as obeys a power law",
    },
    "sides": {
        "title": "Who took which edges (hybrid by degree, CPU at most half)", "xlabel": "mean degree of a unit's edges",
        "ylabel": "us an edge", "logx": True, "logy": True, "kind": "scatter",
        "paper": "Fig. 4: the CPU takes the edges that take long, the GPU the others",
    },
    "orders": {
        "title": "Hybrid by order of the edges", "xlabel": "", "ylabel": "times faster than the CPU alone",
        "logx": False, "logy": True, "kind": "bar",
        "paper": "Table 4, socfb-Texas84: d 263x, vol 284x, d^-1 23.5x, vol^-1 10.8x over PGD",
    },
    "devices": {
        "title": "GPUs and the CPU over PGD", "xlabel": "", "ylabel": "times faster than PGD on one core",
        "logx": False, "logy": True, "kind": "bar",
        "paper": "Table 2 (over PGD on 16 cores: one GPU, eight, hybrid): MIT 12x, 28x, 106x; C500-9 3.1x, 22x, 33x; "
        "ia-enron-large 2.9x, 10.8x, 28x; tech-internet-as 1.3x, 3.6x, 12.8x",
        "note": "PGD: one core of another CPU (results/graphlets_cpu.md); 16 of them are at most 16 times faster.",
    },
    "energy": {
        "title": "Energy of the GPU", "xlabel": "", "ylabel": "J, nJ", "logx": False, "logy": True, "kind": "bar",
        "paper": "'superior performance per watt', without a figure",
    },
}  # fmt: skip


def write(folder: Path, row: str, found: dict[str, tuple[list, list]]) -> None:
    """Adds series to the figure of a row: a network's bars replace its old ones, another series the one of its name."""
    path = folder / f"graphlets_{row}.json"
    old = next((p for p in (path, FIGURES / path.name) if p.exists()), None)
    series = {one["label"]: (one["x"], one["y"]) for one in json.loads(old.read_text())["series"]} if old else {}
    for label, (x, y) in found.items():
        kept: Iterable[tuple[Any, Any]] = ()
        if TOLD[row]["kind"] == "bar" and label in series:
            kept = [pair for pair in zip(*series[label], strict=True) if pair[0] not in x]
        series[label] = [p[0] for p in kept] + x, [p[1] for p in kept] + y
    told = {
        **TOLD[row], "command": f"python experiments/graphlets_paper.py {row}",
        "machine": "CPU" if row == "work" else machine(),
        "series": [{"label": label, "x": x, "y": y} for label, (x, y) in series.items()],
    }  # fmt: skip
    write_figure(path.stem, told, folder)


ROWS = {"work": work, "sides": sides, "orders": orders, "devices": devices, "energy": energy}


if __name__ == "__main__":
    main()
