"""The reader of files, which a room above provides: a graph may be given as a path, but this room reads no formats."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes most of the time of ``import jaxmotif``
if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from jaxmotif.graph._container import Graph

_readers: list[Callable[..., Graph]] = []


def register_reader(reader: Callable[..., Graph]) -> None:
    """Make a function the reader of graphs that are given as paths.

    Args:
      reader: takes a path, ``directed`` and ``attributes=``, as :func:`jaxmotif.read_graph` does.
    """
    _readers[:] = [reader]


def read_path(path: str | os.PathLike[str], directed: bool | None, attributes: bool) -> Graph:
    """Return the graph in a file, as the registered reader reads it."""
    return _readers[0](path, directed, attributes=attributes)
