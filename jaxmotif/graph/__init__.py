"""The graph container, and the ways to make one.

The names below load on first use, so that who needs one of them waits for no other.
"""

from importlib import import_module

from jaxmotif.arrays._lazy import attach

_load, __dir__, __all__ = attach(__name__, __file__)

_lent: dict[str, str] = {}


def lend(homes: dict[str, str]) -> None:
    """Let names of rooms above be asked for here, too, where users knew them.

    Args:
      homes: the module of each name, without the package.
    """
    _lent.update(homes)


def __getattr__(name: str) -> object:
    if name in _lent:
        return getattr(import_module(f"jaxmotif.{_lent[name]}"), name)
    return _load(name)
