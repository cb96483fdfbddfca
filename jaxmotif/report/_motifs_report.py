"""The page of the motifs of one network, or of several networks side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.drawing._drawing import Drawing, as_text, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.motifs import Motifs
from jaxmotif.motifs._tables import null_interval
from jaxmotif.patterns import class_columns, named_pattern
from jaxmotif.report._charts import Profile, bar, legend, profile_chart
from jaxmotif.report._page import Cell, Head, count_cell, number, page, paragraphs, section, table
from jaxmotif.report._parts import (
    MOST_CLASSES,
    MOST_RANKED,
    class_cells,
    class_heads,
    class_title,
    describe_size,
    label_names,
    omission_note,
    origin_section,
    roles_section,
)
from jaxmotif.report._words import mixing_in_words

_HEADS_OF_ONE = (
    Head("count"),
    Head("mean", meaning="of the counts in the random graphs"),
    Head("sd"),
    Head("effect", meaning="count / mean"),
    Head("z", meaning="(count - mean) / sd, of estimates with their errors"),
    Head("", sorts=False),
    Head("q", meaning="false discovery rate"),
    Head("verdict", text=True),
)


class NetworkMotifs(NamedTuple):
    """The motifs of one network.

    Attributes:
      name: The name of the network.
      graph: The network.
      motifs: Its motifs.
      row_of: The row of each class in the arrays of ``motifs``, by the class's string.
    """

    name: str
    graph: Graph
    motifs: Motifs
    row_of: Mapping[str, int]

    def value(self, column: np.ndarray, class_name: str) -> float:
        """Return the value of a class in a column of the motifs, NaN where the network lacks the class."""
        return float(column[self.row_of[class_name]]) if class_name in self.row_of else float("nan")


def motifs_report(networks: Sequence[tuple[str, Graph, Motifs]], run: Mapping[str, object] | None = None) -> str:
    """Return a page of the motifs of one network, or of several networks side by side.

    Args:
      networks: The name, the graph and the motifs of each network. All have motifs of one size, and all are directed
        or none is.
      run: How the result was made: the command line as ``"argv"``, and the options by name.

    Returns:
      An HTML page that needs no other file.

    Raises:
      ValueError: The networks cannot be compared.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> graph = datasets.load("florentine")
      >>> page = motifs_report([("florentine", graph, find_motifs(graph, 3, 20))])
      >>> page.count('class="drawing"') >= 2
      True
    """
    compared = []
    for name, graph, motifs in networks:
        compared.append(NetworkMotifs(name, graph, motifs, {c: i for i, c in enumerate(motifs.classes)}))
    first = compared[0].motifs
    if any((n.motifs.size, n.motifs.directed) != (first.size, first.directed) for n in compared):
        raise ValueError("a report compares networks of one size of motif, all directed or all undirected")
    several = len(compared) > 1
    ranked = _rank_classes(compared)
    classes = sorted(ranked[:MOST_CLASSES])
    drawings = _draw_classes(classes, compared[0])
    sections = [_profile_section(compared, classes, drawings), _class_section(compared, classes, ranked, drawings)]
    sections += [_motif_roles(network, several) for network in compared]
    sections += [_random_graphs_section(compared), origin_section("motifs", run)]
    names = ", ".join(n.name for n in compared)
    eyebrow = f"Network motifs · {first.size} nodes{', directed' if first.directed else ''}"
    lead = "<br>".join(_lead(network, several) for network in compared)
    return page(f"Motifs of {names}", eyebrow, names, lead, sections)


def _rank_classes(networks: Sequence[NetworkMotifs]) -> list[str]:
    """Return all classes of some networks, those with the largest z (of either sign) first."""

    def largest_z(name: str) -> float:
        return max(np.nan_to_num(abs(n.value(n.motifs.significance.z, name)), nan=-1.0) for n in networks)

    return sorted(sorted({name for n in networks for name in n.motifs.classes}), key=largest_z, reverse=True)


def _draw_classes(classes: Sequence[str], network: NetworkMotifs) -> dict[str, Drawing]:
    columns = class_columns(classes, network.motifs.directed)
    drawings = {}
    for i, name in enumerate(classes):
        pattern = named_pattern(name, network.motifs.directed)
        drawings[name] = draw_pattern(pattern, *label_names(network.graph), title=class_title(columns, i))
    return drawings


def _lead(network: NetworkMotifs, named: bool) -> str:
    motifs = network.motifs
    more, less = int(motifs.is_motif.sum()), int(motifs.is_anti_motif.sum())
    name = f"{network.name}: " if named else ""
    return as_text(
        f"{name}{describe_size(network.graph)}. Of {counted(len(motifs.classes), 'class')} of connected subgraphs, "
        f"{more} {'occurs' if more == 1 else 'occur'} more often and {less} less often than in "
        f"{len(motifs.random_counts):,} random graphs with the same degrees."
    )


def _profile_section(networks: Sequence[NetworkMotifs], classes: Sequence[str], drawings: Mapping[str, Drawing]) -> str:
    columns = class_columns(classes, networks[0].motifs.directed)
    labels = [str(number) if number is not None else "" for number in columns["id"]]
    profiles = []
    for network in networks:
        motifs = network.motifs
        unusual = motifs.is_motif | motifs.is_anti_motif
        values, low, high, is_unusual = (
            np.array([network.value(column, name) for name in classes])
            for column in (motifs.significance.profile, *null_interval(motifs), unusual)
        )
        profiles.append(Profile(network.name, values, low, high, is_unusual == 1))
    note = "Each class's z-score over the length of the vector of all of them. "
    if len(networks) == 1:
        note += "The grey bars are where 95 % of the random graphs lie; filled points are motifs and anti-motifs."
    lines = legend([n.name for n in networks]) if len(networks) > 1 else ""
    figure = f"<figure>{profile_chart(labels, [drawings[c] for c in classes], profiles)}</figure>"
    return section("Significance profile", lines, figure, note=note)


def _class_section(
    networks: Sequence[NetworkMotifs],
    classes: Sequence[str],
    ranked: Sequence[str],
    drawings: Mapping[str, Drawing],
) -> str:
    """Return the table of classes, those with the largest z first.

    Args:
      networks: One network, of which the table tells all, or several, of which it tells the count and z.
      classes: The strings of the classes that are shown, in ascending order.
      ranked: The strings of all classes, those with the largest z first.
      drawings: A drawing for each class that is shown.
    """
    columns = class_columns(classes, networks[0].motifs.directed)
    column_row = {name: i for i, name in enumerate(classes)}
    single = len(networks) == 1
    heads = [Head("", sorts=False), *class_heads(columns)]
    for network in networks:
        heads += _HEADS_OF_ONE if single else (Head(f"{network.name}: count"), Head("z"))
    scores = np.concatenate([network.motifs.significance.z for network in networks])
    longest_bar = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    rows = []
    for name in ranked[:MOST_CLASSES]:
        cells = [Cell(drawings[name].svg()), *class_cells(columns, column_row[name], networks[0].graph)]
        for network in networks:
            cells += _all_cells(network, name, longest_bar) if single else _count_and_z(network, name)
        rows.append(cells)
    note = (
        f"Motifs occur at least {networks[0].motifs.threshold:g} standard deviations more often than in the random "
        "graphs, "
    )
    if single:
        note += "anti-motifs as much less. The effect is the count over the mean; q is the false discovery rate."
    else:
        note += "which makes their z bold."
    return section("Classes", table(heads, rows), note=f"{note} {omission_note(len(ranked))}".strip())


def _verdict(motifs: Motifs, row: int) -> str:
    if motifs.is_motif[row]:
        return "motif"
    return "anti-motif" if motifs.is_anti_motif[row] else ""


def _marked(content: str, verdict: str) -> str:
    """Return HTML in the style of a verdict: motifs stand out, anti-motifs recede."""
    kind = {"motif": "mark", "anti-motif": "soft"}.get(verdict, "")
    return f'<span class="{kind}">{content}</span>'


def _frequency_cell(motifs: Motifs, row: int) -> Cell:
    if motifs.estimate is None:
        return count_cell(int(motifs.counts[row]))
    estimate = float(motifs.counts[row])
    return Cell(number(estimate), estimate)


def _count_and_z(network: NetworkMotifs, name: str) -> list[Cell]:
    """Return two cells for a class where several networks are compared."""
    if name not in network.row_of:
        return [Cell("–")] * 2
    row, motifs = network.row_of[name], network.motifs
    z = float(motifs.significance.z[row])
    return [_frequency_cell(motifs, row), Cell(_marked(number(z, 1), _verdict(motifs, row)), z)]


def _all_cells(network: NetworkMotifs, name: str, longest_bar: float) -> list[Cell]:
    """Return the cells of a class for a page of one network, under :data:`_HEADS_OF_ONE`.

    Args:
      network: The network.
      name: The string of the class.
      longest_bar: The z, of either sign, whose bar is the longest.
    """
    row, motifs, significance = network.row_of[name], network.motifs, network.motifs.significance
    count, mean, sd, z, q = (
        float(column[row])
        for column in (motifs.counts, significance.mean, significance.sd, significance.z, significance.q)
    )
    effect = count / mean if mean else float("inf") if count else float("nan")
    times = number(effect, 0 if effect >= 100 else 2) + ("×" if np.isfinite(effect) else "")
    verdict = _verdict(motifs, row)
    return [
        _frequency_cell(motifs, row),
        Cell(number(mean), mean),
        Cell(number(sd), sd),
        Cell(times, effect),
        Cell(number(z, 1), z),
        Cell(bar(z, longest_bar)),
        Cell(f"{q:.2g}", q),
        Cell(_marked(verdict, verdict), verdict),
    ]


def _motif_roles(network: NetworkMotifs, named: bool) -> str:
    motifs = network.motifs
    if motifs.estimate is not None:
        return ""  # Roles need every occurrence, and counts are estimated where there are too many to go through.
    order = np.argsort(-np.nan_to_num(motifs.significance.z, nan=-np.inf), kind="stable").tolist()
    best = [(motifs.classes[i], int(motifs.counts[i])) for i in order if motifs.is_motif[i] and motifs.counts[i]]
    heading = f"Top nodes by role: {network.name}" if named else "Top nodes by role"
    return roles_section(network.graph, motifs.directed, best[:MOST_RANKED], heading, "of the most unusual motifs")


def _random_graphs_section(networks: Sequence[NetworkMotifs]) -> str:
    parts = []
    for network in networks:
        if len(networks) > 1:
            parts.append(f"<h3>{as_text(network.name)}</h3>")
        parts.append(paragraphs([f"The null model {network.motifs.null_model}.", *mixing_in_words(network.motifs)]))
    return section("The random graphs", *parts)
