"""The page of the motifs of one network, or of several networks side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.drawing._drawing import Drawing, as_text, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.motifs import Motifs
from jaxmotif.motifs._compare import MotifComparison, check_comparable, compare_motifs, words_of
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


def motifs_report(
    networks: shared.Networks,
    run: Mapping[str, object] | None = None,
    distances: Mapping[str, np.ndarray] | None = None,
) -> str:
    """Return a page of the motifs of one network, or of several networks side by side.

    Args:
      networks: The name, the graph and the motifs of each network. All have motifs of one size, and all are directed
        or none is.
      run: How the result was made: the command line as ``"argv"``, and the options by name.
      distances: Distances between the networks, float64 ``[networks, networks]``, by the name of the distance.

    Returns:
      An HTML page that needs no other file.

    Raises:
      ValueError: The networks cannot be compared, or two have one name.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> graph = datasets.load("florentine")
      >>> page = motifs_report([("florentine", graph, find_motifs(graph, 3, 20))])
      >>> page.count('class="drawing"') >= 2
      True
    """
    first = networks[0][2]
    motifs_of = shared.motifs_by_name(networks)
    check_comparable({name: (motifs.directed, motifs.size) for name, motifs in motifs_of.items()})
    several = len(networks) > 1
    ranked = _rank_classes(motifs_of.values())
    shown, omitted = ranked[: shared.MOST_CLASSES], shared.omission_note(len(ranked))
    classes = sorted(shown)
    words = words_of(motifs_of)
    columns = class_columns(classes, first.directed, words)
    drawings = {}
    for i, name in enumerate(classes):
        pattern = named_pattern(name, first.directed)
        drawings[name] = draw_pattern(pattern, *words, title=shared.class_title(columns, i))
    found = compare_motifs(motifs_of) if several else None
    sections = [_profile_section(motifs_of, class_labels(columns), drawings, found)]
    if found is not None:
        sections.append(_comparison_section(found, distances or {}))
    leads, roles = [], []
    for name, graph, motifs in networks:
        summary = f"{shared.describe_size(graph)}. {motifs.summary[:1].upper()}{motifs.summary[1:]}."
        leads.append(as_text(f"{name}: {summary}" if several else summary))
        whose = f": {name}" if several else ""
        sections.append(_class_section(graph, motifs, f"Classes{whose}", shown, drawings, omitted))
        roles.append(_motif_roles(graph, motifs, f"Top nodes by role{whose}"))
    sections += [*roles, _random_graphs_section(motifs_of), shared.origin_section("motifs", run)]
    names = ", ".join(motifs_of)
    eyebrow = f"Network motifs · {first.size} nodes{', directed' if first.directed else ''}"
    return html.page(f"Motifs of {names}", eyebrow, names, "<br>".join(leads), sections)


def _of_classes(column: np.ndarray, motifs: Motifs, classes: Iterable[str]) -> np.ndarray:
    """Return the values of some classes in a column of motifs, float64, NaN where the network lacks the class."""
    values = dict(zip(motifs.classes, column.tolist(), strict=True))
    return np.array([values.get(name, np.nan) for name in classes], float)


def _rank_classes(networks: Collection[Motifs]) -> list[str]:
    """Return all classes of some networks, those with the largest z (of either sign) first."""
    classes = sorted({name for motifs in networks for name in motifs.classes})
    z = np.abs([_of_classes(motifs.significance.z, motifs, classes) for motifs in networks])
    largest = np.nan_to_num(z, nan=-1.0).max(axis=0)
    return [classes[i] for i in np.argsort(-largest, kind="stable")]


def _profile_section(
    networks: Mapping[str, Motifs],
    labels: Sequence[str],
    drawings: Mapping[str, Drawing],
    compared: MotifComparison | None,
) -> str:
    """Return the chart of the profiles of networks over the classes that are drawn."""
    profiles = []
    for i, (network, motifs) in enumerate(networks.items()):
        if compared is None:
            curve = motifs.significance.profile, *null_interval(motifs)
        else:
            at = [compared.classes.index(name) for name in motifs.classes]
            ends = compared.profiles, compared.profile_low, compared.profile_high
            curve = tuple(values[i][at] for values in ends)
        columns = (*curve, motifs.is_motif | motifs.is_anti_motif)
        values, low, high, unusual = (_of_classes(column, motifs, drawings) for column in columns)
        profiles.append(Profile(network, values, low, high, unusual == 1))
    note = html.say("profile of one" if compared is None else "profiles of several")
    lines = legend(list(networks)) if compared is not None else ""
    chart = profile_chart(labels, list(drawings.values()), profiles)
    return html.section("Significance profile", lines, html.figure(chart, "profile"), note=note)


def _comparison_section(found: MotifComparison, distances: Mapping[str, np.ndarray]) -> str:
    """Return square tables and trees of the correlations between networks' profiles and of the other distances."""
    titled = {f"Correlation over all {len(found.classes)} classes": found.correlation}
    if not found.tested.all():
        closed = f"the {np.count_nonzero(found.tested)} closed classes, from which the others follow"
        titled[f"Correlation over {closed}"] = found.tested_correlation
    titled |= distances
    parts = [f"<h3>{as_text(title)}</h3>" + _square(found.names, matrix) for title, matrix in titled.items()]
    for words, matrix in ({"1 - correlation": 1 - found.correlation} | dict(distances)).items():
        parts.append(html.figure(tree_chart(found.names, matrix, words), f"tree {words}"))
    ends = [
        f"{one} and {other}: {value:.3f} ({low:.3f} to {high:.3f})"
        for one, other, value, low, high, _ in zip(*found.table().values(), strict=True)
    ]
    return html.section("The networks compared", *parts, html.paragraphs(ends), note=html.say("comparison"))


