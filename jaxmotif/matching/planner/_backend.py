"""The interface of planning: all that a plan asks of the target, and the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from jaxmotif.matching._options import Options
from jaxmotif.matching._target import Target
from jaxmotif.matching.planner._ask import QueryConstraints


class FilteredDomains(NamedTuple):
    """The domains that the filters leave.

    Attributes:
      bits: uint32 ``[W, N]`` where the target lies: bit ``u % 32`` of word ``u // 32`` for query node u.
      sizes: int64 ``[k]``, target nodes in each domain.
      nodes: of the target, in any domain.
      slots: of the target, of one direction, between such nodes.
    """

    bits: Any
    sizes: np.ndarray
    nodes: int
    slots: int

    @property
    def empty(self) -> bool:
        """Return whether some query node can be mapped nowhere, or all to fewer nodes than they are: no match then."""
        return self.sizes.min() == 0 or self.nodes < len(self.sizes)


class Reduced(NamedTuple):
    """The target between the nodes that the domains leave, and the domains, uint32 ``[W, N]``."""

    target: Target
    bits: Any


class Families(NamedTuple):
    """Families of candidate lists in a reduced target.

    Attributes:
      reduced: the target and the domains.
      kinds: int32 ``[C, 6]``, pair kinds.
      rows: int32 ``[J, 2]``, pair kind and query node of each family, padded.
      count: int32, how many families there are.
    """

    reduced: Reduced
    kinds: Any
    rows: Any
    count: Any


class FreeDomains(NamedTuple):
    """Query nodes whose whole domains are listed, as no earlier node leads to them.

    Attributes:
      nodes: int32 ``[F]``, padded.
      count: int32, how many there are.
      starts: int32 ``[F + 1]``, where the domain of each begins in the entries.
    """

    nodes: Any
    count: Any
    starts: Any


class ListSizes(NamedTuple):
    """The lengths of candidate lists, and how the domains overlap.

    Attributes:
      offsets: int32 ``[J, N + 1]`` of every list family, each from 0, where the target lies.
      totals, longest: integers ``[J]``, entries and longest list.
      typical: float32 ``[J]``, the length of the list that an entry is in, on average.
      meet: bool ``[K, K]``, which domains have a node in common.
      within: bool ``[K, K]``, which domains (rows) lie within which.
    """

    offsets: Any
    totals: np.ndarray
    longest: np.ndarray
    typical: np.ndarray
    meet: np.ndarray
    within: np.ndarray


class PlanningBackend(ABC):
    """All that a plan asks of the target, answered where the target lies.

    Two backends give the same bits. The host's, in NumPy, compiles nothing and works in exact sizes: it wins while the
    pairs of the query times the slots of the target (a sixteenth of these, where there are labels) are below
    :attr:`jaxmotif.matching._sizes.PlanSizes.host_work`. The device's compiles for each padded size and wins beyond.
    """

    making: int
    """The memory that it takes to make lists and matrices, as a multiple of theirs."""

    @abstractmethod
    def filter_domains(
        self, target: Target, asked: QueryConstraints, allowed: np.ndarray | None, options: Options
    ) -> FilteredDomains:
        """Return which target nodes each query node can be mapped to.

        Args:
          target: its index.
          asked: by the query.
          allowed: uint32 ``[W, N]``, domains to begin with, or ``None`` for all nodes.
          options: which filters are used, and until when.

        Raises:
          TimeIsUp: the deadline of the options passed.
        """

    @abstractmethod
    def capacity(self, count: int, least: int, words: bool = False) -> int:
        """Return the size of an axis for a number of things; for ``words`` of 32 bits a multiple of 32."""

    @abstractmethod
    def matrix_words(self, most: int, slots: int) -> int:
        """Return how many words bit matrices may take, at most, for a target of a number of slots."""

    @abstractmethod
    def reduce_target(self, target: Target, bits: Any, *, nodes: int, slots: int) -> Reduced:
        """Keep the nodes in some domain and the slots between them, at capacities that hold them."""

    @abstractmethod
    def measure_lists(self, families: Families, options: Options) -> ListSizes:
        """Lay out the list families, until a deadline of the options."""

    @abstractmethod
    def fill_lists(
        self, families: Families, offsets: Any, starts: np.ndarray, free: FreeDomains, *, capacity: int
    ) -> tuple[Any, Any, Any]:
        """Write the list families, and whole domains for the nodes that no earlier node leads to.

        Args:
          offsets: int32 ``[J, N + 1]``, as measured.
          starts: int32 ``[J]``, where each family begins in the entries.
          capacity: entries.

        Returns:
          Flat int32 offsets ``[J (N + 1) + 2 F]``, the bounds of whole domains last; entries; and the domains' bits,
          int32 ``[W N]``.
        """

    @abstractmethod
    def bit_matrices(self, families: Families, chosen: np.ndarray, *, count: int) -> Any:
        """Return adjacency by pair kind as bits: int32, ``count`` matrices of N rows of N / 32 words."""

    @abstractmethod
    def number_nodes(self, bits: Any, unions: np.ndarray) -> tuple[Any, np.ndarray]:
        """Assign numbers to the nodes in unions of domains, from 1 in ascending order; 0 stands for nodes outside.

        Args:
          bits: uint32 ``[W, N]``, the domains.
          unions: uint32 ``[G, W]``, the query nodes of each union as bits.

        Returns:
          Int32 ``[G, N]`` where the target lies, and integers ``[G]``, how many nodes each union has.
        """

    @abstractmethod
    def bit_rows(self, families: Families, ranks: Any, rows: np.ndarray, *, capacity: int) -> Any:
        """Return the lists of some families as bit rows over numberings, int32.

        Args:
          ranks: int32 ``[G, N]`` of :meth:`number_nodes`.
          rows: int32 ``[R, 4]``: list family, numbering, words of a row, first word.
          capacity: words.
        """

    @abstractmethod
    def pad_first_axis(self, arrays: tuple[Any, ...], least: tuple[int, ...]) -> tuple[Any, ...]:
        """Return arrays that a search reads in few sizes, from least numbers of entries on, to share programs."""
