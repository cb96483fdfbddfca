"""Find and count small patterns in graphs with JAX, exactly: graphlets, subgraph matching, motifs, graph motifs.

The names below load on first use, so ``import jaxmotif`` itself costs next to nothing and starts no JAX backend.
"""

from jaxmotif.arrays._lazy import attach
from jaxmotif.graph import lend
from jaxmotif.graph._files import register_reader

__version__ = "0.1.0"

__getattr__, __dir__, _names = attach(__name__, __file__)
__all__ = ["__version__", *_names]  # pyright: ignore[reportUnsupportedDunderAll]


def _read_path(*args, **kwargs):
    """Read a file for a front door that was given its path."""
    from jaxmotif.io import read_graph

    return read_graph(*args, **kwargs)


register_reader(_read_path)
lend({"read_graph": "io", "format_table": "io"})
