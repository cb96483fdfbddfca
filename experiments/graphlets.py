"""Graphlets of two to four nodes: how fast they are counted, on a GPU and on a CPU, beside other counters.

    python experiments/graphlets.py ROW [NETWORK ...] [--data FOLDER]

Counts are checked against verified ones first. NETWORK is a stored one, or rmat-SCALE, er-1k, ba-1k or geometric-1k.
The counts of five nodes have a script of their own, graphlets5.py; the rows of the hybrid paper are in
graphlets_paper.py.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Rows, Table, measure, option, words

import jaxmotif
from jaxmotif import Graph, patterns
from jaxmotif.arrays._compile import jit64, put64

# What is not public: single passes, and the rule that chooses products of matrices.
from jaxmotif.arrays._exact import join_sums
from jaxmotif.arrays._sizes import graph_class
from jaxmotif.graph import synthetic
from jaxmotif.graph._order import degree_order
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets import _products as products
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._run import prepare
from jaxmotif.graphlets._tuning import choose_tuning
from jaxmotif.kernels._codegree import heavy_cycles, light_cycles
from jaxmotif.kernels._triangles import triangle_block
from jaxmotif.kernels._wedges import wedge_block

rows = Rows(__doc__)
networks = partial(option, "networks", nargs="*", metavar="NETWORK", help="default: %(default)s")

LIMIT = {"email-Enron": 5, "socfb-Cornell5": 15, "pgd-C500-9": 30, "web-cnr-2000": 40, "rmat-20": 600}
"""Bars for counts at each edge on an H200, ms."""
G2MINER = {
    "email-Enron": (0.07, 0.24, 42),
    "socfb-MIT8": (0.12, 0.8, 61),
    "socfb-Cornell5": (0.35, 2.0, 78),
    "pgd-C500-9": (0.16, 16, 40),
    "web-cnr-2000": (0.5, 3.8, 693),
    "rmat-20": (4.6, 38, 2160),
}
"""Kernel ms of G2Miner on an H200: triangles, 4-cliques, all six 4-motifs."""
GATHER = 70e9
"""Random reads a second from a table that fits the L2 cache, measured on an H200."""


# ---- one GPU


@partial(jit64, static_argnames=("tuning", "per_edge"))
def everything(graph, tuning, per_edge):
    """Count all that there is, from a graph's rows, in one program."""
    order = degree_order(graph)
    plan = sparse.make_plan(jnp, order, tuning)
    stats = sparse.statistics(order, plan, tuning, per_edge)
    return sparse.graph_sums(order, stats), sparse.edge_columns(order, stats) if per_edge else None


@jit64(static_argnames="tuning")
def ordered(graph, tuning):
    """Order the nodes by degree and plan the passes."""
    order = degree_order(graph)
    return order, sparse.make_plan(jnp, order, tuning)


