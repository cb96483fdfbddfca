"""Find and count small patterns in graphs with JAX, exactly: graphlets, subgraph matching, motifs, graph motifs.

The names below load on first use, so ``import jaxmotif`` itself costs next to nothing and starts no JAX backend.
"""

from importlib import import_module

from jaxmotif.graph import lend
from jaxmotif.graph._files import register_reader

TYPE_CHECKING = False  # for type checkers: importing typing is most of the time in which Ctrl-C is not heard yet
if TYPE_CHECKING:
    from jaxmotif import datasets as datasets
    from jaxmotif.arrays._program_cache import keep_compiled as keep_compiled
    from jaxmotif.features import pattern_features as pattern_features
    from jaxmotif.graph import Graph as Graph
    from jaxmotif.graphlets import edge_graphlets as edge_graphlets
    from jaxmotif.graphlets import graphlet_counts as graphlet_counts
    from jaxmotif.graphlets import node_orbits as node_orbits
    from jaxmotif.io import read_graph as read_graph
    from jaxmotif.matching import count_matches as count_matches
    from jaxmotif.matching import find_matches as find_matches
    from jaxmotif.matching import has_match as has_match
    from jaxmotif.matching import iter_matches as iter_matches
    from jaxmotif.matching import occurrences as occurrences
    from jaxmotif.matching import participation_counts as participation_counts
    from jaxmotif.matching import query as query
    from jaxmotif.motifs import estimate_census as estimate_census
    from jaxmotif.motifs import find_motifs as find_motifs
    from jaxmotif.motifs import random_graphs as random_graphs
    from jaxmotif.motifs import sample_subgraphs as sample_subgraphs
    from jaxmotif.motifs import subgraph_census as subgraph_census
    from jaxmotif.sieve import ColorMotifs as ColorMotifs
    from jaxmotif.sieve import find_color_motif as find_color_motif

__version__ = "0.1.0"

_HOMES = {
    "keep_compiled": "arrays._program_cache",
    "pattern_features": "features",
    "Graph": "graph",
    "read_graph": "io",
    "graphlet_counts": "graphlets",
    "edge_graphlets": "graphlets",
    "node_orbits": "graphlets",
    "count_matches": "matching",
    "find_matches": "matching",
    "has_match": "matching",
    "iter_matches": "matching",
    "occurrences": "matching",
    "participation_counts": "matching",
    "query": "matching",
    "estimate_census": "motifs",
    "find_motifs": "motifs",
    "random_graphs": "motifs",
    "sample_subgraphs": "motifs",
    "subgraph_census": "motifs",
    "ColorMotifs": "sieve",
    "find_color_motif": "sieve",
}
_MODULES = ("datasets",)

__all__ = ["__version__", *_HOMES, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name in _HOMES:
        value = getattr(import_module(f"jaxmotif.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"jaxmotif.{name}")
    else:
        raise AttributeError(f"module 'jaxmotif' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _read_path(*args, **kwargs):
    """Read a file for a front door that was given its path."""
    from jaxmotif.io import read_graph

    return read_graph(*args, **kwargs)


register_reader(_read_path)
lend({"read_graph": "io", "format_table": "io"})
