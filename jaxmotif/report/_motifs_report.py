"""The page of the motifs of one network, or of several networks side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.drawing._drawing import Drawing, as_text, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.motifs import Motifs
from jaxmotif.motifs._compare import MotifComparison, check_comparable, compare_motifs
from jaxmotif.motifs._result import null_interval
from jaxmotif.patterns import class_columns, class_labels, named_pattern
from jaxmotif.report import _page as html
from jaxmotif.report import _parts as shared
from jaxmotif.report._charts import Profile, bar, legend, profile_chart, tree_chart

_HEADS = ("count", "mean", "sd", "effect", "z", " ", "q", "verdict")
_WIDE = ("id", "mean", "sd", "z", " ")  # what a phone does not show
_MEANINGS = shared.MEANINGS | {
    "mean": "of the counts in the random graphs",
    "effect": "(count + 1/2) / (mean + 1/2)",
    "z": "(count - mean) / sd, of estimates with their errors",
    "q": "false discovery rate",
}


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


def motifs_report(
    networks: Sequence[tuple[str, Graph, Motifs]],
    run: Mapping[str, object] | None = None,
    distances: Mapping[str, np.ndarray] | None = None,
) -> str:
    """Return a page of the motifs of one network, or of several networks side by side.

    Args:
      networks: The name, the graph and the motifs of each network. All have motifs of one size, and all are directed
        or none is.
      run: How the result was made: the command line as ``"argv"``, and the options by name.
      distances: Distances of the networks, float64 ``[networks, networks]``, by what they are called.

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
    check_comparable({n.name: (n.motifs.directed, n.motifs.size) for n in compared})
    several = len(compared) > 1
    ranked = _rank_classes(compared)
    classes = sorted(ranked[: shared.MOST_CLASSES])
    drawings = _draw_classes(classes, compared[0])
    found = compare_motifs({network.name: network.motifs for network in compared}) if several else None
    sections = [_profile_section(compared, classes, drawings, found)]
    if found is not None:
        sections.append(_comparison_section(found, distances or {}))
    shown, omitted = ranked[: shared.MOST_CLASSES], shared.omission_note(len(ranked))
    sections += [_class_section(network, several, shown, drawings, omitted) for network in compared]
    sections += [_motif_roles(network, several) for network in compared]
    sections += [_random_graphs_section(compared), shared.origin_section("motifs", run)]
    names = ", ".join(n.name for n in compared)
    eyebrow = f"Network motifs · {first.size} nodes{', directed' if first.directed else ''}"
    lead = "<br>".join(_lead(network, several) for network in compared)
    return html.page(f"Motifs of {names}", eyebrow, names, lead, sections)


def _rank_classes(networks: Sequence[NetworkMotifs]) -> list[str]:
    """Return all classes of some networks, those with the largest z (of either sign) first."""

    def largest_z(name: str) -> float:
        return max(np.nan_to_num(abs(n.value(n.motifs.significance.z, name)), nan=-1.0) for n in networks)

    return sorted(sorted({name for n in networks for name in n.motifs.classes}), key=largest_z, reverse=True)


def _draw_classes(classes: Sequence[str], network: NetworkMotifs) -> dict[str, Drawing]:
    columns = class_columns(classes, network.motifs.directed, network.graph._label_words)
    drawings = {}
    for i, name in enumerate(classes):
        pattern = named_pattern(name, network.motifs.directed)
        drawings[name] = draw_pattern(pattern, *network.graph._label_words, title=shared.class_title(columns, i))
    return drawings


def _lead(network: NetworkMotifs, named: bool) -> str:
    name = f"{network.name}: " if named else ""
    found = network.motifs.summary
    return as_text(f"{name}{shared.describe_size(network.graph)}. {found[:1].upper()}{found[1:]}.")


