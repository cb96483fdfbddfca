"""``jaxmotif match``: where, and how often, query graphs occur in a target graph."""

from __future__ import annotations

import argparse
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxmotif.cli._command import Command, how, limit, refuse
from jaxmotif.cli._input import add_input_options, load_graph, network_name
from jaxmotif.cli._occurrences import add_occurrences_option, write_occurrences
from jaxmotif.cli._output import Report
from jaxmotif.cli._report import add_report_options, write_drawings, write_page

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.language import Query
    from jaxmotif.matching import MatchCount
    from jaxmotif.patterns import Pattern

logger = logging.getLogger("jaxmotif")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query", metavar="QUERY",
        help="a query graph's file, a folder of them, a pattern's name (triangle, ffl, bi-fan, G7, 4-cycle, id38, "
        "id:4:204, 000100110), or a query in words, perhaps in a file *.motif: "
        "'A -> B [weight > 20]; B !> A; A.kind = KC'",
    )  # fmt: skip
    parser.add_argument("graph", metavar="FILE|DATASET", help="the target graph's file, or a bundled network")
    add_input_options(parser, positional=False)
    parser.add_argument("--induced", action="store_true", help="non-edges must be preserved too")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--count", action="store_true", help="count all matches (the default)")
    what.add_argument(
        "--limit", type=limit, default=argparse.SUPPRESS, metavar="N|all", help="list the first N matches, or all"
    )
    parser.add_argument(
        "--per", choices=("map", "occurrence"), default="map",
        help="count maps, or take those that differ by an automorphism of the query as one (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--wildcard", metavar="LABEL", help="a label of the query that any label matches")
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="stop each search when it has taken that long, with planning and compiling (reading is not counted)",
    )
    add_occurrences_option(parser)
    add_report_options(parser)


def _run(args: argparse.Namespace) -> Report:
    from jaxmotif.language import Query
    from jaxmotif.matching._bind import bind
    from jaxmotif.patterns import as_pattern

    paths = query_paths(args.query)
    listing = hasattr(args, "limit")
    if listing and len(paths) > 1:
        raise ValueError(f"--limit lists the matches of one query, and {args.query} holds {len(paths)}")
    if listing:
        refuse(args, ("checkpoint", "report"), "of counts, and --limit lists; leave one of them out")
    labels: dict[str, int] = {}
    worded = _in_words(args.query, paths)
    target = load_graph(args, label_ids=labels, attributes=bool(worded))
    queries: dict[str, Graph | Pattern | Query] = {
        path.name: worded[path.name] if path.name in worded else _query(args, path, target, labels) for path in paths
    }
    if not paths:
        queries[args.query] = worded[args.query] if worded else as_pattern(args.query, target)
    options = {
        "per": args.per, "wildcard": _wildcard(args.wildcard, labels), "time_limit": args.seconds,
        "devices": args.device, "memory": args.memory,
    }  # fmt: skip
    rows = (
        ({"query": name}, bind(query, target) if isinstance(query, Query) else query) for name, query in queries.items()
    )
    write_occurrences(
        args, target, rows, how(args), induced=args.induced, wildcard=options["wildcard"],
        names=_node_names(next(iter(queries.values()))) if len(queries) == 1 else None,
    )  # fmt: skip
    if listing:
        return _listing(args, queries, target, options)
    results = _count_stack(args, queries, target, options)
    if args.report is not None or args.svg is not None:
        _show(args, queries, target, results, options["wildcard"])
    return _counted(args.format, results)


def _show(
    args: argparse.Namespace, queries: dict[str, Graph | Pattern | Query], target: Graph,
    results: dict[str, MatchCount], wildcard: int | None,
) -> None:  # fmt: skip
    """Drawings of the queries, and the page."""
    from jaxmotif.matching._checks import check_query

    patterns = {name: check_query(query, target, wildcard, args.per) for name, query in queries.items()}
    write_drawings(args, patterns, (target.node_label_names, target.edge_label_names))
    matched = [(patterns[name], results[name], getattr(query, "names", ())) for name, query in queries.items()]
    given = network_name(args.graph), target, dict(zip(queries, matched, strict=True)), args.induced, args.per, wildcard
    write_page(args, how(args), lambda report, run: report.match_report(*given, run))


