"""The ground floor: exact 64-bit integers for users; bits, rows and offsets, padded sizes within the library."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
