"""Checker of certificates: plain Python and NumPy, with no import from the rest of the package.

A copy of this folder runs alone: ``python -m verify CERTIFICATE EDGES``.
"""

from ._check import Report, check
from ._graph import SimpleGraph, graph_from_edges

__all__ = ["Report", "SimpleGraph", "check", "graph_from_edges"]
