"""Counts of given classes in random graphs, by matching all classes at once along their matching tree.

The engine of Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017. Orders put dense and infrequent
parts first, by the frequencies of edges in the input graph; symmetry is broken in every beginning of an order; orders
that begin alike are searched once. Matches are induced, and every occurrence is counted once, so the counts are those
of a census.
"""

from jaxmotif.motifs.matching_tree._count import count_by_matching
from jaxmotif.motifs.matching_tree._plan import TreePlan, plan_matching
from jaxmotif.motifs.matching_tree._prefixes import PrefixOrder, PrefixOrders
from jaxmotif.motifs.matching_tree._tree import MatchingTree, matching_tree

__all__ = [
    "MatchingTree",
    "PrefixOrder",
    "PrefixOrders",
    "TreePlan",
    "count_by_matching",
    "matching_tree",
    "plan_matching",
]
