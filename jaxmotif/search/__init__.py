"""The bounded-memory level search, shared by matching and motif discovery."""

from jaxmotif.search.level_search import Fed, Part, Progress, SearchState, advance, begin, feed, start_state
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
    "Fed",
    "LeafSet",
    "Pair",
    "Part",
    "Program",
    "Progress",
    "SearchState",
    "Step",
    "Term",
    "advance",
    "begin",
    "build_program",
    "feed",
    "start_state",
    "table_columns",
]
