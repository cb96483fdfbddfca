"""``jaxmotif motifs``: subgraphs that occur more often than in random graphs with the same degrees."""

from __future__ import annotations

import argparse
import time

import numpy as np

from jaxmotif.cli.census import load, write
from jaxmotif.cli.options import add_input_options, add_work_options, logger, use_devices
from jaxmotif.cli.output import Column, add_output_options, check_output


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser(
        "motifs",
        help="find subgraphs that occur unexpectedly often",
        description="Count the connected induced subgraphs of K nodes by class, in the graph and in random graphs "
        "with the same degrees, and say which classes are unusual.",
        allow_abbrev=False,
    )
    add_input_options(parser)
    parser.add_argument("--size", type=int, required=True, metavar="K", help="nodes of a subgraph, 2 to 8")
    parser.add_argument(
        "--random", type=int, default=1000, metavar="R", help="random graphs to compare with (default: %(default)s)"
    )
    parser.add_argument(
        "--keep", choices=("bidegree", "degree"), default="bidegree",
        help="what random graphs keep of every node: in-, out- and reciprocal degree, or in- and out-degree only "
        "(default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--undirected", action="store_true", help="rows are edges, not arcs")
    parser.add_argument(
        "--threshold", type=float, default=2.0, metavar="T",
        help="a motif's count is at least T standard deviations above the mean (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--attempts", type=float, default=40.0, metavar="A",
        help="switches to try per edge for every random graph (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--step", choices=("reject", "global"), default="reject", help="how switches are decided (default: %(default)s)"
    )
    parser.add_argument(
        "--engine", choices=("auto", "census", "matching"), default="auto",
        help="count random graphs by a census of each, or match the classes of the graph alone, without those that it "
        "does not have (default: %(default)s, the census)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: %(default)s)")
    add_output_options(parser)
    add_work_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    import jax

    from jaxmotif.motifs import find_motifs

    check_output(args.output)
    use_devices(args)
    graph = load(args, not args.undirected)
    started = time.monotonic()
    found = find_motifs(
        graph, args.size, args.random, jax.random.key(args.seed), args.keep, threshold=args.threshold,
        attempts=args.attempts, step=args.step, engine=args.engine, checkpoint=args.checkpoint, devices=args.device,
        memory=args.memory, progress=not args.quiet,
    )  # fmt: skip
    logger.info("found in %.2f s", time.monotonic() - started)
    s, mixing = found.significance, found.mixing
    numbers = {
        "mean": s.mean, "sd": s.sd, "z": s.z, "p_high": s.p_high, "p_low": s.p_low, "q": s.q, "profile": s.profile,
        "mean_low": s.mean_low, "mean_high": s.mean_high, "lag_correlation": mixing.lag_correlation,
        "effective_size": mixing.effective_size,
    }  # fmt: skip
    rounded = {name: _numbers(values, 6 if args.format == "table" else 17) for name, values in numbers.items()}
    columns: dict[str, Column] = {"class": found.classes, "name": found.names, "count": found.counts, **rounded}
    columns |= {"motif": found.is_motif.tolist(), "anti_motif": found.is_anti_motif.tolist()}
    summary = {
        "size": found.size, "total": int(found.counts.sum()), "random_graphs": args.random,
        "null_model": found.null_model, "attempts_per_edge": found.attempts, "accepted_per_edge": found.accepted,
        "engine": found.engine, "absent_classes": "counted" if found.engine == "census" else "not looked for",
        "threshold": found.threshold, "double_length_z": _largest(mixing.double_length_z),
    }  # fmt: skip
    write(args, summary, columns)


def _numbers(values: np.ndarray, digits: int) -> list[float | None]:
    """Floats to so many digits; ``None`` where there is no number."""
    return [None if np.isnan(value) else float(f"{value:.{digits}g}") for value in values.tolist()]


def _largest(values: np.ndarray) -> float:
    """The value farthest from 0."""
    return float(values[np.argmax(np.abs(values))]) if values.size else 0.0
