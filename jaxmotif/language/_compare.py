"""Clauses and comparisons applied to columns of values; nothing in a query is ever evaluated as code."""

from __future__ import annotations

import operator as ops
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from jaxmotif.language._query import Value

T = TypeVar("T")

_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "==": ops.eq,
    "<": ops.lt,
    "<=": ops.le,
    ">": ops.gt,
    ">=": ops.ge,
    "contains": ops.contains,
    "in": lambda value, group: value in group,
}
_OPPOSITES = {"!=": "==", "!in": "in", "!contains": "contains"}
_FLIPPED = {">": "<", ">=": "<=", "in": "contains", "!in": "!contains"}


def fulfils(column: np.ndarray, operator: str, value: Value) -> np.ndarray:
    """Return which values of a column satisfy a clause (:class:`jaxmotif.language.Clause`), bool ``[R]``.

    Example:
      >>> fulfils(np.array([1.0, np.nan, 30.0]), ">", 20).tolist(), fulfils(np.array(["KC", None]), "!=", "KC").tolist()
      ([False, False, True], [False, True])
    """
    if operator in _OPPOSITES:
        result = ~fulfils(column, _OPPOSITES[operator], value)
        return result & _present(column) if operator == "!contains" else result
    if column.dtype.kind not in "biuf":
        entries = column.tolist()
        return _each(_TESTS[operator], entries, [_as_for(entry, value) for entry in entries])
    if operator == "in" and isinstance(value, tuple):
        return np.any([fulfils(column, "==", item) for item in value], axis=0) if value else np.zeros(len(column), bool)
    number = _number(value)
    if number is None or operator in ("in", "contains"):
        return np.zeros(len(column), bool)
    return np.asarray(_TESTS[operator](column, number), bool)


def mismatch(column: np.ndarray, operator: str, value: Value) -> str | None:
    """Return why a clause asks of a column what its values do not say, or ``None`` if it makes sense.

    It makes none if it compares numbers with words, or words with numbers. Such a clause is a mistake even where it
    would hold, as ``!=`` would for all values.

    Example:
      >>> mismatch(np.array([1, 2]), ">", "x"), mismatch(np.array([1, 2]), ">", "1.5")
      ("holds numbers, and 'x' is none", None)
    """
    values = value if isinstance(value, tuple) else (value,)
    kinds = {type(item) for item in column.tolist() if item is not None} if column.dtype.kind == "O" else {str}
    if column.dtype.kind in "biuf" or (kinds and all(issubclass(kind, int | float) for kind in kinds)):
        if not len(column) or (column.dtype.kind == "f" and np.isnan(column).all()):
            return None  # a column without values says nothing about its kind
        kind = "truth values" if column.dtype.kind == "b" else "numbers"
        if operator.endswith("contains") or (operator.endswith("in") and not isinstance(value, tuple)):
            return f"holds {kind}, of which {operator!r} says nothing"
        wrong = [item for item in values if _number(item) is None]
        return f"holds {kind}, and {wrong[0]!r} is none" if wrong else None
    wrong = [item for item in values if isinstance(item, int | float)]
    if kinds and all(issubclass(kind, str) for kind in kinds) and wrong:
        return f"holds words; {wrong[0]} is a number, and a word in quotes, '{wrong[0]}'"
    return None


def agree(left: np.ndarray, operator: str, right: np.ndarray) -> np.ndarray:
    """Return in which rows a comparison of two columns holds, bool ``[R]``; where a value is missing it does not."""
    present = _present(left) & _present(right)
    if operator in _OPPOSITES:
        return present & ~agree(left, _OPPOSITES[operator], right)
    if left.dtype.kind in "biuf" and right.dtype.kind in "biuf":
        if operator in ("in", "contains"):  # numbers contain nothing
            return np.zeros(len(left), bool)
        return present & _TESTS[operator](left, right)
    return present & _each(_TESTS[operator], left.tolist(), right.tolist())


def canonical(left: T, operator: str, right: T) -> tuple[T, str, T]:
    """Return a comparison in its canonical direction, so that equal ones look equal: ``a > b`` becomes ``b < a``."""
    if operator in _FLIPPED:
        return right, _FLIPPED[operator], left
    if operator in ("==", "!=") and repr(right) < repr(left):
        return right, operator, left
    return left, operator, right


def _present(column: np.ndarray) -> np.ndarray:
    """Return which values of a column are not missing."""
    if column.dtype.kind == "f":
        return ~np.isnan(column)
    if column.dtype.kind == "O":
        return np.array([value is not None for value in column.tolist()], bool)
    return np.ones(len(column), bool)


def _as_for(entry: object, value: Value) -> object:
    """Return a value of a query as it is compared with an entry: text that is a number, as a number with numbers."""
    if not isinstance(entry, int | float):
        return value
    return tuple(map(_number, value)) if isinstance(value, tuple) else _number(value)


def _number(value: Value) -> bool | int | float | None:
    """Return a value as a number, or ``None`` if it is not one; text that reads as a number is one."""
    if isinstance(value, str):
        try:
            return float(value) if not value.lstrip("+-").isdecimal() else int(value)
        except ValueError:
            return None
    return value if isinstance(value, bool | int | float) else None


def _each(test: Callable[[object, object], object], left: Sequence[object], right: Sequence[object]) -> np.ndarray:
    """Compare values one by one; values that cannot be compared give false."""
    result = np.zeros(len(left), bool)
    for i, (value, other) in enumerate(zip(left, right, strict=True)):
        if value is None:
            continue
        try:
            result[i] = bool(test(value, other))
        except (TypeError, ValueError):
            continue
    return result
