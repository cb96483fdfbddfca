"""Are random graphs uniform at the defaults? Chi-square on small ensembles that are enumerated without the library.

    python experiments/motifs_uniformity.py [CHAINS [FIRST [STOP [SEED]]]]
    python experiments/motifs_uniformity.py labels|blocks|distances [CHAINS [NUMBER [SEED]]]

60 ensembles with 2 to 60 members, drawn at random: directed bidegree (every second of 4, 5 and 6 nodes one that
elementary moves leave in pieces), directed degree, undirected; dense and sparse. For each, so many chains at the
defaults (20,000). One line an ensemble, from FIRST to STOP; at the end the test of all p-values. SEED (0) draws
other ensembles and other chains. Run in the folder above.

With the name of a null model that keeps more than degrees: NUMBER (60) ensembles of it, in turn bidegree, degree and
undirected. Some are in pieces for its moves; those have no p.
"""

import sys
import time

import jax
import numpy as np
from scipy import stats

from jaxmotif.graph import Graph
from jaxmotif.motifs import random_graphs
from tests.motifs.ensembles import counts_of, drawn_sets, ensembles, restricted
from tests.motifs.test_random_graphs import BUILDERS


def main(chains=20_000, first=0, stop=60, seed=0):
    print(f"jax {jax.__version__}, {jax.devices()[0].platform}, {chains} chains an ensemble, seed {seed}\n")
    print("| | null model | nodes | arcs, pairs | members | in pieces | steps | moves per edge | met | p | s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    found = []
    for number, one in enumerate(ensembles(60, seed + 1)):
        if not first <= number < stop:
            continue
        graph = Graph.from_edges(one.edges, one.nodes, one.directed)
        started = time.process_time()
        sample = random_graphs(graph, chains, 1000 * seed + number, one.keep)
        seconds = time.process_time() - started
        counts = counts_of(drawn_sets(sample), one.members)
        p = stats.chisquare(counts).pvalue
        found.append(p)
        w = sample.wiring
        row = (
            number, one.keep if one.directed else "undirected", one.nodes, f"{w.arcs}, {w.labels - w.arcs}",
            len(one.members), one.pieces, sample.steps, f"{sample.accepted:.1f}", np.count_nonzero(counts),
            f"{p:.4f}", f"{seconds:.1f}",
        )  # fmt: skip
        print("|", " | ".join(map(str, row)), "|", flush=True)
    print(f"\nsmallest p {min(found):.5f}; all {len(found)} p-values against the uniform distribution (KS): "
          f"p = {stats.kstest(found, 'uniform').pvalue:.3f}")  # fmt: skip


def with_more_kept(kept, chains=20_000, number=60, seed=0):
    print(
        f"jax {jax.__version__}, {jax.devices()[0].platform}, keep_{kept}, {chains} chains an ensemble, seed {seed}\n"
    )
    print("| | degrees | nodes | edges | members | met | steps | moves per edge | p | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    found = []
    for i, one in enumerate(restricted(kept, number, seed + 1)):
        graph = Graph.from_edges(one.edges, one.nodes, one.directed, one.of if kept == "labels" else None)
        started = time.process_time()
        sample = random_graphs(graph, chains, 1000 * seed + i, BUILDERS[kept](one))
        seconds = time.process_time() - started
        counts = counts_of(drawn_sets(sample), one.members)  # an error for a graph that keeps less
        p = stats.chisquare(counts).pvalue if counts.all() else None
        found += [] if p is None else [p]
        row = (
            i, one.keep if one.directed else "undirected", one.nodes, len(one.edges), len(one.members),
            np.count_nonzero(counts), sample.steps, f"{sample.accepted:.1f}", "-" if p is None else f"{p:.4f}",
            f"{seconds:.1f}",
        )  # fmt: skip
        print("|", " | ".join(map(str, row)), "|", flush=True)
    print(f"\n{len(found)} of {number} met whole; smallest p {min(found):.5f}; against the uniform distribution (KS): "
          f"p = {stats.kstest(found, 'uniform').pvalue:.3f}")  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in BUILDERS:
        with_more_kept(sys.argv[1], *map(int, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:]))
