"""How results that tell classes show themselves."""

from __future__ import annotations

from collections.abc import Mapping

from jaxmotif.arrays._label_words import in_words
from jaxmotif.arrays._present import Presented
from jaxmotif.drawing import Drawing, draw_pattern
from jaxmotif.patterns import class_columns, named_pattern


class OfClasses(Presented):
    """Base of results that tell classes."""

    directed: bool
    classes: tuple[str, ...]
    label_words: tuple[Mapping[int, str] | None, Mapping[int, str] | None]

    @property
    def names(self) -> list[str]:
        """The name each class has in the field, ``""`` where it has none."""
        return class_columns(self.classes, self.directed)["name"]

    @property
    def ids(self) -> list[int | None]:
        """The numbers of the classes in mfinder and FANMOD, ``None`` with labels."""
        return class_columns(self.classes, self.directed)["id"]

    @property
    def words(self) -> list[str]:
        """The classes for readers: the words of labels in the place of their numbers."""
        return [in_words(text, *self.label_words) for text in self.classes]

    def draw(self, pattern: str) -> Drawing:
        """The picture of a class, which a notebook shows; it can be saved as SVG, or drawn by matplotlib.

        Args:
          pattern: one of ``classes``, or a name (:func:`jaxmotif.patterns.named_pattern`).

        Example:
          >>> from jaxmotif import datasets, subgraph_census
          >>> subgraph_census(datasets.load("karate"), 3).draw("triangle").svg().startswith("<svg")
          True
        """
        # Strings of classes have labels as numbers; words are for readers.
        words = (None, None) if pattern in self.classes else self.label_words
        return draw_pattern(named_pattern(pattern, self.directed, *words), *self.label_words, title=pattern)

    def _pictures(self, rows: int) -> list[str]:
        return [self.draw(str(text)).svg(width=48) for text in self.table()["class"][:rows]]
