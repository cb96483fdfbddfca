"""Results with an entry for each class, and how they are shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from jaxmotif.arrays._label_words import in_words
from jaxmotif.arrays._present import Column, Presented, counted
from jaxmotif.drawing import Drawing, draw_pattern
from jaxmotif.patterns import class_columns, class_labels, named_pattern


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class OfClasses(Presented):
    """Base class of results that have an entry for each class of subgraphs.

    Attributes:
      size, directed, classes, counts, label_words: as in :class:`Census`.
    """

    size: int
    directed: bool
    classes: tuple[str, ...]
    counts: np.ndarray
    label_words: tuple[Mapping[int, str] | None, Mapping[int, str] | None] = dataclasses.field(
        default=(None, None), kw_only=True
    )

    @property
    def names(self) -> list[str]:
        """Usual name of each class in the literature, ``""`` for a class without one."""
        return class_columns(self.classes, self.directed, self.label_words)["name"]

    @property
    def ids(self) -> list[int | None]:
        """Number of each class in mfinder and FANMOD, ``None`` for a class with labels."""
        return class_columns(self.classes, self.directed)["id"]

    @property
    def words(self) -> list[str]:
        """Classes for readers, with the words of labels in the place of their numbers."""
        return [in_words(text, *self.label_words) for text in self.classes]

    @property
    def labels(self) -> list[str]:
        """Short label of each class, as on the axis of a figure."""
        return class_labels(class_columns(self.classes, self.directed, self.label_words))

    def table(self) -> dict[str, Column]:
        """Return one row a class: what identifies it, and its count."""
        return {**class_columns(self.classes, self.directed, self.label_words), "count": self.counts}

    def draw(self, pattern: str) -> Drawing:
        """Draw a class, as a picture that a notebook shows and that can be saved as SVG or drawn by matplotlib.

        Args:
          pattern: one of ``classes``, or a name (:func:`jaxmotif.patterns.named_pattern`).

        Example:
          >>> from jaxmotif import datasets, subgraph_census
          >>> subgraph_census(datasets.load("karate"), 3).draw("triangle").svg().startswith("<svg")
          True
        """
        # The strings in `classes` have labels as numbers; names that a user types have words.
        words = (None, None) if pattern in self.classes else self.label_words
        return draw_pattern(named_pattern(pattern, self.directed, *words), *self.label_words, title=pattern)

    def _pictures(self, rows: int) -> list[str]:
        return [self.draw(str(text)).svg(width=48) for text in self.table()["class"][:rows]]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Census(OfClasses):
    """Counts of the connected induced subgraphs of one size by class.

    Attributes:
      size: nodes of a subgraph.
      directed: whether the classes have directions.
      classes: canonical strings, ascending: the lexicographically smallest row-major 0/1 adjacency over all node orders
        (with labels as :func:`jaxmotif.patterns.canonical_string` writes them).
      counts: int64 ``[classes]``, occurrences (node sets).
      per_node: int64 ``[n, classes]``, occurrences that each node lies in; ``None`` unless it was asked for.
      label_words: the words that node labels and edge labels stand for, each ``None`` where they are numbers.
    """

    per_node: np.ndarray | None = None

    @property
    def total(self) -> int:
        """Number of connected induced subgraphs of this size."""
        return int(self.counts.sum())

    def _line(self) -> str:
        return f"{counted(self.total, 'subgraph')} of {self.size} nodes in {counted(len(self.classes), 'class')}"

    def as_dict(self) -> Mapping[str, int]:
        """Return the counts by class."""
        return dict(zip(self.classes, self.counts.tolist(), strict=True))
