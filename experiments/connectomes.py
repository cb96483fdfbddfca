"""Motifs of three connectomes under several null models: mouse and human cortex with positions, the larva of the fly.

    python experiments/connectomes.py ROW [--graphs R] [--data FOLDER]

FOLDER/attributed holds `NAME_directed_connectome.csv.xz` (source, target, weight) and `NAME_basic_neuron_info.csv.xz`
(the places of the neurons in nm) for mouse and human, and `larva_winding2023_G_edgelist.txt.xz`.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import lzma
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Rows, Table, Timing, measure, option

from jaxmotif.graph import Graph
from jaxmotif.motifs import Motifs, find_motifs, keep_distances

rows = Rows(__doc__)
graphs = option("--graphs", type=int, default=1000, help="number of random graphs")
calls = option("--calls", type=int, default=1, help="number of calls after the first, of which the fastest is told")
networks = option("networks", nargs="*", metavar="NETWORK", default=["mouse", "human"])


def read(data: Path, name: str) -> tuple[Graph, np.ndarray | None]:
    """Read a network and the positions of its neurons in micrometres, ``None`` for the larva."""
    folder = harness.data_folder(data, "attributed")

    def numbers(file: str, **options: Any) -> np.ndarray:
        with lzma.open(folder / f"{file}.xz", "rt") as stream:
            return np.loadtxt(stream, **options)

    if name == "larva":
        edges = numbers("larva_winding2023_G_edgelist.txt", usecols=(0, 1), dtype=np.int64)
        ids, ends = np.unique(edges, return_inverse=True)
        return Graph.from_edges(ends.reshape(-1, 2), ids.size, directed=True), None
    edges = numbers(f"{name}_directed_connectome.csv", delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64)
    places = numbers(f"{name}_basic_neuron_info.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3))
    return Graph.from_edges(edges, len(places), directed=True), places / 1000


def explain(found: Motifs) -> str:
    """Return how well the random graphs are mixed, in one line."""
    kinds = ", ".join(f"{kind} {moves:.1f}" for kind, moves in found.accepted_by_kind.items())
    longer = float(np.abs(found.mixing.longer_z).max(initial=0.0))
    worth = float(found.mixing.effective_size[found.significance.scale > 0].min(initial=np.inf))
    notes = "; ".join(found.notes) or "none"
    tried = f"{found.attempts:.0f} switches tried per edge; moves: {kinds}"
    return f"{tried}; largest longer_z {longer:.1f}; worth {worth:.0f} graphs; notes: {notes}"


def seconds(timing: Timing) -> str:
    """Return what the first call and the fastest of the later ones took."""
    later = f", later {timing.best:.1f} s" if timing.best != timing.first else ""
    return f"first call {timing.first:.1f} s, {timing.first_cpu:.1f} CPU s{later}"


@rows(
    networks,
    graphs,
    calls,
    option(
        "--keep",
        type=harness.words,
        default=["degree", "bidegree", "degree+20", "bidegree+20"],
        metavar="MODEL,...",
        help="null models: degree, bidegree, and with +N also how many arcs are how long, in N classes of length",
    ),
)
def triads(options: argparse.Namespace) -> None:
    """Compare the triads of a connectome by what random graphs keep: degrees, and degrees and distances.

    Aim: mouse and human, 1,000 random graphs that keep distances, 20 s each in the second call on an H200. Other
    numbers of classes of length tell whether the answer hangs on them.
    """
    for name, keeps in itertools.product(options.networks, options.keep):
        graph, places = read(options.data, name)
        degrees, _, bins = keeps.partition("+")
        if not bins:
            model = degrees
        elif places is None:
            raise SystemExit(f"{name}: there are no positions; --keep degree,bidegree")
        else:
            model = keep_distances(places, int(bins), degrees)
        find = functools.partial(find_motifs, graph, 3, options.graphs, 1, model)
        timing = measure(find, options.calls)
        found, s = timing.result, timing.result.significance
        print(f"\n{name}, {graph.n:,} neurons, {graph.m:,} arcs, keeps {keeps}, {options.graphs} random graphs.")
        print(f"{explain(found)}; {seconds(timing)}\n")
        table = Table("triad | count | mean | sd | fold | 95 % | z | q | verdict")
        for i, triad in enumerate(found.names):
            interval = f"{s.fold_low[i]:.3f} to {s.fold_high[i]:.3f}"
            values = f"{s.mean[i]:.1f}", f"{s.sd[i]:.1f}", f"{s.fold[i]:.3f}", interval, f"{s.z[i]:.1f}"
            table.row(triad, int(found.counts[i]), *values, f"{s.q[i]:.2g}", found.verdicts.why[i])


@rows(
    option("--graphs", type=int, default=100, help="number of random graphs"),
    option("--sizes", type=harness.numbers, default=[3, 4], help="numbers of nodes"),
    calls,
)
def larva(options: argparse.Namespace) -> None:
    """Time the motifs of the larva; aim: of four nodes, 100 random graphs, 20 s in the second call on an H200."""
    graph, _ = read(options.data, "larva")
    for size in options.sizes:
        timing = measure(functools.partial(find_motifs, graph, size, options.graphs, 1), options.calls)
        print(f"larva, {size} nodes: {timing.result.summary}.\n{explain(timing.result)}; {seconds(timing)}", flush=True)


if __name__ == "__main__":
    rows.main()
