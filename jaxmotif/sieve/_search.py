"""The public search of the sieve: it finds the vertices that lie in a match, up to an error, and extracts matches."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import sys
from collections.abc import Collection
from typing import get_args

import jax
import numpy as np

from jaxmotif.arrays._checks import check_probability, whole_number
from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._keys import as_key
from jaxmotif.arrays._present import Column, Presented, counted, meant
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._memory import free_memory
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._coerce import load_graph
from jaxmotif.graph._ignored import ignored_labels
from jaxmotif.sieve import _prune as prune
from jaxmotif.sieve._colors import ColorsLike, Motif, MotifLike, parse_motif, vertex_shades
from jaxmotif.sieve._extract import Matches
from jaxmotif.sieve._runner import Placed, Sieve, Uploaded, capacities

PRUNED_ON_DEVICE = 2**16
"""Number of vertices from which an accelerator finds components faster than the host does."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ColorMotifs(Presented):
    """The connected subgraphs with a given multiset of colors.

    Attributes:
      found: whether there is a match.
      vertices: int64, ascending, the vertices that lie in a match, or in a directed graph are the root of one. Each of
        them certainly is; others may be missing.
      matches: the vertices of each match, as ascending tuples; each match is verified.
      repetitions: runs of the sieve; 0 where cheaper tests had decided.
      false_negative_bound: bound on the probability that a vertex is wrongly missing from ``vertices``.
      notes: sentences on what was ignored (labels) or done differently (smaller steps where memory ran out).
    """

    found: bool
    vertices: np.ndarray
    matches: list[tuple[int, ...]]
    repetitions: int
    false_negative_bound: float
    notes: tuple[str, ...] = ()

    def _line(self) -> str:
        bound = f"{counted(self.repetitions, 'repetition')}, false negatives at most {self.false_negative_bound:.2g}"
        return f"{counted(len(self.vertices), 'vertex')}, {counted(len(self.matches), 'match')} listed, {bound}"

    def table(self) -> dict[str, Column]:
        numbers: dict[int, list[int]] = {vertex: [] for vertex in self.vertices.tolist()}
        for number, match in enumerate(self.matches, 1):
            for vertex in numbers.keys() & match:
                numbers[vertex].append(number)
        return {"vertex": self.vertices, "matches": [" ".join(map(str, own)) for own in numbers.values()]}


def run_bound(size: int) -> float:
    """Return the bound on the probability that one run misses a vertex: ``(2 k - 1) / 2^8``.

    At a vertex in a match, ``Q_i = sum over matches S of C_S(alpha) det(mu_S)`` is a nonzero multilinear polynomial of
    degree ``(k - 1) + k`` in random elements (see :mod:`jaxmotif.sieve._polynomials`).
    """
    return (2 * size - 1) / 256


def needed_repetitions(size: int, error: float) -> int:
    """Return the fewest independent runs whose joint bound is at most ``error``.

    Example:
      >>> needed_repetitions(10, 1e-6), needed_repetitions(20, 1e-6)
      (6, 8)
    """
    # A whole quotient may come out a little larger, which must not cost one more run.
    return max(1, math.ceil(math.log(error) / math.log(run_bound(size)) - 1e-12))


