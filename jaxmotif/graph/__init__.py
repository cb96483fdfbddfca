"""The graph container, and the ways to make one.

Each public name loads when it is first used, so that nobody waits for the import of names that are not needed. Some
names that have moved to other packages can still be imported from here.
"""

from jaxmotif.arrays._lazy import attach
from jaxmotif.graph._lent import HOMES, borrow

_load, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> object:
    return borrow(name) if name in HOMES else _load(name)
