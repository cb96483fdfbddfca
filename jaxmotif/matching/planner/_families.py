"""Results of planning, in NumPy or on a device: the domains in a target, and families of candidate lists.

The target is reduced to the nodes in some domain and the slots between them, renumbered in ascending order. A list
family (pair kind, query node x) holds, for every node u of the reduced target, the nodes w of x's domain such that
(u, w) fulfils the kind, ascending.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmotif.matching._target import Target


class FilteredDomains(NamedTuple):
    """The domains that the filters leave.

    Attributes:
      bits: uint32 ``[W, N]`` where the target lies: bit ``u % 32`` of word ``u // 32`` for query node u.
      sizes: int64 ``[k]``, how many target nodes each domain has.
      nodes: how many target nodes are in any domain.
      slots: how many slots of one direction the target has between such nodes.
    """

    bits: Any
    sizes: np.ndarray
    nodes: int
    slots: int

    @property
    def empty(self) -> bool:
        """Return whether there can be no match: a domain is empty, or fewer target nodes than query nodes are left."""
        return self.sizes.min() == 0 or self.nodes < len(self.sizes)


class Families(NamedTuple):
    """Families of candidate lists in a reduced target.

    Attributes:
      target: the target between the nodes that the domains leave.
      bits: uint32 ``[W, N]``, the domains.
      kinds: int32 ``[C, 6]``, pair kinds.
      rows: int32 ``[J, 2]``, pair kind and query node of each family, padded.
      count: int32, how many families there are.
    """

    target: Target
    bits: Any
    kinds: Any
    rows: Any
    count: Any
