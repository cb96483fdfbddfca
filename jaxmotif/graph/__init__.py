"""The graph container, and the ways to make one.

The names below load on first use, so that who needs one of them waits for no other.
"""

from importlib import import_module

TYPE_CHECKING = False  # importing typing takes most of the time of ``import jaxmotif``
if TYPE_CHECKING:
    from jaxmotif.arrays._sizes import bucket_size as bucket_size
    from jaxmotif.graph._batch import Graphs as Graphs
    from jaxmotif.graph._batch import disjoint_union as disjoint_union
    from jaxmotif.graph._batch import stack_graphs as stack_graphs
    from jaxmotif.graph._batch import unstack as unstack
    from jaxmotif.graph._coerce import GraphLike as GraphLike
    from jaxmotif.graph._coerce import GraphsLike as GraphsLike
    from jaxmotif.graph._coerce import as_graph as as_graph
    from jaxmotif.graph._coerce import as_graphs as as_graphs
    from jaxmotif.graph._container import Graph as Graph
    from jaxmotif.graph._fields import BuildReport as BuildReport
    from jaxmotif.graph._saved import GraphFileError as GraphFileError

_HOMES = {
    "BuildReport": "graph._fields",
    "Graph": "graph._container",
    "GraphFileError": "graph._saved",
    "GraphLike": "graph._coerce",
    "Graphs": "graph._batch",
    "GraphsLike": "graph._coerce",
    "as_graph": "graph._coerce",
    "as_graphs": "graph._coerce",
    "bucket_size": "arrays._sizes",
    "disjoint_union": "graph._batch",
    "stack_graphs": "graph._batch",
    "unstack": "graph._batch",
}

__all__ = [*_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


_lent: dict[str, str] = {}


def lend(homes: dict[str, str]) -> None:
    """Let names of rooms above be asked for here, too, where users knew them.

    Args:
      homes: the module of each name, without the package.
    """
    _lent.update(homes)


def __getattr__(name: str):
    if name in _lent:
        return getattr(import_module(f"jaxmotif.{_lent[name]}"), name)
    if name not in _HOMES:
        raise AttributeError(f"module 'jaxmotif.graph' has no attribute {name!r}")
    value = getattr(import_module(f"jaxmotif.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
