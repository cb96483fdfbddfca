"""Kernels on an NVIDIA GPU in all their forms: the same bits? how long?

    python experiments/kernels_gpu.py --smoke     # the smallest kernel by each launcher, errors in full (seconds)
    python experiments/kernels_gpu.py             # every kernel in every form (about two minutes)
    python experiments/kernels_gpu.py --jobs      # whole jobs through Triton and as own PTX (under a minute)
    python experiments/kernels_gpu.py --first     # first calls, each in a process of its own (about a minute)
    python experiments/kernels_gpu.py triangles "sieve_round 2" --forms xla ptx-plugin

PTX that the package does not hold is made by NVRTC, which comes with JAX's CUDA wheels (`nvidia/*/lib/libnvrtc.so.*` on
`sys.path`), or is the library that `JAXMOTIF_NVRTC` names.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotif
from jaxmotif.arrays._compile import Kernels, Target, compiling_for, jit64
from jaxmotif.graph import synthetic
from jaxmotif.graph._order import degree_order
from jaxmotif.kernels import _launch, _sieve_round
from jaxmotif.kernels import _sieve_rows as sieve_rows
from jaxmotif.kernels._cliques import _LANES, _common
from jaxmotif.kernels._expand import flat_work
from jaxmotif.kernels._lane_body import each_lane
from jaxmotif.kernels._triangles import triangle_block, triangle_tests
from jaxmotif.kernels._wedges import wedge_block, wedge_lengths
from jaxmotif.kernels.cuda import _nvrtc
from jaxmotif.sieve import _polynomials as polynomials

FORMS: tuple[Kernels, ...] = ("xla", "triton", "ptx", "ptx-plugin")
Case = tuple[str, Callable[..., Any], Any, tuple[Any, ...], bool]
"""``(name, f, x, rest, whether f(x, *rest) is the next x)``."""


def say_where() -> None:
    device = jax.devices()[0]
    print(f"jax {jax.__version__}, {device.device_kind}, {device.client.platform_version}")
    for package in ("jax-cuda12-plugin", "jax-cuda13-plugin", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"):
        try:
            print(f"  {package} {version(package)}")
        except PackageNotFoundError:
            print(f"  {package}: not installed")
    try:
        print("  NVRTC", _nvrtc.nvrtc_version(), "among", _nvrtc.candidates())
    except _nvrtc.NvrtcMissing as error:
        print(" ", error)


def smoke(forms: Sequence[Kernels]) -> None:
    numbers = jax.device_put(np.arange(64, dtype=np.int32))
    for form in forms:
        print(f"-- {form}", flush=True)
        try:
            begin = time.perf_counter()
            with compiling_for(Target(PLATFORM, form)):
                found = np.asarray(jax.jit(lambda x: _launch.probe(x))(numbers))
            seconds = time.perf_counter() - begin
            print("right" if np.array_equal(found, 63 - np.arange(64)) else f"WRONG: {found}", f"{seconds:.3f} s")
        except Exception:
            traceback.print_exc()


# ---- kernels


def graphlet_kernels(scale: int) -> Iterator[Case]:
    order = jax.tree.map(np.asarray, degree_order(synthetic.rmat(scale, 16, seed=1)))
    block = min(1 << 22, 1 << (scale + 4))
    for name, kernel, lengths in (
        ("triangles", triangle_block, triangle_tests),
        ("wedges", wedge_block, wedge_lengths),
    ):
        work = flat_work(np, lengths(np, order))

        def run(first, order, work, kernel=kernel):
            found = kernel(order, work, first, work.total, block=block)
            # What is not valid may hold anything.
            valid = getattr(found, "valid", jnp.ones(block, bool))
            return [jnp.where(valid, x, 0) for x in found if x.dtype == jnp.int32]

        yield name, run, np.int64(12345), jax.device_put((order, work)), False
    rng, lanes = np.random.default_rng(0), block // 4
    bits = jnp.asarray(rng.integers(0, 2**32, block, dtype=np.uint32))
    rows = [jnp.asarray(rng.integers(0, block - 64, lanes).astype(np.int32)) for _ in range(2)]
    words = jnp.asarray(rng.integers(0, 40, lanes).astype(np.int32))

    def common(words, bits, *rows):
        return each_lane(_common, bits, *rows, words, outputs=1, lanes=_LANES, name="common_bits")

    yield "common_bits", common, words, (bits, *rows), False


def sieve_kernels(scale: int) -> Iterator[Case]:
    """On a regular graph, and on one with a hub whose row is cut."""
    n, size, words = max(64, 1 << (scale - 8)), 16, max(64, 1 << (scale - 7))
    hub = np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)], axis=1)
    regular = synthetic.random_regular(n, 20, seed=1)
    both = jaxmotif.Graph.from_edges(np.concatenate([regular.edge_list(), hub[20:]]))
    for name, graph in (("", regular), ("_cut", both)):
        offsets, targets = np.asarray(graph.out_offsets), np.asarray(graph.out_targets)
        pieces = int(sieve_rows.num_pieces(np.diff(offsets)).sum())
        shades = jnp.full(offsets.shape[0] - 1, (1 << size) - 1, jnp.uint32)
        with compiling_for(Target(PLATFORM)):
            draw = jit64(polynomials.draw, static_argnames=("size", "pieces"))
            arrays = jnp.asarray(offsets), jnp.asarray(targets), shades, jax.random.key(0)
            drawn = draw(*arrays, size=size, pieces=pieces)
            begin = jit64(_sieve_round.start, static_argnames="num_words")
            P = begin(drawn.labels, drawn.forms, np.int32(0), num_words=words, live=drawn.rows.live)
        forms = _sieve_round.num_forms(size)
        scalars = np.random.default_rng(1).integers(0, 256, (drawn.rows.targets.shape[0], size - 1), dtype=np.uint8)
        yield f"sieve_label_forms{name}", _sieve_round.label_forms, drawn.labels, (scalars, drawn.rows), False

        def start(labels, forms, live):
            P = _sieve_round.start(labels, forms, np.int32(0), words, live)
            # Rows of vertices without neighbours may hold anything, past the first.
            return jnp.where(jnp.arange(P.shape[1]).reshape(1, -1, 1, 1) < live, P, jnp.uint32(0))

        yield f"sieve_start{name}", start, drawn.labels, (drawn.forms, drawn.rows.live), False
        for t in (2, 5):
            rest = np.int32(t), np.int32(sum(forms[:t])), drawn.weights, drawn.rows
            yield f"sieve_round{name} {t}", _sieve_round.extend, P, rest, True


def milliseconds(run: Callable[[], Any], repeats: int, calls: int) -> float:
    """Of one call, by the shortest of a few runs of some, the device waited for after the last: kernels that take less
    than the host's part of a call are not measured by that."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        found = None
        for _ in range(calls):
            found = run()
        jax.block_until_ready(found)
        times.append((time.perf_counter() - begin) / calls)
    return min(times) * 1e3


