"""The command ``jaxmotif match``, which counts or lists the matches of query graphs in a target graph."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxmotif import report
from jaxmotif.arrays._present import meant
from jaxmotif.cli._command import place_options
from jaxmotif.cli._input import load_graph, network_name
from jaxmotif.cli._occurrences import write_occurrences, write_query_subnetwork
from jaxmotif.cli._output import Report, beside_result
from jaxmotif.cli._parser import refuse
from jaxmotif.cli._report import write_figures, write_page

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.language import Query
    from jaxmotif.matching import MatchCount
    from jaxmotif.patterns import Pattern

    AnyQuery = Graph | Pattern | Query

logger = logging.getLogger("jaxmotif")


def run(args: argparse.Namespace) -> Report:
    """Count the maps from a query graph to a target graph that preserve edges and labels, or list them."""
    from jaxmotif.language import Query, parse
    from jaxmotif.matching._bind import bind
    from jaxmotif.patterns import as_pattern

    paths = query_paths(args.query)
    listing = hasattr(args, "limit")
    if len(paths) > 1:
        if listing:
            raise ValueError(f"--limit lists the matches of one query, and {args.query} holds {len(paths)}")
        why = f"for one query, and {args.query} holds {len(paths)}; leave it out"
        refuse(args, ("--certificate", "--roles", "--subnetwork"), why)
    if args.subnetwork is not None and args.subnetwork[0]:
        raise ValueError(f"--subnetwork is for the query; name the file alone, {args.subnetwork[1]}")
    if listing:
        refuse(args, ("--report", "--figures"), "for counts, and --limit lists; leave one of them out")
        if args.checkpoint is not None:
            refuse(args, ("--certificate", "--cluster"), "not for a listing with --checkpoint; leave one of them out")
    labels: dict[str, int] = {}
    language_queries = _parse_queries(args.query, paths)
    in_files = args.subnetwork is not None or args.roles is not None
    target = load_graph(args, label_ids=labels, attributes=bool(language_queries) or in_files)
    queries: dict[str, AnyQuery] = {}
    # A query is directed if the target is; an edge that its file calls undirected is two arcs.
    as_target = argparse.Namespace(**vars(args) | {"directed": target.directed or args.directed})
    for path in paths:
        queries[path.name] = language_queries.get(path.name) or load_graph(as_target, path, label_ids=labels)
    if not paths:
        try:
            queries[args.query] = language_queries.get(args.query) or as_pattern(args.query, target)
        except ValueError:
            if re.search("[<>|;]", args.query):  # meant as a query in words, whose mistake has a place
                parse(args.query)
            raise
    wildcard = _wildcard(args.wildcard, labels)
    options = {"per": args.per, "wildcard": wildcard, "time_limit": args.seconds, **place_options(args)}
    rows = (
        ({"query": name}, bind(query, target) if isinstance(query, Query) else query) for name, query in queries.items()
    )
    query = next(iter(queries.values()))
    names = _node_names(query) if len(queries) == 1 else None
    write_occurrences(args, target, ["query"], rows, induced=args.induced, wildcard=wildcard, names=names)
    write_query_subnetwork(args, target, query, wildcard)
    if listing:
        return _list(args, queries, target, options)
    results = _count(args, queries, target, options)
    if args.report is not None or args.figures is not None:
        with beside_result(args):
            _write_pictures(args, queries, target, results, wildcard)
    return _count_report(args.format, results)


def _write_pictures(
    args: argparse.Namespace,
    queries: dict[str, AnyQuery],
    target: Graph,
    results: dict[str, MatchCount],
    wildcard: int | None,
) -> None:
    """Write drawings of the queries, and the page."""
    from jaxmotif.matching._checks import check_query

    patterns = {name: check_query(query, target, wildcard, args.per) for name, query in queries.items()}
    write_figures(args, patterns, target._label_words)
    matched = {}
    for name, query in queries.items():
        matched[name] = report.Matched(patterns[name], results[name], getattr(query, "names", ()))
    shown = network_name(args.graph), target, matched, args.induced, args.per, wildcard
    write_page(args, lambda run: report.match_report(*shown, run))


def _parse_queries(text: str, paths: list[Path]) -> dict[str, Query]:
    """Return the queries in the query language, by their text or by the names of their files."""
    from jaxmotif.language import QueryError, parse

    queries = {}
    for path in paths:
        if path.suffix.lower() in (".motif", ".dm"):
            try:
                queries[path.name] = parse(path.read_text(encoding="utf-8"))
            except QueryError as error:
                raise ValueError(f"{path}: {error}") from None
            except UnicodeDecodeError as error:
                raise ValueError(f"{path}: this is no text: {error}") from None
    if not paths and re.search("[-!~]>", text):
        queries[text] = parse(text)
    return queries


def _wildcard(label: str | None, labels: dict[str, int]) -> int | None:
    if label is not None and label not in labels:
        raise ValueError(f"--wildcard {label}: no node or edge has this label{meant(label, labels)}")
    return None if label is None else labels[label]


def query_paths(text: str) -> list[Path]:
    """Return the query files that a user named: one file, those of a folder, or none if there is no such file."""
    if not text.strip():  # An empty path would be the current folder.
        raise ValueError("the query is empty; name a file, a folder or a pattern, or write a query such as 'A -> B'")
    path = Path(text)
    if not os.path.isdir(text):  # which a query in words may be too long to be asked of Path
        return [path] if os.path.exists(text) else []
    paths = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    if not paths:
        raise ValueError(f"the folder {text} holds no query files")
    return paths


def _count(
    args: argparse.Namespace, queries: dict[str, AnyQuery], target: Graph, options: dict[str, Any]
) -> dict[str, MatchCount]:
    from jaxmotif.devices._checkpoint import fingerprint
    from jaxmotif.matching import count_matches, count_queries

    def one_by_one() -> Iterator[MatchCount]:
        for name, query in queries.items():
            # A query in words may have any characters, and any length.
            folder = name if re.fullmatch(r"[\w.:-]{1,99}", name) else f"query-{fingerprint(name)[:16]}"
            checkpoint = None if args.checkpoint is None else args.checkpoint / folder
            work = {"progress": not args.quiet, "checkpoint": checkpoint, "certify": args.certificate}
            yield count_matches(query, target, args.induced, **work, **options)

    if len(queries) == 1 or args.checkpoint is not None:
        counts = one_by_one()
    else:
        counts = count_queries(queries.values(), target, args.induced, **options)
    results = {}
    for name, result in zip(queries, counts, strict=True):
        logger.info("%s: %d matches, %s, %.3f s", name, result.count, result.status, sum(result.seconds.values()))
        results[name] = result
    return results


def _count_report(form: str, results: dict[str, MatchCount]) -> Report:
    if form == "json":
        documents = {}
        for name, result in results.items():
            reason = {} if result.exact else {"reason": result.status}
            head = {"query": name, "matches": result.count, "exact": result.exact}
            documents[name] = {**head, **reason, "seconds": result.seconds}
        if len(documents) == 1:
            return Report(next(iter(documents.values())), {})
        return Report({"queries": documents}, {})
    columns = {
        "query": list(results),
        "matches": [result.count for result in results.values()],
        "seconds": [round(sum(result.seconds.values()), 4) for result in results.values()],
        "search": [round(result.seconds.get("search", 0.0), 4) for result in results.values()],
        "status": [result.status for result in results.values()],
    }
    return Report({}, columns)


def _node_names(query: AnyQuery) -> list[Any] | None:
    """Return the names of a query's nodes, which are roles where a pattern tells them apart, if it has some."""
    names = getattr(query, "names", getattr(query, "node_names", None))
    if names is None:
        from jaxmotif.patterns import Pattern
        from jaxmotif.patterns._readings import role_columns

        names = role_columns(query) if isinstance(query, Pattern) else None
    return None if names is None else list(names)


def _list(args: argparse.Namespace, queries: dict[str, AnyQuery], target: Graph, options: dict[str, Any]) -> Report:
    from jaxmotif.matching import find_matches
    from jaxmotif.matching._listing import list_kept

    [(name, query)] = queries.items()
    asked = query, target, args.induced, args.limit
    kept = contextlib.nullcontext()
    if args.checkpoint is None:
        matches = find_matches(*asked, certify=args.certificate, **options)
    else:
        args.checkpoint.mkdir(parents=True, exist_ok=True)
        matches, kept, status = list_kept(*asked, args.checkpoint, show=not args.quiet, **options)
        if matches is None:
            kept.release()
            raise TimeoutError(f"{status}; what was found is kept, and the same command goes on: {args.argv}")
    names = _node_names(query) or range(len(matches.order))
    nodes = target._names[matches.nodes]
    scalars = {"query": name, "listed": len(matches), "exact": matches.exact, "status": matches.status}
    return Report(scalars, {str(name): nodes[:, u] for u, name in enumerate(names)}, kept=kept)
