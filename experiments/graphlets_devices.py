"""Several devices (the paper's Table 2, Table 4 and Figs. 4-5): one GPU, several, GPUs and the CPU together.

    python experiments/graphlets_devices.py [--data FOLDER] [NETWORK ...]

Every mode must give the same counts. Times are of the front door, warm: from a graph on the first device to counts
and per-edge columns on the device (order and plan included, the copy of the result to the host not).
"""

from __future__ import annotations

import jax
import numpy as np
from graphlets_common import arguments, best_of, check, machine, network, print_table, verified

from jaxmotif.devices.select import Selection, select_devices
from jaxmotif.graphlets import Schedule, equations
from jaxmotif.graphlets.run import hybrid_crews, prepare, run, run_units
from jaxmotif.graphlets.tuning import choose_tuning
from jaxmotif.kernels.wide import wide_ints

NETWORKS = ("socfb-MIT8", "socfb-Cornell5", "pgd-C500-9", "web-cnr-2000", "rmat-20")
ORDERS = ("degree", "volume", "-degree", "-volume")


def counts_of(graph, sums):
    joined = {key: equations.join_sums(pair) for key, pair in sums.items()}
    return equations.global_counts(graph.n, graph.m, joined)


def main() -> None:
    options = arguments(__doc__, NETWORKS)
    known = verified(options.data)
    accelerators = jax.devices()
    cpu = jax.devices("cpu")[0]
    modes = {"CPU": Selection((cpu,))}
    sizes = [size for size in (1, 2, 4, 8) if size <= len(accelerators)]
    modes |= {f"{size} GPU": select_devices(size) for size in sizes}
    hybrid = Selection(tuple(accelerators), cpu)
    speeds, orders, shares, memory = [], [], [], []
    for name in options.networks:
        graph = network(name, options.data)
        row, reference = [], None

        def outcome(selection, schedule, graph=graph):
            return run(graph, "edge", selection, None, schedule, False)

        def same(result, label, graph=graph, name=name):
            nonlocal reference
            found = counts_of(graph, result.sums), np.asarray(result.values)[: graph.m]
            if reference is None:
                reference = found
                check(name, found[0], known)
            elif found[0] != reference[0] or not np.array_equal(found[1], reference[1]):
                raise SystemExit(f"{name}: {label} differs")

        for label, selection in modes.items():
            slow = label == "CPU" and graph.m > 3_000_000
            if label == "CPU":
                with wide_ints():
                    ms, result = best_of(outcome, selection, Schedule(), runs=1 if slow else 3)
            else:
                ms, result = best_of(outcome, selection, Schedule())
            same(result, label)
            row.append(ms)
        by_order = {}
        for order in ORDERS:
            by_order[order], result = best_of(outcome, hybrid, Schedule(edge_order=order), runs=3)
            same(result, f"hybrid {order}")
        speeds.append((name, graph.m, *row, by_order["degree"], f"{row[0] / row[1]:.1f}x"))
        orders.append((name, *(by_order[order] for order in ORDERS)))

        # Who did what, when the CPU may take at most a share alpha of the work.
        nodes, edges = graph.node_capacity, graph.slot_capacity // 2
        for alpha in (0.0, 0.02, 0.1, 1.0):
            schedule = Schedule(alpha=alpha)
            ms, result = best_of(outcome, hybrid, schedule, runs=3)
            same(result, f"alpha {alpha}")
            with wide_ints():
                crews = hybrid_crews(
                    hybrid, choose_tuning(nodes, edges), choose_tuning(nodes, edges, hybrid.helper), schedule
                )
                prepared = prepare(graph, crews[0].tuning, accelerators[0])
                _, done = run_units(*prepared, "edge", crews, schedule.edge_order, False)
            gpus = len(accelerators)
            shares.append((name, alpha, ms, f"{sum(done[gpus:]) / sum(done):.1%}"))
        stats = [device.memory_stats() or {} for device in accelerators]
        memory.append((name, *(s.get("peak_bytes_in_use", 0) / 2**20 for s in stats)))

    print(machine())
    print_table("Counts and per-edge columns, ms", ("network", "edges", *modes, "hybrid", "1 GPU over CPU"), speeds)
    print_table("Hybrid by the queue's order, ms (Table 4)", ("network", *ORDERS), orders)
    print_table("Hybrid by alpha, ms", ("network", "alpha", "ms", "work done by the CPU"), shares)
    print_table(
        "Peak memory a device so far, MiB (Fig. 5)", ("network", *(str(device) for device in accelerators)), memory
    )


if __name__ == "__main__":
    main()
