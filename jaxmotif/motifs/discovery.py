"""Network motifs: how often every subgraph class occurs in a graph, and in random graphs with its degrees."""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import Any, Literal, NamedTuple, get_args

import jax
import numpy as np

from jaxmotif.devices.checkpoint import fingerprint
from jaxmotif.devices.job import Job, places, run_job
from jaxmotif.devices.ledger import Arrays, Store, joined
from jaxmotif.devices.memory import device_memory
from jaxmotif.devices.select import Devices, select_devices
from jaxmotif.devices.spans import Span
from jaxmotif.graph import Graph
from jaxmotif.kernels.choice import kernel_backend
from jaxmotif.kernels.switching import Ends, Step
from jaxmotif.motifs.census import ENOUGH, LEAST, UNKNOWN, check_size, less_memory, plan, subgraph_census
from jaxmotif.motifs.classes import Classifier, class_names
from jaxmotif.motifs.dyads import Alphabet, sample_dyads
from jaxmotif.motifs.enumerate import count_classes
from jaxmotif.motifs.matching_engine import TreePlan, count_by_matching, plan_matching
from jaxmotif.motifs.random_graphs import DEFAULT_ATTEMPTS, Keep, RandomGraphs, null_model, random_graphs, wiring
from jaxmotif.motifs.significance import Mixing, Significance, mixing_of, significance_of

Engine = Literal["auto", "census", "matching"]

CPU_WORKERS, GPU_WORKERS = 3, 2  # threads that share a device: one's batch runs while the host works on another's
HELPER_BATCH = 4  # random graphs that the CPU of a hybrid takes at a time
MIXING_GRAPHS = 100  # at most so many chains are run to double length, to see whether they have mixed


