"""Small graphs known at plan time."""

from jaxmotif.patterns.automorphisms import (
    StabilizerChain,
    automorphism_count,
    automorphisms,
    node_orbits,
    stabilizer_chain,
    symmetry_constraints,
)
from jaxmotif.patterns.canonical import canonical_order, canonical_string, twin_classes
from jaxmotif.patterns.catalogue import (
    EDGE_COLUMN_NAMES,
    EDGE_ORBITS,
    GRAPHLET_NAMES,
    GRAPHLETS,
    NODE_ORBIT_NAMES,
    NODE_ORBITS,
    EdgeOrbit,
    Graphlet,
    NodeOrbit,
)
from jaxmotif.patterns.orders import MatchingTree, greatest_constraint_first, infrequent_edge_first, matching_tree
from jaxmotif.patterns.pattern import Pattern

__all__ = [
    "EDGE_COLUMN_NAMES",
    "EDGE_ORBITS",
    "GRAPHLETS",
    "GRAPHLET_NAMES",
    "NODE_ORBITS",
    "NODE_ORBIT_NAMES",
    "EdgeOrbit",
    "Graphlet",
    "MatchingTree",
    "NodeOrbit",
    "Pattern",
    "StabilizerChain",
    "automorphism_count",
    "automorphisms",
    "canonical_order",
    "canonical_string",
    "greatest_constraint_first",
    "infrequent_edge_first",
    "matching_tree",
    "node_orbits",
    "stabilizer_chain",
    "symmetry_constraints",
    "twin_classes",
]
