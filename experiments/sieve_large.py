"""Large motifs (Table 6: k to 30, n = 2^10) and large hosts (n = 2^22 and 2^24, k = 10); d = 20, one run each.

What a smaller motif or host takes, times the ratio of the work, is told first as a prediction. A motif of 30 vertices
may be kept in a folder: the same command goes on there after whatever end. --kill-after ends it by SIGKILL after so
many seconds, once, and goes on at once. --paths checks large motifs: in a path of k colors every value is nonzero, and
in one that has a color twice 2^k values cancel to exactly zero.
Usage: python experiments/sieve_large.py [--paths 30] [--sizes 27] [--checkpoint FOLDER [--kill-after SECONDS]]
    [--hosts 22,24 [--size 10]] [--devices N]
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import subprocess
import sys

# A host of 2^24 vertices wants most of a GPU's memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.95")

import jax
import numpy as np
from sieve_common import clock, figure, heading, host_graph, multiplications, permuted, regular, row, work
from sieve_scaling import PAPER_HOST, PAPER_SIZE, numbers

from jaxmotif.devices._memory import device_memory
from jaxmotif.graph import synthetic
from jaxmotif.sieve import find_color_motif
from jaxmotif.sieve._runner import Sieve
from jaxmotif.sieve._search import run_bound

DEGREE, NODES = 20, 1 << 10
COMMAND = "python experiments/sieve_large.py"


def one_run(size: int, devices: tuple[jax.Device, ...], checkpoint: str | None = None) -> tuple[float, str]:
    """One run of the public search for k vertices of one color, in which all lie: seconds, and what was found."""
    graph = synthetic.random_regular(NODES, DEGREE, 0)
    options = {"error": run_bound(size), "limit": 0, "devices": devices, "checkpoint": checkpoint, "progress": True}
    begin = clock()
    found = find_color_motif(graph, [0] * NODES, {0: size}, 0, **options)
    seconds = clock() - begin
    assert found.repetitions == 1
    assert len(found.vertices) > NODES * (1 - run_bound(size))
    return seconds, f"{len(found.vertices)} {hashlib.sha256(found.vertices.tobytes()).hexdigest()[:12]}"


def sizes(options: argparse.Namespace, devices: tuple[jax.Device, ...], killed: float) -> None:
    host = regular(NODES, 30)
    small = 20 if devices[0].platform != "cpu" else 12
    one_run(small, devices)
    base, _ = one_run(small, devices)
    print(f"k = {small}: {base:.4f} s, to predict from", flush=True)
    heading("k", "predicted s", "s", "first call's compilation included", "vertices found, digest", "V100", "8 V100")
    for size in options.sizes:
        predicted = base * work(host, size).operations / work(host, small).operations
        print(f"k = {size}: {predicted:.1f} s predicted", flush=True)
        seconds, found = one_run(size, devices, options.checkpoint)
        how = f"{seconds:.2f} after {killed:.0f} s that ended by SIGKILL" if killed else f"{seconds:.2f}"
        row(size, f"{predicted:.1f}", how, "yes", found, *PAPER_SIZE[size][1:])
        if options.checkpoint is None or killed:
            paper = {"one V100 (paper)": 1, "eight V100 (paper)": 2}
            known = {label: {k: v[at] for k, v in PAPER_SIZE.items() if v[at]} for label, at in paper.items()}
            ours = "ours" if options.devices == 1 else f"ours, {options.devices} devices"
            figure(
                "sieve_sizes", {ours: {small: base, size: seconds + killed}} | known,
                title="One run by motif size, n = 1024, d = 20", xlabel="motif size k", ylabel="seconds", logy=True,
                logx=False, kind="line", command=f"{COMMAND} --sizes 25,27 (30 --checkpoint FOLDER --kill-after 100)",
                paper="Table 6 and Figure 2 (bottom): k to 30 on eight V100s, to 27 on one",
            )  # fmt: skip


def paths(options: argparse.Namespace, devices: tuple[jax.Device, ...]) -> None:
    heading("k", "s, compilation included", "zero in the path of k colors", "not zero in the other")
    for size in options.paths:
        first = np.concatenate([np.arange(size - 1), size + np.arange(size - 1)])
        host = host_graph(first, first + 1, 2 * size, size)
        shades = np.uint32(1) << np.tile(np.arange(size, dtype=np.uint32), 2)
        shades[-1] = shades[-2]
        sieve = Sieve(size, devices)
        begin = clock()
        values = sieve.values(sieve.place(host._replace(shades=shades)), jax.random.key(1), show=True)
        missed, wrong = int((values[:size] == 0).sum()), int((values[size:] != 0).sum())
        row(size, f"{clock() - begin:.1f}", missed, wrong)
        assert missed == wrong == 0


def hosts(options: argparse.Namespace, devices: tuple[jax.Device, ...]) -> None:
    size, base = options.size, None
    heading("log2 n", "edges", "predicted s", "s", "first call s", "10^9 mult/s, paper's count")
    for log in sorted({min(options.hosts) - 2, *options.hosts}):
        begin = clock()
        host = permuted(1 << log, size, DEGREE)
        built, limit = clock() - begin, device_memory(devices[0])
        predicted = base and base[0] * work(host, size).operations / base[1]
        print(f"n = 2^{log}: host made in {built:.0f} s, {predicted or 0:.2f} s predicted", flush=True)
        # Given its bytes, so that blocks are as large as they fit: by default half of a GPU is left to others.
        sieve = Sieve(size, devices, limit and int(0.95 * limit))
        placed, times = jax.block_until_ready(sieve.place(host)), []
        for repeat in range(3):
            begin = clock()
            values = sieve.values(placed, jax.random.key(repeat))
            times.append(clock() - begin)
        # Every vertex lies in a match: the share that one run misses, against its bound.
        assert np.count_nonzero(values) > (1 - run_bound(size)) * values.size
        best = min(times[1:])
        base = best, work(host, size).operations
        rate = f"{multiplications(host, size) / best / 1e9:.0f}"
        told = f"{predicted:.2f}" if predicted else "-"
        row(log, host.targets.size // 2, told, f"{best:.4f}", f"{times[0]:.1f}", rate)
        known = {1 << at: times[1] for at, times in PAPER_HOST.items()}
        if size == 10:
            figure(
                "sieve_hosts", {"ours": {1 << log: best}, "one V100 (paper)": known},
                title="One run by host size, k = 10, d = 20", xlabel="vertices", ylabel="seconds", logx=True, logy=True,
                kind="line", command=f"{COMMAND} --hosts 22,24", paper="Table 5: n to 2^20, on a V100",
            )  # fmt: skip
        del placed, sieve


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--paths", type=numbers, default=[])
    parser.add_argument("--sizes", type=numbers, default=[])
    parser.add_argument("--checkpoint")
    parser.add_argument("--kill-after", type=float)
    parser.add_argument("--hosts", type=numbers, default=[])
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--devices", type=int, default=1)
    options = parser.parse_args()
    killed = 0.0
    if options.kill_after:
        if options.checkpoint is None:
            parser.error("--kill-after takes --checkpoint FOLDER")
        # Before this process takes the device.
        again = ["--sizes", ",".join(map(str, options.sizes)), "--checkpoint", options.checkpoint]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([sys.executable, sys.argv[0], *again], timeout=options.kill_after, check=True)
            raise SystemExit("it had ended before it was to be killed")
        killed = options.kill_after
    devices = tuple(jax.devices()[: options.devices])
    print(f"jax {jax.__version__}, {len(devices)} of {devices[0].device_kind}\n", flush=True)
    if options.paths:
        paths(options, devices)
    if options.sizes:
        sizes(options, devices, killed)
    if options.hosts:
        hosts(options, devices)


if __name__ == "__main__":
    main()
