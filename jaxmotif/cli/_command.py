"""The part that all commands share: the course of a run, and how a result was made."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import logging
import os
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import jaxmotif
from jaxmotif.cli._output import check_outputs, choose_format, write_report
from jaxmotif.cli._parser import check_together, option_names
from jaxmotif.devices._progress import Progress

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

logger = logging.getLogger("jaxmotif")

SILENT_SECONDS = 1.0  # then a command says that it is at work, unless a meter does
_FURTHER_FILES = ("certificate", "occurrences", "roles", "subnetwork", "page", "figures")


def run_command(args: argparse.Namespace) -> None:
    """Run the command that the options are of, and write its result."""
    sign = threading.Timer(SILENT_SECONDS, lambda: Progress.shown or logger.info("%s: at work", args.command))
    sign.daemon = True
    sign.start()
    try:
        run = import_module(f"{__package__}._{args.command}").run
        if not hasattr(args, "output"):
            run(args)
            return
        args.format = choose_format(args.format, args.output)
        check_outputs(args)
        check_together(args)
        if hasattr(args, "device"):
            with program_cache(args), use_devices(args):
                report = dataclasses.replace(run(args), run=how(args))
        else:
            report = run(args)
        with report.kept:
            write_report(report, args.format, args.output, args.wide, args.escape_formulas)
        if args.unwritten is not None:
            raise args.unwritten
    finally:
        sign.cancel()


def how(args: argparse.Namespace) -> dict[str, Any]:
    """Return what is needed to make the same result again: the versions, the command, and the values of its options."""
    run = {"jaxmotif": jaxmotif.__version__, "jax": version("jax"), "command": args.command}
    # These options do not change the result.
    unnamed = option_names(*_FURTHER_FILES, "output", "devices", "checkpoint", "cache") | {"argv", "unwritten"}
    for name, value in vars(args).items():
        value = "all" if name == "limit" and value is None else value
        if name in unnamed or value is None:
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


@contextlib.contextmanager
def program_cache(args: argparse.Namespace) -> Iterator[None]:
    """Keep compiled programs in a folder, unless that is turned off; where it cannot be done, log that and go on."""
    import jax

    from jaxmotif.arrays._compile import compile_quickly
    from jaxmotif.arrays._program_cache import keep_compiled

    where = args.cache or os.environ.get("JAXMOTIF_CACHE")
    if where != "off":
        try:
            keep_compiled(where, quick=True)
        except OSError as error:
            logger.info("compiled code is not kept: %s (--no-cache for silence, --cache DIR for another place)", error)
    # Programs do not say which line of Python each operation comes from, which takes a twentieth of the first call.
    lines: int = jax.config.jax_traceback_in_locations_limit  # pyright: ignore[reportAttributeAccessIssue]
    jax.config.update("jax_traceback_in_locations_limit", 0)
    try:
        yield
    finally:
        jax.config.update("jax_traceback_in_locations_limit", lines)
        compile_quickly(False)


@contextlib.contextmanager
def use_devices(args: argparse.Namespace) -> Iterator[None]:
    """Check before the work that the devices are there, or connect to the cluster that the user named.

    For ``--device cpu``, and where a cluster does the work, JAX is kept off accelerators.
    """
    import jax

    from jaxmotif.devices._cluster import connect
    from jaxmotif.devices._memory import check_within_device
    from jaxmotif.devices._select import select_devices

    if args.device == "cpu" or args.cluster is not None:
        jax.config.update("jax_platforms", "cpu")
    if args.cluster is None:
        check_within_device(args.memory, select_devices(args.device).main)
        yield
        return
    with connect(args.cluster, args.device) as args.device:
        yield


def place_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of a job that say where it runs, and in how much memory."""
    return {"devices": args.device, "memory": args.memory}


def work_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments that a job takes from the options of ``options.txt``."""
    return {**place_options(args), "checkpoint": args.checkpoint, "progress": not args.quiet}
