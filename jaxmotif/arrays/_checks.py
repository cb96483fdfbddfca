"""Checks of what users give: whole numbers, switches, and arrays while a function is traced."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chex import Array
    from numpy.typing import ArrayLike


def whole_number(number: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """Return a number that a user gives as an int, after a check that it is in a range, where one is given.

    A float, even a whole one, is refused with the argument's name, and so are True and False, which Python takes for 1
    and 0.

    Example:
      >>> whole_number(1e3, "limit")
      Traceback (most recent call last):
      TypeError: limit must be an integer, got 1000.0
      >>> whole_number(-1, "limit", least=0)
      Traceback (most recent call last):
      ValueError: limit must be at least 0, got -1
    """
    try:
        if isinstance(number, bool):
            raise TypeError
        value = operator.index(number)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {number!r}") from None
    if (least is not None and value < least) or (most is not None and value > most):
        allowed = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {allowed}, got {value}")
    return value


def check_switch(value: object, name: str) -> None:
    """Raise TypeError unless a user gave True or False.

    A word or a number that was meant for another argument would otherwise silently count as true.

    Example:
      >>> check_switch("no", "induced")
      Traceback (most recent call last):
      TypeError: induced must be True or False, got 'no'
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")


def check_sequence(values: object, name: str) -> None:
    """Raise TypeError unless a user gave values one after another: an array, a list, or what else has a length.

    A dictionary would silently stand for its keys, a set for its values in any order, and a word for its letters.

    Example:
      >>> check_sequence({"a": 1}, "node_names")
      Traceback (most recent call last):
      TypeError: node_names must be an array or a list, with the values in their order, got dict
    """
    if isinstance(values, str | bytes | dict | set | frozenset) or not hasattr(values, "__len__"):
        kind = type(values).__name__
        raise TypeError(f"{name} must be an array or a list, with the values in their order, got {kind}")


def whole_numbers(values: np.ndarray, name: str) -> np.ndarray:
    """Return integers that a user gives as an int64 array, without a copy where they are int64.

    Example:
      >>> whole_numbers(np.array([0.5]), "edges")
      Traceback (most recent call last):
      TypeError: edges must be integers, got float64
    """
    if values.size and values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {values.dtype}")
    if values.size and values.dtype == np.uint64 and values.max() >= 2**63:
        raise ValueError(f"{name} must be below 2^63, got {values.max()}")
    return values.astype(np.int64, copy=False)


def check_labels(labels: ArrayLike, name: str) -> None:
    """Raise ValueError unless labels, which are integers, fit int32.

    Example:
      >>> check_labels(2**31, "wildcard")
      Traceback (most recent call last):
      ValueError: wildcard must fit int32, between -2147483648 and 2147483647, got 2147483648; number labels from 0
    """
    values, limits = np.asarray(labels), np.iinfo(np.int32)
    for bad in (values.min(initial=0), values.max(initial=0)):
        if not limits.min <= int(bad) <= limits.max:
            place = f"{name}[{int(np.argmax(values == bad))}] = " if values.ndim == 1 else ""
            raise ValueError(
                f"{name} must fit int32, between {limits.min} and {limits.max}, got {place}{bad}; number labels from 0"
            )


def check_probability(value: object, name: str) -> None:
    """Raise an error unless a user gave a number between 0 and 1.

    Example:
      >>> check_probability(1.5, "error")
      Traceback (most recent call last):
      ValueError: error must be between 0 and 1, got 1.5
    """
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}")
    if not 0 < float(value) < 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value}")


def check_number(value: object, name: str, least: float, what: str = "a number") -> None:
    """Raise an error unless a user gave a finite number that is large enough.

    Example:
      >>> check_number("2", "min_fold", 1, "a ratio")
      Traceback (most recent call last):
      TypeError: min_fold must be a ratio, at least 1, got '2'
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {what}, at least {least}, got {value!r}")
    if not least <= float(value) < math.inf:
        raise ValueError(f"{name} must be {what}, at least {least}, got {value}")


def check_graphlet_size(size: object) -> None:
    """Raise an error unless a user gave 4 or 5 as the number of nodes of the largest graphlets.

    Example:
      >>> check_graphlet_size(6)
      Traceback (most recent call last):
      ValueError: size must be 4 or 5, got 6: it is the number of nodes of the largest graphlets
    """
    if whole_number(size, "size") not in (4, 5):
        raise ValueError(f"size must be 4 or 5, got {size}: it is the number of nodes of the largest graphlets")


def check_vectors(arrays: Mapping[str, Array]) -> None:
    """Raise an error unless arrays, by the names that a caller knows them by, are int32 of one axis.

    It stands in the first lines of pure functions, costs nothing when they run, and refuses a batch outside
    ``jax.vmap``.

    Raises:
      TypeError: an array of another dtype.
      ValueError: an array with another number of axes.

    Example:
      >>> import numpy as np
      >>> check_vectors({"u": np.zeros((2, 3), np.int32)})
      Traceback (most recent call last):
      ValueError: u must have rank 1, got shape (2, 3)
    """
    for name, array in arrays.items():
        if array.dtype != "int32":
            raise TypeError(f"{name} must be of dtype int32, got {array.dtype}")
        if array.ndim != 1:
            raise ValueError(f"{name} must have rank 1, got shape {tuple(array.shape)}")
