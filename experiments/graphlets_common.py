"""What the graphlet experiments share: networks, timing, tables, figures of the peers."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import jax
from networks import data_folder, parse_with_data, undirected

from jaxmotif.graph import Graph, synthetic


def arguments(doc: str | None, networks: Sequence[str]) -> argparse.Namespace:
    """The command line of an experiment: which networks, from where."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("networks", nargs="*", default=list(networks), help="default: %(default)s")
    return parse_with_data(parser)


def network(name: str, data: Path) -> Graph:
    """A stored network, or ``rmat-SCALE`` (edge factor 8), ``er-1k``, ``ba-1k``, ``geometric-1k`` (150,000 edges)."""
    if name.startswith("rmat-"):
        return synthetic.rmat(int(name[5:]), 8, seed=1, isolated="drop", pad="bucket")
    if name == "er-1k":
        return synthetic.erdos_renyi(1000, m=150_000, seed=1, pad="bucket")
    if name == "ba-1k":
        return synthetic.barabasi_albert(1000, 184, seed=1, pad="bucket")
    if name == "geometric-1k":
        return geometric(1000, 150_000)
    return undirected(data, name)


def geometric(n: int, m: int) -> Graph:
    """The m closest pairs of n random points in the unit square."""
    import numpy as np

    points = np.random.default_rng(1).random((n, 2))
    u, v = np.triu_indices(n, 1)
    closest = np.argpartition(((points[u] - points[v]) ** 2).sum(1), m)[:m]
    return Graph.from_edges(np.stack([u[closest], v[closest]], 1), num_nodes=n, pad="bucket")


def verified(data: Path) -> dict[str, dict[str, int]]:
    """Known counts by network."""
    if not data.is_dir():  # of synthetic graphs alone nothing is known
        return {}
    path = data_folder(data, "undirected") / "graphlets.json"
    if not path.exists():
        return {}
    return {name: entry["counts"] for name, entry in json.loads(path.read_text())["graphs"].items()}


def check(name: str, counts: dict[str, int], known: dict[str, dict[str, int]]) -> str:
    """Stops at a wrong count; says whether there was one to compare with."""
    if name not in known:
        return "-"
    wrong = {key: (counts[key], value) for key, value in known[name].items() if counts[key] != value}
    if wrong:
        raise SystemExit(f"{name}: wrong counts {wrong}")
    return "ok"


def best_of(function: Callable[..., Any], *args: Any, runs: int = 5, **options: Any) -> tuple[float, Any]:
    """Fewest ms of several calls after one that is not counted, each waited for; and the last result."""
    with jax.enable_x64(True):
        result = jax.block_until_ready(function(*args, **options))
        seconds = []
        for _ in range(runs):
            started = time.perf_counter()
            result = jax.block_until_ready(function(*args, **options))
            seconds.append(time.perf_counter() - started)
    return min(seconds) * 1e3, result


def back_to_back(function: Callable[..., Any], *args: Any, calls: int = 20, **options: Any) -> float:
    """Ms a call when calls follow each other without waiting: the device's time, where it exceeds the host's."""
    with jax.enable_x64(True):
        jax.block_until_ready(function(*args, **options))
        started = time.perf_counter()
        jax.block_until_ready([function(*args, **options) for _ in range(calls)])
        return (time.perf_counter() - started) / calls * 1e3


def print_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A Markdown table."""
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(f'{x:.3g}' if isinstance(x, float) else str(x) for x in row)} |", flush=True)
    print(flush=True)


def machine() -> str:
    device = jax.devices()[0]
    return f"{len(jax.devices())} x {device.device_kind} ({device.platform}), jax {jax.__version__}"
