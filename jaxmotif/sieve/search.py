"""The front door: vertices in a match with a given error, and the matches themselves."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxmotif.devices import checkpoint as checkpoints
from jaxmotif.devices.progress import progress as meter
from jaxmotif.devices.select import Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.sieve.colors import Color, parse_motif, vertex_shades
from jaxmotif.sieve.extract import Matches
from jaxmotif.sieve.prune import Host, candidates, restrict
from jaxmotif.sieve.runner import Position, Sieve, capacities

SAVE_SECONDS = 5.0
"""Least time between two checkpoints of one run."""

CHECKPOINT_NAME = "sieve.checkpoint"


@dataclasses.dataclass(frozen=True)
class ColorMotifs:
    """Where a multiset of colors occurs as a connected subgraph.

    Attributes:
      found: whether there is a match.
      vertices: int64, the vertices that lie in one, ascending. Never a wrong one.
      matches: sets of vertices, ascending tuples; each verified.
      repetitions: runs of the sieve; 0 when cheaper tests had decided.
      false_negative_bound: bound on the probability that a given vertex is missing from ``vertices`` wrongly.
    """

    found: bool
    vertices: np.ndarray
    matches: list[tuple[int, ...]]
    repetitions: int
    false_negative_bound: float


def run_bound(size: int) -> float:
    """Bound on the probability that one run misses a vertex: ``(2 k - 1) / 2^8``.

    At a vertex in a match, ``Q_i = sum over matches S of C_S(alpha) det(mu_S)`` is a nonzero multilinear polynomial of
    degree ``(k - 1) + k`` in random elements (see :mod:`jaxmotif.sieve.polynomials`).
    """
    return (2 * size - 1) / 256


def needed_repetitions(size: int, error: float) -> int:
    """The fewest independent runs whose joint bound is at most ``error``.

    Example:
      >>> needed_repetitions(10, 1e-6), needed_repetitions(20, 1e-6)
      (6, 8)
    """
    return max(1, math.ceil(math.log(error) / math.log(run_bound(size)) - 1e-12))


def find_color_motif(
    graph: Graph,
    colors: Any,
    motif: Mapping[Color, int],
    key: jax.Array | int,
    *,
    error: float = 1e-6,
    limit: int | None = 1,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> ColorMotifs:
    """Find the connected subgraphs whose colors are a given multiset (the graph motif problem).

    A match is a set of ``k`` vertices that induces a connected subgraph and whose colors, each vertex counting as one
    of its own, are exactly the motif. The time is ``O(2^k m k log k)`` a run, the answer one-sided: vertices reported
    lie in a match, and each other one does with probability at most ``error``.

    Args:
      graph: an undirected graph.
      colors: one entry a vertex, or a mapping from vertices (by name where the graph has names): a color (a string or
        a number), a set of colors any of which the vertex may stand for, or ``None``.
      motif: how many vertices of each color; at most 30 in all.
      key: a random key, or a seed. The same key gives the same result on any number of devices.
      error: largest acceptable probability, for each vertex, of missing it.
      limit: how many matches to extract; ``None`` for all (there may be exponentially many), 0 for none.
      devices: where to run, see :func:`jaxmotif.devices.select.select_devices`; the subsets are split over several.
      memory: bytes for the rows of a block of subsets; by default half of what the device has free.
      checkpoint: a folder in which a long run keeps its state, to go on after an interruption.
      progress: whether to show progress on standard error.

    Returns:
      What was found.

    Raises:
      TypeError: a motif or colors of the wrong kind.
      ValueError: a directed graph, an empty or too large motif, an error out of range, the wrong number of colors, or
        a checkpoint that is damaged or belongs to another search.

    Example:
      >>> from jaxmotif import Graph
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
      >>> result = find_color_motif(graph, ["red", "blue", "red", "red", "blue"], {"red": 2, "blue": 1}, key=0, limit=9)
      >>> result.vertices.tolist(), sorted(result.matches)
      ([0, 1, 2, 3, 4], [(0, 1, 2), (1, 2, 3), (2, 3, 4)])

    Reference:
      Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs. SEA 2018.
    """
    if graph.directed:
        raise ValueError("a color motif is sought in an undirected graph; build it with directed=False")
    if not 0 < error < 1:
        raise ValueError(f"error must lie between 0 and 1, got {error}")
    if limit is not None and limit < 0:
        raise ValueError(f"limit must not be negative, got {limit}; None asks for all matches")
    parsed = parse_motif(motif)
    selection = select_devices(devices)
    if selection.helper is not None:
        raise ValueError("the sieve does not share work between GPUs and the CPU; use devices='gpu' or a number")
    key = jax.random.key(key) if isinstance(key, int) else key
    run_key, match_key = jax.random.split(key)

    whole = Host(
        np.asarray(graph.out_offsets)[: graph.n + 1],
        np.asarray(graph.out_targets)[: 2 * graph.m],
        vertex_shades(colors, parsed, graph.n, graph.node_names),
    )
    host, ids = restrict(whole, candidates(whole, parsed))
    sieve = Sieve(parsed.size, selection.devices, memory)
    repetitions = needed_repetitions(parsed.size, error)
    positive, runs = _repeat(sieve, host, run_key, repetitions, checkpoint, progress)
    bound = 0.0 if positive.all() else run_bound(parsed.size) ** runs

    matches: list[tuple[int, ...]] = []
    if positive.any() and limit != 0:
        inside, inner = restrict(host, positive)
        finder = Matches(sieve, inside, parsed, match_key, repetitions, capacities(host))
        found = itertools.islice(finder.among(np.ones(inside.n, bool)), limit)
        with meter(limit, unit="matches", label="extracting", enabled=progress) as shown:
            for match in found:
                matches.append(tuple(ids[inner[list(match)]].tolist()))
                shown.advance()
    return ColorMotifs(bool(positive.any()), ids[positive].astype(np.int64), matches, runs, bound)


def _repeat(
    sieve: Sieve, host: Host, key: jax.Array, repetitions: int, folder: str | os.PathLike | None, progress: bool
) -> tuple[np.ndarray, int]:
    """Runs until every vertex is positive or the runs suffice: which are positive, and how many runs it took."""
    state = _State(sieve, host, key, folder)
    placed = sieve.place(host)
    total = repetitions << sieve.size
    with meter(total, unit="subsets", label="sieving", enabled=progress) as shown:
        shown.advance((state.runs << sieve.size) + 32 * state.words)
        while state.runs < repetitions and not state.positive.all():
            run = jax.random.fold_in(key, state.runs)
            resume = None if state.words == 0 else Position(state.words, state.total)

            def on_step(position: Position):
                shown.advance(min(32 * (position.words - state.words), 1 << sieve.size))
                state.at(position)

            values = sieve.values(placed, run, resume, on_step)
            state.finish(values != 0)
    state.remove()
    return state.positive, state.runs


class _State:
    """How far the runs have come, kept in a checkpoint when there is a folder for one."""

    def __init__(self, sieve: Sieve, host: Host, key: jax.Array, folder: str | os.PathLike | None):
        self.positive = np.zeros(host.n, bool)
        self.runs = self.words = 0
        self.total: np.ndarray | jax.Array = np.zeros((0, 8), np.uint32)
        self._path = None if folder is None else Path(folder) / CHECKPOINT_NAME
        self._saved = time.monotonic()
        if self._path is None:
            return
        self._name = checkpoints.fingerprint("sieve", 1, sieve.size, *host, key)
        kept = checkpoints.load(self._path, self._name)
        if kept is not None:
            self.positive, self.total = kept["positive"], kept["total"]
            self.runs, self.words = int(kept["runs"]), int(kept["words"])

    def at(self, position: Position) -> None:
        self.words, self.total = position.words, position.total
        if self._path is not None and time.monotonic() - self._saved >= SAVE_SECONDS:
            self._save()

    def finish(self, positive: np.ndarray) -> None:
        self.positive = self.positive | positive
        self.runs, self.words, self.total = self.runs + 1, 0, np.zeros((0, 8), np.uint32)

    def _save(self) -> None:
        if self._path is not None and jax.process_index() == 0:
            kept = {"positive": self.positive, "total": self.total, "runs": self.runs, "words": self.words}
            checkpoints.save(self._path, self._name, kept)
        self._saved = time.monotonic()

    def remove(self) -> None:
        if self._path is not None and jax.process_index() == 0:
            self._path.unlink(missing_ok=True)
