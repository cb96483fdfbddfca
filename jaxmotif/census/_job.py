"""A census as a job: divided among devices, with checkpoints.

Its items are the places where a search may begin: of subgraphs of four nodes or more the pairs of adjacent nodes, of
three the nodes, in the order in which a search meets them. What is found is named by class, since each process numbers
the classes in the order in which it met them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import Part, count_classes, count_participation
from jaxmotif.census._pair_states import Alphabet, CensusGraphs, census_graphs, content_of, degree_rank
from jaxmotif.census._sizes import Sizes, in_less, plan
from jaxmotif.devices._job import Job, run_job, workers_on
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, Store, store_for
from jaxmotif.devices._select import Selection
from jaxmotif.graph import Graph

_UNITS = 16


Count = Callable[[CensusGraphs, Sizes, Part], Arrays]
"""Counts the subgraphs of a part, in the form that :func:`added_classes` adds up, rows in the graph's order."""


def divided_census(
    graph: Graph,
    size: int,
    per_node: bool,
    selection: Selection,
    memory: int | None,
    checkpoint: str | os.PathLike | None,
    show: bool,
) -> Arrays:
    """The classes of subgraphs of three nodes or more, by name (ascending): arrays as :func:`added_classes` takes."""
    # One for all devices of a process: a form that one has met is known to all.
    classifier = Classifier(Alphabet.of(graph), size)

    def count(graphs: CensusGraphs, sizes: Sizes, part: Part) -> Arrays:
        found = nothing(0)
        counts = count_classes(graphs, size, classifier, sizes, part=part)[0]
        if per_node:
            # Back from the order of degrees to the graph's. Others may have met more classes since.
            found["nodes"] = count_participation(graphs, size, classifier, sizes, part)[degree_rank(graph)]
            counts = np.pad(counts, (0, found["nodes"].shape[1] - counts.size))
        return found | {"classes": np.array(classifier.classes[: counts.size], str), "counts": counts}

    store = store_for(checkpoint, selection.together, lambda: ("census", *content_of(graph), size, per_node))
    work = Work(graph, size, graph.n if per_node else 0, count)
    programs = size, memory, bucket_size(graph.n), bucket_size(graph.m)
    return in_parts("census", work, selection, memory, store, show, programs)


class Work(NamedTuple):
    """What is counted, part by part.

    Attributes:
      graph, size: of which subgraphs (of three nodes or more).
      rows: of ``nodes``, as :func:`added_classes` takes it.
    """

    graph: Graph
    size: int
    rows: int
    count: Count


def in_parts(
    name: str,
    work: Work,
    selection: Selection,
    memory: int | None,
    store: Store | None,
    show: bool,
    programs: Hashable = None,
) -> Arrays:
    """What is found, of all parts together; ``name``, ``programs``: of the job."""
    items = Beginnings(work.graph, work.size)
    parts = max(_UNITS, 8 * len(selection.devices))
    job = Job(name, items.work, parts, added_classes, "steps", "census", divisible=True, programs=programs)
    done = run_job(
        job, lambda device: _Task(work, items, device, memory), workers_on(selection), selection, store, show
    )
    return done.found or nothing(work.rows)


def added_classes(a: Arrays, b: Arrays) -> Arrays:
    """The merge of counts by class: ``classes`` ascending, ``counts`` ``[classes]``, ``nodes`` ``[n, classes]`` (or
    ``[0, 0]``)."""
    classes, place = np.unique(np.concatenate([a["classes"], b["classes"]]), return_inverse=True)
    counts = np.zeros(classes.size, np.int64)
    nodes = np.zeros((len(a["nodes"]), classes.size if len(a["nodes"]) else 0), np.int64)
    for part, at in zip((a, b), np.split(place, [a["classes"].size]), strict=True):
        counts[at] += part["counts"]
        if len(nodes):
            nodes[:, at] += part["nodes"]
    return {"classes": classes, "counts": counts, "nodes": nodes}


def nothing(rows: int) -> Arrays:
    """Nothing found, with so many rows of ``nodes``."""
    return {"classes": np.zeros(0, "U1"), "counts": np.zeros(0, np.int64), "nodes": np.zeros((rows, 0), np.int64)}


class Beginnings:
    """Where searches begin.

    Attributes:
      work: int64 ``[items + 1]``, about how much there is before each item.
      later: int64 ``[n + 1]``, adjacent pairs before each node as their lower one; ``None`` where nodes are the items.
    """

    def __init__(self, graph: Graph, size: int):
        number, n = degree_rank(graph), graph.n
        pairs = np.sort(number[graph.edge_list()], axis=1)
        low, high = np.divmod(np.unique(pairs[:, 0] * n + pairs[:, 1]), n)  # two arcs are one pair
        degree = np.bincount(low, minlength=n) + np.bincount(high, minlength=n)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(low, minlength=n))])
        # Who can be added to a pair: later neighbours of its lower node, and neighbours of the other.
        around = (before[low + 1] - np.arange(low.size) + degree[high]).astype(np.float64)
        if size == 3:
            self.later, work = None, np.bincount(low, around, n)
        else:
            self.later, work = before, around ** (size - 2)
        # As whole numbers: shares of 2^40, and one each.
        share = (work * (2.0**40 / max(float(work.sum()), 1.0))).astype(np.int64)
        self.work = np.concatenate([np.zeros(1, np.int64), np.cumsum(share + 1)])

    def part(self, span: Span) -> Part:
        return Part(span.first, span.stop, self.later)


class _Task:
    """What one worker has counted so far."""

    def __init__(self, work: Work, items: Beginnings, device: jax.Device, memory: int | None):
        self._work, self._items, self._device, self._memory = work, items, device, memory
        self._begin()

    def _begin(self) -> None:
        self._sizes, matrix_bytes = plan(self._device, self._memory)
        self._graphs = census_graphs(self._work.graph, None, matrix_bytes, self._device)
        self._found = nothing(self._work.rows)

    def step(self, span: Span) -> None:
        with jax.default_device(self._device):
            found = self._work.count(self._graphs, self._sizes, self._items.part(span))
        self._found = added_classes(self._found, found)

    def collect(self) -> Arrays:
        found, self._found = self._found, nothing(self._work.rows)
        return found

    def halve(self) -> str | None:
        smaller = in_less(self._device, self._memory)
        if smaller is None:
            return None
        self._memory, change = smaller
        self._begin()
        return change
