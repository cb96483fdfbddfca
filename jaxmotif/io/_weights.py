"""Weights of edges from a column of a file: sums over repeated rows, and edges that weigh too little."""

from __future__ import annotations

import re

import numpy as np

from jaxmotif.arrays._present import counted, meant
from jaxmotif.graph._attributes import as_column, from_words
from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._format import Contents
from jaxmotif.io._registry import UnusedOption


def weight_column(path: str, contents: Contents, column: int | str) -> tuple[str, np.ndarray]:
    """Return the name of the column of weights, and the weights of the rows of a file, positive numbers ``[rows]``.

    Whole numbers beyond int64 are objects, Python's integers.

    Raises:
      UnusedOption: the format has no attributes of edges.
      GraphFileError: no such column, or a value that is no positive number.
    """
    columns, header = contents.edge_columns, contents.header or ()
    name = header[column] if isinstance(column, int) and 0 <= column < len(header) else str(column)
    if columns is None:
        raise UnusedOption("weight", f"is for attributes of edges, and {path}, read as {contents.format}, has none")
    if name not in columns:
        there = ", ".join(map(repr, columns)) or "no columns but the ends"
        raise GraphFileError(f"{path}: no column {name!r} of weights; there are {there}{meant(name, columns)}", path)
    values = from_words(columns[name])
    if values.dtype.kind not in "iuf":
        values = as_column([_number(value) for value in values.tolist()], name, values.size)
    numbers = values.astype(np.float64)
    wrong = np.flatnonzero(~((numbers > 0) & (numbers < np.inf)))
    if wrong.size:
        row, value = wrong[0] + 1, columns[name][wrong[0]]
        is_missing = value is None or value != value
        if is_missing:
            remedy = "leave the edge out, or fill in its weight"
        elif re.fullmatch(r"\d+,\d+", str(value)):
            remedy = "write decimals with a point, and thousands without a mark"
        else:
            remedy = "a sign may be the edges' label: edge_label="
        raise GraphFileError(
            f"{path}: column {name!r}: the weight of edge {row} is {'missing' if is_missing else repr(value)}; "
            f"weights must be positive numbers ({remedy})",
            path,
        )
    is_mixed = values.dtype.kind == "O" and any(isinstance(value, float) for value in values.tolist())
    return name, numbers if is_mixed else values


def _number(value: object) -> float:
    """Return a value that is a number, or text that is one, with leading zeros or without; else not-a-number."""
    (number,) = from_words([value.lstrip("0") if isinstance(value, str) else value]).tolist()
    return number if isinstance(number, int | float) and not isinstance(number, bool) else np.nan


def sum_weights(
    weights: np.ndarray, edges: np.ndarray, directed: bool, least: float | None
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Add up the weights of rows that are one edge, and leave out edges that weigh less than ``least``.

    Args:
      weights: positive numbers ``[R]``. Sums of whole numbers are exact: beyond int64 they are Python's integers.
      edges: int64 ``[R, 2]``, the nodes that each row joins.
      directed: whether the rows ``u v`` and ``v u`` are two edges.
      least: the least weight of an edge; ``None`` keeps all.

    Returns:
      bool ``[R]``, which rows belong to an edge of enough weight, or are self loops; the weight of each such edge, in
      the order of the graph's edge list; and notes, in words, on what was summed and left out.

    Example:
      >>> rows = np.array([[0, 1], [0, 1], [1, 0], [1, 2]])
      >>> sum_weights(np.array([2, 3, 1, 1]), rows, True, 2)[1].tolist()
      [5]
      >>> sum_weights(np.array([2, 3, 1, 1]), rows, False, None)[1].tolist()
      [6, 1]
    """
    if weights.dtype.kind == "i" and weights.sum(dtype=np.float64) >= 2**62:  # then a sum may be beyond int64
        weights = weights.astype(object)
    ends = edges if directed else np.sort(edges, axis=1)
    loops = ends[:, 0] == ends[:, 1]
    keys = ends[:, 0].astype(np.int64) * (int(ends.max(initial=0)) + 1) + ends[:, 1]
    distinct, of_row = np.unique(keys[~loops], return_inverse=True)
    sums = np.zeros(distinct.size, weights.dtype)
    np.add.at(sums, of_row, weights[~loops])
    enough = sums >= (0 if least is None else least)
    kept = loops.copy()
    kept[~loops] = enough[of_row]
    notes = []
    if of_row.size > distinct.size:
        same = "" if directed else ", of both orders"
        notes.append(f"the weights of repeated rows{same} are summed: {of_row.size:,} rows, {distinct.size:,} edges")
    if not enough.all():
        number = counted(int(np.count_nonzero(~enough)), "edge")
        notes.append(f"left out for a weight below {least:g}: {number} of {distinct.size:,}")
    sums = sums[enough]
    return kept, as_column(sums, "weight", sums.size), notes
