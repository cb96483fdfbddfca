"""Subgraph matching: where, and how often, a labelled query graph occurs in a target graph."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
