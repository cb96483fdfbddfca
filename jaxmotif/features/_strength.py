"""Weights in motifs: intensity and coherence of every class, and whether they differ from those of random weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._keys import generator_of
from jaxmotif.arrays._present import Column, counted
from jaxmotif.census import subgraph_census
from jaxmotif.census._tables import OfClasses
from jaxmotif.devices._select import Devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.matching import iter_matches
from jaxmotif.motifs._significance import Mixing, Significance, significance_of
from jaxmotif.motifs._verdict import Rule, check_rule, judge
from jaxmotif.patterns import named_pattern

if TYPE_CHECKING:
    from chex import PRNGKey

WeightNull = Literal["all", "senders", "strengths"]
STRENGTH_RULE = Rule(min_fold=1.1, family="all")
ROWS = 1 << 14
"""Number of occurrences that are evaluated at a time, so few that their weights stay in the cache."""
ROUNDS = 200
"""Number of rounds of random changes to weights that keep all strengths."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotifStrengths(OfClasses):
    """Intensity and coherence of the occurrences of every class, and of the same occurrences with random weights.

    The intensity of an occurrence is the geometric mean of the weights of its arcs (edges). Its coherence is this mean
    divided by the arithmetic mean, above 0 and at most 1 (Onnela et al. 2005).

    Attributes:
      size, directed, classes, counts, label_words: as in :class:`jaxmotif.motifs.Census`.
      intensity: float64 ``[classes]``, the mean intensity of the occurrences, in the unit of the weights.
      coherence: float64 ``[classes]``, the mean coherence.
      random_intensity, random_coherence: float64 ``[num_random, classes]``, the same means with random weights.
      null_model: what random weights keep, or that there are none.
      rule: when a class is strong or weak; its ``min_fold`` is for the ratio of intensities.
      significance: statistics of the mean intensity; ``None`` without random weights. Its fold is the ratio.
    """

    intensity: np.ndarray
    coherence: np.ndarray
    random_intensity: np.ndarray
    random_coherence: np.ndarray
    null_model: str
    rule: Rule
    significance: Significance | None

    @property
    def verdicts(self) -> np.ndarray:
        """Words that say whether each class is ``"strong"``, ``"weak"`` or neither, and why, ``[classes]``."""
        if self.significance is None:
            return np.full(len(self.classes), "", object)
        tested, drawn = np.ones(len(self.classes), bool), len(self.random_intensity)
        words = {"kinds": ("strong", "weak"), "drawn": "random weighting"}
        return judge(self.intensity, self.significance, tested, drawn, self.rule, counts=self.counts, **words).why

    def _line(self) -> str:
        return f"{counted(len(self.classes), 'class')} of {self.size} nodes; {self.null_model}"

    def table(self) -> dict[str, Column]:
        columns = {**super().table(), "intensity": self.intensity, "coherence": self.coherence}
        if (s := self.significance) is None:
            return columns
        return {
            **columns,
            "expected_intensity": s.mean,
            "expected_coherence": self.random_coherence.mean(axis=0),
            "ratio": s.fold,
            "z": s.z,
            "q": s.q,
            "why": self.verdicts,
        }


