"""The bounded-memory level search, shared by matching and motif discovery."""

from jaxmotif.search.level_search import SearchState, advance, start_state
from jaxmotif.search.program import (
    Block,
    LeafSet,
    Pair,
    Program,
    Step,
    Term,
    build_program,
    table_columns,
)

__all__ = [
    "Block",
    "LeafSet",
    "Pair",
    "Program",
    "SearchState",
    "Step",
    "Term",
    "advance",
    "build_program",
    "start_state",
    "table_columns",
]
