"""How the results of motif discovery show themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._label_words import in_words
from jaxmotif.arrays._present import Column, Presented, counted
from jaxmotif.patterns import class_columns, named_pattern

if TYPE_CHECKING:
    from jaxmotif.motifs._discovery import Motifs
    from jaxmotif.report import Drawing


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
        from jaxmotif.report import draw_pattern

        # Strings of classes have labels as numbers; words are for readers.
        words = (None, None) if pattern in self.classes else self.label_words
        return draw_pattern(named_pattern(pattern, self.directed, *words), *self.label_words, title=pattern)

    def _pictures(self, rows: int) -> list[str]:
        return [self.draw(str(text)).svg(width=48) for text in self.table()["class"][:rows]]


def motifs_line(found: Motifs) -> str:
    """What was found, in a line."""
    unusual = f"{counted(int(found.is_motif.sum()), 'motif')}, {counted(int(found.is_anti_motif.sum()), 'anti-motif')}"
    classes = f"{counted(len(found.classes), 'class')} of {found.size} nodes"
    drawn = "" if found.estimate is None else f", {counted(found.estimate, 'draw')} from each graph"
    return f"{unusual} among {classes}, {counted(len(found.random_counts), 'random graph')}{drawn}"


def motifs_table(found: Motifs) -> dict[str, Column]:
    """All columns, one row a class, the most unusual first."""
    s, mixing = found.significance, found.mixing
    motif, anti = found.is_motif, found.is_anti_motif
    error, random_error = (
        {} if found.estimate is None else {name: getattr(found, name)} for name in ("error", "random_error")
    )
    columns = {
        **{name: np.array(column, object) for name, column in class_columns(found.classes, found.directed).items()},
        "count": found.counts, **error, "mean": s.mean, "sd": s.sd, "z": s.z, "q": s.q,
        "verdict": np.where(motif, "motif", np.where(anti, "anti-motif", "")), "motif": motif, "anti_motif": anti,
        "p_high": s.p_high, "p_low": s.p_low, "profile": s.profile, "mean_low": s.mean_low, "mean_high": s.mean_high,
        "lag_correlation": mixing.lag_correlation, "effective_size": mixing.effective_size,
        **random_error, **({} if found.decided is None else {"decided": found.decided}),
    }  # fmt: skip
    order = np.argsort(-np.nan_to_num(np.abs(s.z), nan=-1.0), kind="stable")
    return {name: column[order] for name, column in columns.items()}