def motif_strengths(
    graph: GraphLike,
    size: int,
    weight: str = "weight",
    num_random: int = 0,
    null: WeightNull = "senders",
    *,
    key: int | PRNGKey | None = None,
    rule: Rule = STRENGTH_RULE,
    devices: Devices = None,
    memory: int | None = None,
) -> MotifStrengths:
    """Compute the mean intensity and coherence of the weights in every class, and whether they are unusual.

    The edges stay as they are: the question is where among them the large weights lie, not how frequent a class is.

    Args:
      graph: a graph with weights, as ``read_graph(path, weight=column)`` reads one or
        :meth:`jaxmotif.Graph.with_attributes` makes one.
      size: 2 to 8 nodes of a subgraph.
      weight: the name of the edges' attribute that is the weight, positive numbers.
      num_random: how many times to draw random weights for the same edges, to compare with; 0 for none. All draws are
        in memory at once, each with 16 bytes an edge.
      null: what random weights keep. ``"all"``: the weights, dealt out anew over all edges. ``"senders"``: the weights
        that leave each node (so its out-strength), dealt out over the arcs that leave it; of a directed graph.
        ``"strengths"``: the in-strength and out-strength of every node, but not the set of weights; of a directed
        graph. Weights are changed by ``+t -t +t -t`` around four arcs that join two tails with two heads.
      key: a seed, or ``jax.random.key(seed)``, of random weights; seed 0 when not given.
      rule: ``alpha``, ``min_count``, and as ``min_fold`` the least ratio of intensities that is called strong.
      devices, memory: as for :func:`jaxmotif.occurrences`.

    Raises:
      ValueError: a graph without these weights, weights that are not positive, or an option out of range.

    References:
      Onnela, Saramäki, Kertész, Kaski: Intensity and coherence of motifs in weighted complex networks, PRE 2005.

    Example:
      >>> loop = Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=True)
      >>> found = motif_strengths(loop.with_attributes(edges={"synapses": [1, 2, 4]}), 3, "synapses")
      >>> found.classes, found.intensity.tolist(), found.coherence.round(3).tolist()
      (('000100110',), [2.0], [0.857])
    """
    graph = as_graph(graph, attributes=True)
    check_rule(rule)
    weights = edge_weights(graph, weight)
    if null not in get_args(WeightNull):
        raise ValueError(f"null must be one of {', '.join(get_args(WeightNull))}, got {null!r}")
    if num_random and null != "all" and not graph.directed:
        raise ValueError(f"null={null!r} is of directed graphs; an undirected one takes null='all'")
    if whole_number(num_random, "num_random") < 0 or num_random == 1:
        raise ValueError(f"num_random must be 0, or at least 2 random weights, got {num_random}")
    rng = generator_of(key)
    drawn, keeps = _random_weights(graph, weights, num_random, null, rng)
    logs = np.log(np.concatenate([weights[None], drawn]))
    census = subgraph_census(graph, size, devices=devices, memory=memory)
    intensity, coherence = np.zeros((2, len(logs), len(census.classes)))
    for column, (text, count) in enumerate(zip(census.classes, census.counts, strict=True)):
        for edges in _occurring_edges(graph, text, devices, memory):
            for i in range(len(logs)):
                # Ratios to the geometric mean, and shares of the mean intensity, are in range where sums may not be.
                weight_logs = logs[i][edges]
                mean_logs = weight_logs.mean(axis=0)
                intensity[i, column] += (np.exp(mean_logs) / count).sum()
                coherence[i, column] += (1 / np.exp(weight_logs - mean_logs).mean(axis=0)).sum() / count
    significance = None
    if num_random:
        classes = census.counts.size
        mixing = Mixing(0, np.zeros(classes), np.full(classes, float(num_random)), np.zeros(classes))
        # Equal weights in another order have equal means, but for the last bits of their sums.
        ratios = np.round(intensity / intensity[0], 9)
        s = significance_of(ratios[0], ratios[1:], mixing, correction=rule.correction)
        folds = {"fold": 1 / s.mean, "fold_low": 1 / s.mean_high, "fold_high": 1 / np.maximum(s.mean_low, 1e-300)}
        measures = {name: getattr(s, name) * intensity[0] for name in ("mean", "sd", "mean_low", "mean_high", "scale")}
        significance = dataclasses.replace(s, **measures, **folds)
    means, words = (intensity[0], coherence[0], intensity[1:], coherence[1:]), census.label_words
    return MotifStrengths(
        size, graph.directed, census.classes, census.counts, *means, keeps, rule, significance, label_words=words
    )


def edge_weights(graph: Graph, name: str) -> np.ndarray:
    """Return the weights of a graph's edges, positive numbers, float64 ``[m]`` in the order of its edge list."""
    columns = {} if graph.attributes is None else graph.attributes.edges
    if name not in columns:
        raise ValueError(
            f"the graph has no weights {name!r}, but {', '.join(map(repr, columns)) or 'no attributes of edges'}: "
            "read_graph(.., weight=column) reads some, with_attributes(edges={name: values}) adds some"
        )
    values, rows = columns[name], graph.attributes and graph.attributes.rows
    if rows is not None:
        each = values[np.searchsorted(rows, np.arange(graph.m))]
        if not np.array_equal(each[rows], values):
            raise ValueError(f"weights {name!r}: an edge has several; read_graph(.., weight={name!r}) sums them")
        values = each
    # Numbers that are too large for int64 are in a column of objects.
    is_number = values.dtype.kind in "iuf" or set(map(type, values.tolist())) <= {int, float}
    if not is_number or not ((values > 0) & (values <= np.finfo(np.float64).max)).all():
        raise ValueError(f"weights {name!r} must be positive numbers that floats hold")
    return values.astype(np.float64)


