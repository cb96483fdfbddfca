"""Several devices (the paper's Table 2, Table 4 and Figs. 4-5): one GPU, several, GPUs and the CPU together.

    python experiments/graphlets_devices.py [--data FOLDER] [NETWORK ...]

Every mode must give the same counts and columns, bit for bit. Times are warm: from a graph on the first device to
counts and per-edge columns on the device (order and plan included, the copy of the result to the host not). Networks
of more than 4 million edges run on the GPUs alone.
"""

from __future__ import annotations

import jax
import numpy as np
from graphlets_common import arguments, best_of, check, machine, network, print_table, verified

from jaxmotif.devices import Hybrid
from jaxmotif.devices._select import Selection, select_devices
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets._run import hybrid_tunings, prepare, run, run_units
from jaxmotif.graphlets._tuning import choose_tuning

NETWORKS = ("socfb-MIT8", "socfb-Cornell5", "pgd-C500-9", "web-cnr-2000", "rmat-20")
ORDERS = ("degree", "volume", "-degree", "-volume")


def counts_of(graph, sums):
    joined = {key: equations.join_sums(pair) for key, pair in sums.items()}
    return equations.global_counts(graph.n, graph.m, joined)


def main() -> None:
    options = arguments(__doc__, NETWORKS)
    known = verified(options.data)
    accelerators, cpu = jax.devices(), jax.devices("cpu")[0]
    modes = {"CPU": Selection((cpu,))}
    modes |= {f"{size} GPU": select_devices(size) for size in (1, 2, 4, 8) if size <= len(accelerators)}
    hybrid = Selection(tuple(accelerators), cpu)
    print(machine(), flush=True)
    for name in options.networks:
        measure(name, network(name, options.data), modes, hybrid, known)
    stats = [device.memory_stats() or {} for device in accelerators]
    peaks = [f"{s.get('peak_bytes_in_use', 0) / 2**20:.0f}" for s in stats]
    print_table("Peak memory, MiB (Fig. 5)", [str(device) for device in accelerators], [peaks])


def measure(name, graph, modes, hybrid, known) -> None:
    reference = None

    def outcome(selection):
        return run(graph, "edge", selection, None, False)

    def timed(label, selection, runs=3):
        nonlocal reference
        ms, result = best_of(outcome, selection, runs=runs)
        found = counts_of(graph, result.sums), np.asarray(result.values)[: graph.m]
        if reference is None:
            check(name, found[0], known)
            reference = found
        if found[0] != reference[0] or not np.array_equal(found[1], reference[1]):
            raise SystemExit(f"{name}: {label} differs")
        return ms

    if graph.m > 4_000_000:
        modes = {label: chosen for label, chosen in modes.items() if label != "CPU"}
        rows = [(label, timed(label, chosen)) for label, chosen in modes.items()]
        title = f"{name}: {graph.m} edges"
        print_table(title, ("mode", "ms", "over one GPU"), [(k, ms, f"{rows[0][1] / ms:.2f}x") for k, ms in rows])
        return
    # The long ones once only: a few compilations do not show in them.
    rows = [(label, timed(label, chosen, runs=1 if label == "CPU" else 3)) for label, chosen in modes.items()]
    for order in ORDERS:
        rows.append((f"hybrid, by {order}", timed(order, hybrid._replace(hybrid=Hybrid(order)), runs=2)))
    nodes, edges = graph.node_capacity, graph.slot_capacity // 2
    for alpha in (0.0, 0.02, 0.1):
        rows.append((f"hybrid, alpha {alpha}", timed(str(alpha), hybrid._replace(hybrid=Hybrid(alpha=alpha)), runs=2)))
    with jax.enable_x64(True):
        tunings = choose_tuning(nodes, edges), choose_tuning(nodes, edges, hybrid.helper)
        tunings = hybrid_tunings(hybrid, *tunings)
        ready = prepare(graph, next(iter(tunings.values())), hybrid.main)
        _, done = run_units(*ready, "edge", tunings, False, hybrid)
    share = sum(done[len(hybrid.devices) :]) / sum(done)
    cpu_ms, gpu_ms = rows[0][1], rows[1][1]
    print_table(
        f"{name}: {graph.m} edges; of the hybrid's work by degree the CPU did {share:.1%}",
        ("mode", "ms", "over the CPU", "over one GPU"),
        [(label, ms, f"{cpu_ms / ms:.1f}x", f"{gpu_ms / ms:.2f}x") for label, ms in rows],
    )


if __name__ == "__main__":
    main()
