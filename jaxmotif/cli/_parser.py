"""The parser of the command line, which ``options.txt`` describes.

This module does not start JAX, so that ``--help`` is quick.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import shlex
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import jaxmotif
from jaxmotif.arrays._present import meant
from jaxmotif.cli import _values

_MARKS = {
    "int": {"type": _values.whole_number},
    "optional": {"nargs": "?"},
    "required": {"required": True},
    "several": {"nargs": "+"},
}


class Parser(argparse.ArgumentParser):
    """A parser that names what was probably meant, and knows the options of the command it parses."""

    def __init__(self, *args: Any, **settings: Any):
        super().__init__(*args, **settings)
        self._negative_number_matcher = re.compile(r"-\.?\d")  # so that -1GB is a value and no option

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; a command refuses those that it does not know, instead of the program above it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """End the program with a message, to which the nearest choice or option is added."""
        known = [name for action in self._actions for name in action.option_strings]
        wrong = re.search(r"unrecognized arguments: (\S+)|invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if wrong:
            word, choice, choices = wrong.groups()
            near = meant(word or choice, known if word else re.findall(r"[\w-]+", choices)).replace("'", "")
            if not near and word and not word.startswith("-"):
                near = f"; the command is {self.format_usage().split(':', 1)[1].strip()}"
            if not near and self._subparsers:
                near = f"; a command comes first, for example jaxmotif motifs {shlex.quote(choice)}"
            message += near
        super().error(message)


_RENAMED = {"format": "input_format", "devices": "device", "num_random": "random", "edge_labels": "only"}
_RENAMED |= {"time_limit": "seconds", "null_model": "keep", "certify": "certificate", "estimate_census": "estimate"}
_VALUE = r"""\"[^"]*"|'[^']*'|\([^)]*\)|[\w+-]+(?:\.\w+)*|"""
# What the user wrote, which stays: text in quotes, and words that look like paths.
_WRITTEN = r"""(?<!\w)(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|[^\s'"()]*(?:[/\\]|\.[A-Za-z])[^\s'"()]*"""
_ARGUMENT = re.compile(
    rf"""{_WRITTEN}|(?<![\w'"\[.])(?:(\w+)=({_VALUE})|(?:^|(?<=: ))(\w+)(?= (?:must|is|says)\b)|(estimate_census))"""
)


def as_options(text: str, parser: argparse.ArgumentParser) -> str:
    """Return a message of the library in the words of a command: its options in place of arguments.

    Arguments that the command has no option for stay as they are.

    Example:
      >>> as_options('size must be between 2 and 8; columns=(0, 1), directed=True or format="sif"', parser_of("census"))
      '--size must be between 2 and 8; --columns 0,1, --directed or --input-format sif'
    """
    options: dict[str, dict[str, str]] = {}
    for action in parser._actions:
        if action.option_strings:
            options.setdefault(action.dest, {})[str(action.const)] = action.option_strings[-1]

    def put(argument: re.Match[str]) -> str:
        name, value = argument[1] or argument[3] or argument[4], re.sub(r"""["'()]|(?<=,) """, "", argument[2] or "")
        ways = options.get(_RENAMED.get(name, name))
        if ways is None:
            return argument[0]
        if value in ways:
            return ways[value]
        return f"{next(iter(ways.values()))} {shlex.quote(value) if value else ''}".rstrip()

    return _ARGUMENT.sub(put, text)


def parser_of(command: str) -> argparse.ArgumentParser:
    """Return the parser of one command."""
    commands = build_parser()._subparsers
    return commands._group_actions[0].choices[command]  # type: ignore[union-attr, index]


@functools.cache
def _blocks() -> dict[str, list[str]]:
    """Return the lines of every block of ``options.txt``, by the heading of the block, in the order of the file."""
    text = Path(__file__).with_name("options.txt").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in text.strip().split("\n\n")[1:]]
    return {heading.removeprefix("## "): lines for heading, *lines in blocks}


