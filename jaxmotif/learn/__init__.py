"""Graphlets and patterns as features for learning (extra ``learn``).

Here for scikit-learn; :mod:`jaxmotif.learn.pyg` for PyTorch Geometric, :mod:`jaxmotif.learn.jraph` for jraph.
"""

from jaxmotif.learn._data import read_tu
from jaxmotif.learn._sklearn import (
    GraphletFeatures,
    GraphletKernel,
    OrbitFeatures,
    PatternFeatures,
    WeisfeilerLehmanKernel,
)

__all__ = [
    "GraphletFeatures",
    "GraphletKernel",
    "OrbitFeatures",
    "PatternFeatures",
    "WeisfeilerLehmanKernel",
    "read_tu",
]
