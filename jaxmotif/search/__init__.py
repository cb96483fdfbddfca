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
