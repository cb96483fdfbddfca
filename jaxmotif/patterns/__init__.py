"""Small graphs on the host: patterns, their symmetries and orders, and the names of the field."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
