"""Options that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

logger = logging.getLogger("jaxmotif")

_UNITS = {"": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate(("k", "m", "g", "t"), 1)
    for suffix, base in (("ib", 1024), ("b", 1000))
}


def add_input_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="FILE|DATASET", help="a graph file, plain or .gz, or a bundled network")
    parser.add_argument(
        "--input-format", type=input_format, default="auto", metavar="NAME",
        help="auto (by looking), edges, csv, tsv, konect, mtx, metis, orca, labelled, gff, gfd, lad or lad-labelled "
        "(default: %(default)s)",
    )  # fmt: skip


def add_work_options(parser: argparse.ArgumentParser, checkpoint: bool = True) -> None:
    """Where to run; and, where finished work can be kept, in which folder."""
    parser.add_argument(
        "--device", type=device_choice, metavar="cpu|gpu|hybrid|N",
        help="where to run: one kind, GPUs and the CPU together, or N devices (default: the fastest found)",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=memory_size, metavar="SIZE",
        help="working memory beyond the graph itself, for example 256MiB (default: from the device)",
    )  # fmt: skip
    parser.add_argument(
        "--cluster", metavar="auto|I/N@HOST:PORT",
        help="be one of several processes that share the work: as the cluster's scheduler says, or number I of N, the "
        "first of which listens at HOST:PORT",
    )  # fmt: skip
    if checkpoint:
        parser.add_argument(
            "--checkpoint", type=Path, metavar="DIR", help="keep finished work here; the same command goes on from it"
        )
    parser.add_argument("--quiet", action="store_true", help="no progress and no notes")


def device_choice(text: str) -> str | int:
    """A kind of device, or a number of devices.

    Example:
      >>> device_choice("gpu"), device_choice("4")
      ('gpu', 4)
    """
    if text in ("cpu", "gpu", "hybrid"):
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not cpu, gpu, hybrid or a number of devices")


def memory_size(text: str) -> int:
    """Bytes from a size such as ``256MiB``, ``1.5GB`` or ``1000000``.

    Example:
      >>> memory_size("256MiB"), memory_size("1.5 GB"), memory_size("4096")
      (268435456, 1500000000, 4096)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip().lower())
    size = int(float(match[1]) * _UNITS[match[2]]) if match and match[2] in _UNITS else 0
    if size <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write bytes or a unit, for example 256MiB or 2GB")
    return size


def input_format(name: str) -> str:
    """Checks the name of a file format."""
    from jaxmotif.graph.read import FORMATS

    if name not in ("auto", *FORMATS):
        raise argparse.ArgumentTypeError(f"{name!r} is no format; there are auto, {', '.join(FORMATS)}")
    return name


def use_devices(args: argparse.Namespace) -> None:
    """Finds out before the work whether the devices are there; keeps JAX off accelerators for ``--device cpu``.

    Of several processes all but the first are silenced.
    """
    import jax

    from jaxmotif.devices.processes import join_processes, keep_stdout
    from jaxmotif.devices.select import select_devices

    if args.device == "cpu":
        jax.config.update("jax_platforms", "cpu")
    if args.cluster is not None:
        join_processes(args.cluster)
        keep_stdout()
    select_devices(args.device)
    if jax.process_index() > 0:
        args.output, args.quiet = Path(os.devnull), True
        logger.setLevel(logging.ERROR)


def load_graph(args: argparse.Namespace) -> Graph:
    """Reads the file or the bundled network that the user named; logs its size and what was left out."""
    from jaxmotif.datasets import resolve
    from jaxmotif.graph import read_graph

    # Padded sizes, so that a compilation cache serves all graphs of about this size.
    graph = read_graph(
        resolve(args.graph), format=args.input_format, pad=None if getattr(args, "memory", None) else "bucket"
    )
    logger.info("%s", graph.report)
    return graph
