"""Certificates of counts: files that :mod:`jaxmotif.verify` checks without the engine that made the counts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64
from jaxmotif.patterns._catalogue import EDGE_ORBITS, GRAPHLETS
from jaxmotif.patterns._names import named_pattern
from jaxmotif.patterns._orbits import CONNECTED, EDGE_NAMES_5
from jaxmotif.patterns._pattern import Pattern
from jaxmotif.verify._certificate import FORMAT, seed_of
from jaxmotif.verify._graph import SimpleGraph
from jaxmotif.verify._modular import P, digest, exact_sum, multiply, random_rows, random_weights, weighted_sums

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

WITNESSES = 500
"""Rows of a table that a certificate shows."""

CertificateFile = str | os.PathLike[str] | None
"""Argument ``certify`` of a front door: the file for a certificate, or ``None`` for none."""


def certify_graphlets(
    path: str | os.PathLike[str],
    graph: Graph,
    at: Literal["graph", "edge", "node"],
    counts: Mapping[str, int],
    induced: bool,
    columns: Sequence[str] = (),
    table: np.ndarray | None = None,
    raw_counts: jax.Array | np.ndarray | None = None,
) -> None:
    """Write a certificate of graphlets.

    Args:
      path: the file.
      graph: an undirected graph; its labels do not count.
      at: what the rows of the table are.
      counts: how many graphlets of each name the graph has.
      induced: as for :func:`jaxmotif.graphlet_counts`.
      columns: names of the columns.
      table: integers ``[rows, columns]``.
      raw_counts: the same and perhaps more rows as the engine made them, to be added up where they lie.
    """
    patterns = {name: named_pattern(name, False) for name in counts}
    roots: dict[str, tuple[Pattern, Sequence[int]]] = {}
    if at == "edge" and len(columns) < len(EDGE_NAMES_5):
        shapes = {g.name: Pattern.from_edges(g.edges, g.num_nodes) for g in GRAPHLETS}
        roots = {orbit.name: (shapes[orbit.graphlet], orbit.edges[0]) for orbit in EDGE_ORBITS}
    elif at != "graph":
        for g in CONNECTED:
            shape = Pattern.from_edges(g.edges, g.size)
            places = g.edges if at == "edge" else [(u,) for u in range(g.size)]
            orbits = zip(g.edge_orbits if at == "edge" else g.node_orbits, places, strict=False)
            roots |= {columns[orbit]: (shape, place) for orbit, place in orbits if orbit < len(columns)}
    claim = {
        "job": {"graph": "graphlet_counts", "edge": "edge_graphlets", "node": "node_orbits"}[at],
        "induced": induced,
        "shapes": [_shape(name, pattern) for name, pattern in patterns.items()],
        "counts": list(map(int, counts.values())),
        "columns": [_shape(name, *roots[name]) for name in columns],
    }
    _write(path, _plain_graph(graph, False, False), claim, table, raw_counts=raw_counts)


def certify_census(
    path: str | os.PathLike[str], graph: Graph, classes: Sequence[str], counts: np.ndarray, per_node: np.ndarray
) -> None:
    """Write a certificate of a census.

    Args:
      path: the file.
      graph: the graph, whose directions and labels count.
      classes: the strings of the classes that occur.
      counts: int64 ``[classes]``.
      per_node: int64 ``[n, classes]``, in how many occurrences each node lies.
    """
    shapes = [_shape(name, named_pattern(name, graph.directed)) for name in classes]
    claim = {"job": "subgraph_census", "induced": True, "shapes": shapes, "counts": counts.tolist(), "columns": shapes}
    _write(path, _plain_graph(graph, graph.node_labels is not None, graph.edge_labels is not None), claim, per_node)


def certify_matches(
    path: str | os.PathLike[str],
    graph: Graph,
    query: Pattern,
    wildcard: int | None,
    induced: bool,
    count: int,
    maps_each: int = 1,
    maps: np.ndarray | None = None,
) -> None:
    """Write a certificate of the number of matches, or of the matches.

    Args:
      path: the file.
      graph: the target.
      query: the query, wildcard and induced: as for :func:`jaxmotif.count_matches`.
      wildcard: see there.
      induced: see there.
      count: how many matches there are.
      maps_each: how many maps a match stands for.
      maps: integers ``[count, k]``, all matches; without them, their number is certified.
    """
    shape = _shape("matches", query, wildcard=wildcard)
    if graph.edge_labels is None:
        shape["arcs"] = [[None if arc is None else True for arc in row] for row in shape["arcs"]]
    if graph.node_labels is None:
        shape["labels"] = [None] * query.num_nodes
    by_node = any(label is not None for label in shape["labels"])
    by_edge = any(type(arc) is int for row in shape["arcs"] for arc in row)
    claim = {
        "job": "count_matches" if maps is None else "find_matches",
        "induced": induced,
        "shapes": [shape],
        "counts": [count],
        "maps_each": maps_each,
        "columns": [],
    }
    _write(path, _plain_graph(graph, by_node, by_edge), claim, None, maps)


def _plain_graph(graph: Graph, node_labels: bool, edge_labels: bool) -> SimpleGraph:
    """Return a graph as the checker has it, with the labels that count."""
    at_nodes, at_edges = graph._labels()
    edges = graph.edge_list().astype(np.int64, copy=False)
    return SimpleGraph(
        graph.n,
        edges,
        graph.directed,
        at_nodes.astype(np.int64) if node_labels and at_nodes is not None else None,
        at_edges.astype(np.int64) if edge_labels and at_edges is not None else None,
    )


def _shape(name: str, pattern: Pattern, root: Sequence[int] = (), wildcard: int | None = None) -> dict[str, Any]:
    """Return a shape as a certificate describes it, with the nodes of the root in front."""
    order = [*root, *(u for u in range(pattern.num_nodes) if u not in root)]

    def arc(u: int, v: int) -> int | bool | None:
        if not pattern.adjacency[u, v]:
            return None
        label = True if pattern.edge_labels is None else int(pattern.edge_labels[u, v])
        return True if label is not True and label == wildcard else label

    labels = [None] * len(order) if pattern.node_labels is None else [int(pattern.node_labels[u]) for u in order]
    labels = [None if label == wildcard else label for label in labels]
    return {"name": name, "roots": len(root), "arcs": [[arc(u, v) for v in order] for u in order], "labels": labels}


def _write(
    path: str | os.PathLike[str],
    graph: SimpleGraph,
    claim: dict[str, Any],
    table: np.ndarray | None,
    maps: np.ndarray | None = None,
    raw_counts: jax.Array | np.ndarray | None = None,
) -> None:
    """Write a certificate, whole or not at all; what is random in it follows from the graph and the claim."""
    claim = {"maps_each": 1, "rows": 0, "sums": [], "sha256": "", **claim}
    if table is not None:
        if isinstance(raw_counts, jax.Array):
            sums = _device_sums(raw_counts, np.ones(len(table), np.uint64))
        else:
            sums = [exact_sum(column) if table.dtype != object else sum(column.tolist()) for column in table.T]
        claim |= {"rows": len(table), "sums": sums, "sha256": digest(table)}
    certificate = {"format": FORMAT, "graph": graph.described(), "claim": claim, "fingerprints": [], "witnesses": []}
    seed = seed_of(certificate)
    if table is not None:
        weights = random_weights(seed, "rows", len(table))
        if isinstance(raw_counts, jax.Array):
            certificate["fingerprints"] = [total % P for total in _device_sums(raw_counts, weights)]
        else:
            certificate["fingerprints"] = weighted_sums(weights, table)
        if claim["columns"] and len(table):
            certificate["witnesses"] = table[random_rows(seed, len(table), WITNESSES)].tolist()
    if maps is not None:
        certificate["fingerprints"] = [_sum_of_products(seed, graph.nodes, maps)]
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(json.dumps(certificate, separators=(",", ":")) + "\n", "ascii")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _sum_of_products(seed: bytes, nodes: int, maps: np.ndarray) -> int:
    """Return the sum over maps of the products of random weights of the images, modulo the checker's prime."""
    weights = [random_weights(seed, f"node {u}", nodes) for u in range(maps.shape[1])]
    total = 0
    for first in range(0, len(maps), 2**18):
        products = np.ones(len(maps[first : first + 2**18]), np.uint64)
        for weight, images in zip(weights, maps[first : first + 2**18].T, strict=True):
            products = multiply(products, weight[images])
        total += exact_sum(products)
    return total % P


def _device_sums(counts: jax.Array, weights: np.ndarray) -> list[int]:
    """Return the weighted sums of columns of counts on a device, exactly.

    Args:
      counts: uint32 or int64, none negative, ``[rows or more, columns]``.
      weights: uint64 ``[rows]``.
    """
    padded = np.zeros(counts.shape[0], np.uint64)
    padded[: len(weights)] = weights
    products = np.asarray(_add_products(counts, padded)).astype(object)
    shifts = 16 * np.add.outer(np.arange(4), np.arange(4)).astype(object)
    return (products << shifts[:, :, None]).sum(axis=(0, 1)).tolist()


@jit64
def _add_products(counts: jax.Array, weights: jax.Array) -> jax.Array:
    """Return sums over rows of products of 16-bit pieces of weights and of counts, uint64 ``[4, 4, columns]``."""

    def pieces(values: jax.Array) -> list[jax.Array]:
        values = values.astype(jnp.uint64)
        return [(values >> jnp.uint64(16 * i)) & jnp.uint64(0xFFFF) for i in range(4)]

    values = pieces(counts)
    rows = [[(weight[:, None] * value).sum(axis=0) for value in values] for weight in pieces(weights)]
    return jnp.stack([jnp.stack(row) for row in rows])
