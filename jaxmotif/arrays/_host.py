"""Arrays of NumPy that JAX takes over."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike

_LINE = 64


def zeros_for_jax(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Return zeros that ``jax.device_put`` need not copy on a CPU, since they begin at a whole line of the cache.

    Memory is taken as it is written to.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + _LINE, np.uint8)
    first = -room.ctypes.data % _LINE
    return room[first : first + size].view(dtype).reshape(shape)
