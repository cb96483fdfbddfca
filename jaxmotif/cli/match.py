"""``jaxmotif match``: where, and how often, query graphs occur in a target graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxmotif.cli.options import add_work_options, input_format, logger, use_devices
from jaxmotif.cli.output import Report, add_output_options, check_output, write_report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.matching import MatchCount


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser(
        "match",
        help="count or list the matches of query graphs in a target graph",
        description="Count the maps from a query graph to a target graph that preserve edges and labels, or list them.",
        allow_abbrev=False,
    )
    parser.add_argument("query", metavar="QUERY", help="a query graph's file, or a folder of them")
    parser.add_argument("target", metavar="TARGET|DATASET", help="the target graph's file, or a bundled network")
    parser.add_argument(
        "--input-format", type=input_format, default="auto", metavar="NAME", help="of all files (default: by looking)"
    )
    parser.add_argument("--directed", action="store_true", help="rows of edge lists are arcs")
    parser.add_argument("--induced", action="store_true", help="non-edges must be preserved too")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--count", action="store_true", help="count all matches (the default)")
    what.add_argument("--limit", type=_natural, metavar="N", help="list the first N matches instead")
    parser.add_argument(
        "--per", choices=("map", "occurrence"), default="map",
        help="count maps, or take those that differ by an automorphism of the query as one (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--wildcard", metavar="LABEL", help="a label of the query that any label matches")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop each search after so long")
    add_output_options(parser)
    add_work_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    check_output(args.output)
    paths = query_paths(args.query)
    if args.limit is not None and len(paths) > 1:
        raise ValueError(f"--limit lists the matches of one query, and {args.query} holds {len(paths)}")
    if args.limit is not None and args.checkpoint is not None:
        raise ValueError("--checkpoint keeps counts, and --limit lists; leave one of them out")
    use_devices(args)
    labels: dict[str, int] = {}
    target = _read(args, args.target, labels, pad="bucket")
    logger.info("target: %s", target.report)
    if args.limit is not None:
        write_report(_listing(args, paths[0], target, labels), args.format, args.output)
        return
    results = dict(zip((path.name for path in paths), _counts(args, paths, target, labels), strict=True))
    write_report(_table(args, results), args.format, args.output)


def query_paths(text: str) -> list[Path]:
    """The query files a user named: one, or those of a folder by name."""
    path = Path(text)
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    if not found:
        raise ValueError(f"the folder {text} holds no query files")
    return found


def _read(args: argparse.Namespace, path: Any, labels: dict[str, int], pad: Any = None) -> Graph:
    from jaxmotif.datasets import resolve
    from jaxmotif.graph import read_graph

    directed = True if args.directed else None
    return read_graph(resolve(str(path)), directed, format=args.input_format, label_ids=labels, pad=pad)


def _options(args: argparse.Namespace, labels: dict[str, int]) -> dict[str, Any]:
    if args.wildcard is not None and args.wildcard not in labels:
        raise ValueError(f"--wildcard {args.wildcard}: no node or edge has this label")
    return {
        "per": args.per, "wildcard": None if args.wildcard is None else labels[args.wildcard],
        "time_limit": args.seconds, "devices": args.device, "memory": args.memory,
    }  # fmt: skip


def _counts(args: argparse.Namespace, paths: list[Path], target: Graph, labels: dict[str, int]) -> list[MatchCount]:
    from jaxmotif.matching import count_matches, count_queries

    queries = [_read(args, path, labels) for path in paths]
    options = _options(args, labels)
    if len(queries) == 1 or args.checkpoint is not None:
        folders = [None if args.checkpoint is None else args.checkpoint / path.name for path in paths]
        found = (
            count_matches(query, target, args.induced, progress=not args.quiet, checkpoint=folder, **options)
            for query, folder in zip(queries, folders, strict=True)
        )
    else:
        found = count_queries(queries, target, args.induced, **options)
    results = []
    for path, result in zip(paths, found, strict=True):
        taken = sum(result.seconds.values())
        logger.info("%s: %d matches, %s, %.3f s", path.name, result.count, result.status, taken)
        results.append(result)
    return results


def _table(args: argparse.Namespace, results: dict[str, MatchCount]) -> Report:
    documents = {
        name: {
            "query": name, "matches": found.count, "exact": found.exact,
            **({} if found.exact else {"reason": found.status}), "seconds": found.seconds,
        }
        for name, found in results.items()
    }  # fmt: skip
    if args.format == "json":
        if len(documents) == 1:
            return Report(next(iter(documents.values())), {})
        return Report({}, {"query": list(documents), "result": list(documents.values())}, mapping="queries")
    columns = {
        "query": list(results),
        "matches": [found.count for found in results.values()],
        "seconds": [f"{sum(found.seconds.values()):.4f}" for found in results.values()],
        "status": [found.status for found in results.values()],
    }
    return Report({}, columns)


def _listing(args: argparse.Namespace, path: Path, target: Graph, labels: dict[str, int]) -> Report:
    from jaxmotif.matching import find_matches

    query = _read(args, path, labels)
    found = find_matches(query, target, args.induced, args.limit, **_options(args, labels))
    names = range(query.n) if query.node_names is None else query.node_names.tolist()
    nodes = found.nodes if target.node_names is None else target.node_names[found.nodes]
    scalars = {"query": path.name, "listed": len(found), "exact": found.exact, "status": found.status}
    return Report(scalars, {str(name): nodes[:, u] for u, name in enumerate(names)})


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of matches")
    return int(text)