def modes(case: Case) -> dict[str, Callable[..., Any]]:
    _, f, _, _, in_place = case

    def plain(x, *rest):
        return f(x, *rest)

    def loop(x, *rest):
        def step(_, carry):
            x, out = carry
            if in_place:
                return f(x, *rest), out
            return x + (1000 if x.ndim == 0 else 0), f(x, *rest)

        return jax.lax.fori_loop(0, 3, step, (x, x if in_place else f(x, *rest)))

    def several(x, *rest):
        return jax.vmap(lambda x: f(x, *rest))(jnp.stack([x, x ^ 1]))

    def sharded(x, *rest):
        mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
        whole = jax.sharding.PartitionSpec()
        return jax.shard_map(f, mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False)(x, *rest)

    return {"jit": plain, "loop": loop, "vmap": several, "shard_map": sharded}


def compare(case: Case, forms: Sequence[Kernels]) -> None:
    """All forms against the first, in every mode; under jit alone times, and Triton, which takes longest to compile."""
    name, _, x, rest, _ = case
    for mode, function in modes(case).items():
        wanted, line = None, [f"{name:20} {mode:9}"]
        for form in forms:
            if form == "triton" and mode != "jit":
                continue
            try:
                with compiling_for(Target(PLATFORM, form)):
                    run = jit64(lambda *args, function=function: function(*args))
                    begin = time.perf_counter()
                    found = jax.block_until_ready(run(x, *rest))
                    first = time.perf_counter() - begin
                    bits = [np.asarray(leaf) for leaf in jax.tree.leaves(found)]
                    wanted = bits if wanted is None else wanted
                    same = all(np.array_equal(a, b) for a, b in zip(bits, wanted, strict=True))
                    text = f"{milliseconds(partial(run, x, *rest), 5, 10):8.3f} ms" if mode == "jit" else ""
                    line.append(f"{form} {'equal' if same else 'DIFFERENT'} {text} (first {first:.2f} s)")
            except Exception as error:
                line.append(f"{form} FAILED {type(error).__name__}")
                traceback.print_exc()
        print(" | ".join(line), flush=True)


# ---- jobs