def _occurring_edges(graph: Graph, text: str, devices: Devices, memory: int | None) -> Iterator[np.ndarray]:
    """Yield the edges of occurrences of a class by their numbers in the edge list, int64 ``[class's edges, rows]``."""
    pattern = named_pattern(text, graph.directed)
    tails, heads = np.nonzero(pattern.adjacency if graph.directed else np.triu(pattern.adjacency))
    options = {"induced": True, "per": "occurrence", "devices": devices, "memory": memory}
    for block in iter_matches(pattern, graph, **options):
        for first in range(0, len(block), ROWS):
            rows = block[first : first + ROWS]
            ends = np.stack([rows[:, tails].T.ravel(), rows[:, heads].T.ravel()], axis=1)
            yield graph._edge_rows(ends).reshape(tails.size, len(rows))


def _random_weights(
    graph: Graph, weights: np.ndarray, number: int, null: WeightNull, rng: np.random.Generator
) -> tuple[np.ndarray, str]:
    """Return random weights ``[number, m]``, and what they keep, in words."""
    if number == 0:
        return np.zeros((0, weights.size)), "no random weights"
    if null == "strengths":
        return _keep_strengths(graph, weights, number, rng)
    if null == "all":
        drawn = [rng.permutation(weights) for _ in range(number)]
        return np.array(drawn), "random weights keep the weights, over all edges"
    # The edge list ascends by tails, so that a sort by tail and by chance shuffles each node's arcs.
    tails = graph.edge_list()[:, 0]
    drawn = [weights[np.lexsort((rng.random(weights.size), tails))] for _ in range(number)]
    words = "random weights keep the weights that leave every node, over its arcs"
    return np.array(drawn), words


def _keep_strengths(graph: Graph, weights: np.ndarray, number: int, rng: np.random.Generator) -> tuple[np.ndarray, str]:
    """Return random weights ``[number, m]`` that keep every node's in-strength and out-strength.

    Four arcs a-b, c-d, a-d and c-b get +t, +t, -t, -t. The number t is uniform over all values that leave the weights
    positive (whole weights at 1 or more), which keeps all tables with these strengths equally likely. The choice of
    arcs depends on chance and the wiring alone. No two changes of a round share an arc, so that a round has the effect
    of its changes one after another.
    """
    edges, m = graph.edge_list().astype(np.int64), weights.size
    if float(weights.max(initial=0)) * m == np.inf:
        raise ValueError("null='strengths' adds up weights, and these are too large: divide them all by the largest")
    tails = edges[:, 0]
    by_head = np.argsort(edges[:, 1], kind="stable")
    into = np.searchsorted(edges[by_head, 1], np.arange(graph.n + 1))
    out = np.searchsorted(tails, np.arange(graph.n + 1))
    drawn, touched = np.repeat(weights[None], number, axis=0), np.zeros(m, np.int64)
    whole = bool((weights == np.rint(weights)).all())
    for _ in range(ROUNDS):
        ab = rng.permutation(m)
        a, b = edges[ab].T
        ad = out[a] + (rng.random(m) * (out[a + 1] - out[a])).astype(np.int64)
        cb = by_head[into[b] + (rng.random(m) * (into[b + 1] - into[b])).astype(np.int64)]
        cd = graph._edge_rows(np.stack([tails[cb], edges[ad, 1]], axis=1))
        four = np.stack([ab, cd, ad, cb])[:, (cd >= 0) & (ab != ad) & (ab != cb)]
        # A change is made if it is the first of all that take its arcs.
        order = np.arange(four.shape[1])
        first = np.full(m, four.shape[1])
        np.minimum.at(first, four.ravel(), np.tile(order, 4))
        four = four[:, (first[four] == order).all(axis=0)]
        up, down = drawn[:, four[:2]].min(axis=1), drawn[:, four[2:]].min(axis=1)
        if whole:
            t = np.floor(rng.random(up.shape) * (up + down - 1)) - (up - 1)
        else:
            t = rng.random(up.shape) * (up + down) * (1 - 1e-9) - up * (1 - 1e-9)
        for arcs, sign in zip(four, (1, 1, -1, -1), strict=True):
            drawn[:, arcs] += sign * t
        touched[four] += 1
    still = np.count_nonzero(touched == 0)
    words = (
        "random weights keep every node's in-strength and out-strength, and not which weights there are; "
        f"{touched.sum() / max(m, 1):.0f} changes an arc, {counted(int(still), 'arc')} of {m:,} in no change"
    )
    return drawn, words
