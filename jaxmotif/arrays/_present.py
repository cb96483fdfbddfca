"""Results as users see them: one line of text, a table in a notebook, a data frame, an array where they are one."""

from __future__ import annotations

import dataclasses
import difflib
import html
import itertools
import logging
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._exact import with_exact_sums
from jaxmotif.arrays._extras import load_extra

if TYPE_CHECKING:
    import jax
    import pandas
    from numpy.typing import DTypeLike

Column = Sequence[Any] | np.ndarray
R = TypeVar("R")

_SHOWN_ROWS = 20

_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters, line separators, marks that turn the direction of text, and halves of characters."""


def logged(*notes: str) -> tuple[str, ...]:
    """Log notes on a result as warnings, and return them."""
    for note in notes:
        logging.getLogger("jaxmotif").warning("%s", note)
    return notes


def visible(text: str) -> str:
    """Return text with what a terminal would obey, or a file cannot hold, written as escapes.

    Example:
      >>> visible("a\\x1b[2J"), visible("caf\u00e9"), visible("\\ud800")
      ('a\\\\x1b[2J', 'café', '\\\\ud800')
    """
    return text if text.isprintable() else _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class Presented:
    """Base of all results: each describes itself in one line and gives the table that it holds."""

    def _line(self) -> str:
        """Describe the result in one line."""
        raise NotImplementedError

    def table(self) -> Mapping[str, Column]:
        """Return columns of equal length by name."""
        raise NotImplementedError

    def _array(self) -> np.ndarray:
        """Return the result as an array; results that are no array raise TypeError."""
        name = type(self).__name__
        raise TypeError(f"{name} is a table, not an array; take one of its attributes, or {name}.to_pandas()")

    def _pictures(self, rows: int) -> list[str]:
        """Return SVG elements that a notebook shows before the first rows of the table, or none."""
        return []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._line()})"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._array(), dtype=dtype, copy=copy)

    def __jax_array__(self) -> jax.Array:
        """Return what ``jax.numpy`` computes with; raise TypeError where it would truncate."""
        from jaxmotif.arrays._int64 import Int64  # which imports JAX

        values = self._array()
        if values.dtype.kind in "iuO":
            try:
                return Int64.of(values).__jax_array__()
            except (OverflowError, TypeError) as error:
                raise TypeError(f"{type(self).__name__} as a JAX array: {error}") from error
        import jax.numpy as jnp

        return jnp.asarray(values)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas data frame.

        Raises:
          ImportError: pandas is not installed (the extra ``io`` has it).
        """
        columns = {name: _plain(column) for name, column in self.table().items()}
        return load_extra("pandas", "to_pandas needs").DataFrame(columns)

    def _repr_html_(self) -> str:
        table = self.table()
        total = max(map(len, table.values()), default=0)
        rows = zip(*(_plain(column[:_SHOWN_ROWS]) for column in table.values()), strict=True)
        pictures = self._pictures(_SHOWN_ROWS)
        head = "<th></th>" * bool(pictures) + "".join(f"<th>{html.escape(name)}</th>" for name in table)
        first = (f"<td>{picture}</td>" for picture in pictures) if pictures else itertools.repeat("")
        body = "".join(f"<tr>{picture}{''.join(map(_cell, row))}</tr>" for picture, row in zip(first, rows))  # noqa: B905
        more = f"<p>{total - _SHOWN_ROWS} more rows</p>" if total > _SHOWN_ROWS else ""
        caption = html.escape(repr(self))
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PerGraph(Presented, Generic[R]):
    """The results of many graphs, as a sequence; ``np.asarray`` gives ``values``.

    Attributes:
      columns: names of the columns of ``values``.
      values: the rows of all graphs side by side, ``[rows, columns]``: int64, or Python integers (dtype ``object``)
        where a count, or the sum of all, needs more than 63 bits.
      starts: int64 ``[B + 1]``: the rows of graph ``i`` are ``values[starts[i] : starts[i + 1]]``: one row for counts
        of the whole graph, else one row for each edge or node.
      notes: messages about what was ignored, or done differently because memory ran out.
      single: a function that returns the result of graph ``i``.
      keys: a function that returns further columns that identify a row, such as the ends of its edge.
    """

    columns: tuple[str, ...]
    values: np.ndarray
    starts: np.ndarray
    notes: tuple[str, ...]
    single: Callable[[int], R]
    keys: Callable[[], Mapping[str, Column]] = dict

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", with_exact_sums(self.values))

    def __len__(self) -> int:
        return self.starts.size - 1

    def __getitem__(self, i: int) -> R:
        return self.single(self._place(i))

    def __iter__(self) -> Iterator[R]:
        return map(self.single, range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:  # the function that makes results may not pickle; the results do
        results, keys = tuple(self), partial(dict, dict(self.keys()))
        return PerGraph, (self.columns, self.values, self.starts, self.notes, results.__getitem__, keys)

    def rows(self, i: int) -> np.ndarray:
        """Return the rows of graph ``i``."""
        i = self._place(i)
        return self.values[self.starts[i] : self.starts[i + 1]]

    def _place(self, i: int) -> int:
        """Return the index of a graph, counted from the first one; negative indices count from the end."""
        i = whole_number(i, "the index of a graph")
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are results of {len(self)} graphs, got index {i}")
        return i % len(self)

    def _line(self) -> str:
        rows = counted(len(self.values), "row")
        return f"{counted(len(self), 'graph')}, {rows} x {counted(len(self.columns), 'column')}"

    def table(self) -> Mapping[str, Column]:
        graph = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return {"graph": graph, **self.keys(), **dict(zip(self.columns, self.values.T, strict=True))}

    def _array(self) -> np.ndarray:
        return self.values


def counted(number: int, thing: str) -> str:
    """Return a number with its noun, singular or plural, with separators from a thousand on.

    Example:
      >>> counted(1, "node"), counted(12345, "edge"), counted(2, "match"), counted(0, "class")
      ('1 node', '12,345 edges', '2 matches', '0 classes')
    """
    if number != 1:
        thing = thing[:-2] + "ices" if thing.endswith("ex") else thing + ("es" if thing.endswith(("s", "ch")) else "s")
    return f"{number:,} {thing}"


def meant(word: str, known: Iterable[object]) -> str:
    """Return the end of a message about an unknown word: which of some known words is near it, if one is.

    Example:
      >>> meant("efect", ["source", "effect"]), meant("sign", ["source", "effect"])
      ("; did you mean 'effect'?", '')
    """
    near = difflib.get_close_matches(word, list(map(str, known)), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def integers(values: Sequence[int]) -> np.ndarray:
    """Return Python integers as an int64 array, or as an array of objects where one does not fit.

    Example:
      >>> integers([1, 2]).dtype, integers([1, 2**70]).dtype
      (dtype('int64'), dtype('O'))
    """
    fit = all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, dtype=np.int64 if fit else object)


def _plain(column: Column) -> Column:
    """Return a column in a dtype that pandas takes: its Python integers as an array."""
    if isinstance(column, np.ndarray):
        return column
    values = list(column)
    whole = bool(values) and all(isinstance(v, int) and not isinstance(v, bool) for v in values)
    return integers(values) if whole else values


def _cell(value: object) -> str:
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        shown = f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
        return f'<td style="text-align: right">{shown}</td>'
    return f"<td>{html.escape(str(value))}</td>"
