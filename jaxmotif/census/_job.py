"""A census as a job: divided among devices, with checkpoints.

Its items are the places where a search may begin: of subgraphs of four nodes or more the pairs of adjacent nodes, of
three the nodes, in the order in which a search meets them. What is found is named by class, since each process numbers
the classes in the order in which it met them.
"""

from __future__ import annotations

import os

import jax
import numpy as np

from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import Part, count_classes, count_participation
from jaxmotif.census._pair_states import Alphabet, census_graphs, content_of, degree_rank
from jaxmotif.census._sizes import less_memory, plan
from jaxmotif.devices._job import Job, run_job, workers_on
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, store_for
from jaxmotif.devices._select import Selection
from jaxmotif.graph import Graph

_UNITS = 16


def divided_census(
    graph: Graph, size: int, per_node: bool, selection: Selection, memory: int | None,
    checkpoint: str | os.PathLike | None, show: bool,
) -> Arrays:  # fmt: skip
    """The classes of subgraphs of three nodes or more, by name (ascending): arrays as :func:`added_classes` takes."""

    store = store_for(checkpoint, selection.together, lambda: ("census", *content_of(graph), size, per_node))
    items = Beginnings(graph, size)
    # One for all devices of a process: a form that one has met is known to all.
    classifier = Classifier(Alphabet.of(graph), size)
    parts = max(_UNITS, 8 * len(selection.devices))
    programs = size, memory, bucket_size(graph.n), bucket_size(graph.m)
    job = Job("census", items.work, parts, added_classes, "steps", "census", divisible=True, programs=programs)
    done = run_job(
        job, lambda device: _Task(graph, size, per_node, classifier, items, device, memory), workers_on(selection),
        selection, store, show,
    )  # fmt: skip
    return done.found or _nothing(graph, per_node)


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


def _nothing(graph: Graph, per_node: bool) -> Arrays:
    nodes = np.zeros((graph.n if per_node else 0, 0), np.int64)
    return {"classes": np.zeros(0, "U1"), "counts": np.zeros(0, np.int64), "nodes": nodes}


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

    def __init__(
        self, graph: Graph, size: int, per_node: bool, classifier: Classifier, items: Beginnings,
        device: jax.Device, memory: int | None,
    ):  # fmt: skip
        self._graph, self._size, self._per_node, self._classifier = graph, size, per_node, classifier
        self._items, self._device, self._memory = items, device, memory
        self._begin()

    def _begin(self) -> None:
        self._sizes, matrix_bytes = plan(self._device, self._memory)
        self._graphs = census_graphs(self._graph, None, matrix_bytes, self._device)
        self._found = _nothing(self._graph, self._per_node)

    def step(self, span: Span) -> None:
        graphs, size, classifier, part = self._graphs, self._size, self._classifier, self._items.part(span)
        found = _nothing(self._graph, False)
        with jax.default_device(self._device):
            counts = count_classes(graphs, size, classifier, self._sizes, part=part)[0]
            if self._per_node:
                # Back from the order of degrees to the graph's. Others may have met more classes since.
                rows = degree_rank(self._graph)
                found["nodes"] = count_participation(graphs, size, classifier, self._sizes, part)[rows]
                counts = np.pad(counts, (0, found["nodes"].shape[1] - counts.size))
        found |= {"classes": np.array(classifier.classes[: counts.size], str), "counts": counts}
        self._found = added_classes(self._found, found)

    def collect(self) -> Arrays:
        found, self._found = self._found, _nothing(self._graph, self._per_node)
        return found

    def halve(self) -> str | None:
        less = less_memory(self._device, self._memory)
        if less is None:
            return None
        self._memory = less
        self._begin()
        return f"tables of {less} bytes"
