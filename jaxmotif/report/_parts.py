"""Parts that several pages share: names and cells of classes, cards of roles, and how a result was made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np

import jaxmotif
from jaxmotif.arrays._label_words import in_words
from jaxmotif.arrays._present import Column, counted
from jaxmotif.drawing._drawing import as_text
from jaxmotif.graph import Graph
from jaxmotif.patterns import class_columns, named_pattern
from jaxmotif.report._page import Cell, cards, facts, paragraphs, section, text_cell
from jaxmotif.report._roles import MOST_OCCURRENCES, role_card
from jaxmotif.report._words import citations

MOST_CLASSES = 500
"""Number of classes that a page shows at most; it says where the others are."""

MEANINGS = {"id": "the number of the class in mfinder and FANMOD"}
"""Explanations of columns that several pages have."""

MOST_RANKED = 4
"""Number of patterns whose nodes a page ranks by role at most."""

_MOST_LETTERS = 40  # of a class's string in a table

LabelNames = Mapping[int, str] | None
ClassColumns = Mapping[str, Column]


def label_names(graph: Graph) -> tuple[LabelNames, LabelNames]:
    """Return the names of a graph's node labels and edge labels."""
    return graph.node_label_names, graph.edge_label_names


def node_names(graph: Graph) -> np.ndarray:
    """Return the names of a graph's nodes, their numbers where it has none."""
    return np.arange(graph.n) if graph.node_names is None else graph.node_names


def describe_size(graph: Graph) -> str:
    """Return how many nodes and edges a graph has, in words."""
    return f"{counted(graph.n, 'node')} and {counted(graph.m, 'arc' if graph.directed else 'edge')}"


def class_title(columns: ClassColumns, i: int) -> str:
    """Return what class ``i`` is called: its name, else its number, else its string."""
    return columns["name"][i] or (f"id {columns['id'][i]}" if columns["id"][i] is not None else columns["class"][i])


def class_label(columns: ClassColumns, i: int) -> str:
    """Return a short label of class ``i`` for an axis: its number, the type of a signed loop, else its reading."""
    if columns["id"][i] is not None:
        return str(columns["id"][i])
    signed = re.search(r"[CI]\d(?=\)$)", columns["name"][i])
    return signed[0] if signed else columns["reading"][i]


def class_heads(columns: ClassColumns) -> tuple[str, str]:
    """Return the heads of the two columns that :func:`class_cells` fills."""
    return ("class", "labels") if None in columns["id"] else ("id", "class")


def class_cells(columns: ClassColumns, i: int, graph: Graph) -> list[Cell]:
    """Return two cells that say which class ``i`` is.

    Classes of unlabelled graphs get their number and their name, or their string where they have no name. Classes
    of labelled graphs, which are not numbered, get their name and their reading in words.
    """
    full = in_words(columns["class"][i], *label_names(graph)) if None not in columns["id"] else columns["reading"][i]
    short = full if len(full) <= _MOST_LETTERS else full[: _MOST_LETTERS - 1] + "…"
    string = f'<span class="soft small">{as_text(short)}</span>'
    name = " · ".join(filter(None, (columns["name"][i], columns["przulj"][i])))
    if None in columns["id"]:
        return [text_cell(name), Cell(string, full)]
    number = columns["id"][i]
    return [Cell(str(number), number), text_cell(name) if name else Cell(string, full)]


def omission_note(classes: int) -> str:
    """Return a note that says where to find the classes that a page leaves out, if there are some."""
    if classes <= MOST_CLASSES:
        return ""
    return f"{MOST_CLASSES} of {classes:,} classes are shown; --output FILE.csv has all."


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
    columns = class_columns([name for name, _ in classes], directed, label_names(graph))
    bodies, too_frequent = [], []
    for i, (name, count) in enumerate(classes):
        if count > MOST_OCCURRENCES:
            too_frequent.append(class_title(columns, i))
        else:
            bodies.append(role_card(graph, named_pattern(name, directed), class_title(columns, i)))
    note = f"Who takes the marked place most often, in how many subgraphs: {which}."
    if too_frequent:
        note += f" Left out, with more than {MOST_OCCURRENCES:,} subgraphs each: {', '.join(too_frequent)}."
    return section(heading, cards(bodies), note=note)


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
    return section("How to make it again, and what to cite", line, facts(values), paragraphs(citations(job)))
