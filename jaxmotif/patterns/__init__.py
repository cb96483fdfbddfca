"""Small graphs known at plan time."""

from jaxmotif.patterns._automorphisms import (
    StabilizerChain,
    automorphism_count,
    automorphisms,
    node_orbits,
    stabilizer_chain,
    symmetry_constraints,
)
from jaxmotif.patterns._canonical import canonical_order, canonical_string, twin_classes
from jaxmotif.patterns._catalogue import (
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
from jaxmotif.patterns._names import (
    as_pattern,
    class_columns,
    class_id,
    class_names,
    graphlet_columns,
    named_pattern,
    przulj_names,
)
from jaxmotif.patterns._orders import greatest_constraint_first, infrequent_edge_first
from jaxmotif.patterns._pattern import Pattern

__all__ = [
    "EDGE_COLUMN_NAMES",
    "EDGE_ORBITS",
    "GRAPHLETS",
    "GRAPHLET_NAMES",
    "NODE_ORBITS",
    "NODE_ORBIT_NAMES",
    "EdgeOrbit",
    "Graphlet",
    "NodeOrbit",
    "Pattern",
    "StabilizerChain",
    "as_pattern",
    "automorphism_count",
    "automorphisms",
    "canonical_order",
    "canonical_string",
    "class_columns",
    "class_id",
    "class_names",
    "graphlet_columns",
    "greatest_constraint_first",
    "infrequent_edge_first",
    "named_pattern",
    "node_orbits",
    "przulj_names",
    "stabilizer_chain",
    "symmetry_constraints",
    "twin_classes",
]