def _query(args: argparse.Namespace, path: Path, target: Graph, labels: dict[str, int]) -> Graph:
    """Reads a query; of a directed target it is directed too: an edge that its file calls undirected is two arcs."""
    own = args.directed or (True if target.directed else args.directed)
    return load_graph(argparse.Namespace(**vars(args) | {"directed": own}), path, label_ids=labels)


def _in_words(text: str, paths: list[Path]) -> dict[str, Query]:
    """The queries in the query language, by their text or file's name."""
    from jaxmotif.language import QueryError, parse

    found = {}
    for path in paths:
        if path.suffix.lower() in (".motif", ".dm"):
            try:
                found[path.name] = parse(path.read_text(encoding="utf-8"))
            except QueryError as error:
                raise ValueError(f"{path}: {error}") from None
            except UnicodeDecodeError as error:
                raise ValueError(f"{path}: this is no text: {error}") from None
    if not paths and re.search("[-!~]>", text):
        found[text] = parse(text)
    return found


def _wildcard(label: str | None, labels: dict[str, int]) -> int | None:
    if label is not None and label not in labels:
        raise ValueError(f"--wildcard {label}: no node or edge has this label")
    return None if label is None else labels[label]


def query_paths(text: str) -> list[Path]:
    """The query files a user named: one, or those of a folder by name; none, where no file has that name."""
    if not text.strip():  # as a path, it would be this folder
        raise ValueError("the query is empty; name a file, a folder or a pattern, or write a query such as 'A -> B'")
    path = Path(text)
    if not path.is_dir():
        return [path] if path.exists() else []
    found = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    if not found:
        raise ValueError(f"the folder {text} holds no query files")
    return found


def _count_stack(
    args: argparse.Namespace, queries: dict[str, Graph | Pattern | Query], target: Graph, options: dict[str, Any]
) -> dict[str, MatchCount]:
    from jaxmotif.matching import count_matches, count_queries

    if len(queries) == 1 or args.checkpoint is not None:
        found = (
            count_matches(
                query, target, args.induced, progress=not args.quiet,
                checkpoint=None if args.checkpoint is None else args.checkpoint / _folder(name), **options,
            )
            for name, query in queries.items()
        )  # fmt: skip
    else:
        found = count_queries(queries.values(), target, args.induced, **options)
    results = {}
    for name, result in zip(queries, found, strict=True):
        logger.info("%s: %d matches, %s, %.3f s", name, result.count, result.status, sum(result.seconds.values()))
        results[name] = result
    return results


def _folder(query: str) -> str:
    """The name of a query's folder of checkpoints: a query in words may hold anything."""
    return query if re.fullmatch(r"[\w.:-]+", query) else "query"


def _counted(form: str, results: dict[str, MatchCount]) -> Report:
    if form == "json":
        documents = {
            name: {
                "query": name, "matches": found.count, "exact": found.exact,
                **({} if found.exact else {"reason": found.status}), "seconds": found.seconds,
            }
            for name, found in results.items()
        }  # fmt: skip
        if len(documents) == 1:
            return Report(next(iter(documents.values())), {})
        return Report({}, {"query": list(documents), "result": list(documents.values())}, mapping="queries")
    columns = {
        "query": list(results),
        "matches": [found.count for found in results.values()],
        "seconds": [round(sum(found.seconds.values()), 4) for found in results.values()],
        "search": [round(found.seconds.get("search", 0.0), 4) for found in results.values()],
        "status": [found.status for found in results.values()],
    }
    return Report({}, columns)


def _node_names(query: Graph | Pattern | Query) -> list[Any] | None:
    """The names of a query's nodes, if it has some."""
    names = getattr(query, "names", getattr(query, "node_names", None))
    return None if names is None else list(names)


def _listing(
    args: argparse.Namespace, queries: dict[str, Graph | Pattern | Query], target: Graph, options: dict[str, Any]
) -> Report:
    from jaxmotif.matching import find_matches

    [(name, query)] = queries.items()
    found = find_matches(query, target, args.induced, args.limit, **options)
    names = _node_names(query) or range(len(found.order))
    nodes = found.nodes if target.node_names is None else target.node_names[found.nodes]
    scalars = {"query": name, "listed": len(found), "exact": found.exact, "status": found.status}
    return Report(scalars, {str(name): nodes[:, u] for u, name in enumerate(names)})


COMMAND = Command(
    "match",
    "count or list the matches of query graphs in a target graph",
    "Count the maps from a query graph to a target graph that preserve edges and labels, or list them.",
    "QUERY FILE|DATASET",
    _options,
    _run,
)
