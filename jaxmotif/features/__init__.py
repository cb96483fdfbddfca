"""Where small patterns lie in graphs, as features of graphs, nodes and edges; and how alike two graphs are by them."""

from jaxmotif.features._patterns import Features, all_patterns, pattern_features

__all__ = ["Features", "all_patterns", "pattern_features"]
