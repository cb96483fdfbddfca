"""The bounded-memory level search, shared by matching and motif discovery."""

from jaxmotif.search.level_search import Part, Progress, SearchState, advance, advance_part, begin, start_state
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
    "Part",
    "Program",
    "Progress",
    "SearchState",
    "Step",
    "Term",
    "advance",
    "advance_part",
    "begin",
    "build_program",
    "start_state",
    "table_columns",
]
