"""Network motifs: how often every subgraph class occurs in a graph, and in random graphs with its degrees."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import logging
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import jax
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._compile import Target, target_of
from jaxmotif.arrays._present import Column, counted
from jaxmotif.arrays._sizes import bucket_size, floor_power_of_two
from jaxmotif.census._classes import Classifier
from jaxmotif.census._count import subgraph_census
from jaxmotif.census._enumerate import count_classes
from jaxmotif.census._pair_states import LARGEST, Alphabet, check_size, content_of, in_one_room, likely_subgraphs
from jaxmotif.census._sizes import ENOUGH, least_memory, less_memory, plan
from jaxmotif.census._tables import OfClasses
from jaxmotif.devices._job import Job, JobResult, run_job, workers_on
from jaxmotif.devices._memory import free_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, joined, store_for
from jaxmotif.devices._select import Devices, Selection, select_devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.kernels._switching import Step
from jaxmotif.motifs._estimate import EXACT_PER_DRAW, checked_draws
from jaxmotif.motifs._estimate import check as check_estimate
from jaxmotif.motifs._estimate_graphs import HitCounter, to_estimates
from jaxmotif.motifs._graph_samples import LaneSample, Sample, sample_graphs
from jaxmotif.motifs._null_models import NullModel, States
from jaxmotif.motifs._proposals import LIMITS, seed_words
from jaxmotif.motifs._random_graphs import (
    DEFAULT_SWITCHES,
    ChainPlan,
    Chains,
    Drawn,
    Lot,
    chain_notes,
    moves_by_kind,
    plan_chains,
)
from jaxmotif.motifs._significance import Mixing, Significance, mixing_of, significance_of
from jaxmotif.motifs._tables import motifs_line, motifs_table, plot_profile
from jaxmotif.motifs._until import Until
from jaxmotif.motifs.matching_tree import TreePlan, count_by_matching, plan_matching
from jaxmotif.patterns import class_columns

if TYPE_CHECKING:
    from chex import PRNGKey
    from matplotlib.axes import Axes

Engine = Literal["auto", "census", "matching"]

CPU_WORKERS, GPU_WORKERS = 3, 2  # threads that share a device: one's batch runs while the host works on another's
HELPER_BATCH = 4  # random graphs that the CPU of a hybrid takes at a time
STEP_SECONDS = 2.0  # that a batch is to take, so that a kill loses little
RATE = {False: 5e6, True: 6e9}  # subgraphs a second that a CPU, and an accelerator, count
DRAW_RATE = {False: 5e5, True: 2e8}  # maps a second that they draw
OTHER_SIZE = {False: 2, True: 8}  # a batch is made longer or shorter by this or more: an accelerator compiles for it
MOST_UNITS = 4096  # that the random graphs are dealt out in
MIXING_GRAPHS = 100  # chains, at most, that are run to ``LONGER`` times the length, to see whether they have mixed
LONGER = 4  # doubling hardly shows a slow drift, and a GPU waits for the steps of few chains


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Motifs(OfClasses):
    """Every class that occurs in the graph or, with a census of these, in a random graph; and how unusual its count is.

    Attributes:
      size, directed: as in :class:`jaxmotif.motifs.Census`.
      classes: canonical strings, ascending.
      counts: int64 ``[classes]``, in the graph (0 for classes found in random graphs alone); float64 where estimated.
      random_counts: int64 ``[num_random, classes]``, in every random graph; float64 where estimated.
      threshold: the theta of Definition 1.
      significance: the statistics, one entry a class.
      mixing: how far the random graphs are from independent draws.
      null_model: what is kept, over which graphs the random graphs are uniform, and by which moves.
      attempts: pair switches tried per edge; accepted: moves made per edge; accepted_by_kind: the same for each kind of
        edge (one-way arcs, reciprocated pairs) by its name.
      engine: how the random graphs were counted: by a ``"census"`` of each, or by ``"matching"`` the classes of the
        graph, which finds none that the graph itself does not have; or ``"estimate"``.
      notes: what to know, in words: random graphs that could not move, or little; smaller steps where memory ran out.
      label_words: as in :class:`jaxmotif.motifs.Census`.
      estimate: draws from each graph that its counts are estimated by; ``None`` of exact counts.
      decided: of adaptive numbers of random graphs whether more of them would leave the verdict at ``alpha`` as it is,
        bool ``[classes]``; else ``None``.
      error: float64 ``[classes]``, the standard error of each of ``counts``, 0 where no draw fell on the class;
        random_error: that of one of ``random_counts``, root mean square over the random graphs; 0 of exact counts.
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
    accepted_by_kind: Mapping[str, float]
    engine: str
    notes: tuple[str, ...] = ()
    label_words: tuple[Mapping[int, str] | None, Mapping[int, str] | None] = (None, None)
    estimate: int | None = None
    decided: np.ndarray | None = None
    error: np.ndarray | float = 0.0
    random_error: np.ndarray | float = 0.0

    def _line(self) -> str:
        return motifs_line(self)

    def table(self) -> dict[str, Column]:
        return motifs_table(self)

    def plot_profile(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """The significance profile in matplotlib, with where 95 % of the random graphs lie (extra ``plot``).

        Args:
          ax: axes to draw on, perhaps over another network's; new ones when not given.
          label: what a legend calls it.
        """
        return plot_profile(self, ax, label)

    @property
    def is_motif(self) -> np.ndarray:
        """Definition 1: scale > 0 and count - mean >= threshold * scale, which is the sd; bool ``[classes]``."""
        s = self.significance
        return (s.scale > 0) & (self.counts - s.mean >= self.threshold * s.scale)

    @property
    def is_anti_motif(self) -> np.ndarray:
        """The same with count and mean exchanged."""
        s = self.significance
        return (s.scale > 0) & (s.mean - self.counts >= self.threshold * s.scale)


def find_motifs(
    graph: GraphLike,
    size: int,
    num_random: int | Until | Literal["auto"] = 1000,
    key: int | PRNGKey | None = None,
    keep: str | NullModel = "bidegree",
    *,
    threshold: float = 2.0,
    switches: float = DEFAULT_SWITCHES,
    attempts: float | None = None,
    step: Step = "reject",
    engine: Engine = "auto",
    estimate: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> Motifs:
    """Find the connected subgraphs of ``size`` nodes that occur more often than in random graphs with the same degrees.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one; its labels are
        part of a class.
      size: 2 to 8; of estimates 3 to 10, directed to 8.
      num_random: how many random graphs, at least 2; or as many as decide for every class whether its q is at most
        ``alpha``, in stages of 100, 200, 400, ..: :class:`jaxmotif.motifs.Until` says with what error, and how many at
        most; ``"auto"``: with alpha 0.05, error 0.01 and 10,000.
      key: a seed, or ``jax.random.key(seed)``; seed 0 when not given.
      keep, switches, attempts, step: the null model and how long its chains are, as in :func:`jaxmotif.random_graphs`.
      threshold: theta of Definition 1, positive.
      engine: how random graphs are counted. ``"census"``: every class in every graph. ``"matching"``: only the classes
        of the graph itself, all at once along their matching tree (the paper's engine); counts are the same, but
        classes absent from the graph are not looked for. ``"auto"``: the census, the faster on every network measured.
      estimate: instead of counting, estimate the counts from so many draws from each graph, the given one and the
        random ones alike (:func:`jaxmotif.estimate_census`): where there are too many subgraphs to be met one by one.
        What the draws add to the spread of counts is in z (:class:`jaxmotif.motifs.Significance` says how); a class
        that no draw of a graph fell on has a count of 0 there.
      checkpoint: a folder in which finished work is kept: the same call made again, after whatever end, goes on
        there and gives the same bits.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; random graphs are divided among them.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      progress: show a meter on standard error.

    Returns:
      Counts, statistics, and what the random graphs are worth.

    Raises:
      TypeError: an estimate that is no integer.
      ValueError: an option out of range, an estimate by matching, or a checkpoint of other work.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> loops = [(a, b) for i in range(6) for a, b in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
      >>> found = find_motifs(Graph.from_edges(loops, directed=True), 3, num_random=20)
      >>> dict(zip(found.names, found.counts.tolist()))["030T feed-forward loop"]
      6
    """
    graph = as_graph(graph)
    until = Until() if num_random == "auto" else num_random
    if not isinstance(until, Until) and (isinstance(until, str) or whole_number(until, "num_random") < 2):
        raise ValueError(
            f"num_random must be at least 2 (a standard deviation needs two), 'auto' or Until(), got {num_random!r}"
        )
    if not threshold > 0:
        raise ValueError(f"threshold must be positive, got {threshold}")
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be 'auto', 'census' or 'matching', got {engine!r}")
    if estimate is None:
        check_size(graph, size)
    elif engine == "matching":
        raise ValueError("engine='matching' counts, and has no estimates: leave out estimate=, or the engine")
    else:
        estimate = checked_draws(estimate, "estimate")
        check_estimate(graph, size)
    method = "census" if engine == "auto" else engine
    chains = plan_chains(graph, key, keep, switches, attempts, step)
    selection = select_devices(devices)
    each = _workers(selection.main, memory)
    matching = None
    if method == "matching":
        # The tree is of the graph's own classes: these are counted first.
        part = None if memory is None else memory // each
        of_graph = subgraph_census(graph, size, devices=[selection.main], memory=part)
        matching = plan_matching(graph, size, of_graph.classes)
    until, stops = (until, [*until.stages()]) if isinstance(until, Until) else (None, [until])
    # A tenth of the chains, but so many that a correlation means something; of an open number one in five, up to 100.
    longer = min(stops[-1], MIXING_GRAPHS, max(20, stops[-1] // 10))
    every = stops[-1] // longer if until is None else min(stops[0], 5)
    work = _Work(chains, size, longer, every, Classifier(Alphabet.of(graph), size), matching, estimate)
    found: Arrays = {}
    notes: tuple[str, ...] = ()
    for first, stop in itertools.pairwise([0, *stops]):
        stage = _Stage(first, stop, "motifs" if until is None else f"motifs-{stop}", method, step)
        done = _counted(work, stage, selection, memory, checkpoint, progress)
        found, notes = found | done.found, notes + done.notes
        result = _motifs(work, stop, method, threshold, found, notes, until)
        if result.decided is None or result.decided.all():
            break
    return result


class _Stage(NamedTuple):
    """The random graphs ``first .. stop``: the job's name, and what they are counted and drawn by."""

    first: int
    stop: int
    name: str
    method: str
    step: Step


def _counted(
    work: _Work, stage: _Stage, selection: Selection, memory: int | None, checkpoint: str | os.PathLike | None,
    progress: bool,
) -> JobResult:  # fmt: skip
    """Draws and counts some random graphs; the first of all with the given graph."""
    graph, size, chains, number = work.chains.graph, work.size, work.chains, stage.stop - stage.first
    helper = () if selection.helper is None else (selection.helper,)
    share = functools.partial(_workers, memory=memory)
    each = share(selection.main)
    workers = each * len(selection.devices)
    # Threads of one device work side by side: each has its part of the memory.
    memory = None if memory is None else memory // each

    def batch_on(device: jax.Device) -> int:
        most = HELPER_BATCH if device == selection.helper else number
        return min(most, _batch(graph, size, number, work.every, memory, workers, target_of(device)))

    def identity() -> tuple:
        options = (
            size,
            stage.first,
            stage.stop,
            chains.key,
            chains.model.identity,
            chains.steps,
            chains.pace.tried,
            chains.pace.slow,
            stage.step,
        )
        # Which chains go on is part of it: the same numbers of random graphs may be the first of more.
        more = stage.method, work.estimate, work.longer, work.every
        return ("motifs", *content_of(graph), *options, *more)

    store = store_for(checkpoint, selection.together, identity)
    # A task makes batches of what it is dealt.
    least = min(batch_on(device) for device in (selection.main, *helper))
    # The graph itself is item 0, with no work of its own: what takes the first random graph takes it along.
    begin = stage.first + (stage.first > 0)
    starts = np.arange(stage.stop - begin + 2)
    if not stage.first:
        starts = (starts - 1).clip(0)
    parts = min(number, max(MOST_UNITS, -(-number // least)))
    job = Job(stage.name, starts, parts, joined, "random graphs", "motifs", shrinking=store is None)
    return run_job(
        job, lambda device: _Task(work, device, batch_on(device), memory, begin),
        workers_on(selection, per_device=share), selection, store, progress,
    )  # fmt: skip


class _Work(NamedTuple):
    """What there is to do: chains, of which so many (one in ``every``) go on to double length, and all counted, or
    estimated from so many draws."""

    chains: ChainPlan
    size: int
    longer: int
    every: int
    classifier: Classifier
    matching: TreePlan | None
    estimate: int | None


class _Batch(NamedTuple):
    """Counts of some graphs, or hits where they are to be estimated: one row a graph, one column for each class that
    occurs in any of them.

    Attributes:
      classes: their canonical strings.
      given: int64 ``[1, classes]``, in the given graph, or no row.
      numbers: int64 ``[b]``, which random graphs; moves: int64 ``[b, 2]``, that their chains made, and those of pairs.
      counts: int64 ``[b, classes]``, in these.
      longer: int64 ``[c]``, which of them went on to double length; longer_counts: ``[c, classes]``, in these then.
      given_maps, maps, longer_maps: maps of trees into all of these by proposal, float64 ``[.., proposals]``.
    """

    classes: np.ndarray
    given: np.ndarray
    numbers: np.ndarray
    moves: np.ndarray
    counts: np.ndarray
    longer: np.ndarray
    longer_counts: np.ndarray
    given_maps: np.ndarray
    maps: np.ndarray
    longer_maps: np.ndarray


class _Task:
    """Draws random graphs on a device and counts them, a batch at a time; the counts are on the host already.

    A batch is what fits, but is bounded by time, too: a first one where many subgraphs are to be expected is small, and
    later ones are made longer or shorter by what the last took. No count depends on the batch.
    """

    def __init__(self, work: _Work, device: jax.Device, most: int, memory: int | None, begin: int = 0):
        self._work, self._device, self._memory, self._begin = work, device, memory, begin
        self._most = most
        # An estimate: it sizes the first batch alone, later ones go by the clock.
        seconds = _seconds(work, target_of(device))
        self._batch = min(most, floor_power_of_two(int(min(STEP_SECONDS / max(seconds, 1e-9), most))))
        # All at once where that is no longer than a batch should be.
        if seconds * most <= STEP_SECONDS:
            self._batch = most
        self._hits = self._hit_counter()
        self._chains: Chains | None = None
        self._compiled: set[int] = set()
        self._dealt: list[int] = []
        self._made: list[_Batch] = []

    def step(self, span: Span) -> None:
        self._dealt += range(self._begin + span.first, self._begin + span.stop)
        while len(self._dealt) >= self._batch:
            self._next()

    def collect(self) -> Arrays:
        while self._dealt:
            self._next()
        made, self._made = self._made, []
        # By the first graph of each, in names that no other batch has.
        named = ((batch.numbers[0] if batch.numbers.size else -1, batch) for batch in made)
        return {f"{name}/{field}": x for name, batch in named for field, x in batch._asdict().items()}

    def halve(self) -> str | None:
        self._dealt, self._made, self._chains = [], [], None  # to be done again
        less = less_memory(self._device, self._memory)
        if self._most > 1 and (less is None or less < 2**32):  # small tables take longer than small batches
            self._most //= 2
            self._batch = min(self._batch, self._most)
            return f"{self._most} random graphs at a time"
        if self._hits is not None:
            return self._hits.halve()
        if less is not None:
            self._memory = less
            return f"tables of {less} bytes"
        return None

    def _next(self) -> None:
        """Counts the next batch of what was dealt, and sizes the one after it."""
        batch = self._dealt[: self._batch]
        started = time.monotonic()
        graph, size = self._work.chains.graph, self._work.size
        rooms = bucket_size(graph.n), bucket_size(graph.m)
        programs = "motifs", self._device, size, len(batch), self._memory, *rooms, self._work.estimate

        def rehearsal() -> None:
            twin = copy.copy(self)
            twin._hits = self._hit_counter()  # of tables of its own
            twin._counted(batch)

        self._made.append(rehearsed(lambda: self._counted(batch), self._device, programs, rehearsal))
        # Only now: a batch that runs out of memory is still to be done, and no collection may pass over it.
        self._dealt = self._dealt[len(batch) :]
        seconds = time.monotonic() - started
        if self._batch not in self._compiled:  # its time was that of compiling
            self._compiled.add(self._batch)
        elif len(batch) == self._batch:
            fits = int(min(STEP_SECONDS * len(batch) / max(seconds, 1e-9), self._most))
            # By a factor at least: each size of a batch may compile anew.
            other = OTHER_SIZE[target_of(self._device).is_accelerator]
            if fits >= other * self._batch:
                # Never by much more at once, since a short batch says little of a long one.
                fits = floor_power_of_two(fits) if fits < self._most else self._most
                self._batch = min(2 * other * self._batch, fits)
            elif other * fits < self._batch:
                self._batch = max(1, floor_power_of_two(fits))

    def _hit_counter(self) -> HitCounter | None:
        """Where counts are estimated, what draws."""
        work = self._work
        if work.estimate is None:
            return None
        seed = seed_words(work.chains.key)
        return HitCounter(work.chains.graph, work.size, work.estimate, seed, self._device, self._memory)

    def _counted(self, items: list[int]) -> _Batch:
        """Counts of some items: the given graph (0), and random graphs, some of them at double length too."""
        work = self._work
        # Item i is random graph i - 1, whatever the batch: a graph's chain depends on its number alone.
        numbers = np.array([item - 1 for item in items if item], np.int32)
        # Which chains go on is a matter of their numbers, not of batches.
        goes_on = (numbers % work.every == 0) & (numbers // work.every < work.longer)
        sample, drawn = self._drawn(numbers, goes_on, 0 in items)
        if self._hits is None:
            classes, counts = self._census(sample)
            maps = np.zeros((len(sample), 0))
        else:
            # Of each graph its own draws, another number for the one at double length.
            each = [0] * (0 in items) + (2 * (numbers + 1)).tolist() + (2 * numbers[goes_on] + 3).tolist()
            counts, maps = self._hits.count(sample, each, work.classifier)
            classes = np.array(work.classifier.classes[: counts.shape[1]], dtype=str)
        # Only classes that occur: a classifier shared by threads may know many more.
        met = np.flatnonzero(counts.any(axis=0))
        given = int(0 in items)
        parts = [given, given + numbers.size]
        of_given, of_sample, of_longer = np.split(np.take(counts, met, axis=1), parts)
        return _Batch(
            classes[met], of_given, numbers.astype(np.int64), np.stack([drawn.moves, drawn.of_pairs], axis=1),
            of_sample, numbers[goes_on].astype(np.int64), of_longer, *np.split(maps, parts),
        )  # fmt: skip

    def _drawn(
        self, numbers: np.ndarray, goes_on: np.ndarray, given: bool
    ) -> tuple[Sample | LaneSample, Drawn | Lot]:  # fmt: skip
        """The given graph, if asked for, random graphs, and some of these again at double length; and the chains."""
        plan, chains = self._work.chains, self._chains_of(self._batch)
        more = (LONGER - 1) * plan.steps
        if target_of(self._device).is_accelerator and 0 < numbers.size <= chains.most:
            # What is drawn and counted on a device need not leave it. A last batch takes the programs of a whole one,
            # however short it is: to compile its own takes longer than lanes that do nothing.
            rows, room = np.flatnonzero(goes_on), -(-self._batch // self._work.every)
            once = chains.run(numbers, None, 0, plan.steps, room=min(self._batch, chains.most))
            longer = (
                chains.run(numbers[rows], once, plan.steps, more, rows, room).ends if rows.size else chains.given(room)
            )
            parts, labels = (chains.given(), once.ends, longer), plan.wiring.labels
            first = np.cumsum([0, *(part.tail.size for part in parts)])
            lots = (int(given), numbers.size, rows.size)
            begins = [first[i] + labels * np.arange(number) for i, number in enumerate(lots)]
            return LaneSample(plan.graph, plan.wiring, parts, np.concatenate(begins)), once
        drawn = chains.draw(numbers, None, 0, plan.steps)
        # From where they stand, for more steps: the same chain, not another one of that length.
        longer = chains.draw(numbers[goes_on], drawn.ends.rows(goes_on), plan.steps, more)
        ours = (plan.wiring.ends.rows(None),) if given else ()
        ends = States(*(np.concatenate(side) for side in zip(*ours, drawn.ends, longer.ends, strict=True)))
        return Sample(plan.graph, plan.wiring, ends), drawn

    def _chains_of(self, number: int) -> Chains:
        """Chains with room for so many: those of a shorter batch, the last one, take its programs."""
        if self._chains is None or self._chains.asked != number:
            self._chains = Chains(self._work.chains, self._device, self._memory, number)
        return self._chains

    def _census(self, sample: Sample | LaneSample) -> tuple[np.ndarray, np.ndarray]:
        """Classes, and their counts in every graph."""
        work, graph = self._work, self._work.chains.graph
        # On a CPU as many as share one program, on an accelerator empty ones up to those of a whole batch.
        in_batch = max(len(sample), self._batch + -(-self._batch // work.every))
        if target_of(self._device).is_accelerator:
            room = whole = bucket_size(in_batch)
        else:
            room, whole = in_one_room(graph), bucket_size(len(sample))
        room = min(room, _together(graph, work.size))
        step = -(-len(sample) // -(-len(sample) // room))  # equal pieces: a small last one had programs of its own
        pieces = []
        with jax.default_device(self._device):
            sizes, matrix_bytes = plan(self._device, self._memory)
            for low in range(0, len(sample), step):
                piece = sample[low : low + step]
                ready = sample_graphs(piece, min(room, whole), matrix_bytes, self._device)
                # Tables are as large as those of a whole batch, for a short one too.
                ready = dataclasses.replace(ready, alike=min(in_batch, room))
                if work.matching is None:
                    counted = count_classes(ready, work.size, work.classifier, sizes)
                else:
                    tables = [sizes.table] * work.size
                    counted = count_by_matching(ready, work.matching, block=sizes.block, tables=tables)
                # Without the empty graphs that fill the room: other pieces follow.
                pieces.append(counted[: len(piece)])
        # The classifier learns: later pieces may have more classes.
        width = max(piece.shape[1] for piece in pieces)
        counts = np.concatenate([np.pad(piece, ((0, 0), (0, width - piece.shape[1]))) for piece in pieces])
        classes = work.classifier.classes if work.matching is None else work.matching.classes
        return np.array(classes[:width], dtype=str), counts


def _motifs(
    work: _Work, num_random: int, engine: str, threshold: float, found: Arrays, notes: tuple[str, ...],
    until: Until | None = None,
) -> Motifs:  # fmt: skip
    """The result, from the batches by name."""
    chains, graph = work.chains, work.chains.graph
    names = sorted({name.partition("/")[0] for name in found}, key=int)
    batches = [_Batch(*(found[f"{name}/{field}"] for field in _Batch._fields)) for name in names]
    classes = sorted(set(itertools.chain.from_iterable(batch.classes.tolist() for batch in batches)))
    column = {name: i for i, name in enumerate(classes)}
    kind = np.int64 if work.estimate is None else np.float64
    counts = np.zeros(len(classes), kind)
    random_counts = np.zeros((num_random, len(classes)), kind)
    longer = min(work.longer, -(-num_random // work.every))
    longer_counts = np.zeros((longer, len(classes)), kind)
    moves = np.zeros((num_random, 2), np.int64)
    maps = np.zeros((1 + num_random + longer, len(LIMITS) * (work.estimate is not None)))
    for batch in batches:
        # Columns are by class: every batch met other classes, in another order.
        columns = np.array([column[name] for name in batch.classes.tolist()], np.int64)
        # After memory ran out a graph may be there twice, with the same counts.
        if len(batch.given):
            counts[columns], maps[0] = batch.given[0], batch.given_maps[0]
        # A graph without a class has none of it: 0.
        random_counts[batch.numbers[:, None], columns] = batch.counts
        longer_counts[(batch.longer // work.every)[:, None], columns] = batch.longer_counts
        moves[batch.numbers] = batch.moves
        maps[1 + batch.numbers] = batch.maps
        maps[1 + num_random + batch.longer // work.every] = batch.longer_maps
    notes = (*chain_notes(chains, *moves.T), *notes)
    noise = None
    if work.estimate is not None:
        every = counts, random_counts, longer_counts
        noise = to_estimates(classes, graph.directed, work.estimate, maps, *every)
        engine, notes = "estimate", notes + _cheaper(work, float(counts.sum()))
    mixing = mixing_of(random_counts, longer_counts, work.every, LONGER)
    notes += _disagreement(mixing, tuple(classes), graph.directed)
    decided = None if until is None else until.decided(counts, random_counts)
    if until is not None and decided is not None and num_random == until.most and not decided.all():
        open_ = f"{np.count_nonzero(~decided)} of {decided.size} classes are not decided by {num_random} random graphs"
        notes = (*notes, f"{open_}: most= takes more")
    labels = max(chains.wiring.labels, 1)
    error, random_error = (0.0, 0.0) if noise is None else map(np.sqrt, noise)
    return Motifs(
        work.size, graph.directed, tuple(classes), counts, random_counts, threshold,
        significance_of(counts, random_counts, mixing, noise), mixing, chains.model.claim(chains.wiring.walks),
        chains.attempts, float(moves[:, 0].mean() / labels), moves_by_kind(chains.wiring, *moves.T), engine, notes,
        (graph.node_label_names, graph.edge_label_names),
        work.estimate, decided, error, random_error,
    )  # fmt: skip


def _disagreement(mixing: Mixing, classes: tuple[str, ...], directed: bool) -> tuple[str, ...]:
    """Return, and log, that longer chains have other mean counts, if they have."""
    far = np.abs(mixing.longer_z)
    if not mixing.disagrees.any():
        return ()
    worst = int(far.argmax())
    note = (
        f"the chains are too short: {mixing.times} times as long, they have another mean count in "
        f"{counted(int(mixing.disagrees.sum()), 'class')} ({far[worst]:.1f} standard errors in "
        f"{class_columns(classes, directed)['name'][worst] or classes[worst]}); make them longer with switches="
    )
    logging.getLogger("jaxmotif").warning("%s", note)
    return (note,)


def _cheaper(work: _Work, total: float) -> tuple[str, ...]:
    """What to say, and log, where exact counts of so many subgraphs take less time."""
    if work.size > LARGEST or total >= EXACT_PER_DRAW * (work.estimate or 0):
        return ()
    note = f"there are about {total:.3g} subgraphs in the graph: exact counts, without an estimate, take less time"
    logging.getLogger("jaxmotif").warning("%s", note)
    return (note,)


def _seconds(work: _Work, target: Target) -> float:
    """About how long a random graph takes."""
    if work.estimate is not None:
        return work.estimate / DRAW_RATE[target.is_accelerator]
    return likely_subgraphs(work.chains.graph, work.size) / RATE[target.is_accelerator]


def _workers(device: jax.Device, memory: int | None) -> int:
    """How many threads share a device."""
    if device.platform == "cpu":
        return CPU_WORKERS if memory is None or memory >= CPU_WORKERS * least_memory(target_of(device)) else 1
    # Each takes the default, half of what is free, or less where that is more than enough.
    return GPU_WORKERS if (memory or free_memory(device) // 4 * 3) >= GPU_WORKERS * ENOUGH else 1


def _together(graph: Graph, size: int) -> int:
    """Graphs in one disjoint union: as many as let their number fit the code."""
    return 1 << min(63 - Alphabet.of(graph).code_bits(size), 20)


def _batch(graph: Graph, size: int, num: int, every: int, memory: int | None, devices: int, target: Target) -> int:
    """Random graphs to draw and count together with the given one and one of so many at double length: as many as let
    the matrix of dyads fit."""
    budget, least = ((memory or 1 << 33) // 4, bucket_size(1)) if target.is_accelerator else (1 << 25, 1)
    fits = budget // max(graph.n**2, 1)
    # Where the matrices of the fewest that share a program do not fit, states are searched for: then by the room that
    # edges take.
    if fits < least:
        fits = max(1, budget // max(64 * graph.m, 1))
    # The given graph, and one of `every` at double length, are counted along.
    most = max(1, (min(fits, _together(graph, size)) - 2) * every // (every + 1))
    # Equal batches, so that no device waits for another's last one.
    pieces = devices * -(-num // (devices * most))  # as many for each device
    return -(-(num + 1) // pieces)  # the given graph is one of them: no batch of it alone
