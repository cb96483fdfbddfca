"""The bounded-memory level search, shared by matching and motif discovery."""

from jaxmotif.search.level_search import Progress, SearchState, advance, begin, refill, start_state
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
    "Progress",
    "SearchState",
    "Step",
    "Term",
    "advance",
    "begin",
    "build_program",
    "refill",
    "start_state",
    "table_columns",
]
