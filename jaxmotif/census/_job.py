"""A census as a job: on one device, or divided among devices, with checkpoints.

The items of the job are the places where a search may begin, in the order in which a search meets them: nodes for
subgraphs of three nodes, pairs of adjacent nodes for larger ones. Counts are named by class, because each process
numbers the classes in the order in which it met them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.arrays._rows import offsets_from
from jaxmotif.census import _pair_states as pair_states
from jaxmotif.census._enumerate import Part
from jaxmotif.census._sizes import Sizes, halve_memory, plan
from jaxmotif.census._whole import expects_room
from jaxmotif.devices._job import Job, JobOptions, Task, run_job
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays
from jaxmotif.graph import Graph

_UNITS = 16  # parts of a job, at least


class Work(NamedTuple):
    """A count of the subgraphs of a graph that can be done part by part.

    Attributes:
      name: the name of the job.
      graph: the graph.
      size: nodes of a subgraph.
      rows: rows of ``nodes``, as :func:`merge_counts` takes them.
      count: a function that counts the subgraphs of a part. Its arguments are the graphs, the sizes, the part (``None``
        for all), and a function to call with progress. It returns counts as :func:`merge_counts` takes them, with rows
        in the graph's order.
      identity: what the counts depend on besides the graph.
    """

    name: str
    graph: Graph
    size: int
    rows: int
    count: Callable[[pair_states.CensusGraphs, Sizes, Part | None, Callable[[int], None]], Arrays]
    identity: tuple


def count_all(work: Work, options: JobOptions) -> Arrays:
    """Count all subgraphs, in one go, or part by part on several devices or with a checkpoint.

    Args:
      work: what to count. Subgraphs of two nodes are always counted in one go.
      options: the devices that share the work, and what it keeps and shows.

    Returns:
      The counts, as :func:`merge_counts` returns them, but for the order of classes.
    """
    graph, size, selection, memory = work.graph, work.size, options.selection, options.memory
    device, show = selection.main, options.progress
    room = pair_states.room_of(1, graph.n, graph.m, pair_states.least_room(device), device)
    if size > pair_states.SMALLEST and (selection.several or options.checkpoint is not None):
        options = options.identified(lambda: (work.name, *pair_states.content_of(graph), *work.identity))
        starts, later = start_places(graph, size)
        parts, programs = max(_UNITS, 8 * len(selection.devices)), (size, memory, room)
        job = Job(work.name, starts, parts, merge_counts, "steps", "census", divisible=True, programs=programs)
        done = run_job(job, lambda device: _Task(work, later, device, memory), options)
        return done.found or empty_counts(work.rows)

    def attempt(memory: int | None) -> Arrays:
        sizes, matrix_bytes = plan(device, memory)

        def count() -> Arrays:
            return work.count(pair_states.census_graphs(graph, None, matrix_bytes, device), sizes, None, bar.advance)

        with jax.default_device(device), meter(None, f"subgraphs of {size - 1}", "census", enabled=show) as bar:
            whole = expects_room(partial(pair_states.likely_subgraphs, graph), size)
            return rehearsed(count, device, ("census", device, size, sizes, room, whole))

    return with_smaller_steps(attempt, memory, partial(halve_memory, device), device)[0]


def merge_counts(a: Arrays, b: Arrays) -> Arrays:
    """Add the counts by class of two parts.

    Returns:
      ``classes``, ascending; ``counts``, int64 ``[classes]``; ``nodes``, int64 ``[n, classes]``, or ``[0, 0]`` where
      nodes are not counted.
    """
    classes, place = np.unique(np.concatenate([a["classes"], b["classes"]]), return_inverse=True)
    counts = np.zeros(classes.size, np.int64)
    nodes = np.zeros((len(a["nodes"]), classes.size if len(a["nodes"]) else 0), np.int64)
    for part, at in zip((a, b), np.split(place, [a["classes"].size]), strict=True):
        counts[at] += part["counts"]
        if len(nodes):
            nodes[:, at] += part["nodes"]
    return {"classes": classes, "counts": counts, "nodes": nodes}


def empty_counts(rows: int) -> Arrays:
    """Return the counts of a part without subgraphs, with ``rows`` rows of ``nodes``."""
    return {"classes": np.zeros(0, "U1"), "counts": np.zeros(0, np.int64), "nodes": np.zeros((rows, 0), np.int64)}


def start_places(graph: Graph, size: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Estimate the work at the places where searches begin.

    Returns:
      int64 ``[items + 1]``, an estimate of the work before each place; and ``later`` of :class:`Part`.
    """
    number, n = pair_states.degree_rank(graph), graph.n
    pairs = np.sort(number[graph.edge_list()], axis=1)
    low, high = np.divmod(np.unique(pairs[:, 0] * n + pairs[:, 1]), n)  # two arcs are one pair
    degree = np.bincount(low, minlength=n) + np.bincount(high, minlength=n)
    before = offsets_from(np.bincount(low, minlength=n), np.int64)
    # Later neighbours of a pair's lower node, and all neighbours of the other one, can be added to it.
    candidates = (before[low + 1] - np.arange(low.size) + degree[high]).astype(np.float64)
    work = np.bincount(low, candidates, n) if size == 3 else candidates ** (size - 2)
    # The estimates become whole numbers: shares of 2^40, and one more for each place.
    share = (work * (2.0**40 / max(float(work.sum()), 1.0))).astype(np.int64)
    return offsets_from(share + 1, np.int64), None if size == 3 else before


class _Task(Task):
    """The task of one worker: its device, its memory, and what it has counted so far."""

    def __init__(self, work: Work, later: np.ndarray | None, device: jax.Device, memory: int | None):
        self._work, self._later, self._device, self._memory = work, later, device, memory
        self._begin()

    def _begin(self) -> None:
        self._sizes, matrix_bytes = plan(self._device, self._memory)
        self._graphs = pair_states.census_graphs(self._work.graph, None, matrix_bytes, self._device)
        self._sums = empty_counts(self._work.rows)

    def step(self, span: Span) -> None:
        with jax.default_device(self._device):
            part = Part(*span, self._later)
            sums = self._work.count(self._graphs, self._sizes, part, lambda number: None)
        self._sums = merge_counts(self._sums, sums)

    def collect(self) -> Arrays:
        sums, self._sums = self._sums, empty_counts(self._work.rows)
        return sums

    def halve(self) -> str | None:
        smaller = halve_memory(self._device, self._memory)
        if smaller is None:
            return None
        self._memory, change = smaller
        self._begin()
        return change
