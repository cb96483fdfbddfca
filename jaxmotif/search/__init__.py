"""The bounded-memory level search (internal), by which matching finds any number of subgraphs in fixed memory.

A query is mapped one node after another. **Table** t holds partial matches of the first t nodes, one row each, and has
room for a fixed number of rows. Each row has a list of candidates for the next node. When the lists of all rows are
laid end to end, each candidate has a *flat position*. A **step** takes the next block of flat positions, tests each
candidate, and appends the survivors to the next table. To find the rows of its positions, a step looks at a
**window**: a number of rows from the table's cursor on. No step begins unless the next table has room for all its
survivors. So no table overflows, whatever the input, and a node with many neighbours only means more positions. What
to test is data, a **program** that one compiled kernel reads, so that another query compiles nothing.

`docs/level-search.md` explains the same at length, with a picture.
"""
