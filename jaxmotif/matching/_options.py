"""Options of a search: those that a user may set (:class:`Search`), and all that a plan needs (:class:`Options`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Literal

from jaxmotif.arrays._checks import check_labels, check_switch, whole_number
from jaxmotif.devices._memory import check_memory
from jaxmotif.search._deadline import NO_DEADLINE, Deadline

FILTERS = ("label", "degree", "frequency", "consistency")
"""Filters that shrink the domains before a search (:mod:`jaxmotif.matching.planner._device`)."""

SMALL_MEMORY = 2**26
"""Bytes of working memory that a small search in NumPy may take."""

Order = Literal["ri"] | Sequence[int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Search:
    """Options of a search. Only the time that it takes depends on them, not what it finds, with two exceptions.

    ``max_steps`` ends a search early. ``order`` decides in which order matches are listed, and so which of them a limit
    leaves.

    Attributes:
      engine: ``"search"`` for a level search, or ``"equations"`` to count a plain query (undirected, connected, without
        labels and domains) by sums instead (only for counts). ``None`` takes what is less work, or the search if any
        other option is set.
      order: the matching order, in which query nodes are mapped: ``"ri"``, or a permutation of the query nodes.
      filters: which of :data:`FILTERS` shrink the domains before the search; ``"label"`` is always among them where
        there are labels.
      leaves: count query nodes that are not joined to each other in closed form, instead of mapping them one by one
        (only for counts).
      symmetry: of all maps that automorphisms of the query exchange search only one, and multiply (only for counts).
      lookahead: drop partial matches that leave some later node without candidates. ``None`` begins to do so once a
        search has tested many candidates and found few matches.
      pieces: where a query falls apart when at most two of its nodes are taken out, count each side alone and multiply
        (only for counts, on one device). ``None`` tries this once a search has taken some seconds, if no target node
        can be in both sides.
      block: the most candidates that a step tests; a number above 1024 is rounded down to a multiple of 1024. ``None``
        leaves it to the device and the memory, and lets a small search be done in NumPy.
      max_steps: stop the search after that many steps (only for counts in one target, on one device).

    Raises:
      ValueError, TypeError: for any other value of an option.

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
        for name in ("order", "filters"):
            if not isinstance(value := getattr(self, name), Iterable):
                raise TypeError(f"{name} must be a sequence, got {value!r}")
        if isinstance(self.filters, str) or not all(name in FILTERS for name in self.filters):
            raise ValueError(f"filters must be some of {', '.join(FILTERS)}; got {self.filters!r}")
        if self.engine not in (None, "search", "equations"):
            raise ValueError(f"engine must be 'search', 'equations' or None, got {self.engine!r}")
        if not isinstance(self.order, str):
            object.__setattr__(self, "order", [whole_number(v, "a query node in order") for v in self.order])
        elif self.order != "ri":
            raise ValueError(f"order must be 'ri' or a permutation of the query nodes, got {self.order!r}")
        for name in ("leaves", "symmetry", "lookahead", "pieces"):
            if (value := getattr(self, name)) is not None or name in ("leaves", "symmetry"):
                check_switch(value, name)
        for name, least in (("block", 1), ("max_steps", 0)):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole_number(value, name, least))

    @property
    def is_default(self) -> bool:
        """Tell whether no option was chosen."""
        return self == DEFAULT_SEARCH


DEFAULT_SEARCH = Search()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """All that a plan depends on, besides the query, the target and the device.

    Attributes:
      induced: whether non-edges of the query must be non-edges of the target.
      wildcard: a label, which fits int32, that stands, on a query node or edge, for any label of the target.
      listing: whether matches are kept, in lexicographic order of their nodes taken in the matching order, and not
        counted.
      limit: the most matches to keep; ``None`` for all.
      tally: whether to count how often each target ``"node"``, or ``"edge"``, takes each part of the query (a query
        node, or edge); ``None`` for neither.
      parts: the parts that a tally counts, as tuples of query nodes; ``None`` for all.
      small: whether a search that turns out to be small may be done in NumPy while it is planned.
      memory: bytes for the tables and what they are made from; chosen from the device when ``None``.
      search: how to search.
      deadline: when to stop planning and searching.
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
        object.__setattr__(self, "memory", check_memory(self.memory))
        check_switch(self.induced, "induced")
        if not isinstance(self.search, Search):
            raise TypeError(f"search must be a jaxmotif.matching.Search, got {self.search!r}")
        if self.wildcard is not None:
            object.__setattr__(self, "wildcard", whole_number(self.wildcard, "wildcard"))
            check_labels(self.wildcard, "wildcard")

    def with_block(self, block: int | None) -> Options:
        """Return the same options with another number of candidates a step; ``None`` changes nothing."""
        if block is None:
            return self
        return dataclasses.replace(self, search=dataclasses.replace(self.search, block=block))

    @property
    def may_be_small(self) -> bool:
        """Return whether a small search in NumPy could do all that was asked for."""
        search, memory = self.search, self.memory
        plain = not (search.lookahead or search.block or search.max_steps is not None)
        return self.small and self.tally is None and plain and (memory is None or memory >= SMALL_MEMORY)

    def chosen_filters(self, query_labels: object, target_labels: object) -> tuple[str, ...]:
        """Return the filters in the order of use; ``"label"`` is always one if query and target both have labels."""
        labelled = query_labels is not None and target_labels is not None
        return tuple([name for name in FILTERS if name in self.search.filters or (name == "label" and labelled)])
