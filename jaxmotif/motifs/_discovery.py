"""Network motifs: how often every subgraph class occurs in a graph, and in random graphs with its degrees."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import os
import time
from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._compile import Target, target_of
from jaxmotif.arrays._present import counted, logged
from jaxmotif.arrays._sizes import bucket_size, chain_lanes, floor_power_of_two
from jaxmotif.census import _pair_states as pair_states
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes
from jaxmotif.census._sizes import ENOUGH, halve_memory, least_memory, plan
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import Job, JobOptions, JobResult, Task, run_job, workers_on
from jaxmotif.devices._memory import check_budget, check_memory, free_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, joined
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._coerce import load_graph
from jaxmotif.motifs._estimate import EXACT_PER_DRAW, MOST_DRAWS
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
from jaxmotif.motifs._result import Motifs
from jaxmotif.motifs._significance import Mixing, correction_factor, mixing_of, significance_of
from jaxmotif.motifs._until import Until
from jaxmotif.motifs._verdict import Rule, check_rule, closed_classes, too_few_graphs
from jaxmotif.patterns import class_columns

if TYPE_CHECKING:
    from chex import PRNGKey


CPU_WORKERS, GPU_WORKERS = 3, 2  # threads that share a device, so that one batch runs while the host works on another
TOO_SHORT = 0.1  # seconds of an accelerator's work, below which a second thread costs more time than it saves
HELPER_BATCH = 4  # random graphs that the CPU of a hybrid takes at a time
STEP_SECONDS = 2.0  # seconds that a batch is to take, so that a kill loses little
RATE = {False: 5e6, True: 6e9}  # subgraphs a second that a CPU (False) and an accelerator count
DRAW_RATE = {False: 5e5, True: 2e8}  # maps a second that a CPU (False) and an accelerator draw
CHAIN_RATE = 6e9  # edges times steps of chains that an accelerator gets through in a second
OTHER_SIZE = {False: 2, True: 8}  # least factor of a change of the batch size, for which an accelerator compiles
MOST_UNITS = 4096  # units, at most, that the random graphs are dealt out in
MIXING_GRAPHS = 100  # chains, at most, that go on to ``LONGER`` times the length, to see whether they have mixed
LEAST_MIXING = 20  # such chains, at least, where there are as many random graphs
LEAST_MOVES = 10  # moves for each edge, below which there is no verdict
DEFAULT_RULE = Rule()
LONGER = 4  # a factor, since doubling hardly shows a slow drift, while a GPU waits for the steps of few chains


@on_cluster(load_graph)
def find_motifs(
    graph: GraphLike,
    size: int,
    num_random: int | Until | Literal["auto"] = 1000,
    key: int | PRNGKey | None = None,
    keep: str | NullModel = "bidegree",
    *,
    rule: Rule = DEFAULT_RULE,
    switches: float = DEFAULT_SWITCHES,
    attempts: float | None = None,
    estimate: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> Motifs:
    """Find the connected subgraphs of ``size`` nodes that occur more often than in random graphs with the same degrees.

    A class is a motif if its count would be unusual for a random graph (its q is small), if it is clearly larger than
    the mean count of the random graphs, and if it is more than a few; :class:`jaxmotif.motifs.Rule` has the thresholds.
    A note says if there are too few random graphs to show that any class is a motif. There is no verdict if the chains
    that make the random graphs are too short.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one; its labels are
        part of a class.
      size: nodes of a subgraph: 2 to 8, or with ``estimate`` 3 to 10 (in a directed graph 3 to 8).
      num_random: how many random graphs, at least 2. With a :class:`jaxmotif.motifs.Until` there are first 100, then
        200, 400 and so on, until it is decided for every class whether its q is at most the rule's ``alpha``; ``Until``
        says with what error, and how many graphs at most. ``"auto"`` is ``Until()``: error 0.01, at most 10,000 graphs.
      key: a seed, or ``jax.random.key(seed)``; seed 0 when not given.
      keep, switches, attempts: the null model and how long its chains are, as in :func:`jaxmotif.random_graphs`.
      rule: the conditions under which a class is a motif.
      estimate: how many draws to make from each graph, the given one and the random ones. Counts are then not exact but
        estimated from the draws (:func:`jaxmotif.estimate_census`), for graphs with too many subgraphs to enumerate. z
        allows for the spread that the draws add to counts (:class:`jaxmotif.motifs.Significance` says how). A class
        that no draw from a graph fell on has a count of 0 in that graph.
      checkpoint: a folder in which finished work is kept. The same call made again, however the first one ended,
        goes on from there and gives the same bits. So does a call that differs only in a larger ``num_random``, if both
        numbers are 200 or more.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; random graphs are divided among them.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      progress: show a meter on standard error.

    Returns:
      The counts of each class, their statistics, and evidence on whether the chains were long enough.

    Raises:
      TypeError: an estimate that is no integer.
      ValueError: an option out of range, or a checkpoint of other work.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> loops = [(a, b) for i in range(40) for a, b in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
      >>> found = find_motifs(Graph.from_edges(loops, directed=True), 3, num_random=20)
      >>> dict(zip(found.names, found.counts.tolist()))["030T feed-forward loop"]
      40
    """
    graph = as_graph(graph)
    check_rule(rule)
    until = Until() if isinstance(num_random, str) and num_random == "auto" else num_random
    if not isinstance(until, Until):
        until = 0 if isinstance(until, str) else whole_number(until, "num_random")
        if until < 2:
            raise ValueError(
                f"num_random must be at least 2 (a standard deviation needs two), 'auto' or Until(), got {num_random!r}"
            )
    if isinstance(until, Until) and rule.correction == "max":
        raise ValueError("correction='max' takes a number of random graphs, since Until decides by ranks of classes")
    if estimate is None:
        size = pair_states.check_size(graph, size)
    else:
        estimate = whole_number(estimate, "estimate", 1, MOST_DRAWS)
        size = check_estimate(graph, size)
    memory = check_memory(memory)
    selection = select_devices(devices)
    until, stops = (until, [*until.stages()]) if isinstance(until, Until) else (None, [until])
    # One chain in ten goes on to the longer length. With few random graphs it is a larger part, so that a correlation
    # means something, and with an open number it is one in five. Chains with low numbers go on, so that from 200 random
    # graphs on a call for more of them does not change which of the earlier chains do.
    every = min(max(stops[-1] // LEAST_MIXING, 1), 10) if until is None else min(stops[0], 5)
    most = MIXING_GRAPHS if every == 10 else min(MIXING_GRAPHS, max(LEAST_MIXING, stops[-1] // 10))
    longer = min(-(-stops[-1] // every), most)

    def work_of(attempts: float | None, checkpoint: str | os.PathLike | None = None, progress: bool = False) -> _Work:
        chains = plan_chains(graph, key, keep, switches, attempts)
        classifier = Classifier(pair_states.Alphabet.of(graph), size)
        options = JobOptions(selection, memory, checkpoint, progress)
        return _Work(chains, size, longer, every, classifier, estimate, rule, until, options)

    def first_stage() -> None:
        _counted(work_of(0.0), Span(0, stops[0]))

    # While a pilot finds how long chains are to be, an accelerator is idle. The programs of the first stage do not
    # depend on that length, so they are compiled meanwhile.
    programs = "pilot", *_programs(selection.main, graph, size, stops[0], memory, estimate)
    work = rehearsed(lambda: work_of(attempts, checkpoint, progress), selection.main, programs, first_stage)
    tables = 0 if estimate is not None else least_memory(target_of(selection.main))
    least = max(work.chains.bytes_of_graph, tables)
    check_budget(memory, least, f"random graphs of {graph.m} edges and what counts in them")
    batches: Arrays = {}
    notes: tuple[str, ...] = ()
    for first, stop in itertools.pairwise([0, *stops]):
        done = _counted(work, Span(first, stop))
        batches, notes = batches | done.found, notes + done.notes
        result = _motifs(work, stop, batches, notes)
        if result.decided is None or result.decided.all():
            break
    return result


def _counted(work: _Work, stage: Span) -> JobResult:
    """Draw and count the random graphs of a stage; the first stage also counts the given graph."""
    chains, number, selection = work.chains, stage.stop - stage.first, work.options.selection
    grows = work.until is None
    helper = () if selection.helper is None else (selection.helper,)
    seconds = number * (_seconds_to_count(work, True) + chains.steps * chains.wiring.labels / CHAIN_RATE)
    share = functools.partial(_workers, memory=work.options.memory, seconds=seconds / len(selection.devices))
    each = share(selection.main)
    workers = each * len(selection.devices)
    # Threads of one device work side by side, so each has its part of the memory.
    memory = None if work.options.memory is None else work.options.memory // each

    def batch_on(device: jax.Device) -> int:
        fits = _batch(chains.graph, work.size, number, work.every, memory, workers, target_of(device))
        return min(HELPER_BATCH, fits) if device == selection.helper else fits

    def identity() -> tuple:
        how = chains.key, chains.model.identity, chains.steps, chains.pace.slow
        # The identity includes which chains go on. A number of graphs that was given is left out, so that a call for
        # more graphs goes on from the same checkpoint.
        what = work.size, stage.first, work.estimate, work.every, *(() if grows else (stage.stop, work.longer))
        return ("counts of motifs", *pair_states.content_of(chains.graph), *how, *what)

    options = work.options.identified(identity)
    # A task makes batches of the items it is dealt.
    least = min(batch_on(device) for device in (selection.main, *helper))
    # The graph itself is item 0 and has no work of its own, so the worker of the first random graph counts it, too.
    begin = stage.first + (stage.first > 0)
    starts = np.arange(stage.stop - begin + 2)
    if not stage.first:
        starts = (starts - 1).clip(0)
    # Units are dealt out one by one, unless they would become one batch of each worker, which is quickly counted.
    at_once = not options.exports and not helper and _first_batch(work, least, selection.main) == least
    parts = min(number, max(1 if at_once else MOST_UNITS, -(-number // least)))
    name = "motifs" if grows else f"motifs-{stage.stop}"
    job = Job(name, starts, parts, joined, "random graphs", "motifs", shrinking=not options.exports, grows=grows)
    return run_job(
        job,
        lambda device: _Task(work, device, batch_on(device), memory, begin),
        options,
        workers_on(selection, per_device=share),
    )


class _Work(NamedTuple):
    """Work of a search for motifs.

    Attributes:
      chains: how random graphs are drawn.
      size: the number of nodes of a subgraph.
      longer: how many chains go on to ``LONGER`` times their length.
      every: one in this many chains goes on.
      classifier: the classes met so far.
      estimate: the number of draws from each graph, where counts are estimated.
      rule: the conditions under which a class is a motif.
      until: decides how many random graphs there are; ``None`` where their number is given.
      options: the devices that share the work, and what it keeps and shows.
    """

    chains: ChainPlan
    size: int
    longer: int
    every: int
    classifier: Classifier
    estimate: int | None
    rule: Rule
    until: Until | None
    options: JobOptions


class _Batch(NamedTuple):
    """Counts of some graphs, or hits where counts are to be estimated.

    There is a row for each graph: first the graph of each item, which is the given graph or a random one, then the
    graphs of the chains that went on.

    Attributes:
      items: int64 ``[b]``: 0 for the given graph, and 1 more than the number of each random graph.
      moves: int64 ``[b, 2]``, the moves that their chains made, and the moves of pairs among them.
      longer: int64 ``[c]``, the numbers of the chains that went on.
      classes: the canonical strings of the classes that occur in any of the graphs.
      counts: int64 ``[b + c, classes]``, counts in all graphs.
      maps: float64 ``[b + c, proposals]``, maps of trees into all graphs, by proposal.
    """

    items: np.ndarray
    moves: np.ndarray
    longer: np.ndarray
    classes: np.ndarray
    counts: np.ndarray
    maps: np.ndarray


class _Task(Task):
    """Task of one worker: draw random graphs on a device, count their subgraphs, and fetch the counts, batch by batch.

    A batch is limited by memory and by time. The first one is small if many subgraphs are expected, and the size of
    later ones follows from the time that the last one took. No count depends on the division into batches.
    """

    def __init__(self, work: _Work, device: jax.Device, most: int, memory: int | None, begin: int = 0):
        self._work, self._device, self._memory, self._begin = work, device, memory, begin
        self._most = most
        self._batch = _first_batch(work, most, device)
        self._hits = self._hit_counter()
        self._chains: Chains | None = None
        self._compiled: set[int] = set()
        self._dealt: list[int] = []
        self._made: list[_Batch] = []

    def step(self, span: Span) -> None:
        self._dealt += range(self._begin + span.first, self._begin + span.stop)
        while len(self._dealt) >= self._batch:
            self._next()

    @property
    def waiting(self) -> int:
        """The random graphs that have been dealt and are not counted yet."""
        return int(np.count_nonzero(self._dealt))  # item 0 is the given graph

    def collect(self) -> Arrays:
        while self._dealt:
            self._next()
        made, self._made = self._made, []
        # Batches are named by their first item, so that no two have one name.
        return {f"{batch.items[0]}/{field}": x for batch in made for field, x in batch._asdict().items()}

    def halve(self) -> str | None:
        self._dealt, self._made, self._chains = [], [], None  # the dealt items are done again
        smaller = halve_memory(self._device, self._memory)
        # Batches become small first, because small tables take longer.
        if self._most > 1 and (smaller is None or smaller[0] < 2**32):
            self._most //= 2
            self._batch = min(self._batch, self._most)
            return f"{self._most} random graphs at a time"
        if self._hits is not None:
            return self._hits.halve()
        if smaller is None:
            return None
        self._memory, change = smaller
        return change

    def _next(self) -> None:
        """Count the next batch of the dealt items, and choose the size of the batch after it."""
        batch = self._dealt[: self._batch]
        started = time.monotonic()
        graph, size, estimate = self._work.chains.graph, self._work.size, self._work.estimate
        programs = "motifs", *_programs(self._device, graph, size, len(batch), self._memory, estimate)

        def rehearsal() -> None:
            twin = copy.copy(self)
            twin._hits = self._hit_counter()  # which builds tables of its own
            twin._counted(batch)

        self._made.append(rehearsed(lambda: self._counted(batch), self._device, programs, rehearsal))
        # Items are removed only now: a batch that runs out of memory is still to be done, and no collection may pass
        # over it.
        self._dealt = self._dealt[len(batch) :]
        seconds = time.monotonic() - started
        if self._batch not in self._compiled:  # most of its time was that of compiling
            self._compiled.add(self._batch)
        elif len(batch) == self._batch:
            fits = int(min(STEP_SECONDS * len(batch) / max(seconds, 1e-9), self._most))
            # The size changes only by a large factor, since programs may be compiled anew for each size.
            other = OTHER_SIZE[target_of(self._device).is_accelerator]
            if fits >= other * self._batch:
                # It never grows by much more at once, since a short batch says little of a long one.
                fits = floor_power_of_two(fits) if fits < self._most else self._most
                self._batch = min(2 * other * self._batch, fits)
            elif other * fits < self._batch:
                self._batch = max(1, floor_power_of_two(fits))

    def _hit_counter(self) -> HitCounter | None:
        """Return what draws subgraphs where counts are estimated, else ``None``."""
        work = self._work
        if work.estimate is None:
            return None
        seed = seed_words(work.chains.key)
        return HitCounter(work.chains.graph, work.size, work.estimate, seed, self._device, self._memory)

    def _counted(self, items: list[int]) -> _Batch:
        """Count in the given graph (item 0) and in random graphs, and in some of these at the longer length, too."""
        work = self._work
        # Item i is random graph i - 1, whatever the batch, since a graph's chain depends on its number alone.
        numbers = np.array([item - 1 for item in items if item], np.int32)
        # Which chains go on depends on their numbers, not on batches.
        goes_on = (numbers % work.every == 0) & (numbers // work.every < work.longer)
        sample, drawn = self._drawn(numbers, goes_on, 0 in items)
        if self._hits is None:
            classes, counts = self._census(sample)
            maps = np.zeros((len(sample), 0))
        else:
            # Each graph has draws of its own, and the graph at the longer length another number.
            each = [0] * (0 in items) + (2 * (numbers + 1)).tolist() + (2 * numbers[goes_on] + 3).tolist()
            counts, maps = self._hits.count(sample, each, work.classifier)
            classes = np.array(work.classifier.classes[: counts.shape[1]], dtype=str)
        # Only classes that occur have columns: a classifier shared by threads may know many more.
        met = np.flatnonzero(counts.any(axis=0))
        # The given graph comes first, and has no chain. The numbers of moves are fetched after the census, so that an
        # accelerator goes on from the chains to the census without waiting for the host.
        *kinds, of_pairs = drawn.counts
        moves = np.pad(np.stack([np.sum(kinds, axis=0), of_pairs], axis=1), ((int(0 in items), 0), (0, 0)))
        longer = numbers[goes_on].astype(np.int64)
        return _Batch(np.array(items, np.int64), moves, longer, classes[met], np.take(counts, met, axis=1), maps)

    def _drawn(self, numbers: np.ndarray, goes_on: np.ndarray, given: bool) -> tuple[Sample | LaneSample, Drawn | Lot]:
        """Draw random graphs, and some of them again at the longer length.

        Args:
          numbers: int32 ``[b]``, the numbers of the random graphs.
          goes_on: bool ``[b]``, which of their chains go on.
          given: whether the given graph comes first in the sample.

        Returns:
          The sample of all these graphs, and the chains.
        """
        # There is room for a whole batch, so that a shorter last one takes its programs.
        if self._chains is None or self._chains.asked != self._batch:
            self._chains = Chains(self._work.chains, self._device, self._memory, self._batch)
        plan, chains = self._work.chains, self._chains
        more = (LONGER - 1) * plan.steps
        if target_of(self._device).is_accelerator and 0 < numbers.size <= chains.most:
            # Graphs that are drawn and counted on one device need not leave it. A last batch takes the programs of a
            # whole one, however short it is, since compiling its own takes longer than lanes that do nothing.
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
        # The chains go on from where they stand, instead of other chains of that length.
        longer = chains.draw(numbers[goes_on], drawn.ends.rows(goes_on), plan.steps, more)
        ours = (plan.wiring.ends.rows(None),) if given else ()
        ends = States(*(np.concatenate(side) for side in zip(*ours, drawn.ends, longer.ends, strict=True)))
        return Sample(plan.graph, plan.wiring, ends), drawn

    def _census(self, sample: Sample | LaneSample) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes, and their counts in every graph of a sample, int64 ``[graphs, classes]``."""
        work, graph = self._work, self._work.chains.graph
        # A CPU takes as many graphs as share one program; an accelerator adds empty ones up to the size of a whole
        # batch.
        in_batch = max(len(sample), self._batch + -(-self._batch // work.every))
        if target_of(self._device).is_accelerator:
            room = whole = in_batch
        else:
            room, whole = pair_states.in_one_room(graph), bucket_size(len(sample))
        room = min(room, _together(graph, work.size))
        # The pieces are equal, since a small last one would need programs of its own.
        step = -(-len(sample) // -(-len(sample) // room))
        pieces = []
        with jax.default_device(self._device):
            sizes, matrix_bytes = plan(self._device, self._memory)
            for low in range(0, len(sample), step):
                piece = sample[low : low + step]
                ready = sample_graphs(piece, min(room, whole), matrix_bytes, self._device)
                # The tables of a short batch are as large as a whole batch's.
                ready = dataclasses.replace(ready, alike=min(in_batch, room))
                counted = count_classes(ready, work.size, work.classifier, sizes)
                # The empty graphs that fill the room are left out, since other pieces follow.
                pieces.append(counted[: len(piece)])
        # Later pieces may have more classes, since the classifier learns.
        width = max(piece.shape[1] for piece in pieces)
        counts = np.concatenate([np.pad(piece, ((0, 0), (0, width - piece.shape[1]))) for piece in pieces])
        return np.array(work.classifier.classes[:width], dtype=str), counts


def _motifs(work: _Work, num_random: int, arrays: Arrays, notes: tuple[str, ...]) -> Motifs:
    """Build the result from the batches, which are given as arrays by name."""
    chains, graph, rule, until = work.chains, work.chains.graph, work.rule, work.until
    names = sorted({name.partition("/")[0] for name in arrays}, key=int)
    batches = [_Batch(*(arrays[f"{name}/{field}"] for field in _Batch._fields)) for name in names]
    classes = sorted(set(itertools.chain.from_iterable(batch.classes.tolist() for batch in batches)))
    column = {name: i for i, name in enumerate(classes)}
    # The rows are the given graph, the random graphs, and those of longer chains.
    rows = 1 + num_random + min(work.longer, -(-num_random // work.every))
    all_counts = np.zeros((rows, len(classes)), np.int64 if work.estimate is None else np.float64)
    maps = np.zeros((rows, len(LIMITS) * (work.estimate is not None)))
    moves = np.zeros((1 + num_random, 2), np.int64)
    for batch in batches:
        # Columns are matched by class, since every batch met other classes, in another order. A class that a graph
        # lacks keeps the count 0. After memory ran out a graph may be there twice, with the same counts.
        columns = np.array([column[name] for name in batch.classes.tolist()], np.int64)
        at = np.concatenate([batch.items, 1 + num_random + batch.longer // work.every])
        all_counts[at[:, None], columns], maps[at], moves[batch.items] = batch.counts, batch.maps, batch.moves
    # A class that occurs only in the graphs of chains that went on is left out of the result.
    met = np.flatnonzero(all_counts[: 1 + num_random].any(axis=0))
    classes, all_counts = [classes[i] for i in met], all_counts[:, met]
    moves = moves[1:]
    few_moves = chain_notes(chains, *moves.T)
    notes = (*few_moves, *notes)
    # If no edge has another to exchange ends with, or the pilot has found that none can move, longer chains would give
    # the same graphs again.
    fixed = (not chains.wiring.pairs_a_step or chains.pace.steps > 0) and not chains.pace.still and not moves.any()
    noise = None
    if work.estimate is not None:
        noise = to_estimates(classes, graph.directed, work.estimate, maps, all_counts, num_random)
        notes += _cheaper(work, float(all_counts[0].sum()))
    counts, random_counts, longer_counts = all_counts[0], all_counts[1 : 1 + num_random], all_counts[1 + num_random :]
    mixing = mixing_of(random_counts, longer_counts, work.every, LONGER)
    tested = _tested(chains, classes, work.size, rule)
    significance = significance_of(counts, random_counts, mixing, noise, tested, rule.correction)
    notes += too_few_graphs(num_random, rule, significance.tests)
    notes += _disagreement(mixing, tuple(classes), graph)
    decided = None
    if until is not None:
        decided = np.ones(len(classes), bool)
        alpha = rule.alpha / correction_factor(significance.tests, rule.correction)
        decided[tested] = until.decided(counts[tested], random_counts[:, tested], alpha)
        if num_random == until.most and not decided.all():
            still = f"{np.count_nonzero(~decided)} of {decided.size} classes are not decided"
            notes += (f"{still} by {num_random} random graphs: most= takes more",)
    labels = max(chains.wiring.labels, 1)
    error, random_error = (0.0, 0.0) if noise is None else np.sqrt(noise)
    return Motifs(
        work.size,
        graph.directed,
        tuple(classes),
        counts,
        random_counts,
        rule,
        tested,
        significance,
        mixing,
        chains.model.claim(chains.wiring.walks),
        chains.attempts,
        float(moves[:, 0].mean() / labels),
        moves_by_kind(chains.wiring, *moves.T),
        notes,
        work.estimate,
        decided,
        error,
        random_error,
        not fixed and (bool(few_moves) or chains.switches < LEAST_MOVES),
        label_words=graph._label_words,
    )


def _tested(chains: ChainPlan, classes: list[str], size: int, rule: Rule) -> np.ndarray:
    """Return which classes the rule tests, bool ``[classes]``.

    A class is left out if its count follows from the counts of other classes and from what the null model keeps.
    """
    graph, model = chains.graph, chains.model
    labelled = graph.node_labels is not None or graph.edge_labels is not None
    if rule.family == "all" or size != 3 or labelled or (graph.directed and model.ordered):
        return np.ones(len(classes), bool)
    return closed_classes(tuple(classes))


def _disagreement(mixing: Mixing, classes: tuple[str, ...], graph: Graph) -> tuple[str, ...]:
    """Return, and log, that longer chains have other mean counts, if they have."""
    far = np.abs(mixing.longer_z)
    if not mixing.disagrees.any():
        return ()
    worst, columns = int(far.argmax()), class_columns(classes, graph.directed, graph._label_words)
    name = columns.get("reading", columns["name"])[worst] or classes[worst]
    return logged(
        f"the chains are too short: {mixing.times} times as long, they have another mean count in "
        f"{counted(int(mixing.disagrees.sum()), 'class')} ({far[worst]:.1f} standard errors in {name}); more switches "
        "make them longer"
    )


def _cheaper(work: _Work, total: float) -> tuple[str, ...]:
    """Return notes, which are logged too, where exact counts of ``total`` subgraphs take less time than estimates."""
    if work.size > pair_states.LARGEST or total >= EXACT_PER_DRAW * (work.estimate or 0):
        return ()
    return logged(
        f"there are about {total:.3g} subgraphs in the graph: exact counts, without an estimate, take less time"
    )


def _first_batch(work: _Work, most: int, device: jax.Device) -> int:
    """Return how many random graphs to count in a first batch, from an estimate; later batches go by the clock."""
    seconds = _seconds_to_count(work, target_of(device).is_accelerator)
    # All are counted at once where that takes no longer than a batch should.
    if seconds * most <= STEP_SECONDS:
        return most
    return min(most, floor_power_of_two(int(min(STEP_SECONDS / max(seconds, 1e-9), most))))


def _seconds_to_count(work: _Work, fast: bool) -> float:
    """Return about how long it takes to count a random graph, on an accelerator (``fast``) or a CPU."""
    if work.estimate is not None:
        return work.estimate / DRAW_RATE[fast]
    return pair_states.likely_subgraphs(work.chains.graph, work.size) / RATE[fast]


def _workers(device: jax.Device, memory: int | None, seconds: float) -> int:
    """Return how many threads share a device; ``seconds`` is what the work takes on an accelerator, about."""
    if device.platform == "cpu":
        return CPU_WORKERS if memory is None or memory >= CPU_WORKERS * least_memory(target_of(device)) else 1
    if seconds < TOO_SHORT:
        return 1
    # Each thread takes the default, half of the free memory, or less where that is more than enough.
    return GPU_WORKERS if (memory or free_memory(device) // 4 * 3) >= GPU_WORKERS * ENOUGH else 1


def _programs(
    device: jax.Device, graph: Graph, size: int, batch: int, memory: int | None, estimate: int | None
) -> tuple[Hashable, ...]:
    """Return the values that decide which programs it takes to draw and count ``batch`` random graphs."""
    lanes = chain_lanes(batch * graph.m, target_of(device).is_accelerator)
    room = pair_states.room_of(batch, graph.n, batch * graph.m, pair_states.ACCELERATOR_SAMPLE, device)
    return device, size, batch, memory, lanes, room, estimate


def _together(graph: Graph, size: int) -> int:
    """Return how many graphs one disjoint union may hold, so that a graph's number fits the code."""
    return 1 << min(63 - pair_states.Alphabet.of(graph).codes.bits(size), 20)


def _batch(graph: Graph, size: int, num: int, every: int, memory: int | None, devices: int, target: Target) -> int:
    """Return how many random graphs to draw and count together, so that the matrix of dyads fits.

    The given graph, and one in ``every`` at the longer length, are counted with them.
    """
    budget, least = ((memory or 1 << 33) // 4, bucket_size(1)) if target.is_accelerator else (1 << 25, 1)
    fits = budget // max(graph.n**2, 1)
    # Where the matrices of the fewest graphs that share a program do not fit, states are searched for, and the room
    # that edges take decides.
    if fits < least:
        fits = max(1, budget // max(64 * graph.m, 1))
    most = max(1, (min(fits, _together(graph, size)) - 2) * every // (every + 1))
    # Batches are equal, so that no device waits for another's last one.
    pieces = devices * -(-num // (devices * most))  # a multiple of the number of devices
    return -(-(num + 1) // pieces)  # the given graph is one of them, so that it is no batch of its own
