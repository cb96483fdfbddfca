"""The bounded-memory level search (internal), by which matching finds any number of subgraphs in fixed memory.

A query is mapped one node after another. **Table** t holds partial matches of the first t nodes, one row each, and has
room for a fixed number of them. The candidates of the next node, of all rows of a table laid end to end, are the
table's flat positions. A **step** takes the next block of these, tests each, and appends the survivors to the next
table. It finds the rows of its positions in a **window**, some rows from the table's cursor on. No step begins unless
the next table has room for all its survivors: no table overflows, whatever the input, and a node with many neighbours
only means more positions. What to test is data, a **program** that one compiled kernel reads, so other queries compile
nothing.

`docs/level-search.md` explains the same at length, with a picture.
"""

from jaxmotif.search._deadline import NO_DEADLINE, Deadline, TimeIsUp, compile_seconds, working_time
from jaxmotif.search._layout import Operands, Sizes
from jaxmotif.search._listing import Images, Listed, list_matches
from jaxmotif.search._loop import Allowance, DeviceReport, Part, SearchState, advance, advance_part, begin, start_state
from jaxmotif.search._parts import InParts, Prefixes, list_prefixes
from jaxmotif.search._program import (
    CandidateSet,
    Factor,
    Pair,
    Placement,
    Program,
    Tally,
    Term,
    build_program,
    table_columns,
    table_widths,
)
from jaxmotif.search._run import (
    FEW,
    NOTHING,
    RUNNING,
    Driver,
    ReadySearch,
    Run,
    SearchProgress,
    Stage,
    Whole,
    finish,
    run_searches,
)

__all__ = [
    "FEW",
    "NOTHING",
    "NO_DEADLINE",
    "RUNNING",
    "Allowance",
    "CandidateSet",
    "Deadline",
    "DeviceReport",
    "Driver",
    "Factor",
    "Images",
    "InParts",
    "Listed",
    "Operands",
    "Pair",
    "Part",
    "Placement",
    "Prefixes",
    "Program",
    "ReadySearch",
    "Run",
    "SearchState",
    "Sizes",
    "Stage",
    "SearchProgress",
    "Tally",
    "Term",
    "TimeIsUp",
    "Whole",
    "advance",
    "advance_part",
    "begin",
    "build_program",
    "compile_seconds",
    "finish",
    "list_matches",
    "list_prefixes",
    "run_searches",
    "start_state",
    "table_columns",
    "table_widths",
    "working_time",
]
