"""The graph container, and the ways to make one.

The names below load on first use, so that who needs one of them waits for no other. Names of rooms above that users
knew here can be asked for here, too.
"""

from jaxmotif.arrays._lazy import attach
from jaxmotif.graph._lent import HOMES, borrow

_load, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> object:
    return borrow(name) if name in HOMES else _load(name)
