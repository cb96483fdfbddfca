"""Network motifs: subgraph census, random graphs with given degrees, and which subgraphs occur unexpectedly often."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
