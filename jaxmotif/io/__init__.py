"""Files: readers of every format, and what says which format a file is.

The names below load on first use: the command's help names the formats, and must not wait for JAX.
"""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