@functools.cache
def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = Parser(
        prog="jaxmotif",
        description="Find and count small patterns in graphs, exactly, on CPUs and accelerators.",
        epilog="Results go to standard output or --output, progress and notes to standard error. "
        "Exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted (143 and 129: by SIGTERM and SIGHUP).",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"jaxmotif {jaxmotif.__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for heading, lines in _blocks().items():
        if " | " not in heading:
            continue
        name, needed, words = heading.split(" | ")
        needed = "" if needed == "-" else f" {needed}"
        command = subparsers.add_parser(
            name,
            help=words,
            description=import_module(f"{__package__}._{name}").run.__doc__,
            allow_abbrev=False,
            usage=f"jaxmotif {name}{needed} [options]" if "group output" in lines else None,
            epilog="`jaxmotif help columns` explains every column of a result." if "include devices" in lines else None,
        )
        add_options(command, heading)
        command.set_defaults(unwritten=None)
    return parser


def add_options(parser: Any, heading: str) -> None:
    """Add the options of a block of ``options.txt`` to a parser, or to a group of one."""
    exclusive = parser
    for line in _blocks()[heading]:
        word, _, rest = line.partition(" ")
        if word in ("refuse", "need"):
            continue
        if word == "include":
            add_options(parser, rest)
        elif word == "group":
            add_options(parser.add_argument_group(rest), rest)
        elif word == "default":
            parser.set_defaults(**dict([rest.split("=")]))
        elif word in ("either", "or"):
            exclusive = exclusive if word == "or" else parser.add_mutually_exclusive_group()
            _add_option(exclusive, *rest.split(" | "))
        else:
            _add_option(parser, *line.split(" | "))


def _add_option(parser: Any, names: str, takes: str, meaning: str) -> None:
    """Add an option, or an argument without one, from the three columns of its line."""
    words = names.split()
    flags = [word for word in words if word.startswith("-")] or words[:1]
    metavar = words[-1] if len(words) > len(flags) else None
    takes, _, default = takes.partition(" = ")
    *marks, kind = takes.split()
    settings: dict[str, Any] = {"help": meaning, "metavar": metavar}
    for mark in marks:
        settings |= _MARKS[mark]
    if default:
        settings["default"] = argparse.SUPPRESS if default == "absent" else _literal(default)
    if kind == "yes" or "=" in kind:
        name, _, value = kind.partition("=")
        constant = {"action": "store_const", "dest": name, "const": _literal(value)}
        settings = {"help": meaning} | (constant if value else {"action": "store_true"})
    elif kind == "ending":
        settings["type"] = functools.partial(_values.path_with_ending, option=flags[-1], endings=words[-1])
    elif kind == "format_name":
        settings["choices"] = _values.FormatNames()
    elif "|" in kind:
        settings["choices"] = [settings.get("type", str)(choice) for choice in kind.split("|")]
    else:
        settings["type"] = str if kind == "text" else getattr(_values, kind)
    parser.add_argument(*flags, **settings)


def _literal(text: str) -> Any:
    """Return a number or a truth value as it is written in JSON, and anything else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def check_together(args: argparse.Namespace) -> None:
    """Raise ValueError if options do not go together, as lines of ``options.txt`` say."""
    [lines] = [lines for heading, lines in _blocks().items() if heading.startswith(f"{args.command} | ")]
    for line in lines:
        rule, _, rest = line.partition(" ")
        if rule not in ("refuse", "need"):
            continue
        options, condition, why = rest.split(" | ")
        word, *others = condition.split()
        # A rule with "if" holds where one of the others is given, a rule with "unless" or "always" where none is.
        if any(_is_given(args, option) for option in others) != (word == "if"):
            continue
        if rule == "refuse":
            refuse(args, options.split(), why.format(**vars(args)))
        elif not _is_given(args, options):
            raise ValueError(why)


def refuse(args: argparse.Namespace, options: Iterable[str], why: str) -> None:
    """Raise ValueError if the user gave options that have no meaning here, with the reason."""
    if given := [option for option in options if _is_given(args, option)]:
        raise ValueError(f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} {why}")


def _is_given(args: argparse.Namespace, option: str) -> bool:
    """Return whether the user gave an option, such as ``--estimate``, or this value of it, as in ``--keep=blocks``."""
    name, _, wanted = option.removeprefix("--").partition("=")
    value = getattr(args, name.replace("-", "_"))
    return str(value) == wanted if wanted else value is not None and value is not False


def option_names(*headings: str) -> set[str]:
    """Return the names of the values of all options of some blocks of ``options.txt``."""
    parser = argparse.ArgumentParser(add_help=False)
    for heading in headings:
        add_options(parser, heading)
    return {action.dest for action in parser._actions}
