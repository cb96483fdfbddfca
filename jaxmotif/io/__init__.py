"""Files: readers of every format, and what says which format a file is.

The names below load on first use: the command's help names the formats, and must not wait for JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmotif.graph._saved import GraphFileError as GraphFileError
    from jaxmotif.io._read import read_graph as read_graph
    from jaxmotif.io._registry import format_table as format_table
    from jaxmotif.io._write import write_graph as write_graph

_HOMES = {
    "GraphFileError": "graph._saved",
    "format_table": "io._registry",
    "read_graph": "io._read",
    "write_graph": "io._write",
}

__all__ = [*_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'jaxmotif.io' has no attribute {name!r}")
    value = getattr(import_module(f"jaxmotif.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