def _square(names: Sequence[str], matrix: np.ndarray) -> str:
    """Return a table with a row and a column for each network."""
    rows = []
    for name, values in zip(names, matrix.tolist(), strict=True):
        rows.append([html.text_cell(name), *(html.number_cell(value, 3) for value in values)])
    return html.table(["", *names], rows)


def _class_section(
    graph: Graph, motifs: Motifs, heading: str, classes: Sequence[str], drawings: Mapping[str, Drawing], omitted: str
) -> str:
    """Return the table of the classes of a network.

    Args:
      graph: The network.
      motifs: Its motifs.
      heading: The heading of the section.
      classes: The strings of the classes that are shown, in their order.
      drawings: A drawing for each class.
      omitted: A note on classes that are not shown.
    """
    columns = class_columns(classes, motifs.directed, graph._label_words)
    row_of = {name: row for row, name in enumerate(motifs.classes)}
    scores = motifs.significance.z[np.isfinite(motifs.significance.z)]
    longest_bar = float(np.abs(scores).max(initial=0.0))
    rows = []
    for i, name in enumerate(classes):
        if name in row_of:
            cells = [html.Cell(drawings[name].svg()), *shared.class_cells(columns, i)]
            rows.append([*cells, *_statistics_cells(motifs, row_of[name], longest_bar)])
    note = html.say("classes of motifs", rule=motifs.rule, omitted=omitted)
    heads = ["", *shared.class_heads(columns), *_HEADS]
    return html.section(heading, html.table(heads, rows, _MEANINGS, _WIDE), note=note)


def _statistics_cells(motifs: Motifs, row: int, longest_bar: float) -> list[html.Cell]:
    """Return the cells of the class in a row of the motifs, under :data:`_HEADS`.

    Args:
      motifs: The motifs of a network.
      row: The row of the class in their arrays.
      longest_bar: The z, of either sign, whose bar is the longest.
    """
    statistics = (getattr(motifs.significance, name)[row] for name in ("mean", "sd", "fold", "z", "q"))
    mean, sd, fold, z, q = map(float, statistics)
    verdict, why = (column[row] for column in motifs.verdicts)
    style = {"motif": "mark", "anti-motif": "soft"}.get(verdict, "")  # motifs stand out, anti-motifs recede
    return [
        html.count_cell(motifs.counts[row]),
        html.number_cell(mean),
        html.number_cell(sd),
        html.Cell(html.number(fold, 0 if fold >= 100 else 2) + "×", fold),
        html.number_cell(z, 1),
        html.Cell(bar(z, longest_bar)),
        html.Cell("–" if np.isnan(q) else f"{q:.2g}", q),
        html.Cell(f'<span class="{style}">{as_text(why)}</span>', why),
    ]


def _motif_roles(graph: Graph, motifs: Motifs, heading: str) -> str:
    """Return cards of the roles in the motifs of a network that are the most unusual ones."""
    if motifs.estimate is not None:
        return ""  # Roles need every occurrence, of which there are too many if counts are estimated.
    order = np.argsort(-np.nan_to_num(motifs.significance.z, nan=-np.inf), kind="stable").tolist()
    best = [(motifs.classes[i], int(motifs.counts[i])) for i in order if motifs.is_motif[i] and motifs.counts[i]]
    best, which = best[: shared.MOST_RANKED], "of the most unusual motifs"
    return shared.roles_section(graph, motifs.directed, best, heading, which)


def _random_graphs_section(networks: Mapping[str, Motifs]) -> str:
    parts = []
    for name, motifs in networks.items():
        if len(networks) > 1:
            parts.append(f"<h3>{as_text(name)}</h3>")
        parts.append(html.paragraphs([f"The null model {motifs.null_model}.", *mixing_in_words(motifs)]))
    return html.section("The random graphs", *parts)


def mixing_in_words(found: Motifs) -> list[str]:
    """Return sentences on how well the random graphs of some motifs are mixed.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> print(mixing_in_words(find_motifs(datasets.load("florentine"), 3, 20))[0])  # doctest: +ELLIPSIS
      Each of the 20 random graphs was made from the network by a chain of its own, of ...
    """
    kinds = "".join(f"; {kind} made {made:.1f} each" for kind, made in found.accepted_by_kind.items())
    sentences = [html.say("chains", motifs=found, graphs=len(found.random_counts), kinds=kinds)]
    if found.estimate is not None:
        sentences.append(html.say("estimated motifs", draws=counted(found.estimate, "random subgraph")))
    varies = found.significance.scale > 0
    sentences += _chain_sentences(found, varies) if varies.any() else [html.say("nothing varies")]
    return [*sentences, *found.notes]


def _chain_sentences(found: Motifs, varies: np.ndarray) -> list[str]:
    """Return sentences on the chains that went on to a greater length, from the classes whose counts vary (a mask)."""
    mixing = found.mixing
    difference = float(np.abs(mixing.longer_z[varies]).max())
    verdict = html.say("too short" if mixing.disagrees.any() else "long enough")
    independent = float(mixing.effective_size[varies].min())
    correlation = float(np.clip(mixing.lag_correlation[varies].max(), 0, 1))
    longer = {"chains": counted(mixing.graphs, "chain"), "times": mixing.times}
    return [
        html.say("longer chains", **longer, difference=difference, verdict=verdict),
        html.say("independent graphs", correlation=correlation, independent=independent),
    ]
