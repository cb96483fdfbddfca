"""Find and count small patterns in graphs with JAX, exactly: graphlets, subgraph matching, motifs, graph motifs.

The names below load on first use, so ``import jaxmotif`` itself costs next to nothing and starts no JAX backend.
"""

from jaxmotif.arrays._lazy import attach
from jaxmotif.graph._lent import HOMES

__version__ = "0.1.0"

__getattr__, __dir__, _names = attach(__name__, __file__)
__all__ = ["__version__", *_names]  # pyright: ignore[reportUnsupportedDunderAll]

HOMES.update({"read_graph": "io", "format_table": "io"})