@on_cluster(load_graph)
def find_color_motif(
    graph: GraphLike,
    colors: ColorsLike,
    motif: MotifLike,
    key: jax.Array | int | None = None,
    *,
    edge_labels: Collection[int | str] | None = None,
    direction: prune.Direction | None = None,
    error: float = 1e-6,
    limit: int | None = 1,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> ColorMotifs:
    """Find the connected subgraphs whose colors are a given multiset (the graph motif problem).

    A match is a set of ``k`` vertices that induces a connected subgraph, and that has exactly the colors of the motif
    when each vertex counts as one of its colors. One run of the sieve takes time ``O(2^k m k log k)``. Errors are
    one-sided: every vertex reported lies in a match, and a vertex that lies in a match is missed with probability at
    most ``error``.

    In a graph with edge labels (edge colors), only the edges with one of ``edge_labels`` count. In a directed graph a
    match has a *root*. With ``direction="out"`` all other vertices of the match are reached from the root along arcs
    inside it, by an out-tree that spans it; with ``"in"`` all others reach the root. The answer then says which
    vertices are roots. With ``"any"`` an arc connects its two ends, and every vertex of a match is a root.

    Args:
      graph: a graph, or what :func:`jaxmotif.graph.as_graph` takes for one.
      colors: one entry a vertex, or a mapping from vertices (by name where the graph has names) to entries. An entry
        is a color (a string or a number), a set of colors any of which the vertex may stand for, or ``None``. A series
        of pandas has one entry a vertex, by position; its index is not looked at.
      motif: how many vertices of each color a match has; at most 30 in all.
      key: a random key, or a seed; seed 0 when not given. The same key gives the same result on any number of devices.
      edge_labels: labels of the edges that count, as numbers, or as words where the graph's labels have any; all edges
        count by default.
      direction: ``"out"``, ``"in"`` or ``"any"``: required for a directed graph, and not allowed for an undirected one.
      error: largest acceptable probability, for each vertex, of missing it.
      limit: how many matches to extract; ``None`` for all (there may be exponentially many), 0 for none.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; several devices share the subsets.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      checkpoint: a folder in which the finished part of the search for vertices is kept. The same call made again,
        however the first one ended, goes on from there and gives the same bits. Matches are extracted anew.
      progress: show a meter on standard error.

    Returns:
      The vertices and the matches.

    Raises:
      TypeError: for a motif, colors, edge labels, an error or a limit of the wrong kind.
      ValueError: for a directed graph without a direction or the reverse, edge labels that the graph does not have, an
        empty or too large motif, an error out of range, a wrong number of colors, too little memory, or a checkpoint
        that is damaged or belongs to another search.

    Example:
      >>> from jaxmotif import Graph
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
      >>> result = find_color_motif(graph, ["red", "blue", "red", "red", "blue"], {"red": 2, "blue": 1}, key=0, limit=9)
      >>> result.vertices.tolist(), sorted(result.matches)
      ([0, 1, 2, 3, 4], [(0, 1, 2), (1, 2, 3), (2, 3, 4)])
      >>> regulation = Graph.from_edges([(0, 1), (0, 2), (3, 2)], directed=True, edge_labels=[1, 1, 2])
      >>> genes = ["regulator", "enzyme", "enzyme", "regulator"]
      >>> pair = {"regulator": 1, "enzyme": 1}
      >>> find_color_motif(regulation, genes, pair, key=0, direction="out").vertices.tolist()
      [0, 3]
      >>> find_color_motif(regulation, genes, pair, key=0, direction="in", edge_labels=[1]).vertices.tolist()
      [1, 2]

    Reference:
      Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs. SEA 2018. With arcs the recurrence, equation
      (5), grows out-trees: Bjoerklund, Kaski, Kowalik: Constrained Multilinear Detection and Generalized Graph Motifs.
      Algorithmica 74, 2016.
    """
    graph = as_graph(graph)
    _check_direction(graph, direction)
    check_probability(error, "error")
    if limit is not None and whole_number(limit, "limit") < 0:
        raise ValueError(f"limit must not be negative, got {limit}; None asks for all matches")
    labels = _label_numbers(graph, edge_labels)
    ignored = ignored_labels(graph, used=() if labels is None else ("edge",))
    parsed = parse_motif(motif)
    sieve = Sieve(parsed.size, devices, memory)
    # There are two keys, so that the matches extracted do not depend on how many runs it took to find the vertices.
    run_key, match_key = jax.random.split(as_key(key))

    whole = prune.colored_graph(graph, vertex_shades(colors, parsed, graph.n, graph.node_names), labels, direction)
    # All further work is on the vertices that the cheap tests leave.
    uploaded, keep = _prune(sieve, whole, parsed)
    colored, ids = prune.restrict(whole, keep)
    options = JobOptions(sieve.selection, checkpoint=checkpoint, progress=progress)
    options = options.identified(lambda: ("sieve 2", parsed.size, capacities(colored), *colored, run_key))
    repetitions = needed_repetitions(parsed.size, error)
    placed = sieve.place(colored, uploaded if keep.all() else None)
    del uploaded  # The rows hold the neighbours in another order, and the device has room for one of the two.
    positive, runs = _repeat(sieve, placed, run_key, repetitions, options)
    # If all vertices are positive none is missing; else the bounds of independent runs are multiplied.
    bound = 0.0 if positive.all() else run_bound(parsed.size) ** runs

    matches: list[tuple[int, ...]] = []
    if positive.any() and limit != 0:
        # All vertices of a match are positive, up to the error, or are reached from a positive root.
        region = positive if colored.arcs is None else prune.reached(colored, positive, parsed.size - 1)
        inside, inner = prune.restrict(colored, region)
        all_matches = Matches(sieve, inside, parsed, match_key, repetitions, capacities(colored))
        with meter(limit, unit="matches", label="extracting", enabled=progress) as shown:
            for match in itertools.islice(all_matches, None if limit is None else min(limit, sys.maxsize)):
                matches.append(tuple(ids[inner[list(match)]].tolist()))
                shown.advance()
    vertices, notes = ids[positive].astype(np.int64), (*ignored, *sieve.notes)
    return ColorMotifs(bool(positive.any()), vertices, matches, runs, bound, notes)


def _check_direction(graph: Graph, direction: prune.Direction | None) -> None:
    """Refuse a directed graph without a direction, and the reverse."""
    allowed = get_args(prune.Direction)
    if graph.directed and direction not in allowed:
        raise ValueError(
            f"in a directed graph direction must be one of {', '.join(map(repr, allowed))}; got {direction!r}"
        )
    if not graph.directed and direction is not None:
        raise ValueError(f"edges of an undirected graph have no direction; leave out direction={direction!r}")


def _label_numbers(graph: Graph, wanted: Collection[int | str] | None) -> set[int] | None:
    """Return the labels of edges as numbers, as the graph has them."""
    if wanted is None:
        return None
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Collection):
        raise TypeError(f"edge_labels is a collection of labels such as [1, 2], got {wanted!r}")
    if graph.edge_labels is None:
        raise ValueError("edge_labels says which edges count, but the graph's edges have no labels")
    words = graph.edge_label_names or {}
    held = np.unique(np.asarray(graph.edge_labels)[: graph.num_slots]).tolist()
    number = {words[label]: label for label in held if label in words}
    labels = set()
    for label in wanted:
        one = number.get(label) if isinstance(label, str) else whole_number(label, "a label in edge_labels")
        if one not in held:
            known = ", ".join([str(words.get(label, label)) for label in held][:10]) or "none"
            near = meant(str(label), number)
            raise ValueError(f"no edge has the label {label!r}; labels of this graph are {known}{near}")
        labels.add(one)
    return labels


