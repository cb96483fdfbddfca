"""Graph files: readers of every format, recognition of the format of a file, and writers.

The public names load when they are first used: the command's help names the formats, and must not wait for JAX.
"""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