@dataclasses.dataclass(frozen=True, eq=False)
class Motifs:
    """Every class that occurs in the graph or, with a census of these, in a random graph; and how unusual its count is.

    Attributes:
      size, directed: as in :class:`jaxmotif.motifs.Census`.
      classes: canonical strings, ascending.
      counts: int64 ``[classes]``, in the graph (0 for classes found in random graphs alone).
      random_counts: int64 ``[num_random, classes]``, in every random graph.
      threshold: the theta of Definition 1.
      significance: the statistics, one entry a class.
      mixing: how far the random graphs are from independent draws.
      null_model: what is kept, and by which moves.
      attempts: pair switches tried per edge; accepted: made per edge.
      engine: how the random graphs were counted: by a ``"census"`` of each, or by ``"matching"`` the classes of the
        graph, which finds none that the graph itself does not have.
      notes: what had to be done differently, in words (smaller steps where memory ran out).
    """

    size: int
    directed: bool
    classes: tuple[str, ...]
    counts: np.ndarray
    random_counts: np.ndarray
    threshold: float
    significance: Significance
    mixing: Mixing
    null_model: str
    attempts: float
    accepted: float
    engine: str
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The name each class has in the field, ``""`` where it has none."""
        names = class_names(self.directed)
        return [names.get(c, "") for c in self.classes]

    @property
    def is_motif(self) -> np.ndarray:
        """Definition 1: sd > 0 and count - mean >= threshold * sd; bool ``[classes]``."""
        s = self.significance
        return (s.sd > 0) & (self.counts - s.mean >= self.threshold * s.sd)

    @property
    def is_anti_motif(self) -> np.ndarray:
        """The same with count and mean exchanged."""
        s = self.significance
        return (s.sd > 0) & (s.mean - self.counts >= self.threshold * s.sd)


def find_motifs(
    graph: Graph,
    size: int,
    num_random: int = 1000,
    key: Any = None,
    keep: Keep = "bidegree",
    *,
    threshold: float = 2.0,
    attempts: float = DEFAULT_ATTEMPTS,
    step: Step = "reject",
    engine: Engine = "auto",
    checkpoint: str | os.PathLike | None = None,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> Motifs:
    """Find the connected subgraphs of ``size`` nodes that occur more often than in random graphs with the same degrees.

    Args:
      graph: any simple graph; labels are part of a class.
      size: 2 to 8.
      num_random: how many random graphs, at least 2.
      key: ``jax.random.key``; key 0 when not given.
      keep, attempts, step: the null model, as in :func:`random_graphs`.
      threshold: theta of Definition 1, positive.
      engine: how random graphs are counted. ``"census"``: every class in every graph. ``"matching"``: only the classes
        of the graph itself, all at once along their matching tree (the paper's engine); counts are the same, but
        classes absent from the graph are not looked for. ``"auto"``: the census, the faster on every network measured.
      checkpoint: a folder in which finished work is kept: the same call made again, after whatever end, goes on
        there and gives the same bits.
      devices: as everywhere; the random graphs are divided among them.
      memory: bytes to work in, on each device.
      progress: show a meter.

    Returns:
      Counts, statistics, and what the random graphs are worth.

    Raises:
      ValueError: an option out of range, or a checkpoint of other work.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> loops = [(a, b) for i in range(6) for a, b in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
      >>> found = find_motifs(Graph.from_edges(loops, directed=True), 3, num_random=20)
      >>> dict(zip(found.names, found.counts.tolist()))["030T feed-forward loop"]
      6
    """
    if num_random < 2:
        raise ValueError(f"num_random must be at least 2 (a standard deviation needs two), got {num_random}")
    if not threshold > 0:
        raise ValueError(f"threshold must be positive, got {threshold}")
    if keep not in get_args(Keep):
        raise ValueError(f"keep must be 'bidegree' or 'degree', got {keep!r}")
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be 'auto', 'census' or 'matching', got {engine!r}")
    engine = "census" if engine == "auto" else engine
    check_size(graph, size)
    key = jax.random.key(0) if key is None else key
    selection = select_devices(devices)
    helper = () if selection.helper is None else (selection.helper,)
    share = functools.partial(_workers, memory=memory)
    each = share(selection.main)
    workers = each * len(selection.devices)
    memory = None if memory is None else memory // each
    longer_chains = min(num_random, MIXING_GRAPHS, max(20, num_random // 10))
    every = num_random // longer_chains

    def batch_on(device: jax.Device) -> int:
        most = HELPER_BATCH if device == selection.helper else num_random
        return min(most, _batch(graph, size, num_random, every, memory, workers, kernel_backend(device)))

    matching = None
    if engine == "matching":
        of_graph = subgraph_census(graph, size, devices=[selection.main], memory=memory)
        matching = plan_matching(graph, size, of_graph.classes)
    work = _Work(
        graph, size, key, {"keep": keep, "attempts": attempts, "step": step}, longer_chains, every,
        Classifier(Alphabet.of(graph), size), matching,
    )  # fmt: skip
    store = None
    if checkpoint is not None:
        name = fingerprint(
            "motifs", graph.edge_list(), graph.n, graph.directed, graph.node_labels, graph.edge_labels, size,
            num_random, key, keep, float(attempts), step, engine,
        )  # fmt: skip
        store = Store(checkpoint, name)
    # Item 0 is the graph itself, the others are the random graphs.
    least = min(batch_on(device) for device in (selection.main, *helper))
    starts = np.arange(-1, num_random + 1).clip(0)
    parts = -(-num_random // least)
    job = Job("motifs", starts, parts, joined, "random graphs", "motifs", shrinking=store is None)
    done = run_job(
        job, lambda device: _Hand(work, device, batch_on(device), memory),
        places(selection, workers=share), selection, store, progress,
    )  # fmt: skip
    return _joined(graph, size, keep, engine, threshold, attempts, done.found, done.notes)


class _Work(NamedTuple):
    """What there is to do: random graphs drawn with options, a number of them (one in ``every``) to double length too,
    and all counted."""

    graph: Graph
    size: int
    key: Any
    options: dict[str, Any]
    longer: int
    every: int
    classifier: Classifier
    matching: TreePlan | None


class _Hand:
    """Draws random graphs on a device, a batch at a time, and counts them; the counts are on the host already."""

    def __init__(self, work: _Work, device: jax.Device, batch: int, memory: int | None):
        self._work, self._device, self._batch, self._memory = work, device, batch, memory
        self._found: Arrays = {}

    def step(self, span: Span) -> None:
        found: Arrays = {}
        last = max(span.stop - 1, 1)  # at least one graph is drawn, also for the given graph alone
        for low in range(max(span.first - 1, 0), last, self._batch):
            found |= self._counts(low, min(low + self._batch, span.stop - 1))
        self._found |= {name: array for name, array in found.items() if span.first == 0 or name[:5] != "input"}

    def _counts(self, low: int, stop: int) -> Arrays:
        """Of the given graph and the random graphs low to stop - 1, some of these at double length too, all counted
        together; the last batch is drawn whole and cut, so that all share their compilations."""
        work, batch, every = self._work, self._batch, self._work.every
        options = {**work.options, "devices": [self._device], "memory": self._memory}
        sample = random_graphs(work.graph, batch, work.key, first=low, **options)
        first = -(-low // every)
        checked = max(0, min(-(-stop // every), work.longer) - first)
        rows = np.minimum(first * every - low + every * np.arange(-(-batch // every)), batch - 1)
        longer = random_graphs(work.graph, rows.size, work.key, start=sample[rows], **options)
        given = (x[None] for x in sample.wiring.ends)
        ends = (np.concatenate(parts) for parts in zip(given, sample.ends, longer.ends, strict=True))
        classes, counts = self._census(dataclasses.replace(sample, ends=Ends(*ends)))

        def part(name: str, field: str, some: np.ndarray) -> Arrays:
            seen = np.flatnonzero(some.any(axis=0))
            return {f"{name}/{field}classes": classes[seen], f"{name}/{field}counts": np.take(some, seen, axis=1)}

        made = part("input", "", counts[:1])
        if low < stop:
            made |= part(str(low), "", counts[1 : 1 + stop - low])
            made[f"{low}/switches"] = sample.switches[: stop - low]
        return made | (part(str(low), "longer_", counts[1 + batch :][:checked]) if checked else {})

    def _census(self, sample: RandomGraphs) -> tuple[np.ndarray, np.ndarray]:
        """Classes, and their counts in every graph."""
        work, backend = self._work, kernel_backend(self._device)
        together = _together(work.graph, work.size)
        pieces = []
        with jax.default_device(self._device):
            sizes, matrix_bytes = plan(self._device, self._memory)
            for low in range(0, len(sample), together):
                graphs = min(together, len(sample))
                dyads = sample_dyads(sample[low : low + together], graphs, matrix_bytes, self._device)
                if work.matching is None:
                    pieces.append(count_classes(dyads, work.size, work.classifier, backend, sizes))
                else:
                    tables = [sizes.table] * work.size
                    pieces.append(count_by_matching(dyads, work.matching, block=sizes.block, tables=tables))
        width = max(piece.shape[1] for piece in pieces)
        counts = pieces[0]
        if len(pieces) > 1:
            counts = np.zeros((sum(map(len, pieces)), width), np.int64)
            for number, piece in enumerate(pieces):
                counts[number * together :][: len(piece), : piece.shape[1]] = piece
        classes = work.classifier.classes if work.matching is None else work.matching.classes
        return np.array(classes[:width], dtype=str), counts[: len(sample)]

    def collect(self) -> Arrays:
        found, self._found = self._found, {}
        return found

    def halve(self) -> str | None:
        less = less_memory(self._device, self._memory)
        if self._batch > 1 and (less is None or less < 2**32):  # small tables take longer than small batches
            self._batch //= 2
            return f"{self._batch} random graphs at a time"
        if less is not None:
            self._memory = less
            return f"tables of {less} bytes"
        return None


def _joined(graph, size, keep, engine, threshold, attempts, found: Arrays, notes: tuple[str, ...]) -> Motifs:
    pieces: dict[str, Arrays] = {}
    for name, array in found.items():
        of, _, field = name.partition("/")
        pieces.setdefault(of, {})[field] = array
    lows = sorted((of for of in pieces if of != "input"), key=int)
    everything = [pieces["input"], *(pieces[low] for low in lows)]
    met = [p[name].tolist() for p in everything for name in ("classes", "longer_classes") if name in p]
    classes = sorted(set().union(*met))
    column = {name: i for i, name in enumerate(classes)}

    def table(name: str, of: str) -> np.ndarray:
        some = [part for part in everything if of in part]
        wide = np.zeros((sum(len(part[of]) for part in some), len(classes)), np.int64)
        first = 0
        for part in some:
            columns = np.array([column[c] for c in part[name].tolist()], np.int64)
            wide[first : first + len(part[of]), columns] = part[of]
            first += len(part[of])
        return wide

    both = table("classes", "counts")
    counts, random_counts = both[0], both[1:]
    mixing = mixing_of(random_counts, table("longer_classes", "longer_counts"))
    switches = np.concatenate([pieces[low]["switches"] for low in lows])
    labels = max(wiring(graph, keep).num_labels, 1)
    return Motifs(
        size, graph.directed, tuple(classes), counts, random_counts, threshold,
        significance_of(counts, random_counts, mixing), mixing, null_model(graph, keep), attempts,
        float(switches.mean() / labels), engine, notes,
    )  # fmt: skip


def _workers(device: jax.Device, memory: int | None) -> int:
    """How many threads share a device."""
    if device.platform == "cpu":
        return CPU_WORKERS if memory is None or memory >= CPU_WORKERS * LEAST["xla"] else 1
    return GPU_WORKERS if (memory or device_memory(device) or UNKNOWN) >= GPU_WORKERS * ENOUGH else 1


def _together(graph: Graph, size: int) -> int:
    """Graphs in one disjoint union: as many as let their number fit the code."""
    return 1 << min(63 - Alphabet.of(graph).code_bits(size), 20)


def _batch(graph: Graph, size: int, num: int, every: int, memory: int | None, devices: int, backend: str) -> int:
    """Random graphs to draw and count together with the given one and one of so many at double length: as many as let
    the matrix of dyads fit."""
    budget = 1 << 25 if backend == "xla" else (memory or 1 << 33) // 4
    fits = budget // max(graph.n**2, 1) or max(1, budget // max(64 * graph.m, 1))
    most = max(1, (min(fits, _together(graph, size)) - 2) * every // (every + 1))
    pieces = devices * -(-num // (devices * most))  # as many for each device
    return -(-num // pieces)
