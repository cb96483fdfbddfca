"""The most memory that each job ever has in use on a GPU, beside the budget it is given.

    python experiments/memory.py [--data FOLDER]

Every row runs in a process of its own, with an
allocator that takes as much as is asked for. It runs twice, and the second time compiles nothing: while XLA compiles
a matrix product, it tries out what is fast, in memory of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from networks import directed, instance, parse_with_data, undirected

MIB = 2**20
NO_GPU = "memory.py needs a GPU, which tells how much is in use"
ROWS = [
    ("graphlets", 90), ("graphlets", 512), ("matching", 64), ("matching", 1024), ("census", 1024), ("census", 8192),
    ("motifs", 512), ("motifs", 8192), ("random graphs", 64), ("random graphs", 1024), ("sieve", 256), ("sieve", 1024),
]  # fmt: skip


def job(name: str, data: Path, memory: int) -> Callable[[], Any]:
    import jax
    from sieve_common import regular

    import jaxmotif
    from jaxmotif.matching import Search
    from jaxmotif.sieve._runner import Sieve

    device = jax.devices()[0]
    if name == "graphlets":
        graph = undirected(data, "email-Enron").to_device(device)
        return lambda: jaxmotif.edge_graphlets(graph, memory=memory)
    if name == "matching":
        query, target = instance(data, "graemlin_helicobacter_L1/semi_e8_0")
        target = target.to_device(device)
        search = Search(leaves=False, symmetry=False)
        return lambda: jaxmotif.count_matches(query, target, memory=memory, search=search)
    if name == "sieve":
        sieve = Sieve(16, None, memory)
        placed = sieve.place(regular(1 << 14, 16))
        return lambda: sieve.values(placed, jax.random.key(0))
    graph = directed(data, "yeast").to_device(device)
    return {
        "census": lambda: jaxmotif.subgraph_census(graph, 6, memory=memory),
        "motifs": lambda: jaxmotif.find_motifs(graph, 5, 200, memory=memory),
        "random graphs": lambda: jaxmotif.random_graphs(graph, 1000, jax.random.key(0), memory=memory),
    }[name]


def measure(name: str, data: Path, memory: int) -> None:
    import jax

    call, device = job(name, data, memory), jax.devices()[0]
    if (before := device.memory_stats()) is None:
        raise SystemExit(NO_GPU)
    call()
    print("MOST", (device.memory_stats() or {})["peak_bytes_in_use"] - before["bytes_in_use"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    args = parse_with_data(parser, bare=True)
    if args.row:
        measure(args.row[0], args.data, int(args.row[1]))
        return
    print("| job | budget MiB | most in use MiB |\n|---|---|---|")
    for name, budget in ROWS:
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {
                "XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async", "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
                "JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            }  # fmt: skip
            command = [sys.executable, __file__, "--data", str(args.data), "--row", name, str(budget * MIB)]
            for _ in range(2):
                run = subprocess.run(command, env=environment, capture_output=True, text=True)
                if NO_GPU in run.stderr:
                    raise SystemExit(NO_GPU)
        last = run.stdout.split()
        shown = f"{int(last[-1]) / MIB:.1f}" if run.returncode == 0 else run.stderr.strip().splitlines()[-1]
        print(f"| {name} | {budget} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