def jobs(scale: int) -> dict[str, Callable[[], Any]]:
    rmat, random = synthetic.rmat(scale - 2, 8, seed=1), synthetic.erdos_renyi(20_000, m=100_000, seed=2)
    directed = synthetic.erdos_renyi(3000, m=15_000, seed=3, directed=True)
    patterns = {
        "tailed cycle": ([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)], random),
        "clique": ([(i, j) for i in range(5) for j in range(i)], rmat),
        "book": ([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4), (1, 4)], rmat),
    }
    found: dict[str, Callable[[], Any]] = {
        "graphlets": lambda: sorted(jaxmotif.graphlet_counts(rmat).counts.items()),
        "orbits": lambda: np.asarray(jaxmotif.node_orbits(rmat).to_numpy()).sum(axis=0).tolist(),
        "census": lambda: sorted(jaxmotif.subgraph_census(random, 5).as_dict().items()),
        "census directed": lambda: sorted(jaxmotif.subgraph_census(directed, 4).as_dict().items()),
        "motifs": lambda: np.asarray(jaxmotif.find_motifs(directed, 3, 20, 0).random_counts).tolist(),
    }  # fmt: skip
    for name, (edges, graph) in patterns.items():
        query = jaxmotif.Graph.from_edges(edges)
        found[f"matching {name}"] = lambda query=query, graph=graph: int(jaxmotif.count_matches(query, graph))
    small = jaxmotif.Graph.from_edges([(0, 1), (1, 2)])
    found["listing"] = lambda: len(jaxmotif.find_matches(small, random, limit=10**6).nodes)
    regular, colors = synthetic.random_regular(1 << 12, 20, seed=1), np.random.default_rng(2).integers(0, 12, 1 << 12)
    motif = dict.fromkeys(range(12), 1)
    found["sieve"] = lambda: len(jaxmotif.find_color_motif(regular, colors, motif, key=0).vertices)
    return found


QUICK = "graphlets", "census", "motifs", "matching tailed cycle", "sieve"


def run_job(name: str, job: Callable[[], Any], forms: Sequence[Kernels]) -> None:
    wanted, line = None, [f"{name:22}"]
    for form in forms:
        os.environ["JAXMOTIF_KERNELS"] = form
        try:
            begin = time.perf_counter()
            found = job()
            first = time.perf_counter() - begin
            wanted = found if wanted is None else wanted
            times = milliseconds(job, 3, 1)
            line.append(f"{form} {'equal' if found == wanted else 'DIFFERENT'} {times:8.1f} ms (first {first:.2f} s)")
        except Exception as error:
            line.append(f"{form} FAILED {type(error).__name__}")
            traceback.print_exc()
    print(" | ".join(line), flush=True)


def first_calls(names: list[str], scale: int, forms: Sequence[Kernels]) -> None:
    """Of each job, in a fresh process with nothing kept; imports and the backend's start are not counted."""
    for name in names:
        line = [f"{name:22}"]
        for form in forms:
            with tempfile.TemporaryDirectory() as empty:
                environment = os.environ | {"JAXMOTIF_KERNELS": form, "CUDA_CACHE_PATH": empty}
                command = [sys.executable, __file__, "--one", name, "--scale", str(scale)]
                shown = subprocess.run(command, env=environment, capture_output=True, text=True)
            line.append(f"{form} {shown.stdout.strip() or 'FAILED ' + shown.stderr[-300:]}")
        print(" | ".join(line), flush=True)


def one_first_call(name: str, scale: int) -> None:
    job = jobs(scale)[name]
    jax.block_until_ready(jax.device_put(np.zeros(1)) + 1)
    begin = time.perf_counter()
    job()
    print(f"{time.perf_counter() - begin:.2f} s")


PLATFORM = "cuda"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="kernels, or jobs, whose names begin so (default: all; of jobs, some)")
    parser.add_argument("--smoke", action="store_true", help="the smallest kernel alone")
    parser.add_argument("--jobs", action="store_true", help="whole jobs instead")
    parser.add_argument("--first", action="store_true", help="first calls of jobs instead")
    parser.add_argument("--one", metavar="JOB", help=argparse.SUPPRESS)
    parser.add_argument("--forms", nargs="+", choices=[*FORMS, "interpreted"], help="default: all; of jobs, triton ptx")
    parser.add_argument("--scale", type=int, default=18, help="log2 of the nodes of the largest graph")
    options = parser.parse_args()
    if jax.devices()[0].platform == "cpu":
        PLATFORM = "cpu"  # to try this script: --forms xla interpreted --scale 10
    warnings.filterwarnings("ignore", "The Pallas Triton backend")
    wanted = tuple(options.names) or ("",)
    if options.one:
        one_first_call(options.one, options.scale)
        sys.exit()
    of_jobs = options.jobs or options.first
    forms: Sequence[Kernels] = options.forms or (("triton", "ptx") if of_jobs else FORMS)
    say_where()
    smoke([form for form in forms if form != "xla"])
    if options.smoke:
        sys.exit()
    if of_jobs:
        all_jobs = jobs(options.scale)
        names = [name for name in all_jobs if (name.startswith(wanted) if options.names else name in QUICK)]
        if options.first:
            first_calls(names, options.scale, forms)
        else:
            for name in names:
                run_job(name, all_jobs[name], forms)
        sys.exit()
    for cases in (graphlet_kernels, sieve_kernels):
        for case in cases(options.scale):
            if case[0].startswith(wanted):
                compare(case, forms)
