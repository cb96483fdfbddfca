"""Checks of ranks, dtypes and agreeing shapes, while a function is traced: they cost nothing when it runs."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import chex
    from jax.typing import DTypeLike


def whole_number(number: object, name: str) -> int:
    """Return a number that a user gives as an int; a float, even a whole one, is refused with the argument's name.

    Example:
      >>> whole_number(1e3, "limit")
      Traceback (most recent call last):
      TypeError: limit must be an integer, got 1000.0
    """
    try:
        return operator.index(number)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {number!r}") from None


def check_arrays(
    arrays: Mapping[str, chex.Array],
    *,
    rank: int | Collection[int] | None = None,
    shape: tuple[int | None, ...] | None = None,
    dtype: DTypeLike | type[int] | None = None,
    same_shape: bool = False,
) -> None:
    """Raise an error unless arrays have the stated ranks, shapes and dtypes.

    It stands in the first lines of a pure function, and works under ``jit`` and ``vmap``, too.

    Args:
      arrays: by the name that the caller of the function knows them by; ``None`` among them is passed over.
      rank: how many axes, or those that are allowed.
      shape: sizes of the axes, ``None`` for any.
      dtype: a dtype, or ``int``, ``float`` or ``bool`` for all of that kind.
      same_shape: whether all have one shape.

    Raises:
      TypeError: an array of another dtype.
      ValueError: an array of another rank or shape, or shapes that differ.

    Example:
      >>> import jax.numpy as jnp
      >>> def dot(u, v):
      ...     check_arrays({"u": u, "v": v}, rank=1, dtype=float, same_shape=True)
      ...     return u @ v
      >>> dot(jnp.zeros(3), jnp.zeros(4))
      Traceback (most recent call last):
      ValueError: u, v must have the same shape, got (3,), (4,)
    """
    import chex  # takes 0.1 s, so not before something is checked

    given = {name: array for name, array in arrays.items() if array is not None}
    for name, array in given.items():
        got = tuple(array.shape)
        if dtype is not None:
            kind = getattr(dtype, "__name__", str(dtype))
            with _raising(TypeError(f"{name} must be of dtype {kind}, got {array.dtype}")):
                chex.assert_type(array, dtype)
        if rank is not None:
            ranks = (rank,) if isinstance(rank, int) else tuple(rank)
            with _raising(ValueError(f"{name} must have rank {' or '.join(map(str, ranks))}, got shape {got}")):
                chex.assert_rank(array, set(ranks))
        if shape is not None:
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            with _raising(ValueError(f"{name} must have shape ({sizes}), got {got}")):
                chex.assert_shape(array, shape)
    if same_shape:
        shapes = ", ".join(str(tuple(array.shape)) for array in given.values())
        with _raising(ValueError(f"{', '.join(given)} must have the same shape, got {shapes}")):
            chex.assert_equal_shape(list(given.values()))


@contextlib.contextmanager
def _raising(error: Exception) -> Iterator[None]:
    """Our words in place of chex's, which do not know the caller's names."""
    try:
        yield
    except AssertionError:
        raise error from None
