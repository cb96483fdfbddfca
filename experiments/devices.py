"""The four jobs on several devices and processes, and the memory that each takes.

    python experiments/devices.py scaling [--devices 1,2,4,hybrid] [--processes 2,4] [--data FOLDER]
    python experiments/devices.py memory [--data FOLDER]

Every line of a table is measured in processes of its own.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import jax
from harness import Rows, Table, option, words

import jaxmotif

# What is not public: one run of the sieve, and names of results.
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.graph import synthetic
from jaxmotif.matching import Search, count_matches
from jaxmotif.sieve._runner import Sieve

rows = Rows(__doc__, workers=True)
hidden = argparse.SUPPRESS

# ---- scaling


LISTED = Search(leaves=False, symmetry=False)
"""A search by which every match is reached."""
HARD = {
    "list helicobacter_L8/dense_e32_0": ("graemlin_helicobacter_L8derived/dense_e32_0", False, LISTED),
    "list helicobacter_L1/semi_e8_0": ("graemlin_helicobacter_L1/semi_e8_0", False, LISTED),
    "list yeast_u32/dense_e32_0": ("string_yeast_u32/dense_e32_0", False, LISTED),
    "induced helicobacter_L1/dense_e16_0": ("graemlin_helicobacter_L1/dense_e16_0", True, None),
}
"""Queries that take long on one GPU, whether they are induced, and how they are searched."""
SMALL_HARD = {"list helicobacter_L8/semi_e16_0": ("graemlin_helicobacter_L8derived/semi_e16_0", False, LISTED)}


def scaled_job(name: str, data: Path, small: bool, devices: Any) -> Callable[[], Any]:
    """Prepare one call of a job on some devices."""
    from sieve import regular

    if name in HARD | SMALL_HARD:
        instance, induced, how = (HARD | SMALL_HARD)[name]
        query, target = harness.instance(data, instance)
        return lambda: count_matches(query, target, induced, devices=devices, search=how).count
    if name == "sieve":
        sieve = Sieve(12 if small else 24, devices)
        placed = jax.block_until_ready(sieve.place(regular(1 << 10, 12 if small else 24)))
        return lambda: sieve.values(placed, jax.random.key(0))
    if name == "motifs":
        yeast = harness.directed(data, "yeast")
        size, number = (4, 60) if small else (6, 1000)

        def discover() -> Any:
            found = jaxmotif.find_motifs(yeast, size, number, devices=devices)
            return list(found.classes), found.counts, found.random_counts, found.significance.z

        return discover
    rmat = synthetic.rmat(13 if small else 20, 8, seed=1, isolated="drop", pad="bucket")

    def count() -> Any:
        found = jaxmotif.edge_graphlets(rmat, devices=devices)
        return sorted(found.counts.items()), found.raw_counts

    return count


def count_or_hybrid(text: str) -> int | str:
    """Parse a number of devices; "hybrid" is all GPUs and the CPU."""
    return text if text == "hybrid" else int(text)


def counts_or_hybrid(text: str) -> list[int | str]:
    """Parse numbers of devices between commas."""
    return [count_or_hybrid(part) for part in words(text)]


@rows(
    option("--devices", type=counts_or_hybrid, default=[1, 2, 4], help="of one process; hybrid: GPUs and the CPU"),
    option("--processes", type=counts_or_hybrid, default=[], help="of one device each"),
    option("--jobs", type=words, default=["sieve", "motifs", "graphlets", "matching"]),
    option("--seconds", type=float, default=300.0, help="limit of a line"),
    option("--small", action="store_true", help="inputs for a CPU, with its fake devices"),
    option("--worker", help=hidden),
    option("--count", type=count_or_hybrid, help=hidden),
    option("--cluster", help=hidden),
)
def scaling(options: argparse.Namespace) -> None:
    """Time the four jobs over devices, and over processes of one device each; their bits must be the same.

    A figure is the best of three calls after a first one, which compiles. The aims for
    each of four GPUs are 0.95 (sieve), 0.9 (motifs) and 0.7 of one alone.
    """
    table = Table("job | on | first call s | best s | speed-up | for each device | bits")
    for job in options.jobs:
        for name in (SMALL_HARD if options.small else HARD) if job == "matching" else [job]:
            base = None
            for count, processes in [(n, False) for n in options.devices] + [(n, True) for n in options.processes]:
                on = f"{count} {'processes' if processes else 'devices'}" if count != "hybrid" else count
                found = line_of(name, options, count, processes)
                if isinstance(found, str):
                    table.row(name, on, found, "", "", "", "")
                    continue
                base = base or found
                gain = base["best"] / found["best"]
                bits = found["bits"][:8] + ("" if found["bits"] == base["bits"] else " DIFFERENT")
                each = "" if isinstance(count, str) else f"{gain / count:.2f}"
                table.row(name, on, f"{found['first']:.2f}", f"{found['best']:.4f}", f"{gain:.2f}", each, bits)


def line_of(name: str, options: argparse.Namespace, count: int | str, processes: bool) -> dict[str, Any] | str:
    """Return what a worker tells of one line, or why it tells nothing."""
    given = ["scaling", "--worker", name, "--data", options.data] + ["--small"] * options.small
    if processes and isinstance(count, int):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            address = f"localhost:{free.getsockname()[1]}"
        one = {"XLA_FLAGS": "--xla_force_host_platform_device_count=1"} if options.small else {}
        running = [
            harness.start_worker(
                *given, "--cluster", f"{i}/{count}@{address}", environment=one | {"CUDA_VISIBLE_DEVICES": str(i)}
            )
            for i in range(count)
        ]
    else:
        fake = options.small and count != "hybrid"
        environment = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"} if fake else {}
        running = [harness.start_worker(*given, "--count", count, environment=environment)]
    ends = time.monotonic() + options.seconds
    try:
        outputs = [process.communicate(timeout=max(1.0, ends - time.monotonic()))[0] for process in running]
    except subprocess.TimeoutExpired:
        return f"longer than {options.seconds:g} s"
    finally:
        for process in running:
            process.kill()
    lines = harness.json_lines(outputs[0])
    return lines[0] if lines else f"failed with status {running[0].returncode}"


def scaling_worker(options: argparse.Namespace) -> None:
    """Tell the seconds of the first call and of the best of three more, and a name of the result's bits."""
    if options.cluster:
        number, count, address = re.split("[/@]", options.cluster)
        jax.distributed.initialize(address, int(count), int(number))
    call = scaled_job(options.worker, options.data, options.small, options.count)
    found = harness.measure(call)
    if jax.process_index() == 0:
        harness.tell(first=found.first, best=found.best, bits=fingerprint(found.result)[:16])


