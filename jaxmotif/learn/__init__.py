"""Graphlets and patterns as features for learning (extra ``learn``).

Here for scikit-learn; :mod:`jaxmotif.learn.pyg` for PyTorch Geometric, :mod:`jaxmotif.learn.jraph` for jraph. A
library is imported when a name that needs it is first used.
"""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
