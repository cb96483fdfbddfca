"""Division of a data set into groups of graphs that share one compiled call: few padded sizes, whatever the graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._sizes import floor_power_of_two, power_of_four
from jaxmotif.graph._batch import Graphs
from jaxmotif.graph._container import Graph

MOST_GROUPS = 4
"""The most padded sizes that a data set is divided into, since each size needs a program of its own."""

_NODES, _SLOTS = 32 << np.arange(27), 64 << 2 * np.arange(14)

WORTH_A_PROGRAM = 2.0**28
"""Steps (of about a nanosecond) that a further padded size must save, to be worth compiling a program."""


class Group(NamedTuple):
    """Graphs of one padded size.

    Attributes:
      which: int64, the indices of the graphs in the data set.
      nodes: the node capacity of each graph.
      slots: the slot capacity of each graph.
    """

    which: np.ndarray
    nodes: int
    slots: int

    def stacks(self, graphs: Graphs, room: int) -> Iterator[tuple[np.ndarray, Graph]]:
        """Yield the group in batches of one size, each with the indices of its real graphs.

        The last batch is filled with empty graphs.

        Args:
          graphs: the data set.
          room: about how many slots a batch may have in all.
        """
        most = max(floor_power_of_two(room // self.slots), 1)
        size = min(power_of_four(self.which.size, 16), most)
        for first in range(0, self.which.size, size):
            some = self.which[first : first + size]
            filled = np.pad(some, (0, size - some.size), constant_values=len(graphs))
            yield some, graphs.stack(filled, (self.nodes, self.slots))


def size_groups(graphs: Graphs, which: np.ndarray, steps: Callable[[int, int], float]) -> list[Group]:
    """Group some graphs of a data set by padded size, in at most :data:`MOST_GROUPS` groups.

    At first, node capacities are powers of two and slot capacities powers of four. Then groups are joined, two at a
    time, as long as there are too many, or as long as the additional padding costs less than compiling another
    program. The two groups whose union costs least are joined first.

    Args:
      graphs: the data set.
      which: int64, indices of the graphs to group.
      steps: the work that a graph takes, as a function of its node capacity and its slot capacity.

    Example:
      >>> graphs = Graphs.from_edges([[(0, 1)], [(0, 40)], [(0, 1), (1, 2)]])
      >>> [group.which.tolist() for group in size_groups(graphs, np.arange(3), lambda nodes, slots: nodes * slots)]
      [[0, 1, 2]]
    """
    key = _NODES.size * np.searchsorted(_SLOTS, graphs.slots[which]) + np.searchsorted(_NODES, graphs.n[which])
    keys, member = np.unique(key, return_inverse=True)
    capacity_of = {
        i: (int(_NODES[k % _NODES.size]), int(_SLOTS[k // _NODES.size])) for i, k in enumerate(keys.tolist())
    }
    number = dict(enumerate(np.bincount(member, minlength=len(capacity_of)).tolist()))

    def joined(i: int, j: int) -> tuple[float, tuple[int, int]]:
        (a, b), (c, d) = capacity_of[i], capacity_of[j]
        size = max(a, c), max(b, d)
        return sum(number[k] * (steps(*size) - steps(*capacity_of[k])) for k in (i, j)), size

    while len(capacity_of) > 1:
        cost, i, j = min((joined(i, j)[0], i, j) for i, j in combinations(capacity_of, 2))
        if cost > WORTH_A_PROGRAM and len(capacity_of) <= MOST_GROUPS:
            break
        capacity_of[i] = joined(i, j)[1]
        number[i] += number.pop(j)
        del capacity_of[j]
        member[member == j] = i
    return [Group(which[member == i], *size) for i, size in capacity_of.items()]
