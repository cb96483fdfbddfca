"""Are random graphs uniform at the defaults? Chi-square on small ensembles that are enumerated without the library.

    python experiments/motifs_uniformity.py [CHAINS [FIRST [STOP [SEED]]]]
    python experiments/motifs_uniformity.py labels|blocks|distances [CHAINS [NUMBER [SEED]]]

60 ensembles with 2 to 60 members, drawn at random: directed bidegree (every second of 4, 5 and 6 nodes one that
elementary moves leave in pieces), directed degree, undirected; dense and sparse. For each, so many chains at the
defaults (20,000). One line an ensemble, from FIRST to STOP; at the end the test of all p-values. SEED (0) draws
other ensembles and other chains. Nearly all nodes of these graphs are hubs to the steps. Ensembles 60 to 62, which STOP
(60) leaves out, have none, and many members: 60,000 chains meet most. Run in the folder above.

With the name of a null model that keeps more than degrees: NUMBER (60) ensembles of it, in turn bidegree, degree and
undirected. Some are in pieces for its moves; those have no p.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain

import harness
import numpy as np
from harness import Table
from scipy import stats

from jaxmotif.graph import Graph
from jaxmotif.motifs import random_graphs
from tests.motifs.ensembles import Ensemble, all_with_same_degrees, counts_of, drawn_sets, ensembles, restricted
from tests.motifs.test_random_graphs import BUILDERS


def without_hubs() -> Iterator[Ensemble]:
    """Build ensembles in which no step tries fewer proposals: all pairings of 8 and of 10 nodes, and rings of 8."""
    starts = [(n, [(i, i + 1) for i in range(0, n, 2)], False) for n in (8, 10)]
    starts.append((8, [(i, (i + 1) % 8) for i in range(8)], True))
    for nodes, edges, directed in starts:
        arcs = frozenset(edges if directed else edges + [(v, u) for u, v in edges])
        members = sorted(all_with_same_degrees(arcs, nodes, "degree", directed), key=sorted)
        # Switches, and turns of three arcs, lead from each of these graphs to all others.
        yield Ensemble("degree", directed, nodes, edges, members, 1)


def at_the_defaults(chains: int = 20_000, first: int = 0, stop: int = 60, seed: int = 0) -> None:
    """Test ensembles of bidegree, degree and undirected graphs; a line for each."""
    table = Table(
        " | null model | nodes | arcs, pairs | members | in pieces | steps | moves per edge | met | p | CPU s"
    )
    found = []
    for number, one in enumerate(chain(ensembles(60, seed + 1), without_hubs() if stop > 60 else ())):
        if not first <= number < stop:
            continue
        graph = Graph.from_edges(one.edges, one.nodes, one.directed)
        drawn = harness.once(lambda g=graph, n=number, keep=one.keep: random_graphs(g, chains, 1000 * seed + n, keep))
        sample, _, seconds = drawn
        counts = counts_of(drawn_sets(sample), one.members)
        p = stats.chisquare(counts).pvalue
        found.append(p)
        w = sample.wiring
        model = one.keep if one.directed else "undirected"
        edges = f"{w.arcs}, {w.labels - w.arcs}", len(one.members), one.pieces
        moved = sample.steps, f"{sample.accepted:.1f}", np.count_nonzero(counts)
        table.row(number, model, one.nodes, *edges, *moved, f"{p:.4f}", f"{seconds:.1f}")
    tell(found, "")


def with_more_kept(kept: str, chains: int = 20_000, number: int = 60, seed: int = 0) -> None:
    """Test ensembles of a null model that keeps more than degrees; one that is not met whole has no p."""
    table = Table(" | degrees | nodes | edges | members | met | steps | moves per edge | p | CPU s")
    found = []
    for i, one in enumerate(restricted(kept, number, seed + 1)):
        graph = Graph.from_edges(one.edges, one.nodes, one.directed, one.of if kept == "labels" else None)
        model = BUILDERS[kept](one)
        drawn = harness.once(lambda g=graph, i=i, model=model: random_graphs(g, chains, 1000 * seed + i, model))
        sample, _, seconds = drawn
        counts = counts_of(drawn_sets(sample), one.members)  # an error for a graph that keeps less
        p = stats.chisquare(counts).pvalue if counts.all() else None
        found += [] if p is None else [p]
        degrees = one.keep if one.directed else "undirected"
        sizes = one.nodes, len(one.edges), len(one.members), np.count_nonzero(counts)
        moved = sample.steps, f"{sample.accepted:.1f}", None if p is None else f"{p:.4f}"
        table.row(i, degrees, *sizes, *moved, f"{seconds:.1f}")
    tell(found, f"{len(found)} of {number} met whole; ")


def tell(found: list[float], before: str) -> None:
    """Print the least p and the test of all of them."""
    if found:
        uniform = stats.kstest(found, "uniform").pvalue
        print(
            f"\n{before}smallest p {min(found):.5f}; all {len(found)} p-values against the uniform distribution (KS): "
        )
        print(f"p = {uniform:.3f}")


def model_or_number(text: str) -> str | int:
    """Parse the name of a null model, or a number."""
    return text if text in BUILDERS else int(text)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("words", nargs="*", type=model_or_number, metavar="MODEL or NUMBER")
harness.add_common(parser)


def main(options: argparse.Namespace) -> None:
    """Test one of both kinds of null models."""
    if options.words and isinstance(options.words[0], str):
        with_more_kept(*options.words)
    else:
        at_the_defaults(*options.words)


if __name__ == "__main__":
    harness.run(main, parser.parse_args())
