"""Graphs in JSON: node-link (networkx, D3, vis.js) and Cytoscape's."""

from __future__ import annotations

import json
import re
from typing import Any

from jaxmotif.graph._attributes import INTEGER
from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Reader, Sample, is_undirected
from jaxmotif.io._text import TextFile

_ENDS = (("source", "target"), ("from", "to"))


def read_cytoscape(file: TextFile, options: Options) -> Contents:
    """Read Cytoscape's ``elements`` of nodes and edges, each with its ``data``; or one list of both."""
    document = _document(file)
    elements = document.get("elements")
    if isinstance(elements, list):
        nodes = [element for element in _objects(file, elements) if _is_node(element)]
        edges = [element for element in elements if not _is_node(element)]
    elif isinstance(elements, dict):
        nodes, edges = elements.get("nodes", []), elements.get("edges", [])
    else:
        raise file.error('expected "elements", lists of nodes and edges')
    nodes, edges = ([_data(file, element) for element in _objects(file, part)] for part in (nodes, edges))
    if all(str(node.get("value")) == node.get("id") for node in nodes):  # networkx writes the id again
        nodes = [{key: value for key, value in node.items() if key != "value"} for node in nodes]
    return _graph(file, options, nodes, edges, document.get("directed"))


def read_node_link(file: TextFile, options: Options) -> Contents:
    """Read ``nodes``, and ``edges`` or ``links`` with ``source`` and ``target`` (or ``from`` and ``to``)."""
    document = _document(file)
    names = [name for name in ("edges", "links") if name in document]
    if len(names) != 1 or "nodes" not in document:
        raise file.error(f'expected "nodes", and "edges" or "links"; found {", ".join(map(repr, document))[:60]}')
    nodes, edges = (_objects(file, document[name]) for name in ("nodes", names[0]))
    return _graph(file, options, nodes, edges, document.get("directed"))


def _graph(
    file: TextFile, options: Options, nodes: list[dict[str, object]], edges: list[dict[str, object]], directed: Any
) -> Contents:
    if directed not in (None, True, False):
        raise file.error(f'expected "directed" to be true or false, found {str(directed)[:30]!r}')
    graph = AttributedGraph(file, options)
    numbered = bool(nodes) and not any("id" in node for node in nodes)  # D3's old layout: edges name places in the list
    for place, node in enumerate(nodes):
        name = str(place) if numbered else _name(file, node, "id", "node")
        label = node.get("label")
        shown = node.get("name", label if isinstance(label, str) else None)
        own = {key: value for key, value in node.items() if key not in ("id", "name", "shared_name", "SUID")}
        named = options.node_label == "name" or (options.attributes and shown is not None)
        graph.node(name, own | ({"name": shown} if named else {}), shown if isinstance(shown, str) else None)
    for edge in edges:
        ends = next((ends for ends in _ENDS if ends[0] in edge or ends[1] in edge), _ENDS[0])
        own = {key: value for key, value in edge.items() if key not in (*ends, "id", "key", "SUID")}
        source, target = (_name(file, edge, end, "edge") for end in ends)
        graph.edge(source, target, own, False if directed is None and is_undirected(own.get("interaction")) else None)
    return graph.contents(directed)


def _document(file: TextFile) -> dict[str, Any]:
    """Read the object that the file is.

    An object with a key twice, or numbers and nesting beyond Python's, are errors.
    """

    def unique(pairs: list[tuple[str, object]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise file.error(f"a JSON object has a key twice, among {', '.join(key[:20] for key, _ in pairs)[:60]}")
        return found

    text = file.text()
    try:
        document = json.loads(text, object_pairs_hook=unique, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise file.error(f"this is no JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise file.error("JSON nested so deeply holds no graph") from None
    if not isinstance(document, dict):
        raise file.error("expected a JSON object with nodes and edges")
    return document


def _integer(text: str) -> int | str:
    return int(text) if INTEGER.fullmatch(text) else text


def _is_node(element: dict[str, Any]) -> bool:
    """Tell whether an element of a list of both is a node."""
    data, group = element.get("data"), element.get("group")
    return group == "nodes" or (group is None and isinstance(data, dict) and "source" not in data)


def _data(file: TextFile, element: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(element.get("data"), dict):
        raise file.error(f'expected elements with "data", found {str(element)[:30]!r}')
    return element["data"]


def _objects(file: TextFile, value: Any) -> list[dict[str, Any]]:
    """Return a list after checking that it is one, and that objects stand in it."""
    wrong = [item for item in value if not isinstance(item, dict)] if isinstance(value, list) else [value]
    if wrong:
        raise file.error(f"expected lists of nodes and edges, which are objects, found {str(wrong[0])[:30]!r}")
    return value


def _name(file: TextFile, row: dict[str, object], key: str, kind: str) -> str:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise file.error(f"expected a {kind} with {key!r}, text or a whole number; found {str(row)[:60]!r}")
    return str(value)


def _is_json(sample: Sample, keys: tuple[bytes, ...]) -> bool:
    """Say whether the file is an object that names one of these keys near its beginning."""
    head = sample.head.lstrip()
    return head.startswith(b"{") and any(re.search(rb'"%s"\s*:' % key, head) for key in keys)


def _is_node_link(sample: Sample) -> bool:
    return not _is_json(sample, (b"elements",)) and _is_json(sample, (b"edges", b"links"))


def _is_other(sample: Sample) -> bool:
    begins = re.match(rb'\s*(\{\s*("|\}|$)|\[\s*[\[{"]|\[\s*$)', sample.head)
    return begins is not None and not _is_json(sample, (b"elements", b"edges", b"links"))


FORMATS = {
    "cyjs": Reader(read_cytoscape, lambda sample: _is_json(sample, (b"elements",))),
    "node-link": Reader(read_node_link, _is_node_link),
    "json": Reader(None, _is_other),
}
