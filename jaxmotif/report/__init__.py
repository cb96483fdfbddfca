"""HTML pages of the results of the jobs, with drawings of small graphs (see ``jaxmotif.drawing``)."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
