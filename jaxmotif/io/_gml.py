"""GML, the format of Newman's collection."""

from __future__ import annotations

import html
import re

from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Reader, Sample, passed_over, uncommented
from jaxmotif.io._text import TextFile
from jaxmotif.io._tokens import Token, Tokens

_GML = re.compile(
    r'(?P<skip>[ \t\r\n\f\v]+|#[^\n]*)|"(?P<text>[^"]*)"|(?P<mark>[\[\]])'
    r"|(?P<word>[A-Za-z_][\w.:-]*|[+-]?(?:INF|NAN|\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=[\s\[\]]|$)"
)


def read_gml(file: TextFile, options: Options) -> Contents:
    """``graph [ directed 0|1 node [ id 1 label "a" ... ] edge [ source 1 target 2 ... ] ]``."""
    tokens, graph = Tokens(file, _GML), AttributedGraph(file, options)
    found = False
    unknown: dict[str, None] = {}
    settings: dict[str, str] = {}
    while tokens.next.kind != "end":
        key = tokens.take("word").text.lower()
        if key != "graph":
            _gml_value(tokens)
            continue
        if found:
            raise tokens.error("holds more than one graph; keep one of them")
        found = True
        tokens.take("[")
        while not tokens.taken("]"):
            token = tokens.take("word")
            _gml_entry(tokens, token, graph, settings, unknown)
    if not found:
        raise file.error("expected graph [ ... ]")
    return graph.contents(settings.get("directed") == "1", passed_over("lists", list(unknown)))


def _gml_entry(
    tokens: Tokens, token: Token, graph: AttributedGraph, settings: dict[str, str], unknown: dict[str, None]
) -> None:
    """Read an entry of a graph: a node, an edge, a setting such as ``directed 1``, or a list that is passed over."""
    key, line = token.text.lower(), tokens.line(token.start)
    if key not in ("node", "edge"):
        if tokens.next.kind == "[":
            unknown[key] = None
        value = _gml_value(tokens)
        if key == "directed" and value not in ("0", "1"):
            raise tokens.error("expected directed 0 or directed 1", token)
        settings[key] = "1" if settings.get(key) == "1" else value
        return
    own = _gml_list(tokens, unknown)
    needed = ("id",) if key == "node" else ("source", "target")
    for name in needed:
        if not re.fullmatch(r"-?\d+", own.get(name, "")):
            raise tokens.error(f"expected {name} and a whole number in this {key}", token)
    names = [own.pop(name) for name in needed]
    if key == "node":
        graph.node(names[0], own, own.get("label"), line)
    else:
        if settings.get("multigraph") == "1":
            own.pop("key", None)  # networkx's number of a parallel edge
        graph.edge(names[0], names[1], own, line=line)


def _gml_list(tokens: Tokens, unknown: dict[str, None]) -> dict[str, str]:
    """Read the keys of a node or an edge without lists, which are nested or (as networkx writes them) repeated keys."""
    tokens.take("[")
    own: dict[str, str] = {}
    while not tokens.taken("]"):
        token = tokens.take("word")
        if token.text in own or tokens.next.kind == "[":
            if token.text in ("id", "source", "target", "label"):
                raise tokens.error(f"{token.text} is there twice, or is a list", token)
            unknown[token.text] = None
        own[token.text] = _gml_value(tokens)
    return {key: value for key, value in own.items() if key not in unknown}


def _gml_value(tokens: Tokens) -> str:
    """Read a number or text; a list is stepped over, and gives ``""``."""
    token = tokens.take("word", "text", "[")
    if token.kind != "[":
        unescaped = re.sub(r"&#?\w+;", lambda entity: html.unescape(entity[0]), token.text)
        return unescaped if token.kind == "text" else token.text
    depth = 1
    while depth:
        inner = tokens.take("word", "text", "[", "]")
        depth += {"[": 1, "]": -1}.get(inner.kind, 0)
    return ""


def _is_gml(sample: Sample) -> bool:
    head = uncommented(
        sample.head[:65536], (b"#", b"creator", b"Creator", b"version", b"Version", b"comment", b"Comment")
    )
    return re.match(rb"\s*graph\s*\[", head, re.I) is not None


FORMATS = {"gml": Reader(read_gml, _is_gml)}