def _profile_section(
    networks: Sequence[NetworkMotifs],
    classes: Sequence[str],
    drawings: Mapping[str, Drawing],
    compared: MotifComparison | None,
) -> str:
    labels = class_labels(class_columns(classes, networks[0].motifs.directed, networks[0].graph._label_words))
    profiles = []
    for i, network in enumerate(networks):
        motifs = network.motifs
        if compared is None:
            curve = motifs.significance.profile, *null_interval(motifs)
        else:
            at = [compared.classes.index(name) for name in motifs.classes]
            ends = compared.profiles, compared.profile_low, compared.profile_high
            curve = tuple(values[i][at] for values in ends)
        columns = (*curve, motifs.is_motif | motifs.is_anti_motif)
        values, low, high, unusual = (np.array([network.value(column, name) for name in classes]) for column in columns)
        profiles.append(Profile(network.name, values, low, high, unusual == 1))
    note = (
        "Each class's z-score over the length of the vector of all of them. Filled points are motifs and anti-motifs. "
    )
    if compared is None:
        note += "The grey bars are where 95 % of the random graphs lie."
    else:
        note += "Bands are 95 % intervals, from random graphs drawn again."
    lines = legend([n.name for n in networks]) if compared is not None else ""
    chart = profile_chart(labels, [drawings[c] for c in classes], profiles)
    return html.section("Significance profile", lines, html.figure(chart, "profile"), note=note)


def _comparison_section(found: MotifComparison, distances: Mapping[str, np.ndarray]) -> str:
    """Return the correlations of the profiles of networks, and other distances of these, as square tables and trees."""
    tables = {f"all {len(found.classes)} classes": found.correlation}
    if not found.tested.all():
        closed = int(np.count_nonzero(found.tested))
        tables[f"the {closed} closed classes, from which the others follow"] = found.tested_correlation
    titled = {f"Correlation over {name}": matrix for name, matrix in tables.items()} | dict(distances)
    parts = [f"<h3>{as_text(title)}</h3>" + _square(found.names, matrix) for title, matrix in titled.items()]
    for words, matrix in ({"1 - correlation": 1 - found.correlation} | dict(distances)).items():
        parts.append(html.figure(tree_chart(found.names, matrix, words), f"tree {words}"))
    note = (
        "Pearson's correlation of significance profiles. Classes depend on each other, so that it has no simple test. "
        "The 95 % intervals, over all classes, are from random graphs drawn again; each network itself is one draw. "
        "Trees join the nearest networks first, by the mean of their distances."
    )
    ends = [
        f"{one} and {other}: {value:.3f} ({low:.3f} to {high:.3f})"
        for one, other, value, low, high, _ in zip(*found.table().values(), strict=True)
    ]
    return html.section("The networks compared", *parts, html.paragraphs(ends), note=note)


def _square(names: Sequence[str], matrix: np.ndarray) -> str:
    """Return a table with a row and a column for each network."""
    rows = [
        [html.text_cell(name), *(html.Cell(html.number(value, 3), value) for value in values)]
        for name, values in zip(names, matrix.tolist(), strict=True)
    ]
    return html.table(["", *names], rows)


def _class_section(
    network: NetworkMotifs, named: bool, classes: Sequence[str], drawings: Mapping[str, Drawing], omitted: str
) -> str:
    """Return the table of the classes of a network.

    Args:
      network: The network.
      named: Whether the heading names it, since there are several.
      classes: The strings of the classes that are shown, in their order.
      drawings: A drawing for each class.
      omitted: A note on classes that are not shown.
    """
    motifs = network.motifs
    columns = class_columns(classes, motifs.directed, network.graph._label_words)
    scores = motifs.significance.z[np.isfinite(motifs.significance.z)]
    longest_bar = float(np.abs(scores).max(initial=0.0))
    rows = []
    for i, name in enumerate(classes):
        if name in network.row_of:
            cells = [html.Cell(drawings[name].svg()), *shared.class_cells(columns, i, network.graph)]
            rows.append([*cells, *_statistics_cells(network, name, longest_bar)])
    note = (
        f"A motif has {motifs.rule}; an anti-motif is as much rarer than expected. The effect is the count over the "
        f"mean, with a half added to both; z decides nothing. {omitted}"
    )
    heading = f"Classes: {network.name}" if named else "Classes"
    heads = ["", *shared.class_heads(columns), *_HEADS]
    return html.section(heading, html.table(heads, rows, _MEANINGS, _WIDE), note=note.strip())


def _marked(content: str, verdict: str) -> str:
    """Return HTML in the style of a verdict: motifs stand out, anti-motifs recede."""
    kind = {"motif": "mark", "anti-motif": "soft"}.get(verdict, "")
    return f'<span class="{kind}">{content}</span>'


def _frequency_cell(motifs: Motifs, row: int) -> html.Cell:
    if motifs.estimate is None:
        return html.count_cell(int(motifs.counts[row]))
    estimate = float(motifs.counts[row])
    return html.Cell(html.number(estimate), estimate)


