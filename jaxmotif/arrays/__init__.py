"""Foundations of the package: exact 64-bit integers for users; internally also bits, rows and padded sizes."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