# ---- memory


MIB = 2**20
BUDGETS = {
    "graphlets": (90, 512),
    "matching": (64, 1024),
    "census": (1024, 8192),
    "motifs": (512, 8192),
    "random graphs": (64, 1024),
    "sieve": (256, 1024),
}
"""MiB that each job is given."""


def budgeted_job(name: str, data: Path, memory: int) -> Callable[[], Any]:
    """Prepare one call of a job within a budget of bytes."""
    from sieve import regular

    device = jax.devices()[0]
    if name == "graphlets":
        graph = harness.undirected(data, "email-Enron").to_device(device)
        return lambda: jaxmotif.edge_graphlets(graph, memory=memory)
    if name == "matching":
        query, target = harness.instance(data, "graemlin_helicobacter_L1/semi_e8_0")
        target = target.to_device(device)
        return lambda: count_matches(query, target, memory=memory, search=LISTED)
    if name == "sieve":
        sieve = Sieve(16, None, memory)
        placed = sieve.place(regular(1 << 14, 16))
        return lambda: sieve.values(placed, jax.random.key(0))
    graph = harness.directed(data, "yeast").to_device(device)
    calls: dict[str, Callable[[], Any]] = {
        "census": lambda: jaxmotif.subgraph_census(graph, 6, memory=memory),
        "motifs": lambda: jaxmotif.find_motifs(graph, 5, 200, memory=memory),
        "random graphs": lambda: jaxmotif.random_graphs(graph, 1000, jax.random.key(0), memory=memory),
    }
    return calls[name]


@rows(option("--worker", nargs=2, metavar=("JOB", "BYTES"), help=hidden))
def memory(options: argparse.Namespace) -> None:
    """Tell the most memory of a GPU that each job has in use, beside the budget it is given.

    Each job runs twice, with an allocator that takes as much as is asked for, and the second time compiles nothing:
    while XLA compiles a matrix product, it tries out what is fast, in memory of its own.
    """
    table = Table("job | budget MiB | most in use MiB")
    for name, budgets in BUDGETS.items():
        for budget in budgets:
            with harness.empty_cache() as cache:
                exact = {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
                output = ""
                for _ in range(2):
                    given = ["memory", "--data", options.data, "--worker", name, budget * MIB]
                    output = harness.start_worker(*given, environment=cache | exact).communicate()[0]
            lines = harness.json_lines(output)
            if lines and lines[0]["most"] is None:
                raise SystemExit("this row needs a GPU, which tells how much is in use")
            table.row(name, budget, f"{lines[0]['most'] / MIB:.1f}" if lines else "failed")


def memory_worker(options: argparse.Namespace) -> None:
    """Tell the most bytes beyond what was in use before the call."""
    name, budget = options.worker
    call, device = budgeted_job(name, options.data, int(budget)), jax.devices()[0]
    if (before := device.memory_stats()) is None:
        harness.tell(most=None)
        return
    call()
    harness.tell(most=(device.memory_stats() or {})["peak_bytes_in_use"] - before["bytes_in_use"])


if __name__ == "__main__":
    given = rows.parser.parse_args()
    if given.worker:
        {"scaling": scaling_worker, "memory": memory_worker}[given.row](given)
    else:
        rows.main()
