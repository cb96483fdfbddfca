"""Estimated counts of connected induced subgraphs by class, with intervals, where there are too many to enumerate."""

from __future__ import annotations

import dataclasses
import importlib
import math
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._checks import check_probability, whole_number
from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._present import Column, counted, logged
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.census._classes import Classifier, decode, normal_codes
from jaxmotif.census._pair_states import LARGEST as LARGEST_COUNTED
from jaxmotif.census._pair_states import Alphabet, content_of
from jaxmotif.census._tables import OfClasses
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import Job, JobOptions, run_job
from jaxmotif.devices._record import Arrays
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._coerce import load_graph
from jaxmotif.kernels._subgraphs import Codes
from jaxmotif.motifs._proposals import (
    LANES,
    LIMITS,
    Draws,
    DrawTask,
    added_codes,
    code_places,
    seed_words,
    thirds,
)
from jaxmotif.patterns import canonical_string, named_pattern

if TYPE_CHECKING:
    import jax
    from chex import PRNGKey
    from numpy.typing import ArrayLike

SMALLEST, LARGEST, LARGEST_DIRECTED = 3, 10, 8
DEFAULT_SAMPLES = 1_000_000
PILOT = 1 << 17
"""Number of pilot draws of each proposal, from which the draws for a wanted error are planned."""
MOST_DRAWS = 2**53 - 1  # beyond this number floats do not hold every number of draws
MOST_SAMPLES = 10**8
"""Most draws for a wanted error; for the rarest classes that the pilot met, any number might be needed."""
SEEN = 10  # hits in the pilot that a class needs to be planned for
UNITS = 64  # units of draws for each device, which at the end waits for a unit of another at most
EXACT_PER_DRAW = 30
"""About how many subgraphs an exact census counts in the time of one draw, on a CPU as on a GPU."""
PAUSE = 19
"""The pause between two texts in units of the time of a text; texts thus take a twentieth of all time at most."""
MOST_SUBTREES = 2**24  # most numbers of subtrees held at once, which limits how many classes are counted together
_trees_of_forms: defaultdict[int, dict[int, np.ndarray]] = defaultdict(dict)
"""Numbers of trees by size and normal code, kept for the next estimate, as names of classes are."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class CensusEstimate(OfClasses):
    """Estimated counts of connected induced subgraphs by class.

    Attributes:
      size: nodes of a subgraph.
      directed: whether classes tell directions.
      classes: classes of the subgraphs that were drawn, as in :class:`~jaxmotif.motifs.Census`.
      counts: float64 ``[classes]``, unbiased estimates of the occurrences.
      low: float64 ``[classes]``, the lower ends of intervals for the counts (Clopper and Pearson: they hold at
        ``level`` or more, however few the hits).
      high: float64 ``[classes]``, the upper ends of these intervals.
      hits: int64 ``[classes]``, how many draws fell on the class.
      total: the estimated number of all connected induced subgraphs of this size.
      total_low: the lower end of an interval for it (Fay and Feuer).
      total_high: the upper end of this interval.
      level: the level of the intervals.
      samples: how many draws each proposal made. The proposals are trees of any kind, trees of at most two children a
        node, and paths.
      accepted: how many draws of each proposal fell on subgraphs.
      maps: from how many maps of trees each proposal draws; 0 for a proposal without draws.
      notes: warnings about the estimate, in words.
      label_words: the words that node labels and edge labels stand for, each ``None`` where they are numbers.
    """

    low: np.ndarray
    high: np.ndarray
    hits: np.ndarray
    total: float
    total_low: float
    total_high: float
    level: float
    samples: tuple[int, ...]
    accepted: tuple[int, ...]
    maps: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def _line(self) -> str:
        return (
            f"about {self.total:.4g} subgraphs of {self.size} nodes in {counted(len(self.classes), 'class')}, "
            f"{counted(sum(self.samples), 'sample')}"
        )

    def table(self) -> dict[str, Column]:
        frequency = self.counts / self.total if self.total else self.counts
        return {**super().table(), "low": self.low, "high": self.high, "hits": self.hits, "frequency": frequency}

    def upper_bound(self, pattern: str) -> float:
        """Return an upper bound of the number of occurrences of a class, at the level of the intervals.

        For a class that was never drawn the bound is ``-log((1 - level) / 2)`` divided by the draws expected of one
        occurrence.

        Args:
          pattern: a class as in ``classes``, or a name (:func:`jaxmotif.patterns.named_pattern`).

        Raises:
          ValueError: not a connected class of this size, or one with labels where these classes have none, or the
            reverse.

        Example:
          >>> from jaxmotif import datasets, estimate_census
          >>> estimate = estimate_census(datasets.load("karate"), 4, samples=30_000)
          >>> 10.9 < estimate.upper_bound("4-clique") < 14
          True
        """
        known = None if pattern in self.classes else self.label_words
        shape = named_pattern(pattern, self.directed, *(known or (None, None)))
        if shape.num_nodes != self.size or len(shape.components()) > 1:
            raise ValueError(f"{pattern!r} is not a connected graph of {self.size} nodes, as these classes are")
        name = canonical_string(shape)
        if name in self.classes:
            return float(self.high[self.classes.index(name)])
        if self.classes:
            drawn = named_pattern(self.classes[0], self.directed)
            for of in ("node_labels", "edge_labels"):
                if (getattr(shape, of) is None) != (getattr(drawn, of) is None):
                    raise ValueError(
                        f"{pattern!r} and these classes, such as {self.classes[0]!r}, differ in their labels"
                    )
        if not sum(self.samples):
            return 0.0
        skeleton = shape.adjacency | shape.adjacency.T
        rate = expected_hits(skeleton[None], self.samples, self.maps)[0]
        return float(-math.log((1 - self.level) / 2) / rate)


@on_cluster(load_graph)
def estimate_census(
    graph: GraphLike,
    size: int,
    samples: int | None = None,
    *,
    error: float | None = None,
    level: float = 0.95,
    key: int | PRNGKey | None = None,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> CensusEstimate:
    """Estimate how many connected induced subgraphs of ``size`` nodes there are of each isomorphism class.

    Random maps of trees into the graph are drawn: of any trees, of trees with at most two children a node, and of
    paths. A map that meets a node of the graph twice is thrown away. Any other map falls on a given subgraph with a
    chance that depends on the subgraph's class alone: its number of rooted spanning trees of that kind, divided by the
    number of maps. So the hits of a class are independent events of a known chance. Hence the estimate is unbiased, and
    its interval holds for any number of hits. The same key gives the same bits on any devices. Node and edge labels,
    where the graph has them, are part of a class.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one.
      size: nodes of a subgraph, 3 to 10, or in a directed graph 3 to 8.
      samples: how many draws to make, a third with each kind of tree (default: a million). The interval of a class that
        was hit h times reaches about ``2 / sqrt(h)`` of its count to either side.
      error: instead of samples, the wanted half width of an interval as a part of the count. It is meant for each class
        that at least 10 of 393,216 pilot draws hit. At most 100 million draws are made for it; a note says for how many
        classes these may be too few.
      level: the level of the intervals, between 0 and 1.
      key: a seed, or ``jax.random.key(seed)``; seed 0 when not given.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; draws are divided among them.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      checkpoint: a folder in which finished work is kept. The same call made again, however the first one ended,
        goes on from there and gives the same bits.
      progress: show a meter on standard error, with the half width of the largest class's interval so far.

    Returns:
      The classes drawn, with estimates, intervals and hits; ``notes`` says when enumeration would be better.

    Raises:
      TypeError: a size or samples that are no integer; an error or level that is no number.
      ValueError: an option out of range, both samples and an error, too little memory, or labels too many to encode a
        subgraph in 63 bits.

    Reference:
      Trees as the first step: Bressan, Leucci, Panconesi: Motivo, PVLDB 12(11), 2019; the balance of several
      proposals: Veach, Guibas: Optimally combining sampling techniques, SIGGRAPH 1995, equation 14.

    Example:
      >>> from jaxmotif import datasets
      >>> estimate = estimate_census(datasets.load("karate"), 4, samples=30_000)
      >>> estimate.names[0], bool(estimate.low[0] < 1098 < estimate.high[0])  # how many there are
      ('3-star', True)
    """
    graph = as_graph(graph)
    size = check(graph, size)
    number = _wanted(samples, error, level)
    options = JobOptions(select_devices(devices), memory, checkpoint, progress)
    work = _Work(graph, size, seed_words(key), level, options)
    if not has_subgraphs(graph, size):
        return work.nothing()
    # Intervals need it in the end. It is imported while programs are compiled, since that takes half a second where
    # files are slow.
    threading.Thread(target=importlib.import_module, args=("scipy.special",)).start()
    notes: tuple[str, ...] = ()
    if error is None:
        shares = thirds(number)
    else:
        shares, notes = work.planned(error)
    return _noted(work.estimated("estimate", shares, 0), notes)


def _wanted(samples: int | None, error: float | None, level: float) -> int:
    """Return the number of draws asked for, where no error is, after checking that the options are in range."""
    if samples is not None and error is not None:
        raise ValueError("give samples, or the error wanted, not both")
    options = {"level": level} if error is None else {"level": level, "error": error}
    for name, value in options.items():
        check_probability(value, name)
    return DEFAULT_SAMPLES if samples is None else whole_number(samples, "samples", 1, MOST_DRAWS)


@dataclasses.dataclass(frozen=True)
class _Work:
    """Work of an estimate: the graph, the size of the subgraphs, the seed, and where to run."""

    graph: Graph
    size: int
    seed: int
    level: float
    options: JobOptions

    def nothing(self) -> CensusEstimate:
        """Return the estimate for a graph without a subgraph of the size, which is exact."""
        no = np.zeros(len(LIMITS), np.int64)
        arrays = {"drawn": no, "accepted": no, "maps": no.astype(float)}
        arrays |= {"codes": np.zeros(0, np.uint64), "times": np.zeros(0, np.int64)}
        return self._from(arrays, (f"no component has {self.size} nodes: there is no subgraph, which is exact",))

    def estimated(self, name: str, shares: Sequence[int], purpose: int) -> CensusEstimate:
        """Estimate from the draws of each proposal whose numbers are ``shares``."""
        draws = Draws(self.graph, self.size, shares, self.seed, purpose)
        selection, memory = self.options.selection, self.options.memory
        parts = UNITS * len(selection.devices)
        work = draws.work(LANES[target_of(selection.main).is_accelerator])
        programs = self.size, memory, bucket_size(self.graph.n), bucket_size(self.graph.m)
        so_far = _SoFar(self._from)
        job = Job(name, work, parts, added_codes, "maps", name, divisible=True, programs=programs, note=so_far)

        def make(device: jax.Device) -> DrawTask:
            so_far.tasks.append(DrawTask(draws, device, memory))
            return so_far.tasks[-1]

        def identity() -> tuple:
            return name, *content_of(self.graph), self.size, shares, self.seed, purpose

        result = run_job(job, make, self.options.identified(identity))
        return self._from(result.found, result.notes)

    def _from(self, arrays: Mapping[str, np.ndarray], notes: tuple[str, ...] = ()) -> CensusEstimate:
        classes, skeletons, hits = by_class(Alphabet.of(self.graph), self.size, arrays["codes"], arrays["times"])
        samples, maps = tuple(arrays["drawn"].tolist()), tuple(arrays["maps"].tolist())
        rate = expected_hits(skeletons, samples, maps)
        low, high = binomial_interval(hits, sum(samples), self.level)
        weight = 1 / rate
        # The largest weight that a class may have is that of a tree which only the first proposal meets.
        largest = maps[0] / (samples[0] * self.size) if samples[0] else float(weight.max(initial=0.0))
        ends = gamma_interval(float((hits * weight).sum()), float((hits * weight**2).sum()), largest, self.level)
        return CensusEstimate(
            self.size,
            self.graph.directed,
            classes,
            hits * weight,
            low * weight,
            high * weight,
            hits,
            float((hits * weight).sum()),
            *ends,
            self.level,
            samples,
            tuple(arrays["accepted"].tolist()),
            maps,
            notes,
            label_words=self.graph._label_words,
        )

    def planned(self, error: float) -> tuple[list[int], tuple[str, ...]]:
        """Plan the draws of each proposal for intervals of the wanted error.

        Returns:
          The numbers of draws with which the classes that a pilot met often enough get such an interval, and notes.
        """
        from scipy import optimize, special

        pilot = self.estimated("estimate-pilot", [PILOT] * len(LIMITS), 1)
        wanted = (special.ndtri((1 - self.level) / 2) / error) ** 2
        seen = pilot.hits >= SEEN
        if not seen.any():
            return [MOST_SAMPLES // 3] * 3, (f"the pilot met no class {SEEN} times: {MOST_SAMPLES:,} draws were made",)
        shapes = np.array([skeleton_of(text, self.graph.directed) for text in np.array(pilot.classes)[seen]])
        # Chances are the hits of each class by a draw of each proposal, with as few subgraphs as the pilot leaves
        # possible.
        chances = trees_by_proposal(shapes) / pilot.maps * pilot.low[seen][:, None]
        # Intervals need numbers of draws that are fixed beforehand: here the fewest that give all classes enough hits.
        scale = chances.max(axis=1, keepdims=True)
        plan = optimize.linprog(np.ones(len(LIMITS)), -chances / scale, -1 / scale[:, 0], method="highs")
        shares = plan.x * wanted if plan.success else np.full(len(LIMITS), wanted / scale.min() / len(LIMITS))
        # Trees of any kind meet every class; without draws of them some classes, such as stars, could never be drawn.
        shares[0] = max(shares[0], shares.sum() / 10)
        shares *= min(1.0, MOST_SAMPLES / shares.sum())
        missed = int((chances @ shares < wanted * (1 - 1e-6)).sum())
        notes = ()
        if missed:
            notes = (
                f"{counted(missed, 'class')} of {int(seen.sum())} may have wider intervals than error={error}: "
                f"at most {MOST_SAMPLES:,} draws are planned; samples= makes more",
            )
        return [math.ceil(share) for share in shares], notes


class _SoFar:
    """Text for a meter that says how precise the draws are so far; making it takes little of the time."""

    def __init__(self, estimated: Callable[[Arrays], CensusEstimate]):
        self.tasks: list[DrawTask] = []
        self._estimated, self._text, self._next = estimated, "", 0.0

    def __call__(self, found: Arrays) -> str:
        begun = time.monotonic()
        parts = [*([found] if found else []), *(part for task in self.tasks for part in task.parts)]
        if begun >= self._next and parts:
            now = self._estimated(added_codes(*parts))
            if now.classes:
                # It shows no counts, since roots are drawn in order, so that large numbers come first.
                most = now.counts.argmax()
                width = (now.high[most] - now.low[most]) / 2 / now.counts[most]
                self._text = f"largest class +- {100 * width:.2g} %"
            ended = time.monotonic()
            self._next = ended + PAUSE * (ended - begun)
        return self._text


def check(graph: Graph, size: int) -> int:
    """Return the size as an int; raise an error unless subgraphs of this size can be drawn."""
    most, size = LARGEST_DIRECTED if graph.directed else LARGEST, whole_number(size, "size")
    if not SMALLEST <= size <= most:
        kind = "directed" if graph.directed else "undirected"
        raise ValueError(f"size must be between {SMALLEST} and {most} in {kind} graphs, got {size}")
    alphabet = Alphabet.of(graph)
    if (bits := alphabet.codes.bits(size)) > 63:
        raise ValueError(
            f"size {size} with {len(alphabet.node_labels or ())} node and {len(alphabet.edge_labels or ())} edge "
            f"labels takes {bits} bits a subgraph; the limit is 63: use fewer labels, or a smaller size"
        )
    return size


def has_subgraphs(graph: Graph, size: int) -> bool:
    """Say whether a component of the graph has ``size`` nodes or more."""
    if graph.n < size:
        return False
    # A node and its neighbours may be enough.
    if max(graph.degrees.max(), graph.in_degrees.max() if graph.directed else 0) >= size - 1:
        return True
    from scipy import sparse
    from scipy.sparse import csgraph

    edges = graph.edge_list()
    near = sparse.coo_array((np.ones(len(edges), bool), tuple(edges.T)), (graph.n, graph.n))
    component = csgraph.connected_components(near, directed=False)[1]
    return bool(np.bincount(component, minlength=1).max() >= size)


def by_class(
    alphabet: Alphabet, size: int, codes: np.ndarray, times: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Count codes by class.

    Returns:
      The classes in the order of their strings; the adjacency of each without directions and labels, bool ``[classes,
      k, k]``; and how often each occurs, int64 ``[classes]``.
    """
    classifier = Classifier(alphabet, size)
    which = classifier(codes)
    hits = np.zeros(len(classifier), np.int64)
    np.add.at(hits, which, times)
    one = np.zeros(len(classifier), np.uint64)
    one[which] = codes
    order = np.argsort(classifier.classes)
    names = tuple(np.array(classifier.classes, object)[order].tolist())
    return names, skeletons_of(one[order], alphabet.codes, size), hits[order]