def _prune(sieve: Sieve, graph: prune.ColoredGraph, motif: Motif) -> tuple[Uploaded | None, np.ndarray]:
    """Find the vertices that the cheap tests leave.

    Returns:
      The graph's arrays on the devices, if they were put there for the tests, and a mask of the vertices.
    """
    device = sieve.selection.main
    needed = 4 * (graph.offsets.nbytes + graph.targets.nbytes)  # the graph, and the rows and labels of its slots
    # A device has only the slots along which trees grow; components need both ways of an arc, which the host has.
    on_host = graph.n < PRUNED_ON_DEVICE or graph.arcs is not None
    if on_host or not target_of(device).is_accelerator or needed > free_memory(device) // 4:
        return None, prune.candidates(graph, motif)
    uploaded = sieve.upload(graph)
    return uploaded, prune.candidates_on_device(*uploaded[0], motif)[: graph.n]


def _repeat(
    sieve: Sieve, placed: Placed, key: jax.Array, repetitions: int, options: JobOptions
) -> tuple[np.ndarray, int]:
    """Run the sieve until every vertex is positive or the runs suffice; return the positive vertices and the runs."""
    positive, runs = np.zeros(placed.n, bool), 0
    while runs < repetitions and not positive.all():
        # A value that is not zero proves that the vertex lies in a match.
        positive |= sieve.values(placed, jax.random.fold_in(key, runs), runs + 1, options) != 0
        runs += 1
    return positive, runs
