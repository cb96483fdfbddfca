"""64-bit exact integers, whether or not the user has switched JAX to 64 bits (contract: exact or flagged).

Outside its 64-bit mode, which ``jax.enable_x64`` opens for a block of code, JAX makes no int64 array, and turns one
into int32 where it meets another operand. An array that was made in that mode keeps its values everywhere else: through
``jit``, ``vmap``, loops and sums over devices. :class:`Int64` holds such an array, computes in that mode, and refuses
what would truncate the values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.typing import DTypeLike

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._fetch import fetch_int64

LEAST, MOST = -(2**63), 2**63 - 1
"""The smallest and the largest value."""

REMEDIES = (
    "take .astype('float32'), .checked_cast('int32'), which says whether all values fit, or, outside jit, .to_numpy()"
)

Axis = int | tuple[int, ...] | None


class Int64:
    """Exact signed 64-bit integers on a device, for code inside ``jax.jit`` and outside.

    Sums, differences and comparisons are exact in every mode of JAX. Beside an array of JAX an ``Int64`` must stand
    first, since JAX itself computes ``array + Int64``, in 32 bits. Functions of ``jax.numpy`` are refused unless all
    values fit int32, since JAX computes in 32 bits: use ``astype`` first. As a pytree an ``Int64`` has one leaf, an
    int64 array, so that ``jit``, ``vmap``, ``jax.lax.psum`` and ``jax.device_put`` take it; a function over leaves that
    returns another dtype is refused.

    Outside ``jit`` a result beyond 63 bits raises ``OverflowError``. Inside, where nothing can be raised, it wraps
    modulo 2^64: :meth:`checked_sum`, :meth:`checked_cast` and :func:`checked_psum` say whether it did.

    Example:
      >>> counts = Int64.of([2**40 + 3, 1])
      >>> counts.tolist(), int(counts[0] - 4), (counts > 1).tolist(), int(counts.sum())
      ([1099511627779, 1], 1099511627775, [True, False], 1099511627780)
      >>> counts.astype("float32").tolist()
      [1099511627776.0, 1.0]
      >>> jax.numpy.asarray(counts)
      Traceback (most recent call last):
      TypeError: Int64: values from 1 to 1099511627779 do not fit int32, in which JAX would compute; take ...
    """

    __slots__ = ("_rows", "_stored")
    __hash__ = None  # pyright: ignore[reportAssignmentType]  (equality is by element)
    # NumPy leaves an operation with one of its arrays to this class.
    __array_priority__ = 1000

    def __init__(self, stored: Any, rows: int | None = None):
        """Hold stored integers; users call :meth:`of`.

        Args:
          stored: an int64 array.
          rows: how many rows of it are values; the others are padding. ``None``: all.
        """
        self._stored = stored
        self._rows = rows

    @classmethod
    def of(cls, values: Any) -> Int64:
        """Return integers as ``Int64``: of Python, NumPy or JAX, traced ones too.

        Raises:
          TypeError: for values that are no integers.
          OverflowError: for values that need more than 63 bits and a sign.
        """
        if isinstance(values, Int64):
            return values
        traced, unsigned = isinstance(values, Tracer), getattr(values, "dtype", None) == np.uint64
        if not isinstance(values, jax.Array) or (unsigned and not traced):
            values = _checked(np.asarray(values))
        elif unsigned or not jnp.issubdtype(values.dtype, jnp.integer):
            raise TypeError(f"Int64.of takes integers, got {values.dtype}" + " while traced" * unsigned)
        with jax.enable_x64(True):
            return cls(jnp.asarray(values, jnp.int64))

    @classmethod
    def of_rows(cls, counts: jax.Array | np.ndarray, rows: int) -> Int64:
        """Return the first rows of an int64 array, which is neither copied nor waited for."""
        if isinstance(counts, np.ndarray):
            return cls.of(counts[:rows])
        return cls(counts, None if rows == counts.shape[0] else rows)

    @property
    def int64(self) -> jax.Array:
        """The values as an int64 array, for code inside ``with jax.enable_x64(True)``: elsewhere JAX truncates it."""
        stored, rows = self._stored, self._rows
        if rows is None and isinstance(stored, jax.Array):
            return stored
        with jax.enable_x64(True):
            if isinstance(stored, np.ndarray):  # what jax.device_get gives
                return jnp.asarray(stored)
            if not isinstance(stored, Tracer) and next(iter(stored.devices())).platform == "cpu":  # nothing to compile
                values = jax.device_put(np.asarray(stored)[:rows], stored.sharding)
            else:
                values = stored[:rows]
        if not isinstance(values, Tracer):  # which would outlive its trace
            self._stored, self._rows = values, None
        return values

    @property
    def shape(self) -> tuple[int, ...]:
        shape = tuple(self._stored.shape)
        return shape if self._rows is None else (self._rows, *shape[1:])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> np.dtype:
        """int64, always."""
        return np.dtype(np.int64)

    def devices(self) -> set[jax.Device]:
        """Return the devices that hold the values."""
        return self._stored.devices()

    def block_until_ready(self) -> Int64:
        """Wait until the values have been computed, and return them."""
        jax.block_until_ready(self._stored)
        return self

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an Int64 without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Int64]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Int64:
        """Return the values at an index, as of any array."""
        if not any(isinstance(part, Tracer) for part in jax.tree.leaves(index)):
            # JAX would return the last element in the place of one that is not there; NumPy refuses the index.
            np.broadcast_to(np.False_, self.shape)[index]
        with jax.enable_x64(True):
            return Int64(self.int64[index])

    def reshape(self, *shape: Any) -> Int64:
        """Return the values in another shape."""
        with jax.enable_x64(True):
            return Int64(self.int64.reshape(*shape))

    @property
    def T(self) -> Int64:
        """The values with their axes reversed."""
        with jax.enable_x64(True):
            return Int64(self.int64.T)

    def __add__(self, other: Any) -> Int64:
        return self._combined(other, _add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Int64:
        return self._combined(other, _subtract)

    def __rsub__(self, other: Any) -> Int64:
        return self._combined(other, lambda ours, theirs: _subtract(theirs, ours))

    def __neg__(self) -> Int64:
        return 0 - self

    def __pos__(self) -> Int64:
        return self

    def __eq__(self, other: object) -> Any:
        return self._compared(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, operator.ne)

    def __lt__(self, other: Any) -> jax.Array:
        return self._compared(other, operator.lt)

    def __le__(self, other: Any) -> jax.Array:
        return self._compared(other, operator.le)

    def __gt__(self, other: Any) -> jax.Array:
        return self._compared(other, operator.gt)

    def __ge__(self, other: Any) -> jax.Array:
        return self._compared(other, operator.ge)

    def sum(self, axis: Axis = None) -> Int64:
        """Return the sum over some axes (default: all).

        Raises:
          OverflowError: outside ``jit``, where a sum needs more than 63 bits and a sign.
        """
        total, fits = self.checked_sum(axis)
        return _unless_wrapped(total, fits)

    def checked_sum(self, axis: Axis = None) -> tuple[Int64, jax.Array]:
        """Return the sum over some axes (default: all) modulo 2^64, and a bool scalar: whether all sums fit 63 bits."""
        total, fits = _sum(self.int64, axis=axis)
        return Int64(total), fits

    def max(self, axis: Axis = None) -> Int64:
        """Return the largest value over some axes (default: all)."""
        with jax.enable_x64(True):
            return Int64(self.int64.max(axis))

    def min(self, axis: Axis = None) -> Int64:
        """Return the smallest value over some axes (default: all)."""
        with jax.enable_x64(True):
            return Int64(self.int64.min(axis))

    def astype(self, dtype: DTypeLike) -> jax.Array:
        """Return the values in another dtype: floats correctly rounded, integers if they fit.

        Raises:
          OverflowError: for values that an integer dtype does not hold.
          TypeError: for an integer dtype inside ``jit``, where nobody can tell whether values fit; for 64-bit integers
            outside JAX's 64-bit mode, where they would not last; for what is neither a float nor an integer.
        """
        kind = jnp.dtype(dtype)
        if jnp.issubdtype(kind, jnp.floating):
            with jax.enable_x64(True):
                return lax.convert_element_type(self.int64, kind)
        values, fits = self.checked_cast(kind)
        if isinstance(fits, Tracer):
            if kind == np.int64:
                return values
            raise TypeError(
                f"Int64.astype({kind.name!r}) inside jit cannot refuse values that do not fit; use "
                f"checked_cast({kind.name!r}), which returns the values and whether all fit, or .astype('float32')"
            )
        if not fits:
            raise OverflowError(
                f"Int64: {self._range()} do not fit {kind.name}; take .to_numpy() or .astype('float32')"
            )
        return values

    def checked_cast(self, dtype: DTypeLike) -> tuple[jax.Array, jax.Array]:
        """Return the values in an integer dtype, and a bool scalar: whether all fit. Values that do not, wrap.

        Raises:
          TypeError: for another dtype, or 64-bit integers outside JAX's 64-bit mode.
        """
        kind = jnp.dtype(dtype)
        if not jnp.issubdtype(kind, jnp.integer):
            raise TypeError(f"Int64 is cast to floats (astype) and integers, got {kind.name}; compare for bool: x != 0")
        if kind.itemsize == 8 and not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
            raise TypeError(
                f"JAX has no {kind.name} outside its 64-bit mode, and truncates such arrays: keep the Int64, or "
                f"{REMEDIES}"
            )
        return _cast(self.int64, dtype=kind)

    def tolist(self) -> Any:
        """Return the values as Python integers, in lists (host only)."""
        return self.to_numpy().tolist()

    item = tolist

    def to_numpy(self) -> np.ndarray:
        """Return the values as NumPy int64 (host only)."""
        return fetch_int64(self._stored, len(self)) if self.shape else np.asarray(self._stored)

    def __int__(self) -> int:
        return self._scalar("an integer")

    __index__ = __int__

    def __float__(self) -> float:
        return float(self._scalar("a float"))

    def __bool__(self) -> bool:
        return bool(self._scalar("a truth value"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.to_numpy(), dtype=dtype, copy=None if copy is False else copy)

    def __jax_array__(self) -> jax.Array:
        if jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
            return self.int64
        values, fits = _cast(self.int64, dtype=np.dtype(np.int32))
        if isinstance(fits, Tracer):
            raise TypeError(f"Int64: JAX would compute in 32 bits, and inside jit values may not fit; {REMEDIES}")
        if not fits:
            raise TypeError(f"Int64: {self._range()} do not fit int32, in which JAX would compute; {REMEDIES}")
        return values

    def __dlpack__(self, **options: Any) -> Any:
        return self.int64.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self.int64.__dlpack_device__()  # pyright: ignore[reportAttributeAccessIssue]

    def __reduce__(self) -> tuple[Any, ...]:  # a JAX array that is read again outside the 64-bit mode is truncated
        return Int64.of, (self.to_numpy(),)

    def __repr__(self) -> str:
        if isinstance(self._stored, jax.Array | np.ndarray) and not isinstance(self._stored, Tracer):
            return f"Int64({np.array2string(self.to_numpy(), separator=', ', prefix='Int64(')})"
        return f"Int64({self._stored!r})"

    def _scalar(self, wanted: str) -> int:
        """Return the only value, or say that there are several."""
        if self.shape:
            raise TypeError(f"only an Int64 without axes is {wanted}, got shape {self.shape}; index it, or take .sum()")
        return int(self.to_numpy())

    def _range(self) -> str:
        """Return the smallest and the largest value in words."""
        return f"values from {int(self.min())} to {int(self.max())}"

    def _combined(self, other: Any, combine: Callable[[jax.Array, Any], tuple[jax.Array, jax.Array]]) -> Any:
        theirs = _integers(other)
        if theirs is None:
            return NotImplemented
        if isinstance(theirs, int):
            theirs = np.asarray(_checked(np.asarray(theirs)), np.int64)
        values, fits = combine(self.int64, theirs)
        return _unless_wrapped(Int64(values), fits)

    def _compared(self, other: Any, compare: Callable[[Any, Any], Any]) -> Any:
        theirs = _integers(other)
        if theirs is None:
            return NotImplemented
        if isinstance(theirs, int):
            if not LEAST <= theirs <= MOST:  # beyond all values, so that any of them tells
                return jnp.full(self.shape, bool(compare(0, theirs)))
            theirs = np.int64(theirs)
        return _compare(self.int64, theirs, compare=compare)


def checked_psum(counts: Int64, axis_name: Any) -> tuple[Int64, jax.Array]:
    """Return the sum of counts over the devices of a mesh axis, and whether all sums fit 63 bits, a bool scalar.

    For functions under ``jax.shard_map``. ``jax.lax.psum`` carries over 32 bits as well; it does not say when a sum
    passes 63.

    Args:
      counts: the counts of each device, all of one shape.
      axis_name: the name that ``jax.lax.psum`` takes.
    """
    with jax.enable_x64(True):
        values = counts.int64
        low, high = lax.psum((values & _LOW, values >> 32), axis_name)
        total, fits = join_halves(low, high)
    return Int64(total), fits


def _flatten(values: Int64) -> tuple[tuple[Any], None]:
    stored = values._stored
    return (values.int64 if isinstance(stored, jax.Array | np.ndarray) else stored,), None


def _unflatten(_: None, leaves: tuple[Any]) -> Int64:
    """Rebuild from a leaf, which may be any object: JAX puts shapes, axes and placeholders there."""
    (leaf,) = leaves
    if isinstance(leaf, jax.Array | np.ndarray) and leaf.dtype not in (np.int64, jax.dtypes.float0):
        raise TypeError(
            f"an Int64 holds int64 values, and a function over leaves (jax.tree.map) made {leaf.dtype} of them; "
            f"{REMEDIES}; jax.tree.map(..., is_leaf=lambda x: isinstance(x, Int64)) gives it whole"
        )
    return Int64(leaf)


jax.tree_util.register_pytree_node(Int64, _flatten, _unflatten)

_LOW = np.int64(2**32 - 1)


def _checked(values: np.ndarray) -> np.ndarray:
    """Return integers of any kind as int64, or refuse them."""
    are_python_integers = values.dtype == object and all(isinstance(x, int | np.integer) for x in values.flat)
    if values.dtype.kind not in "iu" and values.size and not are_python_integers:
        raise TypeError(f"Int64 takes integers, got {values.dtype}")
    if values.dtype.kind in "uO" and values.dtype.itemsize == 8 and values.size:
        least, most = int(values.min()), int(values.max())
        if least < LEAST or most > MOST:
            raise OverflowError(
                f"Int64: values from {least} to {most} need more than 63 bits; use Python integers, or floats"
            )
    return values.astype(np.int64)


def _integers(other: Any) -> Any:
    """Return the operand of an operation: a Python integer or an int64 array; ``None`` for what is no number."""
    if isinstance(other, Int64):
        return other.int64
    if isinstance(other, bool | int | np.integer | np.bool_):
        return int(other)
    if isinstance(other, float | complex | np.inexact):
        raise TypeError(f"Int64 and {type(other).__name__} do not mix exactly; take an integer, or .astype('float32')")
    if isinstance(other, np.ndarray):
        return _checked(other)
    if isinstance(other, jax.Array):
        if not jnp.issubdtype(other.dtype, jnp.integer) or other.dtype == np.uint64:
            raise TypeError(f"Int64 and {other.dtype} do not mix exactly; take integers, or .astype('float32')")
        with jax.enable_x64(True):
            return lax.convert_element_type(other, jnp.int64)
    return None


def _unless_wrapped(values: Int64, fits: jax.Array) -> Int64:
    """Return values, or refuse them outside ``jit`` where they have wrapped."""
    if not isinstance(fits, Tracer) and not fits:
        raise OverflowError(
            "Int64: a result needs more than 63 bits; take .to_numpy().astype(object), Python integers, or floats"
        )
    return values


@jit64
def _add(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, y = jnp.broadcast_arrays(x, y)
    total = x + y
    # It wraps where both have the sign that the sum has not.
    return total, (((x ^ total) & (y ^ total)) >= 0).all()


@jit64
def _subtract(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, y = jnp.broadcast_arrays(x, y)
    difference = x - y
    return difference, (((x ^ y) & (x ^ difference)) >= 0).all()


@partial(jit64, static_argnames="compare")
def _compare(x: jax.Array, y: jax.Array, *, compare: Callable[[Any, Any], Any]) -> jax.Array:
    return compare(*jnp.broadcast_arrays(x, y))


@partial(jit64, static_argnames="axis")
def _sum(x: jax.Array, *, axis: Axis) -> tuple[jax.Array, jax.Array]:
    return join_halves((x & _LOW).sum(axis), (x >> 32).sum(axis))


def join_halves(low: jax.Array, high: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return ``low + 2^32 high``, sums of halves, and whether all fit 63 bits; the halves themselves do."""
    high = high + (low >> 32)
    fits = (high >= -(2**31)) & (high < 2**31)
    return (high << 32) | (low & _LOW), fits.all()


@partial(jit64, static_argnames="dtype")
def _cast(x: jax.Array, *, dtype: np.dtype) -> tuple[jax.Array, jax.Array]:
    limits = jnp.iinfo(dtype)
    fits = (x >= int(limits.min)) & (x <= min(int(limits.max), MOST))
    return x.astype(dtype), fits.all()