def skeletons_of(codes: np.ndarray, form: Codes, size: int) -> np.ndarray:
    """Return the adjacency of coded subgraphs without directions and labels, bool ``[codes, k, k]``."""
    near = decode(codes, form, size)[1] > 0
    return near | near.transpose(0, 2, 1)


def skeleton_of(text: str, directed: bool) -> np.ndarray:
    """Return the adjacency of a class, given by its string, without directions and labels, bool ``[k, k]``."""
    near = named_pattern(str(text), directed).adjacency
    return near | near.T


def expected_hits(skeletons: np.ndarray, samples: Sequence[int], maps: ArrayLike) -> np.ndarray:
    """Return the hits expected of one occurrence of each class, by all draws together, float64 ``[.., classes]``.

    Args:
      skeletons: adjacency of the classes without directions and labels, bool ``[classes, k, k]``.
      samples: draws of each proposal.
      maps: maps of trees into a graph, or into each of several, ``[.., proposals]``; 0 for a proposal without draws.
    """
    maps = np.asarray(maps)
    rates = np.zeros((*maps.shape[:-1], len(skeletons)))
    for ways, number, total in zip(trees_by_proposal(skeletons).T, samples, np.moveaxis(maps, -1, 0), strict=True):
        rates += np.divide(number, total, out=np.zeros(total.shape), where=total > 0)[..., None] * ways
    return rates


