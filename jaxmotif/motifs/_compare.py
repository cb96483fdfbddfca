"""Comparison of several networks by their motifs."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmotif.arrays._keys import generator_of
from jaxmotif.arrays._present import Column, Presented, counted, visible
from jaxmotif.graph import Graph
from jaxmotif.graph._plot import INK, SOFT
from jaxmotif.graph._words import joined_words
from jaxmotif.motifs._result import Motifs, class_axes
from jaxmotif.motifs._significance import benjamini_hochberg, correction_factor
from jaxmotif.motifs._verdict import too_few_graphs
from jaxmotif.patterns import class_columns, class_labels

if TYPE_CHECKING:
    from chex import PRNGKey
    from matplotlib.axes import Axes

RESAMPLES = 1000
"""Number of bootstrap samples for an interval: each draws from the random graphs of a network, with replacement."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotifComparison(Presented):
    """Correlations of the significance profiles of several networks.

    Attributes:
      names: the names of the networks.
      classes: the classes that occur in the motifs of any network, ascending.
      labels: a short label for each class.
      profiles: float64 ``[networks, classes]``, of unit length; 0 where a class has no z.
      profile_low, profile_high: the ends of the profiles' 95 % intervals, by bootstrap over the random graphs.
      correlation: float64 ``[networks, networks]``, Pearson's over the classes; NaN where a profile is constant.
      low, high: the ends of the correlations' 95 % intervals, by the same bootstrap (percentiles). They do not allow
        for chance in the networks themselves, of each of which there is only one.
      tested: bool ``[classes]``, the classes that do not follow from others in any of the networks.
      tested_correlation: the correlation over the tested classes alone.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    labels: tuple[str, ...]
    profiles: np.ndarray
    profile_low: np.ndarray
    profile_high: np.ndarray
    correlation: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tested: np.ndarray
    tested_correlation: np.ndarray

    @property
    def summary(self) -> str:
        """Summary of what is compared: networks, classes, and how many classes do not follow from others."""
        closed = "" if self.tested.all() else f", {np.count_nonzero(self.tested)} of them closed"
        return f"{counted(len(self.names), 'network')} by {counted(len(self.classes), 'class')}{closed}"

    def _line(self) -> str:
        return self.summary

    def table(self) -> dict[str, Column]:
        """Return one row for each two networks."""
        pairs = list(itertools.combinations(range(len(self.names)), 2))
        i, j = np.array(pairs, np.int64).reshape(-1, 2).T
        names = np.array(self.names, object)
        columns = {name: getattr(self, name)[i, j] for name in ("correlation", "low", "high", "tested_correlation")}
        return {"network": names[i], "other": names[j], **columns}

    def plot_profiles(self, ax: Axes | None = None) -> Axes:
        """Plot the profiles over each other, with their 95 % intervals as bands, by matplotlib (extra ``plot``).

        Args:
          ax: axes to draw on; new ones when not given.
        """
        ax = class_axes(ax, self.labels)
        ax.axhline(0, color=SOFT, linewidth=0.8, zorder=0)
        at, lines = np.arange(len(self.classes)), []
        for i, name in enumerate(self.names):
            (line,) = ax.plot(at, self.profiles[i], marker="o", markersize=4, linewidth=1.5, label=name)
            lines.append(line)
            low, high = self.profile_low[i], self.profile_high[i]
            ax.fill_between(at, low, high, color=line.get_color(), alpha=0.25, linewidth=0)
        ax.set_ylabel("significance profile")
        # Matplotlib would leave out a label that begins with _, and set one with $ in it as a formula.
        legend = ax.legend(lines, [str(i) for i in range(len(lines))], frameon=False, fontsize=7)
        for text, name in zip(legend.get_texts(), self.names, strict=True):
            text.set(text=visible(name), parse_math=False)
        return ax


def plot_tree(ax: Axes, names: Sequence[str], distances: np.ndarray, words: str) -> None:
    """Draw the tree of :func:`average_tree` on axes of matplotlib, with ``words`` as the label of the heights."""
    order, brackets = average_tree(distances)
    for places, heights in brackets:
        ax.plot(heights, places, color=INK, linewidth=1.2)
    ax.set_yticks(range(len(order)), [visible(names[i]) for i in order], parse_math=False)
    ax.set_xlabel(words)
    ax.set_xlim(left=0)
    ax.invert_xaxis()
    ax.invert_yaxis()
    ax.yaxis.tick_right()
    ax.spines[["top", "left", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def compare_motifs(motifs: Mapping[str, Motifs], key: int | PRNGKey | None = None) -> MotifComparison:
    """Compare networks by their significance profiles.

    A profile is the vector of z over all classes, scaled to length 1. For undirected classes of four nodes, where z
    grows with the network, the ratio (count - mean) / (count + mean + 4) takes the place of z.

    Args:
      motifs: the motifs of each network, by the networks' names. They have one size, and all are directed or none is.
      key: a seed, or ``jax.random.key(seed)``, for the bootstrap that gives intervals; seed 0 when not given.

    Raises:
      ValueError: the networks cannot be compared.

    Reference:
      Milo et al.: Superfamilies of evolved and designed networks, Science 2004.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> names = "karate", "florentine"
      >>> found = {name: find_motifs(datasets.load(name), 4, 20) for name in names}
      >>> compare_motifs(found).correlation.shape
      (2, 2)
    """
    if not motifs:
        raise ValueError("there are no networks to compare")
    check_comparable({name: (found.directed, found.size) for name, found in motifs.items()})
    words = words_of(motifs)
    classes = sorted({text for found in motifs.values() for text in found.classes})
    place = {text: i for i, text in enumerate(classes)}
    rng = generator_of(key)
    profiles, again, tested = [], [], np.ones(len(classes), bool)
    for found in motifs.values():
        at = np.array([place[text] for text in found.classes], np.int64)
        tested[at] &= found.tested
        profile, drawn = _profiles(found, rng)
        for parts, values in ((profiles, profile), (again, drawn)):
            parts.append(np.zeros((len(values), len(classes))))
            parts[-1][:, at] = values
    first, drawn = np.concatenate(profiles), np.stack(again, axis=1)
    draws = np.stack([_correlations(some) for some in drawn])
    # A bootstrap sample may have a constant profile, and thus no correlation. If all have, there is no interval.
    draws[:, np.isnan(draws).all(axis=0)] = 0.0
    low, high = np.where(np.isnan(_correlations(first)), np.nan, np.nanquantile(draws, [0.025, 0.975], axis=0))
    lows, highs = np.quantile(drawn, [0.025, 0.975], axis=0)
    correlations = _correlations(first), low, high, tested, _correlations(first[:, tested])
    one = next(iter(motifs.values()))
    labels = class_labels(class_columns(classes, one.directed, words))
    return MotifComparison(tuple(motifs), tuple(classes), tuple(labels), first, lows, highs, *correlations)


def words_of(motifs: Mapping[str, Motifs]) -> tuple[dict[int, str] | None, dict[int, str] | None]:
    """Return the words that labels of nodes and of edges stand for, the same in all networks; ``None`` for numbers.

    Raises:
      ValueError: networks whose labels mean different things, so that equal classes would not be equal.
    """
    words: list[dict[int, str] | None] = []
    for i, kind in enumerate(("node", "edge")):
        given = {name: found.label_words[i] for name, found in motifs.items() if found.classes}
        # In the string of a class the labels of nodes stand before a colon, and commas part those of edges.
        strings = {name: motifs[name].classes[0].rpartition(":") for name in given}
        bare = [name for name, known in given.items() if known is None]
        named = [name for name in given if name not in bare]
        if bare and named:
            raise ValueError(
                f"{kind} labels are words in {named[0]}, and in {bare[0]} they are numbers or there are none, so that "
                "they have no class in common"
            )
        _check_labelled(kind, {name: bool((nodes, "," in cells)[i]) for name, (nodes, _, cells) in strings.items()})
        words.append(joined_words(kind, given.values()) if named else None)
    return words[0], words[1]


def average_tree(distances: np.ndarray) -> tuple[list[int], list[tuple[np.ndarray, np.ndarray]]]:
    """Join networks by average linkage, the nearest first.

    Args:
      distances: float64 ``[networks, networks]``; NaN stands for the largest of them.

    Returns:
      The order of the networks, in which the smaller of two branches comes first; and the brackets of the tree, each
      with four corners. For each bracket there are the corners' four places along the axis of networks, which stand at
      0, 1, 2, .., and their four heights.

    Example:
      >>> order, brackets = average_tree(np.array([[0, 4, 1], [4, 0, 5], [1, 5, 0.0]]))
      >>> order, [heights.tolist() for _, heights in brackets]
      ([1, 0, 2], [[0.0, 1.0, 1.0, 0.0], [0.0, 4.5, 4.5, 1.0]])
    """
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import squareform

    known = np.nan_to_num(distances, nan=float(np.nanmax(distances, initial=1.0)))
    pairs = squareform((known + known.T) / 2 * (1 - np.eye(len(known))), checks=False)
    options: dict[str, Any] = {"count_sort": "ascending", "no_plot": True}
    tree = dendrogram(linkage(np.maximum(pairs, 0), "average"), **options)
    # The library puts the networks at 5, 15, 25, ..
    brackets = [((np.array(x) - 5) / 10, np.array(y)) for x, y in zip(tree["icoord"], tree["dcoord"], strict=True)]
    return tree["leaves"], brackets


def _profiles(found: Motifs, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the profile of a network, and those of the bootstrap samples, ``[.., classes]`` each."""
    random = found.random_counts.astype(np.float64)
    r = len(random)
    center = random.mean(axis=0)
    times = rng.multinomial(r, np.full(r, 1 / r), RESAMPLES) / r
    # Moments of centered counts, since squares of large counts would lose the digits of their difference.
    shift = times @ (random - center)
    variance = (times @ (random - center) ** 2 - shift**2) * r / (r - 1)
    s = found.significance
    # The variance that draws add to estimated counts is not resampled.
    drawn = _scaled(found, center + shift, np.sqrt(np.maximum(variance, 0) + np.maximum(s.scale**2 - s.sd**2, 0)))
    return _scaled(found, s.mean[None], s.scale[None]), drawn


