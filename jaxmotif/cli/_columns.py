"""The meaning of every column of a result, and the columns with which all tables of classes begin."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxmotif.arrays._label_words import LabelWords, in_words
from jaxmotif.cli._output import Column, Report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.patterns import Pattern

_WIDEST_CLASS = 36  # letters of a class of 6 nodes; a table shows wider classes by their number, or with --wide


def _read_columns() -> dict[str, dict[str, str]]:
    """Read the meaning of every column, by the command or options that a result is of."""
    blocks = Path(__file__).with_name("columns.txt").read_text(encoding="utf-8").strip().split("\n\n")
    columns = {}
    for heading, *lines in map(str.splitlines, blocks):
        columns[heading.removeprefix("## ")] = dict(line.split(": ", 1) for line in lines)
    columns["motifs"] = columns["census"] | columns["motifs"]
    return columns


COLUMNS: Mapping[str, Mapping[str, str]] = _read_columns()


def explain_columns() -> str:
    """Return every column and its meaning, as text for a terminal."""
    blocks = []
    for command, names in COLUMNS.items():
        lines = [
            textwrap.fill(
                f"{name}: {meaning}", 100, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
            )
            for name, meaning in names.items()
        ]
        blocks.append("\n".join([command, *lines]))
    return "\n\n".join(blocks) + "\n"


def class_patterns(classes: Sequence[str], directed: bool, words: LabelWords) -> dict[str, Pattern]:
    """Return classes as patterns, by names that files can have.

    The name of a class is made of its number or, for a class that has none, of its string with labels as words.
    """
    from jaxmotif.patterns import class_id, named_pattern

    patterns = {}
    for text in classes:
        number = class_id(text)
        name = f"class-{in_words(text, *words)}" if number is None else f"id{number}"
        patterns[name] = named_pattern(text, directed)
    return patterns


def columns_in_words(columns: Iterable[str], graph: Graph) -> list[str]:
    """Return the names of columns, each a class or a role in one (class:role), with words in the place of labels."""
    of_class = int(graph.node_labels is not None)  # colons in the string of a class, which one before a role follows
    names = []
    for column in columns:
        text, *role = column.rsplit(":", 1) if column.count(":") > of_class else [column]
        names.append(":".join([in_words(text, *graph._label_words), *role]))
    return names


def class_report(columns: Mapping[str, Column], graph: Graph, others: Sequence[str]) -> Report:
    """Return a table of classes with labels in words, which JSON has as a list of classes.

    A terminal shows the columns that fit and say something. These are names and graphlet numbers if some class has one,
    ids if there are no labels, strings unless they are very long, and the other columns that are named.

    Args:
      columns: The columns of the table.
      graph: The graph, which has the words of labels.
      others: The names of further columns that a terminal shows.
    """
    classes = [in_words(str(name), *graph._label_words) for name in columns["class"]]
    plain = ["class", "id"] if max(map(len, classes), default=0) <= _WIDEST_CLASS else ["id"]
    narrow = ["reading"] if any(number is None for number in columns["id"]) else plain
    narrow += [name for name in ("name", "przulj") if any(columns[name])]
    return Report({}, {**columns, "class": classes}, narrow=[*narrow, *others], objects="classes")