def _statistics_cells(network: NetworkMotifs, name: str, longest_bar: float) -> list[html.Cell]:
    """Return the cells of a class under :data:`_HEADS`.

    Args:
      network: The network.
      name: The string of the class.
      longest_bar: The z, of either sign, whose bar is the longest.
    """
    row, motifs, significance = network.row_of[name], network.motifs, network.motifs.significance
    mean, sd, fold, z, q = (
        float(column[row])
        for column in (significance.mean, significance.sd, significance.fold, significance.z, significance.q)
    )
    verdict, why = (column[row] for column in motifs.verdicts)
    return [
        _frequency_cell(motifs, row),
        html.Cell(html.number(mean), mean),
        html.Cell(html.number(sd), sd),
        html.Cell(html.number(fold, 0 if fold >= 100 else 2) + "×", fold),
        html.Cell(html.number(z, 1), z),
        html.Cell(bar(z, longest_bar)),
        html.Cell("–" if np.isnan(q) else f"{q:.2g}", q),
        html.Cell(_marked(as_text(why), verdict), why),
    ]


def _motif_roles(network: NetworkMotifs, named: bool) -> str:
    motifs = network.motifs
    if motifs.estimate is not None:
        return ""  # Roles need every occurrence, and counts are estimated where there are too many to go through.
    order = np.argsort(-np.nan_to_num(motifs.significance.z, nan=-np.inf), kind="stable").tolist()
    best = [(motifs.classes[i], int(motifs.counts[i])) for i in order if motifs.is_motif[i] and motifs.counts[i]]
    heading = f"Top nodes by role: {network.name}" if named else "Top nodes by role"
    return shared.roles_section(
        network.graph, motifs.directed, best[: shared.MOST_RANKED], heading, "of the most unusual motifs"
    )


def _random_graphs_section(networks: Sequence[NetworkMotifs]) -> str:
    parts = []
    for network in networks:
        if len(networks) > 1:
            parts.append(f"<h3>{as_text(network.name)}</h3>")
        parts.append(
            html.paragraphs([f"The null model {network.motifs.null_model}.", *mixing_in_words(network.motifs)])
        )
    return html.section("The random graphs", *parts)


def mixing_in_words(found: Motifs) -> list[str]:
    """Return sentences on how well the random graphs of some motifs are mixed.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> print(mixing_in_words(find_motifs(datasets.load("florentine"), 3, 20))[0])  # doctest: +ELLIPSIS
      Each of the 20 random graphs was made from the network by a chain of its own, of ...
    """
    graphs = len(found.random_counts)
    sentences = [
        f"Each of the {graphs:,} random graphs was made from the network by a chain of its own, of "
        f"{found.accepted:.1f} moves per edge ({found.attempts:.0f} tried)"
        + "".join(f"; {kind} made {made:.1f} each" for kind, made in found.accepted_by_kind.items())
        + "."
    ]
    if found.estimate is not None:
        sentences.append(
            f"All counts are estimates, from {counted(found.estimate, 'random subgraph')} of each graph; z has their "
            "errors in it, and sd has not."
        )
    varies = found.significance.scale > 0
    if varies.any():
        sentences += _chain_sentences(found, varies)
    else:
        sentences.append("No count differs between them: the degrees alone decide it, and nothing is unusual.")
    return [*sentences, *found.notes]


def _chain_sentences(found: Motifs, varies: np.ndarray) -> list[str]:
    """Return what the chains that went on show, from the classes whose counts vary (a mask)."""
    mixing = found.mixing
    difference = float(np.abs(mixing.longer_z[varies]).max())
    if mixing.disagrees.any():
        verdict = "farther than chance has it: the chains are too short, take more --switches"
    else:
        verdict = "as chance alone has it: the chains are long enough"
    independent = float(mixing.effective_size[varies].min())
    correlation = float(np.clip(mixing.lag_correlation[varies].max(), 0, 1))
    return [
        f"{counted(mixing.graphs, 'chain')} went on to {mixing.times} times the length. Their mean counts differ from "
        f"those at full length by at most {difference:.1f} standard errors, {verdict}.",
        f"The counts of a chain at these two lengths correlate by at most {correlation:.2f}, so that for every class "
        f"the random graphs are worth at least {independent:,.0f} independent ones, by a cautious reckoning.",
    ]
