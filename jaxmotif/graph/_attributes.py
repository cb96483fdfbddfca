"""Columns of values beside a graph: the attributes of its nodes and edges, on the host."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from jaxmotif.arrays._checks import check_sequence

if TYPE_CHECKING:
    import pandas

    from jaxmotif.graph._container import Graph

    Columns = Mapping[str, "Values"] | pandas.DataFrame

Values: TypeAlias = Union[Sequence[object], np.ndarray, "pandas.Series"]

_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf|nan", re.I)
"""A number without leading zeros: 007 is a word."""
INTEGER = re.compile(r"[+-]?\d{1,308}")
"""A whole number that is below the largest float."""
BOOLEANS = {"true": True, "false": False}
_EXACT = 2**53
"""Whole numbers below this are floats too."""


@dataclasses.dataclass(frozen=True, eq=False)
class Attributes:
    """Columns of values of nodes and edges, by the name of the attribute.

    A column holds numbers, truth values, or objects. A missing value is not-a-number among numbers and ``None`` among
    objects.

    Attributes:
      nodes: columns ``[n]``.
      edges: columns ``[R]``.
      rows: int64 ``[R]``, ascending: the row of the graph's edge list to which each row of ``edges`` belongs. Parallel
        edges, which are one edge of the graph, have several rows. ``None``: each edge of the graph has one row, in the
        order of the edge list.
    """

    nodes: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    edges: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    rows: np.ndarray | None = None
    _distinct: dict[int, tuple[np.ndarray, np.ndarray] | None] = dataclasses.field(
        init=False, default_factory=dict, repr=False
    )

    def distinct(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the different values in a column of text, and the column as indices into them.

        The answer is computed once for each column.

        Args:
          column: one of the columns of this object, ``[n]`` or ``[R]``.

        Returns:
          The different values, objects ``[V]``, and for each entry of the column an index into them, int64. The result
          is ``None`` for a column of numbers, which can be compared as quickly themselves, for values that are lists,
          and for an array that is not a column of this object.
        """
        is_ours = any(column is other for other in (*self.nodes.values(), *self.edges.values()))
        if column.dtype.kind != "O" or not is_ours:
            return None
        if id(column) not in self._distinct:
            numbers: dict[Any, int] = {}
            try:
                codes = np.array([numbers.setdefault(value, len(numbers)) for value in column.tolist()], np.int64)
                self._distinct[id(column)] = np.fromiter(numbers, object, len(numbers)), codes
            except TypeError:
                self._distinct[id(column)] = None
        return self._distinct[id(column)]

    @classmethod
    def of_rows(
        cls, graph: Graph, nodes: Mapping[str, Values], edges: Mapping[str, Values], ends: np.ndarray
    ) -> Attributes:
        """Build the attributes of a graph that was made from rows of ends, as ``Graph.from_edges`` makes one.

        Building a graph leaves out self loops, and makes one edge of rows that repeat each other. The values of self
        loops are left out too; those of repeated rows are all kept, as values of parallel edges.

        Args:
          graph: the graph that was made.
          nodes: columns ``[n]`` of the nodes, by name.
          edges: columns ``[R]`` of the rows, by name.
          ends: integers ``[R, 2]``, the nodes that each row joins.
        """
        rows = np.flatnonzero(ends[:, 0] != ends[:, 1])
        row = graph._edge_rows(ends[rows])
        order = np.argsort(row, kind="stable")
        rows, row = rows[order], row[order]
        single = np.array_equal(row, np.arange(graph.m))
        columns = {name: as_column(values, name, len(ends))[rows] for name, values in edges.items()}
        node_columns = {name: as_column(values, name, graph.n) for name, values in nodes.items()}
        return cls(node_columns, columns, None if single else row)

    def of_first_rows(self) -> Attributes:
        """Return the attributes with one row for each edge, the first of parallel ones."""
        if self.rows is None:
            return self
        first = np.unique(self.rows, return_index=True)[1]
        return Attributes(self.nodes, {name: column[first] for name, column in self.edges.items()})


