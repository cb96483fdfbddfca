"""The most memory that each job ever has in use on a GPU, beside the budget it is given.

    python experiments/memory.py FOLDER

FOLDER holds email-Enron.edges.gz, directed/ and labelled/ networks. Every row runs in a process of its own, with an
allocator that takes as much as is asked for. It runs twice, and the second time compiles nothing: while XLA compiles
a matrix product, it tries out what is fast, in memory of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 2**20
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
        graph = jaxmotif.read_graph(data / "email-Enron.edges.gz", pad=None).to_device(device)
        return lambda: jaxmotif.edge_graphlets(graph, memory=memory)
    if name == "matching":
        folder = data / "labelled" / "graemlin_helicobacter_L1"
        target = jaxmotif.read_graph(folder / "target.txt.gz").to_device(device)
        query = jaxmotif.read_graph(folder / "queries" / "semi_e8_0.txt")
        search = Search(leaves=False, symmetry=False)
        return lambda: jaxmotif.count_matches(query, target, memory=memory, search=search)
    if name == "sieve":
        sieve = Sieve(16, None, memory)
        placed = sieve.place(regular(1 << 14, 16))
        return lambda: sieve.values(placed, jax.random.key(0))
    graph = jaxmotif.read_graph(data / "directed" / "yeast.edges", directed=True).to_device(device)
    return {
        "census": lambda: jaxmotif.subgraph_census(graph, 6, memory=memory),
        "motifs": lambda: jaxmotif.find_motifs(graph, 5, 200, memory=memory),
        "random graphs": lambda: jaxmotif.random_graphs(graph, 1000, jax.random.key(0), memory=memory),
    }[name]


def measure(name: str, data: Path, memory: int) -> None:
    import jax

    call, device = job(name, data, memory), jax.devices()[0]
    before = device.memory_stats()["bytes_in_use"]
    call()
    print("MOST", device.memory_stats()["peak_bytes_in_use"] - before)


def main() -> None:
    if len(sys.argv) > 2:
        measure(sys.argv[2], Path(sys.argv[1]), int(sys.argv[3]))
        return
    print("| job | budget MiB | most in use MiB |\n|---|---|---|")
    for name, budget in ROWS:
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {
                "XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async", "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
                "JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            }  # fmt: skip
            command = [sys.executable, __file__, sys.argv[1], name, str(budget * MIB)]
            for _ in range(2):
                run = subprocess.run(command, env=environment, capture_output=True, text=True)
        last = run.stdout.split()
        shown = f"{int(last[-1]) / MIB:.1f}" if run.returncode == 0 else run.stderr.strip().splitlines()[-1]
        print(f"| {name} | {budget} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
