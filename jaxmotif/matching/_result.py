"""The result of a count."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np

from jaxmotif.arrays._present import Column, Presented, counted, integers
from jaxmotif.matching.planner._plan import Plan
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._ruled import automorphism_total
from jaxmotif.search._run import SearchProgress


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MatchCount(Presented):
    """The number of matches of a query.

    Attributes:
      count: matches found.
      exact: whether these are all.
      status: ``"done"``, or the limit that stopped the search, in words.
      order: query nodes in the order searched.
      leaves: query nodes counted in closed form.
      domain_sizes: int64 ``[k]``, how many target nodes each query node could map to after filtering.
      steps: the steps of the search, or its levels if it was small and done in NumPy.
      positions: the number of candidates tested.
      seconds: the seconds that each phase took: ``index`` (once for each target), ``filter``, ``reduce``, ``plan``,
        ``search``, and ``compile`` if programs were compiled. The search begins without waiting for a device to finish
        the plan, so that ``search`` includes what was left of it.
      notes: what was done differently than planned, in words, such as smaller steps where memory ran out.
      engine: ``"search"``, or ``"equations"`` if the matches of a plain query were counted by sums; ``positions`` is
        then the number of tests and wedges in these.
    """

    count: int
    exact: bool
    status: str
    order: list[int]
    leaves: list[int]
    domain_sizes: np.ndarray
    steps: int
    positions: int
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()
    engine: Literal["search", "equations"] = "search"

    def __int__(self) -> int:
        return self.count

    def _line(self) -> str:
        return f"{counted(self.count, 'match')}, {self.status}"

    def table(self) -> dict[str, Column]:
        seconds = sum(self.seconds.values())
        return {"matches": [self.count], "exact": [self.exact], "status": [self.status], "seconds": [seconds]}

    def _array(self) -> np.ndarray:
        return integers([self.count])[0]


def match_count(
    pattern: Pattern,
    per: str,
    plan: Plan,
    found: SearchProgress,
    seconds: dict[str, float],
    notes: tuple[str, ...] = (),
    engine: Literal["search", "equations"] = "search",
) -> MatchCount:
    count = found.count * plan.multiplier
    if per == "occurrence":
        # All maps of an occurrence are matches: the division is exact.
        count //= automorphism_total(pattern)
    searched = found.steps, found.positions, seconds, notes
    done = found.status == "done"
    return MatchCount(count, done, found.status, plan.order, plan.leaves, plan.domain_sizes, *searched, engine)
