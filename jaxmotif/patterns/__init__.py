"""Small graphs on the host: patterns, their symmetries and orders, and the names of the field."""

from jaxmotif.patterns._automorphisms import (
    automorphism_count,
    automorphisms,
    node_orbits,
    stabilizer_chain,
    symmetry_constraints,
)
from jaxmotif.patterns._canonical import canonical_order, canonical_string
from jaxmotif.patterns._catalogue import (
    EDGE_COLUMN_NAMES,
    EDGE_ORBITS,
    GRAPHLET_NAMES,
    GRAPHLETS,
    NODE_ORBIT_NAMES,
    NODE_ORBITS,
    Graphlet,
)
from jaxmotif.patterns._names import (
    as_pattern,
    class_columns,
    class_id,
    class_labels,
    class_names,
    graphlet_columns,
    named_pattern,
    przulj_names,
)
from jaxmotif.patterns._orders import greatest_constraint_first
from jaxmotif.patterns._pattern import Pattern

__all__ = [
    "EDGE_COLUMN_NAMES",
    "EDGE_ORBITS",
    "GRAPHLETS",
    "GRAPHLET_NAMES",
    "NODE_ORBITS",
    "NODE_ORBIT_NAMES",
    "Graphlet",
    "Pattern",
    "as_pattern",
    "automorphism_count",
    "automorphisms",
    "canonical_order",
    "canonical_string",
    "class_columns",
    "class_id",
    "class_labels",
    "class_names",
    "graphlet_columns",
    "greatest_constraint_first",
    "named_pattern",
    "node_orbits",
    "przulj_names",
    "stabilizer_chain",
    "symmetry_constraints",
]
