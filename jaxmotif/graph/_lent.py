"""Names that a room above lends to this one, as the reader of files: a graph may be given as a path."""

from importlib import import_module

HOMES: dict[str, str] = {}
"""The room of each name that is lent."""


def borrow(name: str):
    """Return what has a name in the room that lends it."""
    return getattr(import_module(f"jaxmotif.{HOMES[name]}"), name)
