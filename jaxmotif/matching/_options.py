"""Options of a search: the advanced ones that users give, and all that a plan is made by."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from jaxmotif.arrays._checks import check_switch, whole_number
from jaxmotif.devices._memory import check_memory
from jaxmotif.search._deadline import NO_DEADLINE, Deadline

FILTERS = ("label", "degree", "frequency", "consistency")
"""Filters that shrink the domains before a search (:mod:`jaxmotif.matching.planner._device`)."""

SMALL_MEMORY = 2**26
"""Bytes to work in that a small search in NumPy may take."""

Order = Literal["ri"] | Sequence[int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Search:
    """Options of a search: every choice gives the same counts and matches, sooner or later.

    Attributes:
      engine: ``"search"`` for a level search, or ``"equations"`` for the sums of a plain query (counts alone);
        ``None``: what is less work, or the search if any other option is given.
      order: the matching order: ``"ri"``, or a permutation of the query nodes.
      filters: which of :data:`FILTERS` shrink the domains before the search; ``"label"`` is always among them where
        there are labels.
      leaves: count independent query nodes in closed form instead of one by one (counts alone).
      symmetry: search one of the maps that automorphisms exchange, and multiply (counts alone).
      lookahead: drop partial matches that leave some later node without candidates; ``None``: once a search has tested
        many candidates and found few matches.
      pieces: count the sides of a query that falls apart without one or two of its nodes, and multiply (counts alone,
        on one device); ``None``: once a search has taken some seconds, if no node can be in both sides.
      block: candidates a step tests; ``None``: by the device and memory, or a small search is done in NumPy.
      max_steps: stop after that many steps of search (counts on one device alone).

    Raises:
      ValueError, TypeError: for what is none of these.

    Example:
      >>> Search(leaves=False, block=4096).symmetry
      True
    """

    engine: Literal["search", "equations"] | None = None
    order: Order = "ri"
    filters: Sequence[str] = FILTERS
    leaves: bool = True
    symmetry: bool = True
    lookahead: bool | None = None
    pieces: bool | None = None
    block: int | None = None
    max_steps: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.filters, str) or not set(self.filters) <= set(FILTERS):
            raise ValueError(f"filters must be some of {', '.join(FILTERS)}; got {self.filters!r}")
        if self.engine not in (None, "search", "equations"):
            raise ValueError(f"engine must be 'search', 'equations' or None, got {self.engine!r}")
        if isinstance(self.order, str) and self.order != "ri":
            raise ValueError(f"order must be 'ri' or a permutation of the query nodes, got {self.order!r}")
        for name, least in (("block", 1), ("max_steps", 0)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < least):
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")

    @property
    def is_default(self) -> bool:
        """Tell whether no option was chosen."""
        return isinstance(self.order, str) and self == DEFAULT_SEARCH  # an order may be an array, which has no ==


DEFAULT_SEARCH = Search()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """All options that a plan is made by.

    Attributes:
      induced: non-edges of the query must be non-edges of the target.
      wildcard: the label of query nodes and edges that any label matches.
      listing: keep the matches, in lexicographic order of the matching order, instead of counting them.
      limit: of the matches kept, if any.
      tally: count how often each target ``"node"``, or ``"edge"``, takes each part.
      parts: those counted, as tuples of query nodes; ``None`` for all.
      small: do a small search while planning, in NumPy.
      memory: bytes for the tables and what they are made from; chosen from the device when ``None``.
      search: how to search.
      deadline: when to stop planning.
    """

    induced: bool = False
    wildcard: int | None = None
    listing: bool = False
    limit: int | None = None
    tally: Literal["node", "edge"] | None = None
    parts: Sequence[tuple[int, ...]] | None = None
    small: bool = True
    memory: int | None = None
    search: Search = DEFAULT_SEARCH
    deadline: Deadline = NO_DEADLINE

    def __post_init__(self) -> None:
        check_memory(self.memory)
        check_switch(self.induced, "induced")
        if self.wildcard is not None:
            object.__setattr__(self, "wildcard", whole_number(self.wildcard, "wildcard"))

    def with_block(self, block: int | None) -> Options:
        """Return the same options with another number of candidates a step; ``None`` changes nothing."""
        if block is None:
            return self
        return dataclasses.replace(self, search=dataclasses.replace(self.search, block=block))

    @property
    def may_be_small(self) -> bool:
        """Return whether nothing was asked for that only a search on a device does."""
        search, memory = self.search, self.memory
        plain = not (search.lookahead or search.block or search.max_steps is not None)
        return self.small and self.tally is None and plain and (memory is None or memory >= SMALL_MEMORY)

    def chosen_filters(self, query_labels: object, target_labels: object) -> tuple[str, ...]:
        """Return the filters, in the order in which they are applied; ``"label"`` unless some labels are ``None``."""
        labelled = query_labels is not None and target_labels is not None
        return tuple([name for name in FILTERS if name in self.search.filters or (name == "label" and labelled)])
