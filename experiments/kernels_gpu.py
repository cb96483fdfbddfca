"""Kernels on an NVIDIA GPU in all their forms: whether they give the same bits, and how long they take.

    python experiments/kernels_gpu.py smoke        # the smallest kernel by each launcher, errors in full (seconds)
    python experiments/kernels_gpu.py kernels      # every kernel in every form (about two minutes)
    python experiments/kernels_gpu.py jobs         # whole jobs through Triton and as own PTX (under a minute)
    python experiments/kernels_gpu.py first        # first calls, each in a process of its own (about a minute)
    python experiments/kernels_gpu.py kernels triangles "sieve_round 2" --forms xla triton

PTX that the package does not hold is made by NVRTC, which comes with JAX's CUDA wheels (`nvidia/*/lib/libnvrtc.so.*` on
`sys.path`), or is the library that `JAXMOTIF_NVRTC` names. To try this script on a CPU: --forms xla interpreted
--scale 10.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Rows, option

import jaxmotif

# What is not public: the kernels, what chooses their form, and what makes PTX of them.
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

rows = Rows(__doc__)

FORMS: tuple[Kernels, ...] = ("xla", "triton", "ptx")
QUICK = ["graphlets", "census", "motifs", "matching tailed cycle", "sieve"]
"""Jobs that are run where none are named."""
Case = tuple[str, Callable[..., Any], Any, tuple[Any, ...], bool]
"""``(name, f, x, rest, whether f(x, *rest) is the next x)``."""


def target(form: Kernels | None = None) -> Target:
    """Return what programs are compiled for."""
    platform = "cpu" if harness.backend() == "cpu" else "cuda"
    return Target(platform, form) if form else Target(platform)


def say_where() -> None:
    """Print what a kernel's form may depend on."""
    print(f"  {jax.devices()[0].client.platform_version}")
    for package in ("jax-cuda12-plugin", "jax-cuda13-plugin", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"):
        try:
            print(f"  {package} {version(package)}")
        except PackageNotFoundError:
            print(f"  {package}: not installed")
    try:
        print("  NVRTC", _nvrtc.nvrtc_version(), "among", _nvrtc.candidates())
    except _nvrtc.NvrtcMissing as error:
        print(" ", error)


def forms_of(options: argparse.Namespace, default: Sequence[Kernels]) -> Sequence[Kernels]:
    """Return the forms that a row compares, and print where it runs."""
    warnings.filterwarnings("ignore", "The Pallas Triton backend")
    say_where()
    return options.forms or default


def chosen(names: Sequence[str], default: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return those of all names that begin as one of the names given; without any, the default."""
    return [name for name in every if name.startswith(tuple(names))] if names else list(default)


forms_option = option("--forms", nargs="+", choices=[*FORMS, "interpreted"], help="default: all; of jobs, triton ptx")
scale = option("--scale", type=int, default=18, help="log2 of the nodes of the largest graph")
names_option = option("names", nargs="*", help="beginnings of names (default: all; of jobs, some)")


@rows(forms_option)
def smoke(options: argparse.Namespace) -> None:
    """Run the smallest kernel by each launcher, with its errors in full."""
    numbers = jax.device_put(np.arange(64, dtype=np.int32))
    for form in forms_of(options, [form for form in FORMS if form != "xla"]):
        print(f"-- {form}", flush=True)
        try:
            begin = time.perf_counter()
            with compiling_for(target(form)):
                found = np.asarray(jax.jit(lambda x: _launch.probe(x))(numbers))
            seconds = time.perf_counter() - begin
            print("right" if np.array_equal(found, 63 - np.arange(64)) else f"WRONG: {found}", f"{seconds:.3f} s")
        except Exception:
            traceback.print_exc()


# ---- kernels


def graphlet_kernels(scale: int) -> Iterator[Case]:
    """Yield the kernels that count graphlets, on an R-MAT graph."""
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
    """Yield the kernels of the sieve, on a regular graph, and on one with a hub whose row is cut."""
    n, size, words = max(64, 1 << (scale - 8)), 16, max(64, 1 << (scale - 7))
    hub = np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)], axis=1)
    regular = synthetic.random_regular(n, 20, seed=1)
    both = jaxmotif.Graph.from_edges(np.concatenate([regular.edge_list(), hub[20:]]))
    for name, graph in (("", regular), ("_cut", both)):
        offsets, targets = np.asarray(graph.out_offsets), np.asarray(graph.out_targets)
        pieces = int(sieve_rows.num_pieces(np.diff(offsets)).sum())
        shades = jnp.full(offsets.shape[0] - 1, (1 << size) - 1, jnp.uint32)
        with compiling_for(target()):
            plan = jit64(sieve_rows.plan_rows, static_argnames="pieces")
            rows, rank = plan(jnp.asarray(offsets), jnp.asarray(targets), pieces=pieces)
            drawn = jit64(polynomials.draw, static_argnames="size")(rows, rank, shades, jax.random.key(0), size=size)
            begin = jit64(_sieve_round.start, static_argnames="num_words")
            P = begin(drawn.labels, drawn.first, np.int32(0), num_words=words, rows=rows)
        forms = _sieve_round.num_forms(size)

        keys = np.random.default_rng(1).integers(0, 2**32, (size - 1, 2), np.uint32)

        def start(labels, keys, rows, words=words):
            P = _sieve_round.start(labels, keys, np.int32(0), words, rows)
            # Rows of vertices without neighbours may hold anything, past the first.
            return jnp.where(jnp.arange(P.shape[1]).reshape(1, -1, 1, 1) < rows.live, P, jnp.uint32(0))

        yield f"sieve_start{name}", start, drawn.labels, (keys, drawn.rows), False
        for t in (2, 5):
            rest = np.int32(t), np.int32(sum(forms[:t])), drawn.later, drawn.rows
            yield f"sieve_round{name} {t}", _sieve_round.extend, P, rest, True

        def whole(shades, rows, rank, words=words, size=size):
            drawn = polynomials.draw(rows, rank, shades, jax.random.key(0), size)
            blocks = polynomials.num_words(size) // words
            return polynomials.accumulate(drawn, jnp.int32(0), jnp.int32(blocks), words)

        yield f"sieve_sums{name}", whole, shades, (rows, rank), False


def least_of(call: Callable[[], Any], runs: int) -> float:
    """Return the least seconds a call of some runs of ten, the device waited for after the last of each.

    Kernels that take less than the host's part of a call are not measured by that.
    """
    return min(harness.back_to_back(call, 10) for _ in range(runs))


def modes(case: Case) -> dict[str, Callable[..., Any]]:
    """Return a kernel as it is, in a loop, under vmap and under shard_map."""
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
    """Compare all forms with the first, in every mode.

    Under jit alone there are times, and Triton, which takes longest to compile.
    """
    name, _, x, rest, _ = case
    for mode, function in modes(case).items():
        wanted, line = None, [f"{name:20} {mode:9}"]
        for form in forms:
            if form == "triton" and mode != "jit":
                continue
            try:
                with compiling_for(target(form)):
                    run = jit64(lambda *args, function=function: function(*args))
                    begin = time.perf_counter()
                    found = jax.block_until_ready(run(x, *rest))
                    first = time.perf_counter() - begin
                    bits = [np.asarray(leaf) for leaf in jax.tree.leaves(found)]
                    wanted = bits if wanted is None else wanted
                    same = all(np.array_equal(a, b) for a, b in zip(bits, wanted, strict=True))
                    text = f"{1e3 * least_of(partial(run, x, *rest), 5):8.3f} ms" if mode == "jit" else ""
                    line.append(f"{form} {'equal' if same else 'DIFFERENT'} {text} (first {first:.2f} s)")
            except Exception as error:
                line.append(f"{form} FAILED {type(error).__name__}")
                traceback.print_exc()
        print(" | ".join(line), flush=True)


@rows(names_option, forms_option, scale)
def kernels(options: argparse.Namespace) -> None:
    """Compare every kernel in every form; the aim is the time of Triton."""
    forms = forms_of(options, FORMS)
    for cases in (graphlet_kernels, sieve_kernels):
        for case in cases(options.scale):
            if case[0].startswith(tuple(options.names) or ""):
                compare(case, forms)


# ---- jobs


def all_jobs(scale: int) -> dict[str, Callable[[], Any]]:
    """Return calls of whole jobs, by name, whose results can be compared."""
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
    }
    for name, (edges, graph) in patterns.items():
        query = jaxmotif.Graph.from_edges(edges)
        found[f"matching {name}"] = lambda query=query, graph=graph: int(jaxmotif.count_matches(query, graph))
    small = jaxmotif.Graph.from_edges([(0, 1), (1, 2)])
    found["listing"] = lambda: len(jaxmotif.find_matches(small, random, limit=10**6).nodes)
    regular, colors = synthetic.random_regular(1 << 12, 20, seed=1), np.random.default_rng(2).integers(0, 12, 1 << 12)
    motif = dict.fromkeys(range(12), 1)
    found["sieve"] = lambda: len(jaxmotif.find_color_motif(regular, colors, motif, key=0).vertices)
    return found


@rows(names_option, forms_option, scale)
def jobs(options: argparse.Namespace) -> None:
    """Time whole jobs in several forms, whose results must be the same."""
    every, forms = all_jobs(options.scale), forms_of(options, ("triton", "ptx"))
    for name in chosen(options.names, QUICK, list(every)):
        wanted, line = None, [f"{name:22}"]
        for form in forms:
            os.environ["JAXMOTIF_KERNELS"] = form
            try:
                timing = harness.measure(every[name])
                wanted = timing.result if wanted is None else wanted
                same = "equal" if timing.result == wanted else "DIFFERENT"
                line.append(f"{form} {same} {1e3 * timing.best:8.1f} ms (first {timing.first:.2f} s)")
            except Exception as error:
                line.append(f"{form} FAILED {type(error).__name__}")
                traceback.print_exc()
        print(" | ".join(line), flush=True)


@rows(names_option, forms_option, scale, option("--worker", help=argparse.SUPPRESS))
def first(options: argparse.Namespace) -> None:
    """Time first calls of jobs, each in a fresh process with nothing kept; its start and imports are not counted."""
    forms = options.forms or ("triton", "ptx")
    for name in chosen(options.names, QUICK, list(all_jobs(4))):
        line = [f"{name:22}"]
        for form in forms:
            with harness.empty_cache() as cache:
                environment = {"JAXMOTIF_KERNELS": form, "CUDA_CACHE_PATH": cache["JAX_COMPILATION_CACHE_DIR"]}
                given = ["first", "--worker", name, "--scale", options.scale]
                told = harness.json_lines(harness.start_worker(*given, environment=environment).communicate()[0])
            line.append(f"{form} {told[0]['seconds']:.2f} s" if told else f"{form} FAILED")
        print(" | ".join(line), flush=True)


def first_worker(name: str, scale: int) -> None:
    """Tell the seconds of a first call."""
    job = all_jobs(scale)[name]
    jax.block_until_ready(jax.device_put(np.zeros(1)) + 1)
    harness.tell(seconds=harness.once(job)[1])


if __name__ == "__main__":
    if "--worker" in sys.argv:
        given = rows.parser.parse_args()
        first_worker(given.worker, given.scale)
    else:
        rows.main()
