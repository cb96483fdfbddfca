"""What numbers say, in sentences; and what to cite."""

from __future__ import annotations

import numpy as np

import jaxmotif
from jaxmotif.arrays._present import counted
from jaxmotif.motifs import Motifs

_CITATIONS = {
    "motifs": (
        "Milo, Shen-Orr, Itzkovitz, Kashtan, Chklovskii, Alon: Network motifs: simple building blocks of complex "
        "networks. Science 298, 2002.",
        "Milo et al.: Superfamilies of evolved and designed networks. Science 303, 2004 (significance profile).",
        "Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach. IEEE TKDE 29, 2017.",
    ),
    "census": ("Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach. IEEE TKDE 29, 2017.",),
    "graphlets": (
        "Rossi, Zhou: Hybrid CPU-GPU framework for network motifs. arXiv:1608.05138, 2016.",
        "Hočevar, Demšar: A combinatorial approach to graphlet counting. Bioinformatics 30, 2014 (orbits).",
        "Pržulj: Biological network comparison using graphlet degree distribution. Bioinformatics 23, 2007.",
    ),
    "match": (
        "Bonnici, Giugno, Bombieri: An efficient implementation of a subgraph isomorphism algorithm for GPUs. BIBM "
        "2018.",
        "Bhattarai, Liu, Huang: CECI: compact embedding cluster index for scalable subgraph matching. SIGMOD 2019.",
    ),
    "search": (
        "Björklund, Kaski, Kowalik: Constrained multilinear detection and generalized graph motifs. Algorithmica 74, "
        "2016.",
    ),
}


def citations(job: str) -> list[str]:
    """What to cite for a job: the software, and its method."""
    own = f"The jaxmotif authors: jaxmotif: small patterns in graphs with JAX, version {jaxmotif.__version__}."
    return [own, *_CITATIONS[job]]


def mixing_in_words(found: Motifs) -> list[str]:
    """How well the random graphs were mixed.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> print(mixing_in_words(find_motifs(datasets.load("florentine"), 3, 20))[0])  # doctest: +ELLIPSIS
      Each of the 20 random graphs was made from the network by a chain of its own, of ... moves per edge (... tried).
    """
    mixing, graphs = found.mixing, len(found.random_counts)
    said = [
        f"Each of the {graphs:,} random graphs was made from the network by a chain of its own, of "
        f"{found.accepted:.1f} moves per edge ({found.attempts:.0f} tried)."
    ]
    if found.estimate is not None:
        said.append(
            f"All counts are estimates, from {counted(found.estimate, 'random subgraph')} of each graph; z has their "
            "errors in it, and sd has not."
        )
    varies = found.significance.scale > 0
    if not varies.any():
        return [
            *said,
            "No count differs between them: the degrees alone decide it, and nothing is unusual.",
            *found.notes,
        ]
    far = float(np.abs(mixing.longer_z[varies]).max())
    verdict = (
        "as chance alone has it: the chains are long enough" if not mixing.disagrees.any()
        else "farther than chance has it: the chains are too short, take more --switches"
    )  # fmt: skip
    said.append(
        f"{counted(mixing.graphs, 'chain')} went on to {mixing.times} times the length. The mean counts of these "
        f"differ from those at full length by at most {far:.1f} standard errors, {verdict}."
    )
    least, most = float(mixing.effective_size[varies].min()), float(np.clip(mixing.lag_correlation[varies].max(), 0, 1))
    said.append(
        f"The counts of a chain at these two lengths correlate by at most {most:.2f}, so that for every class "
        f"the random graphs are worth at least {least:,.0f} independent ones, by a cautious reckoning."
    )
    return [*said, *found.notes]
