"""How the four jobs scale over devices, and over processes of one device each, with equal bits checked first.

    python experiments/scaling.py [--data FOLDER] [--devices 1,2,4,hybrid] [--processes 2,4] [--jobs sieve,...]
        [--seconds 300]

`hybrid` is all GPUs and the CPU. Every row runs in processes of its own and is printed at once: best of three after a
first call that compiles. A row that takes longer than its seconds is cut off. `--small` takes inputs for a CPU (with
its fake devices).
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from networks import directed, instance, parse_with_data

LIST = {"leaves": False, "symmetry": False}  # every match reached by the search
HARD = {  # queries that take long on one GPU, and how to search
    "list helicobacter_L8/dense_e32_0": ("graemlin_helicobacter_L8derived/dense_e32_0", LIST),
    "list helicobacter_L1/semi_e8_0": ("graemlin_helicobacter_L1/semi_e8_0", LIST),
    "list yeast_u32/dense_e32_0": ("string_yeast_u32/dense_e32_0", LIST),
    "induced helicobacter_L1/dense_e16_0": ("graemlin_helicobacter_L1/dense_e16_0", {"induced": True}),
}
SMALL_HARD = {"list helicobacter_L8/semi_e16_0": ("graemlin_helicobacter_L8derived/semi_e16_0", LIST)}


def sieve(data: Path, small: bool, devices: Any) -> Callable[[], Any]:
    import jax
    from sieve_common import regular

    from jaxmotif.sieve._runner import Sieve

    size = 12 if small else 24
    machine = Sieve(size, devices)
    placed = jax.block_until_ready(machine.place(regular(1 << 10, size)))
    return lambda: machine.values(placed, jax.random.key(0))


def motifs(data: Path, small: bool, devices: Any) -> Callable[[], Any]:
    from jaxmotif.motifs import find_motifs

    graph = directed(data, "yeast")
    size, num = (4, 60) if small else (6, 1000)

    def call() -> Any:
        found = find_motifs(graph, size, num, devices=devices)
        return list(found.classes), found.counts, found.random_counts, found.significance.z

    return call


def graphlets(data: Path, small: bool, devices: Any) -> Callable[[], Any]:
    import jax

    from jaxmotif.devices._select import select_devices
    from jaxmotif.graph import synthetic
    from jaxmotif.graphlets._run import run

    graph = synthetic.rmat(13 if small else 20, 8, seed=1, isolated="drop", pad="bucket")
    selection = select_devices(devices)

    def call() -> Any:
        with jax.enable_x64(True):
            found = jax.block_until_ready(run(graph, "edge", selection, None, False))
        return found.sums, found.values

    return call


def matching(name: str, how: dict[str, Any], data: Path, devices: Any) -> Callable[[], Any]:
    from jaxmotif.matching import Search, count_matches

    query, target = instance(data, name)
    search = Search(**{name: value for name, value in how.items() if name != "induced"})
    return lambda: count_matches(query, target, how.get("induced", False), devices=devices, search=search).count


def measure(options: argparse.Namespace) -> None:
    """One row: seconds of the first call and of the best of three more, and the result's name, as JSON."""
    import jax

    from jaxmotif.devices._checkpoint import fingerprint
    from jaxmotif.devices._processes import join_processes, keep_stdout

    if options.cluster:
        join_processes(options.cluster)
        keep_stdout()
    name, data, small = options.row, options.data, options.small
    if name in HARD | SMALL_HARD:
        call = matching(*(HARD | SMALL_HARD)[name], data, options.count)
    else:
        call = {"sieve": sieve, "motifs": motifs, "graphlets": graphlets}[name](data, small, options.count)
    times = []
    for _ in range(4):
        started = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - started)
    row = {"first": times[0], "best": min(times[1:]), "bits": fingerprint(result)[:16]}
    if jax.process_index() == 0:
        print("ROW", json.dumps(row | {"device": jax.devices()[0].device_kind, "jax": jax.__version__}), flush=True)


def start(name: str, options: argparse.Namespace, environment: dict[str, str], *more: str) -> subprocess.Popen:
    command = [sys.executable, __file__, "--row", name, "--data", str(options.data), *more]
    command += ["--small"] if options.small else []
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | environment, text=True)


def row_of(name: str, options: argparse.Namespace, count: Any, processes: bool) -> dict[str, Any] | str:
    """The row as :func:`measure` prints it, or why there is none."""
    if processes:
        with socket.socket() as free:
            free.bind(("localhost", 0))
            address = f"localhost:{free.getsockname()[1]}"
        one = {"XLA_FLAGS": "--xla_force_host_platform_device_count=1"} if options.small else {}
        running = [
            start(name, options, one | {"CUDA_VISIBLE_DEVICES": str(i)}, "--cluster", f"{i}/{count}@{address}")
            for i in range(count)
        ]
    else:
        fake = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"}
        fake = fake if options.small and count != "hybrid" else {}
        running = [start(name, options, fake, "--count", str(count))]
    ends = time.monotonic() + options.seconds
    try:
        outputs = [process.communicate(timeout=max(1.0, ends - time.monotonic()))[0] for process in running]
    except subprocess.TimeoutExpired:
        return f"longer than {options.seconds:g} s"
    finally:
        for process in running:
            process.kill()
    lines = [line for line in outputs[0].splitlines() if line.startswith("ROW ")]
    return json.loads(lines[0][4:]) if lines else f"failed with status {running[0].returncode}"


def number(text: str) -> int | str:
    return text if text == "hybrid" else int(text)


def numbers(text: str) -> list[Any]:
    return [number(part) for part in text.split(",") if part]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=numbers, default=[1, 2, 4], help="of one process")
    parser.add_argument("--processes", type=numbers, default=[], help="of one device each")
    parser.add_argument("--jobs", default="sieve,motifs,graphlets,matching")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of a row")
    parser.add_argument("--small", action="store_true", help="inputs for a CPU")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=number, help=argparse.SUPPRESS)
    parser.add_argument("--cluster", help=argparse.SUPPRESS)
    options = parse_with_data(parser)
    if options.row:
        measure(options)
        return
    print("| job | on | first call s | best s | speed-up | for each device | bits |", flush=True)
    print("|---|---|---|---|---|---|---|", flush=True)
    machine = None
    for job in options.jobs.split(","):
        for name in (SMALL_HARD if options.small else HARD) if job == "matching" else [job]:
            base = None
            for count, processes in [(n, False) for n in options.devices] + [(n, True) for n in options.processes]:
                on = f"{count} {'processes' if processes else 'devices'}" if count != "hybrid" else count
                row = row_of(name, options, count, processes)
                if isinstance(row, str):
                    print(f"| {name} | {on} | {row} | | | | |", flush=True)
                    continue
                base = base or row
                machine = machine or f"{row['device']}, jax {row['jax']}"
                gain = base["best"] / row["best"]
                bits = row["bits"][:8] + ("" if row["bits"] == base["bits"] else " DIFFERENT")
                each = "" if count == "hybrid" else f"{gain / count:.2f}"
                figures = f"{row['first']:.2f} | {row['best']:.4f} | {gain:.2f} | {each} | {bits}"
                print(f"| {name} | {on} | {figures} |", flush=True)
    print(machine)


if __name__ == "__main__":
    main()