def trees_by_proposal(skeletons: np.ndarray) -> np.ndarray:
    """Return :func:`trees` for each of ``LIMITS``, float64 ``[classes, proposals]``."""
    size = skeletons.shape[-1]
    plain = Alphabet(False, None, None)
    old, young, place = code_places(plain, size)[: size * (size - 1) // 2].T
    codes = (skeletons[:, old, young].astype(np.uint64) << place.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    # Many directed or labelled classes have few skeletons, and the sums over subsets take long.
    forms, which = np.unique(normal_codes(np, codes, plain.codes, size), return_inverse=True)
    known, keys = _trees_of_forms[size], forms.tolist()
    new = np.array([key not in known for key in keys], bool)
    if new.any():
        different = skeletons_of(forms[new], plain.codes, size)
        ways = np.stack([trees(different, limit) for limit in LIMITS], axis=1)
        known.update(zip(forms[new].tolist(), ways, strict=True))
    return np.array([known[key] for key in keys]).reshape(-1, len(LIMITS))[which]


def trees(skeletons: np.ndarray, limit: int) -> np.ndarray:
    """Count the rooted spanning trees with at most ``limit`` children a node (0: any number), float64 ``[classes]``."""
    size = skeletons.shape[-1]
    if limit == 0:
        return size * spanning_trees(skeletons)
    together = max(1, MOST_SUBTREES // (size << size))
    pieces = np.split(skeletons, range(together, len(skeletons), together))
    return np.concatenate([_limited_trees(piece, limit) for piece in pieces])


def spanning_trees(skeletons: np.ndarray) -> np.ndarray:
    """Count spanning trees by Kirchhoff's minors, float64 (whole numbers) ``[classes]``.

    Example:
      >>> spanning_trees(~np.eye(4, dtype=bool)[None]).tolist()
      [16.0]
    """
    near = skeletons.astype(np.float64)
    laplacian = np.eye(near.shape[-1]) * near.sum(axis=-1, keepdims=True) - near
    # The determinants are at most 10^8, with errors far below a half.
    return np.rint(np.linalg.det(laplacian[:, 1:, 1:]))


def _limited_trees(skeletons: np.ndarray, limit: int) -> np.ndarray:
    """Count rooted spanning trees with at most ``limit`` children a node, float64 ``[classes]``.

    The counts go by subsets of the nodes: how many trees of a subset have each of its nodes for the root, and how many
    hang below a node outside the subset.
    """
    size = skeletons.shape[-1]
    near = np.moveaxis(skeletons, 0, -1).astype(np.int32)
    # There are at most size^(size - 1) rooted trees, 10^9 of ten nodes.
    rooted = np.zeros((1 << size, size, len(skeletons)), np.int32)
    below = np.zeros_like(rooted)
    for mask in range(1, 1 << size):
        nodes = [v for v in range(size) if mask >> v & 1]
        for v in nodes:
            others = mask & ~(1 << v)
            if not others:
                rooted[mask, v] = 1
                continue
            rooted[mask, v] = below[others, v]
            lowest = others & -others
            # One part is the subtree with the lowest of the other nodes, and the other part is the rest. The sum goes
            # over the subsets of the nodes but the lowest.
            if limit == 2 and others != lowest:
                part = _subsets(others & ~lowest)[:-1] | lowest
                rooted[mask, v] += (below[part, v] * below[others & ~part, v]).sum(axis=0, dtype=np.int32)
        for v in set(range(size)).difference(nodes):
            below[mask, v] = (near[v, nodes] * rooted[mask, nodes]).sum(axis=0, dtype=np.int32)
    return rooted[-1].sum(axis=0, dtype=np.float64)


def _subsets(mask: int) -> np.ndarray:
    """Return all subsets of a set of nodes as bit masks, the whole set last, int64."""
    subsets = np.zeros(1, np.int64)
    for v in range(mask.bit_length()):
        if mask >> v & 1:
            subsets = np.concatenate([subsets, subsets | 1 << v])
    return subsets


def binomial_interval(hits: np.ndarray, draws: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals for expected numbers of hits (Clopper and Pearson 1934).

    Draws of unequal chances have lighter tails than as many draws of equal chances (Hoeffding 1956), so that the
    intervals hold for them, too.
    """
    from scipy import special

    tail = (1 - level) / 2
    # Many rare classes have the same number, and an inverse takes 3 us.
    hits, places = np.unique(hits, return_inverse=True)
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), draws - hits + 1, tail), 0.0)
    high = np.where(hits < draws, special.betainccinv(hits + 1, np.maximum(draws - hits, 1), tail), 1.0)
    return low[places] * draws, high[places] * draws


def gamma_interval(total: float, squares: float, largest: float, level: float) -> tuple[float, float]:
    """Return an interval for a sum of weights of rare events (Fay and Feuer 1997).

    Args:
      total: the sum met.
      squares: the sum of the squares of the weights met.
      largest: the largest weight that there may be.
      level: the level of the interval.
    """
    from scipy import special

    def quantile(inverse: Callable, mean: float, variance: float) -> float:
        return float(inverse(mean**2 / variance, tail) * variance / mean) if mean else 0.0

    # Where the level is near 1, its complement would be rounded to 1.
    tail = (1 - level) / 2
    low = quantile(special.gammaincinv, total, squares)
    return low, quantile(special.gammainccinv, total + largest, squares + largest**2)


def _noted(result: CensusEstimate, notes: tuple[str, ...]) -> CensusEstimate:
    """Return the result with notes on what it is worth, which are logged, too."""
    good, drawn = sum(result.accepted), sum(result.samples)
    if result.size <= LARGEST_COUNTED and result.total_high < EXACT_PER_DRAW * drawn:
        notes += (f"there are about {result.total:.3g} subgraphs: the exact census takes less time",)
    elif good < drawn / 1000:
        notes += (f"{good:,} of {drawn:,} draws were subgraphs: an exact census may be better",)
    return dataclasses.replace(result, notes=(*result.notes, *logged(*notes)))
