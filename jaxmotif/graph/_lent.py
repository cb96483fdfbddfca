"""Names that other packages lend to this one, which must not import them.

For example, a graph may be given as a path, so the reader of files is needed here, but it builds on this package.
"""

from importlib import import_module

HOMES: dict[str, str] = {}
"""The package that lends each name."""


def borrow(name: str):
    """Return the object of a lent name, by importing it from the package that lends it."""
    return getattr(import_module(f"jaxmotif.{HOMES[name]}"), name)
