"""Features of graphs, nodes and edges that count small patterns there, and comparisons of graphs by them."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
