"""The part that all commands share: their parsers, the course of a run, and how a result was made."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import difflib
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import jaxmotif
from jaxmotif.cli._options import add_work_options, program_cache, use_devices
from jaxmotif.cli._output import Report, add_output_options, check_outputs, choose_format, write_report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

logger = logging.getLogger("jaxmotif")

_NOT_IN_RESULT = frozenset(
    (
        "command",
        "run",
        "format",
        "output",
        "occurrences",
        "report",
        "figures",
        "drawings",
        "roles",
        "escape_formulas",
        "argv",
        "wide",
        "quiet",
        "device",
        "memory",
        "cluster",
        "checkpoint",
        "certificate",
        "cache",
        "unwritten",
    )
)
"""Options that do not change the result, so that it does not name them."""


class Parser(argparse.ArgumentParser):
    """A parser that names what was probably meant, and knows the options of the command it parses."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; a command refuses those that it does not know, instead of the program above it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """End the program with a message, to which the nearest choice or option is added."""
        known = [name for action in self._actions for name in action.option_strings]
        wrong = re.search(r"unrecognized arguments: (-\S+)|invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if wrong:
            option, choice, choices = wrong.groups()
            near = difflib.get_close_matches(option or choice, known if option else re.findall(r"[\w-]+", choices), 1)
            message += f"; did you mean {near[0]}?" if near else ""
        super().error(message)


class Command(NamedTuple):
    """A command of the program.

    Attributes:
      name: The name of the command.
      help: Its line in the list of commands.
      description: Its description in ``--help``, as a rule the docstring of ``run``.
      usage: The arguments that cannot be left out.
      add_options: A function that adds the command's own options to a parser.
      run: A function that does the work.
      works: Whether the command computes, and so takes the options that say where and how.
      checkpoint: Whether its finished work can be kept in a folder.
    """

    name: str
    help: str
    description: str | None
    usage: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Report]
    works: bool = True
    checkpoint: bool = True

    def add_to(self, subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        """Add the command's parser."""
        parser = subparsers.add_parser(
            self.name,
            help=self.help,
            description=self.description,
            allow_abbrev=False,
            usage=f"jaxmotif {self.name} {self.usage} [options]".replace("  ", " "),
            epilog="`jaxmotif help columns` explains every column of a result." if self.works else None,
        )
        self.add_options(parser)
        add_output_options(parser)
        if self.works:
            add_work_options(parser, self.checkpoint)
        parser.set_defaults(run=self._run, unwritten=None)

    def _run(self, args: argparse.Namespace) -> None:
        args.format = form = choose_format(args.format, args.output)
        check_outputs(args)
        if not self.works:
            write_report(self.run(args), form, args.output, args.wide, args.escape_formulas)
            return
        with program_cache(args), use_devices(args):
            report = dataclasses.replace(self.run(args), run=how(args))
        write_report(report, form, args.output, args.wide, args.escape_formulas)
        if args.unwritten is not None:
            raise args.unwritten


def how(args: argparse.Namespace) -> dict[str, Any]:
    """Return what is needed to make the same result again: the versions, the command, and the values of its options."""
    run = {"jaxmotif": jaxmotif.__version__, "jax": version("jax"), "command": args.command}
    for name, value in vars(args).items():
        if name in _NOT_IN_RESULT or value is None:
            continue
        if isinstance(value, tuple | list):
            value = ",".join(map(str, value))
        run[name] = value if isinstance(value, bool | int | float | dict) else str(value)
    return run


@contextlib.contextmanager
def timed(what: str) -> Iterator[None]:
    """Log how long the block took."""
    started = time.monotonic()
    yield
    logger.info("%s in %.2f s", what, time.monotonic() - started)


def add_size(parser: argparse.ArgumentParser, sizes: str) -> None:
    """Add the option ``--size``, whose help names the sizes that are possible."""
    parser.add_argument(
        "-k", "--size", type=int, default=3, metavar="K", help=f"nodes of a subgraph, {sizes} (default: %(default)s)"
    )


def add_certificate(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--certificate``."""
    parser.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE.json",
        help="also write a certificate, which `jaxmotif verify` checks without the engine",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--seed``."""
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: %(default)s)")


def add_estimate(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add ``--estimate`` and ``--samples``, and return the group for other options that say how many to draw."""
    parser.add_argument(
        "--estimate",
        action="store_const",
        const=True,
        help="estimate the counts from random subgraphs, where there are too many to be counted",
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "--samples",
        type=whole_number,
        metavar="N",
        help="with --estimate: draws from a graph, for example 1e9 (default: a million)",
    )
    return amount


def whole_number(text: str) -> int:
    """Parse a whole number, which may be written as ``1e9``.

    Example:
      >>> whole_number("1e9"), whole_number("250000")
      (1000000000, 250000)
    """
    try:
        return int(text) if text.lstrip("-").isdecimal() else _as_whole(float(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; write for example 1000000 or 1e6") from None


def _as_whole(value: float) -> int:
    if not value.is_integer():  # Infinity is not an integer either.
        raise ValueError
    return int(value)


def refuse(args: argparse.Namespace, options: Iterable[str], why: str) -> None:
    """Raise ValueError if the user gave options that have no meaning here, with the reason."""
    if meaningless := [f"--{name}" for name in options if getattr(args, name) is not None]:
        raise ValueError(f"{', '.join(meaningless)}: {why}")


def without_directions(graph: Graph) -> Graph:
    """Return a graph as an undirected one, with an edge for each arc or pair of opposite arcs, and log that."""
    if not graph.directed:
        return graph
    from jaxmotif.graph import Graph
    from jaxmotif.graph._ignored import ignored_labels

    ignored_labels(graph)
    plain = Graph.from_edges(graph.edge_list(), num_nodes=graph.n, node_names=graph.node_names, pad="bucket")
    logger.info("directions ignored: %d arcs count as %d undirected edges", graph.m, plain.m)
    return plain
