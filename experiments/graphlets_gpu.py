"""Single-GPU speed: everything, triangles alone, 4-cliques alone, each phase, beside G2Miner's kernels.

    python experiments/graphlets_gpu.py [--data FOLDER] [NETWORK ...]

Times are warm (compiled, graph on the device) and end when results are ready on the device. "All" is one call from
the graph's rows to all 17 counts' sums and all 17 per-edge columns, degree order included.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from graphlets_common import arguments, back_to_back, best_of, check, machine, network, print_table, verified

from jaxmotif.arrays._compile import jit64
from jaxmotif.graph._order import degree_order
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._tuning import choose_tuning
from jaxmotif.kernels._triangles import triangle_block

NETWORKS = ("email-Enron", "socfb-MIT8", "socfb-Cornell5", "pgd-C500-9", "web-cnr-2000", "rmat-20")
LIMIT = {"email-Enron": 5, "socfb-Cornell5": 15, "pgd-C500-9": 30, "web-cnr-2000": 40, "rmat-20": 600}
G2MINER = {  # kernel ms on an H200: triangles, 4-cliques, all six 4-motifs
    "email-Enron": (0.07, 0.24, 42), "socfb-MIT8": (0.12, 0.8, 61), "socfb-Cornell5": (0.35, 2.0, 78),
    "pgd-C500-9": (0.16, 16, 40), "web-cnr-2000": (0.5, 3.8, 693), "rmat-20": (4.6, 38, 2160),
}  # fmt: skip
GATHER = 70e9  # random reads a second from a table that fits L2, measured on an H200

jit = partial(jit64, static_argnames=("tuning", "per_edge"))


@partial(jit)
def everything(graph, tuning, per_edge):
    order = degree_order(graph)
    plan = sparse.make_plan(jnp, order, tuning)
    stats = sparse.statistics(order, plan, sparse.all_ranges(plan), tuning, per_edge)
    return sparse.graph_sums(order, stats), sparse.edge_columns(order, stats) if per_edge else None


@jit64(static_argnames="tuning")
def prepare(graph, tuning):
    order = degree_order(graph)
    return order, sparse.make_plan(jnp, order, tuning)


@jit64(static_argnames="tuning")
def triangles_alone(order, plan, tuning):
    """How many there are in all; nothing is stored by arc."""
    block, tests = tuning.block, plan.triangles

    def step(number, total):
        tri = triangle_block(order, tests, number.astype(jnp.int64) * block, tests.total, block=block)
        return total + (tri.uv < order.edge_capacity).sum(dtype=jnp.int64)

    steps = (-(-tests.total // block)).astype(jnp.int32)
    return jax.lax.fori_loop(jnp.int32(0), steps, step, jnp.zeros((), jnp.int64))


@jit64(static_argnames="tuning")
def triangles(order, plan, tuning):
    start = sparse.start_first(order, True)
    return sparse.count_triangles(order, plan, start.t, sparse.all_ranges(plan).tests, tuning)


@partial(jit)
def cycles(order, plan, tuning, per_edge):
    ranges = sparse.all_ranges(plan)
    start = sparse.start_first(order, per_edge)
    return sparse.count_cycles(order, plan, start.cyc, ranges.heavy, ranges.light, tuning)


@partial(jit)
def cliques(order, plan, t, tuning, per_edge):
    start = sparse.start_second(order, per_edge)
    return sparse.second_pass(order, plan, t, start, sparse.all_ranges(plan), tuning)


def main() -> None:
    options = arguments(__doc__, NETWORKS)
    known = verified(options.data)
    whole, alone, phases = [], [], []
    for name in options.networks:
        graph = network(name, options.data)
        tuning = choose_tuning(graph.node_capacity, graph.slot_capacity // 2)
        graph = jax.device_put(graph, jax.devices()[0])
        run = {}
        for per_edge in (True, False):
            run[per_edge], (sums, _) = best_of(everything, graph, tuning=tuning, per_edge=per_edge)
            joined = {key: equations.join_sums(pair) for key, pair in sums.items()}
            counts = equations.global_counts(graph.n, graph.m, joined)
            verdict = check(name, counts, known)
        peer = G2MINER.get(name, ("-", "-", "-"))
        whole.append((name, graph.n, graph.m, verdict, run[True], LIMIT.get(name, "-"), run[False], peer[2]))

        prepared, (order, plan) = best_of(prepare, graph, tuning=tuning)
        t_alone, total = best_of(triangles_alone, order, plan, tuning=tuning)
        t_stream = back_to_back(triangles_alone, order, plan, tuning=tuning)
        k_alone, (twelve,) = best_of(cliques, order, plan, None, tuning=tuning, per_edge=False)
        k_stream = back_to_back(cliques, order, plan, None, tuning=tuning, per_edge=False)
        if (int(total), int(twelve) // 12) != (counts["triangle"], counts["4-clique"]):
            raise SystemExit(f"{name}: {int(total)} triangles, {int(twelve) // 12} 4-cliques alone, else {counts}")
        alone.append((name, t_alone, t_stream, peer[0], k_alone, k_stream, peer[1]))

        t_edge, t = best_of(triangles, order, plan, tuning=tuning)
        cyc_edge, _ = best_of(cycles, order, plan, tuning=tuning, per_edge=True)
        k_edge, _ = best_of(cliques, order, plan, t, tuning=tuning, per_edge=True)
        tests = int(plan.triangles.total)
        wedges = int(plan.wedges.heavy.total) + int(plan.wedges.light.total)
        # Random accesses, at the least: one lookup a test; three updates a triangle; for a wedge its counter's update
        # and reading and two arcs' updates; for K, A and B two lots of tests, and eleven updates a triangle.
        accesses = (tests, tests + 3 * counts["triangle"], 4 * wedges, 2 * tests + 11 * counts["triangle"])
        times = (t_stream, t_edge, cyc_edge, k_edge)
        shares = (f"{ms:.3g} ({count / ms * 1e3 / GATHER:.0%})" for count, ms in zip(accesses, times, strict=True))
        phases.append((name, prepared, tests, wedges, *shares))
    print(machine())
    print_table(
        "All 17 counts and all per-edge columns, ms",
        ("network", "nodes", "edges", "counts", "per edge", "bar", "counts only", "G2Miner, six 4-motifs, totals only"),
        whole,
    )
    print_table(
        "Triangles alone and 4-cliques alone, ms (one call waited for; back to back), orienting excluded",
        ("network", "triangles", "back to back", "G2Miner", "4-cliques", "back to back", "G2Miner"),
        alone,
    )
    print_table(
        "Phases, ms, and their random accesses as a share of the device's limit (70 G/s)",
        ("network", "order + plan", "tests", "wedges", "triangles alone", "t(e)", "cycles(e)", "K, A, B (e)"),
        phases,
    )  # fmt: skip


if __name__ == "__main__":
    main()
