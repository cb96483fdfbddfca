"""Parts that several pages share: names and cells of classes, cards of roles, and how a result was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np

import jaxmotif
from jaxmotif.arrays._present import Column, counted
from jaxmotif.drawing._drawing import as_text
from jaxmotif.graph import Graph
from jaxmotif.motifs import Motifs
from jaxmotif.patterns import Pattern, class_columns, class_labels, named_pattern
from jaxmotif.report import _page as html
from jaxmotif.report._roles import MOST_OCCURRENCES, count_roles, locate, role_card

MOST_CLASSES = 500
"""Number of classes that a page shows at most; it says where the others are."""

MEANINGS = {"id": "the number of the class in mfinder and FANMOD"}
"""Explanations of columns that several pages have."""

MOST_NODES = 30
"""Number of nodes whose roles a page lists at most."""

MOST_RANKED = 4
"""Number of patterns whose nodes a page ranks by role at most."""

_MOST_LETTERS = 100  # of a class's string in a table

ClassColumns = Mapping[str, Column]

Networks = Sequence[tuple[str, Graph, Motifs]]
"""The name, the graph and the motifs of each network."""


def motifs_by_name(networks: Networks) -> dict[str, Motifs]:
    """Return the motifs of networks by the names of the networks, or raise ValueError if two have one name."""
    motifs = {name: found for name, _, found in networks}
    if len(motifs) < len(networks):
        names = [name for name, *_ in networks]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two networks are called {twice!r}; give each a name of its own")
    return motifs


def describe_size(graph: Graph) -> str:
    """Return how many nodes and edges a graph has, in words."""
    return f"{counted(graph.n, 'node')} and {counted(graph.m, 'arc' if graph.directed else 'edge')}"


def class_title(columns: ClassColumns, i: int) -> str:
    """Return what class ``i`` is called: its name, else its number, else its string."""
    return columns["name"][i] or (f"id {columns['id'][i]}" if columns["id"][i] is not None else columns["class"][i])


def class_heads(columns: ClassColumns) -> tuple[str, str]:
    """Return the heads of the two columns that :func:`class_cells` fills."""
    return ("class", "labels") if None in columns["id"] else ("id", "class")


def class_cells(columns: ClassColumns, i: int) -> list[html.Cell]:
    """Return two cells that say which class ``i`` is.

    Classes of unlabelled graphs get their number and their name, or their string where they have no name. Classes
    of labelled graphs, which are not numbered, get their name and their reading in words.
    """
    labelled, number = None in columns["id"], columns["id"][i]
    full = columns["reading" if labelled else "class"][i]
    short = full if len(full) <= _MOST_LETTERS else full[: _MOST_LETTERS - 1] + "…"
    string = f'<span class="soft small">{as_text(short)}</span>'
    name = " · ".join(filter(None, (columns["name"][i], columns["przulj"][i])))
    if labelled:
        return [html.text_cell(name), html.Cell(string, full)]
    return [html.Cell(str(number), number), html.text_cell(name) if name else html.Cell(string, full)]


def omission_note(classes: int) -> str:
    """Return a note that says where to find the classes that a page leaves out, if there are some."""
    if classes <= MOST_CLASSES:
        return ""
    return html.say("omitted classes", shown=MOST_CLASSES, classes=classes)


def roles_section(graph: Graph, directed: bool, classes: Sequence[tuple[str, int]], heading: str, which: str) -> str:
    """Return cards of the roles in some classes.

    Args:
      graph: The graph whose nodes take the roles.
      directed: Whether the classes are those of directed graphs.
      classes: Classes and how often each occurs. One that occurs too often to be ranked is only named.
      heading: The heading of the section.
      which: Which classes they are, in words.
    """
    if not classes:
        return ""
    columns = class_columns([name for name, _ in classes], directed, graph._label_words)
    labels = class_labels(columns)
    bodies, too_frequent, drawn = [], [], []
    taken: dict[str, np.ndarray] = {}  # how often each node takes a role, by the role
    for i, (name, count) in enumerate(classes):
        title, pattern = class_title(columns, i), named_pattern(name, directed)
        if count > MOST_OCCURRENCES:
            too_frequent.append(title)
            continue
        roles = count_roles(graph, pattern)
        bodies.append(role_card(graph, pattern, title, roles))
        drawn.append(_where(graph, pattern, title, count))
        taken |= {f"{labels[i]} {role.name}": role.counts for role in roles}
    note = html.say("roles in classes", which=which)
    if too_frequent:
        note += " " + html.say("too frequent", most=MOST_OCCURRENCES, names=", ".join(too_frequent))
    pairs = f'<div class="pair">{"".join(drawn)}</div>'
    return html.section(heading, html.cards(bodies), pairs, _node_table(graph, taken), note=note)


def _node_table(graph: Graph, taken: Mapping[str, np.ndarray]) -> str:
    """Return a table of the nodes that take some roles most often, and how often."""
    if not taken:
        return ""
    counts = np.stack(list(taken.values()), axis=1)
    total = counts.sum(axis=1)
    takers = np.count_nonzero(total)
    order = np.argsort(-total, kind="stable")[: min(MOST_NODES, takers)].tolist()
    rows = [[html.text_cell(graph._names[v]), *map(html.count_cell, counts[v].tolist())] for v in order]
    more = [html.say("omitted nodes", shown=MOST_NODES, nodes=takers)] if takers > MOST_NODES else []
    return "<h3>Every role of a node</h3>" + html.table(["node", *taken], rows) + html.paragraphs(more)


def _where(graph: Graph, pattern: Pattern, title: str, count: int) -> str:
    """Return a figure of a part of the network in which a class occurs, ``count`` times in all."""
    drawing, roles, shown = locate(graph, pattern)
    caption = f"{as_text(title)}: {shown:,} of {counted(count, 'subgraph')}. {html.legend_of_groups(roles)}"
    return html.figure(drawing.svg(), f"where {title}", caption)


def origin_section(job: str, run: Mapping[str, object] | None) -> str:
    """Return how a result can be made again, and what to cite.

    Args:
      job: The name of the command.
      run: The command line (``"argv"``) and the options, by name; options that are off are left out.
    """
    values = {"jaxmotif": jaxmotif.__version__, "jax": version("jax")}
    values |= {name: value for name, value in (run or {}).items() if value is not None and value is not False}
    command = values.pop("argv", None)
    line = f"<pre>{as_text(command)}</pre>" if command else ""
    return html.section(
        "How to make it again, and what to cite", line, html.facts(values), html.paragraphs(citations(job))
    )


def citations(job: str) -> list[str]:
    """Return what to cite for a job: the software, then the papers of the method."""
    own = f"The jaxmotif authors: jaxmotif: small patterns in graphs with JAX, version {jaxmotif.__version__}."
    papers = html.read_template("citations.txt").partition(f"## {job}\n")[2].partition("\n##")[0]
    return [own, *papers.strip().splitlines()]