@jit64(static_argnames="tuning")
def triangles_alone(order, plan, tuning):
    """Count triangles in all; nothing is stored for an arc."""
    block, tests = tuning.block, plan.triangles

    def step(number, total):
        tri = triangle_block(order, tests, number.astype(jnp.int64) * block, tests.total, block=block)
        return total + (tri.uv < order.edge_capacity).sum(dtype=jnp.int64)

    steps = (-(-tests.total // block)).astype(jnp.int32)
    return jax.lax.fori_loop(jnp.int32(0), steps, step, jnp.zeros((), jnp.int64))


@jit64(static_argnames="tuning")
def triangles(order, plan, tuning):
    """Count the triangles at each arc."""
    start = sparse.start_first(order, True)
    return sparse.count_triangles(order, plan, start["t"], sparse.all_ranks(plan), tuning)


@partial(jit64, static_argnames=("tuning", "per_edge"))
def cycles(order, plan, tuning, per_edge):
    """Count 4-cycles."""
    start = sparse.start_first(order, per_edge)
    return sparse.count_cycles(order, plan, start["cyc"], sparse.all_ranks(plan), tuning)


@partial(jit64, static_argnames=("tuning", "per_edge"))
def cliques(order, plan, t, tuning, per_edge):
    """Count 4-cliques, and with the triangles at each arc also what is made of both."""
    start = sparse.start_second(order, per_edge)
    return sparse.second_pass(order, plan, t, start, sparse.all_ranks(plan), tuning)


def best_of(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[float, Any]:
    """Return the least ms of five calls in 64-bit mode, and the last result."""
    with jax.enable_x64(True):
        found = measure(partial(function, *args, **options), calls=5)
    return 1e3 * found.best, found.result


def stream(function: Callable[..., Any], *args: Any, **options: Any) -> float:
    """Return ms a call where calls follow each other unwaited."""
    with jax.enable_x64(True):
        return 1e3 * harness.back_to_back(partial(function, *args, **options))


@rows(networks(default=["email-Enron", "socfb-MIT8", "socfb-Cornell5", "pgd-C500-9", "web-cnr-2000", "rmat-20"]))
def gpu(options: argparse.Namespace) -> None:
    """Time all counts, triangles alone, 4-cliques alone and each phase on a GPU, beside G2Miner's kernels.

    Times are warm and end when results are ready on the device. The bars are those of LIMIT, and 1.5 times G2Miner for
    triangles and 4-cliques alone.
    """
    alone, phases = [], []
    print("All 17 counts and all columns at each edge, ms; G2Miner: six 4-motifs, totals only\n")
    table = Table("network | nodes | edges | counts | per edge | bar | counts only | G2Miner")
    for name in options.networks:
        graph = harness.network(options.data, name)
        tuning = choose_tuning(graph.node_capacity, graph.slot_capacity // 2)
        graph = jax.device_put(graph, jax.devices()[0])
        whole, counts, verdict = {}, {}, ""
        for per_edge in (True, False):
            whole[per_edge], (sums, _) = best_of(everything, graph, tuning=tuning, per_edge=per_edge)
            joined = {key: join_sums(pair) for key, pair in sums.items()}
            values = equations.global_counts(np, graph.n, graph.m, joined).tolist()
            counts = dict(zip(patterns.GRAPHLET_NAMES, values, strict=True))
            verdict = harness.check_counts(options.data, name, counts)
        peer = G2MINER.get(name, ("-", "-", "-"))
        table.row(name, graph.n, graph.m, verdict, whole[True], LIMIT.get(name, "-"), whole[False], peer[2])

        prepared, (order, plan) = best_of(ordered, graph, tuning=tuning)
        given = {"order": order, "plan": plan, "tuning": tuning}
        t_alone, total = best_of(triangles_alone, **given)
        t_stream = stream(triangles_alone, **given)
        k_alone, (twelve,) = best_of(cliques, **given, t=None, per_edge=False)
        k_stream = stream(cliques, **given, t=None, per_edge=False)
        harness.check(f"{name}, alone", (int(total), int(twelve) // 12), (counts["triangle"], counts["4-clique"]))
        alone.append((name, t_alone, t_stream, peer[0], k_alone, k_stream, peer[1]))

        t_edge, t = best_of(triangles, **given)
        cyc_edge, _ = best_of(cycles, **given, per_edge=True)
        k_edge, _ = best_of(cliques, **given, t=t, per_edge=True)
        tests = int(plan.triangles.total)
        wedges = int(plan.wedges.heavy.total) + int(plan.wedges.light.total)
        # Random accesses, at the least: one lookup a test; three updates a triangle; for a wedge its counter's update
        # and reading and two arcs' updates; for K, A and B two lots of tests, and eleven updates a triangle.
        found = counts["triangle"]
        accesses = (tests, tests + 3 * found, 4 * wedges, 2 * tests + 11 * found)
        times = (t_stream, t_edge, cyc_edge, k_edge)
        shares = (f"{ms:.3g} ({count / ms * 1e3 / GATHER:.0%})" for count, ms in zip(accesses, times, strict=True))
        phases.append((name, prepared, tests, wedges, *shares))
    print("\nTriangles and 4-cliques alone, ms (one call waited for; back to back), orienting excluded\n")
    table = Table("network | triangles | back to back | G2Miner | 4-cliques | back to back | G2Miner")
    for row in alone:
        table.row(*row)
    print("\nPhases, ms, and their random accesses as a share of the device's limit (70 G/s)\n")
    table = Table("network | order + plan | tests | wedges | triangles alone | t(e) | cycles(e) | K, A, B (e)")
    for row in phases:
        table.row(*row)


# ---- a CPU


CPU_NETWORKS = [
    *("internet-as", "web-spam", "facebook_combined", "wiki-Vote", "twitch-DE", "email-Enron", "ca-AstroPh"),
    *("socfb-MIT8", "pgd-C500-9", "syn-er-1k-150k", "soc-Slashdot0902", "socfb-Cornell5", "web-cnr-2000"),
]


@rows(networks(default=CPU_NETWORKS))
def cpu(options: argparse.Namespace) -> None:
    """Time the front doors on a CPU, beside the CPU seconds of one core that other counters are known to take.

    From a graph to results on the host, warm. The aim is within 2.5 times the CPU seconds of the best other.
    """
    peers = harness.verified(options.data, "undirected", "graphlets.json")
    print("Seconds; other programs in CPU seconds\n")
    table = Table("network | edges | counts: first | counts | CPU s | per edge: first | per edge | CPU s | PGD | best")
    for name in options.networks:
        graph = harness.network(options.data, name)
        cells = []
        for door in (jaxmotif.graphlet_counts, jaxmotif.edge_graphlets):
            found = measure(lambda door=door, graph=graph: door(graph, devices="cpu"))
            harness.check_counts(options.data, name, found.result.counts)
            cells += [found.first, found.best, found.cpu]
        seconds = peers.get(name, {}).get("cpu_s", {})
        four = {tool: s for tool, s in seconds.items() if "5" not in tool}
        best = min(four, key=lambda tool: four[tool], default=None)
        table.row(name, graph.m, *cells, seconds.get("pgd", "-"), f"{four[best]:.3g} ({best})" if best else "-")


@rows(networks(default=["yeast", "ecoli_alon423", "celegans_cect_varshney"]))
def typed(options: argparse.Namespace) -> None:
    """Time directed graphlets at the three front doors, which agree by their sums.

    CPU seconds of second calls. NETWORK is a directed one, or a file.
    """
    print("CPU seconds of second calls\n")
    table = Table("network | nodes | arcs | graphlets | subgraphs | counts | at nodes | at arcs")
    for name in options.networks:
        file = Path(name).is_file()
        graph = jaxmotif.read_graph(name, directed=True) if file else harness.directed(options.data, name)
        counted, nodes, arcs = (
            measure(lambda door=door, graph=graph: door(graph, typed=True), calls=1)
            for door in (jaxmotif.graphlet_counts, jaxmotif.node_orbits, jaxmotif.edge_graphlets)
        )
        counts = counted.result.counts
        plain = jaxmotif.graphlet_counts(Graph.from_edges(graph.edge_list(), graph.n)).counts
        connected = sum(number for kind, number in plain.items() if "node" not in kind)
        harness.check(f"{name}, subgraphs", sum(counts.values()), connected)
        for found in (nodes, arcs):
            harness.check(f"{name}, counts", found.result.counts, counts)
        sizes = {kind: patterns.named_pattern(kind, directed=True).num_nodes for kind in counts}
        held = sum(number * sizes[kind] for kind, number in counts.items())
        harness.check(f"{name}, orbits", int(np.asarray(nodes.result, np.int64).sum()), held)
        seconds = [found.cpu for found in (counted, nodes, arcs)]
        table.row(name.rpartition("/")[2], graph.n, graph.m, len(counts), sum(counts.values()), *seconds)


# ---- dense graphs


STEPS_A_SECOND = {"cpu": 2.5e7, "gpu": 1.1e10}
"""Pairs of edges at a node that the sparse passes take in a second, to foresee how long they need."""


@rows(
    option("--nodes", type=harness.numbers, default=[1000, 2000, 5000]),
    option("--p", type=words, default=["0.1", "0.5", "0.9"], help="densities"),
    option("--door", default="graphlet_counts"),
    option("--seconds", type=float, default=20, help="leave the sparse passes out where they take longer"),
)
def dense(options: argparse.Namespace) -> None:
    """Time dense graphs counted by products of matrices, beside the sparse passes, which must give the same.

    Public calls, the best of three after the first, ms.
    """
    door, choose, device = getattr(jaxmotif, options.door), products.choose, jax.devices()[0]
    detail = "graph" if options.door == "graphlet_counts" else "edge"
    table = Table("graph | by products | first | best | sparse passes | equal")
    for n in options.nodes:
        for p in map(float, options.p):
            graph = synthetic.erdos_renyi(n, p=p, seed=0)
            chosen = choose(graph, detail, device, None) is not None
            found = measure(lambda graph=graph: door(graph))
            pairs = float((graph.degrees.astype(np.float64) ** 2).sum())
            took, same = "-", "-"
            if 4 * pairs / STEPS_A_SECOND[harness.backend()] < options.seconds:
                products.choose = lambda *_: None  # no argument of a front door asks for the sparse passes
                other = measure(lambda graph=graph: door(graph))
                products.choose = choose
                equal = other.result.counts == found.result.counts
                equal = equal and np.array_equal(np.asarray(other.result), np.asarray(found.result))
                took, same = f"{1e3 * other.best:.1f}", "equal" if equal else "DIFFERENT"
            table.row(f"n={n} p={p}", chosen, f"{1e3 * found.first:.0f}", f"{1e3 * found.best:.1f}", took, same)


# ---- sizes that fill a machine


class Uses:
    """A table of single calls: seconds, and the most that the host and the device ever had in use."""

    def __init__(self) -> None:
        self._table = Table(" | s | host GiB | device GiB")

    def row(self, label: str, call: Callable[[], Any]) -> Any:
        """Make a call, print its row and return its result."""
        result, seconds, _ = harness.once(call)
        host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        self._table.row(label, f"{seconds:.2f}", f"{host:.1f}", f"{harness.peak_gib():.1f}")
        return result


scale = partial(option, "--scale", type=int, default=24, help="log2 of the number of nodes")


@rows(scale())
def large(options: argparse.Namespace) -> None:
    """Build and count an R-MAT graph of 16 rows a node, once and again, with all default options.

    The bar for building scale 24 again is 4 s on an H200.
    """
    edges = harness.rmat_edges(options.scale)
    print(f"R-MAT {options.scale}: {len(edges):,} rows\n")
    uses = Uses()
    uses.row("built, first", lambda: Graph.from_edges(edges))
    graph = uses.row("built again", lambda: Graph.from_edges(edges))
    uses.row("graphlet_counts, first", lambda: jaxmotif.graphlet_counts(graph).counts)
    counts = uses.row("graphlet_counts, again", lambda: jaxmotif.graphlet_counts(graph).counts)
    print(f"\n{graph.report}\n{counts}")


@rows(
    option("--hubs", type=int, default=1000),
    option("--nodes", type=int, default=1_000_000),
    option("--each", type=int, default=100_000, help="edges drawn at a hub"),
)
def hubs(options: argparse.Namespace) -> None:
    """Count at each of some 92 million edges around a thousand hubs."""
    at_once = min(1 << 22, options.hubs * options.each)

    def draw(key: jax.Array) -> jax.Array:
        hub, other = jax.random.split(key)
        u = jax.random.randint(hub, (at_once,), 0, options.hubs)
        return jnp.stack([u, jax.random.randint(other, (at_once,), options.hubs, options.nodes)], axis=1)

    edges = harness.drawn_edges(draw, options.hubs * options.each // at_once)
    uses = Uses()
    graph = uses.row("built", lambda: Graph.from_edges(edges))
    uses.row("edge_graphlets, first", lambda: jaxmotif.edge_graphlets(graph).on_device().block_until_ready())
    found = uses.row("edge_graphlets, again", lambda: jaxmotif.edge_graphlets(graph))
    print(f"\n{graph.report}")
    # The graph is bipartite: no edge has a triangle, and its 2-stars are the other edges at its ends.
    ends = np.asarray(graph.degrees)[graph.edge_list()[:1000]].sum(axis=1) - 2
    columns = {name: np.asarray(found.raw_counts[:1000, i]) for i, name in enumerate(found.columns)}
    harness.check("2-stars", (columns["2-star"] == ends).all(), True)
    harness.check("triangles", columns["triangle"].any(), False)


@rows(scale())
def passes(options: argparse.Namespace) -> None:
    """Time stretches of each pass over an R-MAT graph, in G tests or wedges a second."""
    graph = Graph.from_edges(harness.rmat_edges(options.scale))
    graph = graph.with_padding(graph_class(graph.n, graph.num_slots, True))
    device, edges = jax.devices()[0], graph.slot_capacity // 2
    tuning = choose_tuning(graph.node_capacity, edges, device, detail="graph")
    order, plan = put64(prepare(graph, tuning, device), device)
    print(f"{tuning}\n{int(plan.triangles.total):,} tests, {int(plan.wedges.heavy.total):,} heavy wedges", flush=True)
    block, most = tuning.heavy_block, 1 << (options.scale + 7)
    starts = np.asarray(plan.wedges.heavy_starts)

    def found(order: Any, work: Any, first: Any, stop: Any) -> jax.Array:
        """Make the wedges of each block, and no more than add them up."""

        def step(number: jax.Array, total: jax.Array) -> jax.Array:
            wedges = wedge_block(order, work, first + number.astype(jnp.int64) * block, stop, block=block)
            return total + jnp.where(wedges.valid, wedges.v ^ wedges.w, 0).sum(dtype=jnp.int32)

        return jax.lax.fori_loop(0, ((stop - first + block - 1) // block).astype(jnp.int32), step, jnp.int32(0))

    def tail_pass(order: Any, plan: Any, t: Any, total: Any, tails: Any) -> Any:
        return sparse.second_pass(order, plan, t, {"K": total}, tails, tuning)

    alone, none = jit64(found), np.zeros((), np.int64)
    tested = jit64(lambda order, plan, t, ranks: sparse.count_triangles(order, plan, t, ranks, tuning))
    cliques = jit64(tail_pass)
    sizes = {"block": tuning.light_block, "slots": tuning.slots, "most_light": tuning.most_light}
    hashed, light = jit64(partial(light_cycles, **sizes)), np.asarray(plan.wedges.light_starts)
    tails, t = np.asarray(plan.triangle_starts), put64(np.zeros(edges + 1, np.int32), device)

    def place(starts: np.ndarray, work: float) -> int:
        return min(int(np.searchsorted(starts, work)), starts.size - 1)

    def rate(label: str, work: int, call: Callable[[], Any]) -> None:
        timing = measure(call, calls=1)
        print(f"  {label}: {work / timing.best / 1e9:.2f} G a second (first {timing.first:.1f} s)", flush=True)

    for part in (0.1, 0.5, 0.9):
        low = place(starts, part * starts[-1])
        stop = max(low + 1, place(starts, starts[low] + most))
        work, here = int(starts[stop] - starts[low]), (np.int64(starts[low]), np.int64(starts[stop]))
        print(f"heavy nodes {low} to {stop}: {work:,} wedges", flush=True)
        rate("wedges found, added up", work, lambda here=here: alone(order, plan.wedges.heavy, *here))
        for some in {tuning.counters, max(graph.node_capacity, tuning.counters // 4)}:
            count = jit64(partial(heavy_cycles, block=block, counters=some))
            nodes = np.int32(low), np.int32(stop)
            rate(f"4-cycles, {some} counters", work, lambda n=nodes, f=count: f(order, plan.wedges, none, n))
        low, stop = (place(light, part * light[-1] + more) for more in (0, most // 16))
        work, ends = int(light[stop] - light[low]), (np.int32(low), np.int32(stop))
        print(f"light nodes to {stop}: {work:,} wedges", flush=True)
        rate("4-cycles by hash", work, lambda ends=ends: hashed(order, plan.wedges, none, ends))
        low, stop = (place(tails, part * tails[-1] + more) for more in (0, most // 4))
        work, ends = int(tails[stop] - tails[low]), (np.int32(low), np.int32(stop))
        print(f"lowest nodes {low} to {stop}: {work:,} tests", flush=True)
        rate("tests", work, lambda ends=ends: tested(order, plan, t, ends))
        rate("4-cliques", work, lambda ends=ends: cliques(order, plan, t, none, ends))


if __name__ == "__main__":
    rows.main()