def pair_keys(ends: np.ndarray, graph: Graph) -> np.ndarray:
    """Return a number for each pair of nodes, int64 ``[E]``, which ascends as the edge list does.

    In an undirected graph both orders of a pair have the same number.
    """
    u, v = ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64)
    if not graph.directed:
        u, v = np.minimum(u, v), np.maximum(u, v)
    return u * np.int64(max(graph.n, 1)) + v


def as_columns(table: Columns | None, of: str, length: int) -> dict[str, np.ndarray]:
    """Return a table of attributes, of ``"nodes"`` or ``"edges"``, as columns by name."""
    if table is None:
        return {}
    if not hasattr(table, "items"):
        raise TypeError(f"{of} must be columns by name, such as {{'kind': [..]}}, got {type(table).__name__}")
    return {str(name): as_column(values, str(name), length) for name, values in table.items()}


def as_column(values: Values, name: str, length: int) -> np.ndarray:
    """Return values of one attribute, an array, a pandas column or a sequence, as a column ``[length]``.

    Raises:
      TypeError: no values in an order, such as a dictionary.
      ValueError: of another length, or of several axes.

    Example:
      >>> as_column([1, None, 3], "weight", 3)
      array([ 1., nan,  3.])
    """
    check_sequence(values, f"attribute {name!r}")
    array = getattr(values, "to_numpy", lambda: values)()
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise ValueError(f"attribute {name!r}: expected one value for each, [{length}], got {list(array.shape)}")
    if len(array) != length:
        raise ValueError(f"attribute {name!r}: expected {length} values, got {len(array)}")
    if isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
        return array
    if isinstance(array, np.ndarray) and array.dtype.kind != "O":
        words = array.astype(str).astype(object)
        if array.dtype.kind in "mM":
            words[np.isnat(array)] = None
        array = words
    return _typed(array.tolist() if isinstance(array, np.ndarray) else list(array))


def from_words(words: Sequence[object]) -> np.ndarray:
    """Convert values as a file has them to a column of the narrowest type.

    Text becomes numbers, or truth values, if all of it is; numbers with leading zeros, such as 007, are text. ``None``
    and empty text are missing values.

    Example:
      >>> from_words(["0.5", "", "2"]), from_words(["KC", None]).tolist(), from_words(["007", "12"]).tolist()
      (array([0.5, nan, 2. ]), ['KC', None], ['007', '12'])
    """
    values = [None if word == "" else word for word in words]
    texts = {value for value in values if isinstance(value, str)}
    if len(texts) and all(value is None or isinstance(value, str) for value in values):
        kinds = {
            word: int(word) if INTEGER.fullmatch(word) else float(word) for word in texts if _NUMBER.fullmatch(word)
        } or {word: BOOLEANS[word.lower()] for word in texts if word.lower() in BOOLEANS}
        if len(kinds) == len(texts):
            values = [kinds.get(value) for value in values]
    return _typed(values)


def _typed(values: Sequence[Any]) -> np.ndarray:
    """Return Python values as a column of the narrowest type that holds them."""
    missing = [is_missing(value) for value in values]
    present = [value for value, left_out in zip(values, missing, strict=True) if not left_out]
    kinds = set(map(type, present))
    if kinds and all(issubclass(kind, bool | np.bool_) for kind in kinds) and not any(missing):
        return np.array(values, bool)
    if kinds and all(issubclass(kind, int | float | np.number) and not issubclass(kind, bool) for kind in kinds):
        whole = [value for value in present if isinstance(value, int | np.integer)]
        largest = max(map(abs, whole), default=0)
        if len(whole) == len(values) and largest < 2**63:
            return np.array(values, np.int64)
        if largest < _EXACT:
            return np.array([np.nan if left_out else value for value, left_out in zip(values, missing, strict=True)])
    known = (None if left_out else value for value, left_out in zip(values, missing, strict=True))
    return np.fromiter(known, object, len(values))


def is_missing(value: object) -> bool:
    """Return whether a value is ``None``, not-a-number, or a missing value of pandas."""
    if value is None or (isinstance(value, float | np.floating) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")  # the missing values of pandas, which is not imported for this