def _scaled(found: Motifs, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return profiles of unit length from means and scales ``[.., classes]``."""
    difference = found.counts - mean
    if found.size == 4 and not found.directed:
        values = difference / (found.counts + mean + 4)
    else:
        values = np.where(scale > 1e-9 * np.abs(mean), difference / np.where(scale > 0, scale, 1), 0.0)
    length = np.sqrt((values**2).sum(axis=1, keepdims=True))
    return values / np.where(length > 0, length, 1)


def _correlations(profiles: np.ndarray) -> np.ndarray:
    """Return Pearson's correlations of profiles ``[networks, classes]``; NaN where one is constant."""
    centered = profiles - (profiles.mean(axis=1, keepdims=True) if profiles.shape[1] else 0.0)
    length = np.sqrt((centered**2).sum(axis=1))
    length = np.where(length > 1e-12, length, np.nan)
    return centered @ centered.T / np.outer(length, length)


def check_comparable(kinds: Mapping[str, tuple[bool, int]]) -> None:
    """Raise ValueError, naming two networks, unless all or none are directed and all have one size of subgraphs."""
    (first, (directed, size)), *others = kinds.items()
    for name, kind in others:
        if kind[0] != directed:
            one, other = ("directed", "undirected")[:: 1 if directed else -1]
            raise ValueError(
                f"{first} is {one} and {name} is {other}, so that they have no class in common; read both alike, with "
                "directed=True or directed=False"
            )
        if kind[1] != size:
            raise ValueError(f"{first} has motifs of {size} nodes and {name} of {kind[1]}; take one size")


def check_networks(graphs: Mapping[str, Graph], size: int) -> None:
    """Raise ValueError, naming two networks, unless all networks agree in size, directions and kinds of labels."""
    check_comparable({name: (graph.directed, size) for name, graph in graphs.items()})
    for kind in ("node", "edge"):
        _check_labelled(kind, {name: getattr(graph, f"{kind}_labels") is not None for name, graph in graphs.items()})


def _check_labelled(kind: str, labelled: Mapping[str, bool]) -> None:
    """Raise ValueError, naming two networks, unless all or none have labels, of nodes or of edges (``kind``)."""
    if len(set(labelled.values())) == 2:
        bare, having = (next(name for name, has in labelled.items() if has is which) for which in (False, True))
        raise ValueError(
            f"{having} has {kind} labels and {bare} has none, so that they have no class in common; leave the labels "
            f"of {having} out, or give {bare} some"
        )


def correct_together(motifs: Sequence[Motifs]) -> list[Motifs]:
    """Return motifs of several networks whose q accounts for the tested classes of all networks together.

    This is for claims about all networks, such as "no network has a motif".

    Raises:
      ValueError: if rules differ, if they correct by the largest deviation, which is defined for a single network, or
        if :class:`jaxmotif.motifs.Until` has chosen a number of random graphs, which it does for a single network.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> found = [find_motifs(datasets.load(name), 3, 20) for name in ("karate", "florentine")]
      >>> [one.significance.tests for one in found], [one.significance.tests for one in correct_together(found)]
      ([1, 1], [2, 2])
    """
    rules = {found.rule for found in motifs}
    if len(rules) > 1 or any(rule.correction == "max" for rule in rules):
        raise ValueError("networks are corrected together by one rule, whose correction is 'bh' or 'by'")
    if any(found.decided is not None for found in motifs):
        raise ValueError("networks are corrected together with a given num_random, since Until decides for one alone")
    if not motifs:
        return []
    sides = [np.minimum(found.significance.p_high, found.significance.p_low)[found.tested] for found in motifs]
    p = np.minimum(1, 2 * np.concatenate(sides))
    q = np.minimum(1, benjamini_hochberg(p) * sum(correction_factor(p.size, rule.correction) for rule in rules))
    corrected = []
    for found, part in zip(motifs, np.split(q, np.cumsum([side.size for side in sides])[:-1]), strict=True):
        values = found.significance.q.copy()
        values[found.tested] = part
        significance = dataclasses.replace(found.significance, q=values, tests=p.size)
        alone, together = (
            too_few_graphs(len(found.random_counts), found.rule, tests) for tests in (found.significance.tests, p.size)
        )
        notes = *(note for note in found.notes if note not in alone), *together
        corrected.append(dataclasses.replace(found, significance=significance, notes=notes))
    return corrected
