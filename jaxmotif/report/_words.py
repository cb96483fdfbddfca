"""Sentences for a report: how well random graphs are mixed, and what to cite."""

from __future__ import annotations

import numpy as np

import jaxmotif
from jaxmotif.arrays._present import counted
from jaxmotif.motifs import Motifs
from jaxmotif.report._page import read_template


def citations(job: str) -> list[str]:
    """Return what to cite for a job: the software, then the papers of the method."""
    own = f"The jaxmotif authors: jaxmotif: small patterns in graphs with JAX, version {jaxmotif.__version__}."
    papers = read_template("citations.txt").partition(f"## {job}\n")[2].partition("\n##")[0]
    return [own, *papers.strip().splitlines()]


def mixing_in_words(found: Motifs) -> list[str]:
    """Return sentences on how well the random graphs of some motifs are mixed.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> print(mixing_in_words(find_motifs(datasets.load("florentine"), 3, 20))[0])  # doctest: +ELLIPSIS
      Each of the 20 random graphs was made from the network by a chain of its own, of ...
    """
    graphs = len(found.random_counts)
    sentences = [
        f"Each of the {graphs:,} random graphs was made from the network by a chain of its own, of "
        f"{found.accepted:.1f} moves per edge ({found.attempts:.0f} tried)"
        + "".join(f"; {kind} made {made:.1f} each" for kind, made in found.accepted_by_kind.items())
        + "."
    ]
    if found.estimate is not None:
        sentences.append(
            f"All counts are estimates, from {counted(found.estimate, 'random subgraph')} of each graph; z has their "
            "errors in it, and sd has not."
        )
    varies = found.significance.scale > 0
    if varies.any():
        sentences += _chain_sentences(found, varies)
    else:
        sentences.append("No count differs between them: the degrees alone decide it, and nothing is unusual.")
    return [*sentences, *found.notes]


def _chain_sentences(found: Motifs, varies: np.ndarray) -> list[str]:
    """Return what the chains that went on show, from the classes whose counts vary (a mask)."""
    mixing = found.mixing
    difference = float(np.abs(mixing.longer_z[varies]).max())
    if mixing.disagrees.any():
        verdict = "farther than chance has it: the chains are too short, take more --switches"
    else:
        verdict = "as chance alone has it: the chains are long enough"
    independent = float(mixing.effective_size[varies].min())
    correlation = float(np.clip(mixing.lag_correlation[varies].max(), 0, 1))
    return [
        f"{counted(mixing.graphs, 'chain')} went on to {mixing.times} times the length. Their mean counts differ from "
        f"those at full length by at most {difference:.1f} standard errors, {verdict}.",
        f"The counts of a chain at these two lengths correlate by at most {correlation:.2f}, so that for every class "
        f"the random graphs are worth at least {independent:,.0f} independent ones, by a cautious reckoning.",
    ]
