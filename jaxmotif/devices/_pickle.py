"""Calls and their results as bytes, for the workers of a cluster: the only place where anything is pickled.

Random keys, which JAX does not pickle, go as their data. 64-bit arrays stay what they are. Objects of the call that are
in its result, such as its graph, are not sent back: the result has the very objects that the user gave.
"""

from __future__ import annotations

import functools
import io
import pickle
from collections.abc import Mapping
from typing import Any

import cloudpickle
import jax
import numpy as np


def dumps(content: Any, known: Mapping[str, Any]) -> bytes:
    """Return an object as bytes.

    Args:
      content: The object.
      known: Objects by name that :func:`loads` is given as well; of these only the names are sent.
    """
    buffer = io.BytesIO()
    _Pickler(buffer, known).dump(content)
    return buffer.getvalue()


def loads(content: bytes, known: Mapping[str, Any]) -> Any:
    """Return the object that :func:`dumps` made bytes of; ``known`` has objects by name."""
    unpickler = pickle.Unpickler(io.BytesIO(content))
    unpickler.persistent_load = known.__getitem__
    with jax.enable_x64(True):
        return unpickler.load()


class _Pickler(cloudpickle.Pickler):
    def __init__(self, buffer: io.BytesIO, known: Mapping[str, Any]):
        super().__init__(buffer)
        # Small values, such as a number, may be anywhere in a result by chance.
        self._names = {id(x): name for name, x in known.items() if not isinstance(x, int | float | str | None)}

    def persistent_id(self, obj: Any) -> str | None:
        return self._names.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, jax.Array) and jax.numpy.issubdtype(obj.dtype, jax.dtypes.prng_key):
            wrap = functools.partial(jax.random.wrap_key_data, impl=str(jax.random.key_impl(obj)))
            return wrap, (np.asarray(jax.random.key_data(obj)),)
        return super().reducer_override(obj)
