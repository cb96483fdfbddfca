"""What all commands share: their parser, the course of a run, and what goes with every result."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import jaxmotif
from jaxmotif.cli._options import add_work_options, compiled_code_kept, use_devices
from jaxmotif.cli._output import Report, add_output_options, check_outputs, choose_format, write_report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

logger = logging.getLogger("jaxmotif")

_NOT_IN_RESULT = frozenset((
    "command", "run", "format", "output", "occurrences", "report", "svg", "svg_limit", "escape_formulas", "argv",
    "wide", "quiet", "device", "memory", "cluster", "checkpoint", "cache", "unwritten",
))  # fmt: skip
"""Options that leave every bit of the result as it is: it does not tell them."""


class Command(NamedTuple):
    """A command of the program.

    Attributes:
      name, help, description: as in ``--help``.
      usage: the arguments that cannot be left out.
      add_options: adds the options of its own.
      run: does the work.
      works: whether it computes, and takes the options that say where and how.
      checkpoint: whether its finished work can be kept in a folder.
    """

    name: str
    help: str
    description: str
    usage: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Report]
    works: bool = True
    checkpoint: bool = True

    def add_to(self, subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        """Adds the command's parser."""
        parser = subparsers.add_parser(
            self.name, help=self.help, description=self.description, allow_abbrev=False,
            usage=f"jaxmotif {self.name} {self.usage} [options]".replace("  ", " "),
            epilog="`jaxmotif help columns` explains every column of a result." if self.works else None,
        )  # fmt: skip
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
        with compiled_code_kept(args):
            use_devices(args)
            report = dataclasses.replace(self.run(args), run=how(args))
        write_report(report, form, args.output, args.wide, args.escape_formulas)
        if args.unwritten is not None:
            raise args.unwritten


def how(args: argparse.Namespace) -> dict[str, Any]:
    """What the same result takes: the versions, the command, and its options, given or not."""
    options = {name: value for name, value in vars(args).items() if name not in _NOT_IN_RESULT and value is not None}
    plain = {
        name: value if isinstance(value, bool | int | float | dict) else _text(value) for name, value in options.items()
    }
    return {"jaxmotif": jaxmotif.__version__, "jax": version("jax"), "command": args.command} | plain


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


@contextlib.contextmanager
def timed(what: str) -> Iterator[None]:
    """Notes how long the block took."""
    started = time.monotonic()
    yield
    logger.info("%s in %.2f s", what, time.monotonic() - started)


def add_size(parser: argparse.ArgumentParser, sizes: str) -> None:
    parser.add_argument(
        "-k", "--size", type=int, default=3, metavar="K", help=f"nodes of a subgraph, {sizes} (default: %(default)s)"
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: %(default)s)")


def add_estimate(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """``--estimate`` and ``--samples``; the group is of what else may say how many."""
    parser.add_argument(
        "--estimate", action="store_const", const=True,
        help="estimate the counts from random subgraphs, where there are too many to be counted",
    )  # fmt: skip
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--samples", type=whole_number, metavar="N",
        help="with --estimate: draws from a graph, for example 1e9 (default: a million)",
    )  # fmt: skip
    return wanted


def whole_number(text: str) -> int:
    """A whole number, also as ``1e9``.

    Example:
      >>> whole_number("1e9"), whole_number("250000")
      (1000000000, 250000)
    """
    try:
        return int(text) if text.lstrip("-").isdecimal() else _as_whole(float(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; write for example 1000000 or 1e6") from None


def _as_whole(value: float) -> int:
    if not value.is_integer():  # infinity is none, either
        raise ValueError
    return int(value)


def refuse(args: argparse.Namespace, options: Iterable[str], why: str) -> None:
    """Raises ValueError for those options that were given where they would say nothing."""
    if given := [f"--{name}" for name in options if getattr(args, name) is not None]:
        raise ValueError(f"{', '.join(given)}: {why}")


def without_directions(graph: Graph) -> Graph:
    """An undirected graph for a job that knows no other, with an edge where there was an arc either way; noted."""
    if not graph.directed:
        return graph
    from jaxmotif.graph import Graph
    from jaxmotif.graph._ignored import ignored_labels

    ignored_labels(graph)
    plain = Graph.from_edges(graph.edge_list(), num_nodes=graph.n, node_names=graph.node_names, pad="bucket")
    logger.info("directions ignored: %d arcs count as %d undirected edges", graph.m, plain.m)
    return plain
