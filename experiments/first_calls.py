"""What the first call of a process compiles: seconds, programs, and what each of them took.

    python experiments/first_calls.py [motifs] [census] [--data FOLDER] [--shapes] [--small]

Each job runs in a process of its own, without any cache of compiled code: `motifs` is yeast, size 6, 1,000 random
graphs, `census` yeastppi, size 6. A line for each program: when it was ready (seconds from the start of the call), how
long XLA took, its name; with `--shapes` also what it is given. A last line: the call, XLA, tracing and lowering (all
threads together), and the least of three further calls.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
EVENTS = "/jax/core/compile/"


def work(job: str, data: Path, shapes: bool, small: bool) -> None:
    """Run one job in this process."""
    import jax

    import jaxmotif

    name = "yeast" if job == "motifs" else "yeastppi_listed"
    size, number = (3, 100) if small else (6, 1000)
    graph = jaxmotif.read_graph(data / "directed" / f"{name}.edges", directed=True)

    def call() -> None:
        if job == "motifs":
            jaxmotif.find_motifs(graph, size, number)
        else:
            jaxmotif.subgraph_census(graph, size)

    jax.devices()  # starting the backend is no part of the call
    ready, spent, given = [], defaultdict[str, float](float), defaultdict[str, list[str]](list)
    started = time.perf_counter()

    def hear(event: str, duration_secs: float, **about: str | int) -> None:
        if event.startswith(EVENTS):
            spent[event.removeprefix(EVENTS)] += duration_secs
        if event.endswith("backend_compile_duration"):
            ready.append((time.perf_counter() - started, duration_secs, str(about.get("fun_name"))))

    class Shapes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found = re.match(r"Compiling (\S+) with global shapes and types (.*)\. Argument", record.getMessage())
            if found:
                given[found[1]].append(re.sub(r"ShapedArray\((.*?)\)", r"\1", found[2]))

    jax.monitoring.register_event_duration_secs_listener(hear)
    if shapes:
        jax.config.update("jax_log_compiles", True)
        logger = logging.getLogger("jax")
        logger.handlers, logger.propagate = [Shapes()], False
    call()
    first, programs = time.perf_counter() - started, len(ready)
    warm = []
    for _ in range(3):
        clock = time.perf_counter()
        call()
        warm.append(time.perf_counter() - clock)
    print(f"\n{job} {name} size {size}" + f", {number} random graphs" * (job == "motifs"))
    for at, seconds, what in ready[:programs]:
        print(f"{at:7.2f} {seconds:7.2f}  {what}")
        for text in given[what][:1]:  # of one name in the order in which they were begun
            print(f"{'':17}{text}")
        del given[what][:1]
    parts = ", ".join(f"{name.removesuffix('_duration')} {seconds:.2f}" for name, seconds in spent.items())
    print(f"first call {first:.2f} s, {programs} programs; {parts}; warm {min(warm):.3f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", default=["motifs", "census"])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--shapes", action="store_true", help="also what each program is given")
    parser.add_argument("--small", action="store_true", help="size 3, 100 random graphs")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work(args.jobs[0], args.data, args.shapes, args.small)
        return
    for job in args.jobs:
        options = [job, "--worker", "--data", str(args.data)] + ["--shapes"] * args.shapes + ["--small"] * args.small
        subprocess.run([sys.executable, __file__, *options], env=os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "false"})


if __name__ == "__main__":
    main()
