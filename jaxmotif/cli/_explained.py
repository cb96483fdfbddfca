"""Options of commands, explained to users by ``options.txt``."""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any


def read_sections(name: str) -> dict[str, dict[str, str]]:
    """Read a file of explanations: what each thing means, by the heading of its section.

    A heading is a line that begins with ``## ``. Every other line has a thing and its meaning, with a colon between.
    Lines above the first heading are for who edits the file.
    """
    _, *sections = Path(__file__).with_name(name).read_text(encoding="utf-8").split("## ")
    texts = {}
    for heading, *lines in map(str.splitlines, sections):
        texts[heading] = dict(line.split(": ", 1) for line in lines if line)
    return texts


@cache
def _read_options() -> dict[str, dict[str, tuple[str | None, str]]]:
    """Return what each option takes and what it means, by the section of ``options.txt`` and the option."""
    sections = {}
    for section, texts in read_sections("options.txt").items():
        sections[section] = {}
        for option, meaning in texts.items():
            name, _, metavar = option.partition(" ")
            sections[section][name] = (metavar or None), meaning
    return sections


def add_option(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, section: str, *names: str, **settings: Any
) -> None:
    """Add an option, or an argument, that a section of ``options.txt`` explains.

    Args:
      parser: The parser, or a group of its options.
      section: The section.
      names: The names of the option; the last one stands in the file.
      settings: The other settings of ``add_argument``.
    """
    metavar, meaning = _read_options()[section][names[-1]]
    if metavar is not None:
        settings["metavar"] = metavar
    parser.add_argument(*names, help=meaning, **settings)
