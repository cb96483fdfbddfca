"""scikit-learn: transformers of graphs to features, and a kernel."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from contextlib import suppress
from math import comb, factorial
from typing import Any, Literal, Self

import numpy as np

try:
    import scipy.sparse
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError("this needs scikit-learn: pip install 'jaxmotif[learn]'") from error

from jaxmotif import __version__
from jaxmotif.arrays._checks import check_graphlet_size, check_number, check_switch, whole_number
from jaxmotif.features import graphlet_correlation_matrix, pattern_features
from jaxmotif.features._patterns import (
    Normalize,
    PatternLike,
    Source,
    as_patterns,
    check_normalize,
    example_graph,
    scaled,
)
from jaxmotif.graph import Graphs
from jaxmotif.graph._saved import written_whole
from jaxmotif.graph._words import check_words
from jaxmotif.graphlets import graphlet_counts, node_orbits
from jaxmotif.learn._colors import refined_colors
from jaxmotif.learn._data import DataSet, data_set, file_of_content
from jaxmotif.patterns import GRAPHLET_NAMES, NODE_ORBIT_NAMES, Pattern, automorphism_count
from jaxmotif.patterns._names import listed_patterns
from jaxmotif.patterns._orbits import NODE_NAMES_5
from jaxmotif.patterns._roles import all_roles
from jaxmotif.patterns._totals import NAMES_5

POOLS = {"mean": np.mean, "std": np.std, "min": np.min, "max": np.max, "sum": np.sum}


class _OfGraphs(TransformerMixin, BaseEstimator):
    """Base of the transformers: ``X`` is a sequence of graphs, from which ``fit`` learns only the names of columns."""

    directed = False
    cache = None
    log = False
    takes_arcs = False

    def fit(self, X: DataSet, y: object = None) -> Self:
        """Check the graphs and the parameters, and name the features."""
        self._learn(self._data_set(X))
        return self

    def fit_transform(self, X: DataSet, y: object = None) -> np.ndarray:
        """Fit, and return the features, float64 ``[graphs, features]``; nothing is counted twice."""
        graphs = self._data_set(X)
        self._learn(graphs)
        return self._learned_values(graphs)

    def transform(self, X: DataSet) -> np.ndarray:
        """Return the features, float64 ``[graphs, features]``."""
        check_is_fitted(self, "columns_")
        graphs = self._data_set(X)
        self._check_new(graphs)
        return self._kept_values(graphs)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the features; ``input_features`` is ignored, since graphs have no named features."""
        check_is_fitted(self, "columns_")
        return np.array(self.columns_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def _data_set(self, X: DataSet) -> Graphs:
        graphs = data_set(X, self.directed)
        if graphs.directed and not self.takes_arcs:
            text = "counts in undirected graphs; PatternFeatures and WeisfeilerLehmanKernel take directed ones"
            raise ValueError(f"{type(self).__name__} {text}")
        return graphs

    def _learn(self, graphs: Graphs) -> None:
        check_switch(self.log, "log")
        check_switch(self.directed, "directed")
        self.columns_ = self._names(graphs)

    def _names(self, graphs: Graphs) -> tuple[str, ...]:
        raise NotImplementedError

    def _check_new(self, graphs: Graphs) -> None:
        """Raise ValueError if new graphs are of another kind than those that were fitted, or labels are other words."""

    def _values(self, graphs: Graphs) -> np.ndarray:
        raise NotImplementedError

    def _learned_values(self, graphs: Graphs) -> np.ndarray:
        """Return the values of the graphs that were fitted just now."""
        return self._kept_values(graphs)

    def _kept_values(self, graphs: Graphs) -> np.ndarray:
        """Return the values of graphs, read from the cache if they are there, or else computed and kept there."""
        if self.cache is None:
            return self._values(graphs)
        arrays = [None if field is None else np.asarray(field) for field in graphs.fields]
        content = [type(self).__name__, __version__, *self._settings(graphs), graphs.directed, graphs.node_starts]
        file = file_of_content(self.cache, [*content, *arrays])
        if file.exists():
            with suppress(EOFError, ValueError):  # a damaged file is written anew
                return np.load(file)  # which takes no pickles
        values = self._values(graphs)
        with written_whole(file) as partial, open(partial, "xb") as unfinished:
            np.save(unfinished, values, allow_pickle=False)
        return values

    def _settings(self, graphs: Graphs) -> list[Any]:
        """Return all parameters on which the values depend, apart from the graphs."""
        return [value for name, value in self.get_params().items() if name != "cache"]


@dataclasses.dataclass(eq=False, repr=False)
class GraphletFeatures(_OfGraphs):
    """Counts of every graphlet in each graph, connected or not, as features.

    ``X`` is a sequence of undirected graphs: :class:`jaxmotif.Graph`, networkx graphs, edge arrays ``[m, 2]``, PyTorch
    Geometric's ``Data``, GraKeL's lists, or anything else that :func:`jaxmotif.graph.as_graph` accepts. It may also be
    :class:`jaxmotif.graph.Graphs`, or the name of a folder that :func:`read_tu` reads.

    Args:
      size: 3 for the 6 graphlets of 2 and 3 nodes, 4 for the 17 of up to 4 nodes, 5 for the 51 of up to 5 nodes.
      log: whether features are ``log(1 + x)`` of the values.
      normalize: ``"density"``: counts are divided by how many sets of as many nodes as the graphlet has there are in
        the graph; ``"total"``: each row is divided by its sum.
      cache: a folder in which features are kept, to be read when the same graphs and parameters come again; nobody else
        may be able to write to it.

    Example:
      >>> import jaxmotif
      >>> graphs = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)]]
      >>> features = GraphletFeatures(log=False).fit(graphs)
      >>> features.get_feature_names_out()[:4].tolist(), features.transform(graphs)[:, :4].tolist()
      (['edge', '2-node-indep', 'triangle', '2-star'], [[3.0, 0.0, 1.0, 0.0], [3.0, 3.0, 0.0, 2.0]])
    """

    size: Literal[3, 4, 5] = 4
    log: bool = True
    normalize: Normalize = None
    cache: str | os.PathLike[str] | None = None

    def _names(self, graphs: Graphs) -> tuple[str, ...]:
        check_normalize(self.normalize)
        return _graphlet_names(self.size)

    def _values(self, graphs: Graphs) -> np.ndarray:
        return _scaled(_graphlets(graphs, self.size), graphs, self.columns_, self.log, self.normalize)


@dataclasses.dataclass(eq=False, repr=False)
class OrbitFeatures(_OfGraphs):
    """Counts of ORCA's orbits at the nodes of each graph, pooled over the nodes.

    Args:
      size: 4 for 15 orbits, 5 for 73.
      log: whether counts are replaced by ``log(1 + x)`` before pooling.
      pool: how to pool, some of mean, std, min, max and sum; a graph without nodes has zeros.
      cache: as for :class:`GraphletFeatures`.

    Example:
      >>> OrbitFeatures(pool=("max",), log=False).fit_transform([[(0, 1), (0, 2)]])[0, :4].tolist()
      [2.0, 1.0, 1.0, 0.0]
    """

    size: Literal[4, 5] = 4
    log: bool = True
    pool: Sequence[str] = ("mean", "std", "max")
    cache: str | os.PathLike[str] | None = None

    def _names(self, graphs: Graphs) -> tuple[str, ...]:
        given = isinstance(self.pool, list | tuple) and self.pool
        if not given or any(name not in tuple(POOLS) for name in self.pool):
            raise ValueError(f"pool must be some of {', '.join(POOLS)}, in a list or tuple; got {self.pool!r}")
        names = _of_size(self.size, NODE_ORBIT_NAMES, NODE_NAMES_5)
        return tuple(f"{orbit}:{pool}" for pool in self.pool for orbit in names)

    def _values(self, graphs: Graphs) -> np.ndarray:
        found = node_orbits(graphs, size=self.size)
        counts = found.values.astype(np.float64)
        counts = np.log1p(counts) if self.log else counts
        none = np.zeros((1, counts.shape[1]))
        rows = [row if len(row) else none for row in np.split(counts, found.starts[1:-1])]
        return np.array([np.concatenate([POOLS[name](row, axis=0) for name in self.pool]) for row in rows], np.float64)


@dataclasses.dataclass(eq=False, repr=False)
class PatternFeatures(_OfGraphs):
    """Counts of chosen patterns in each graph, as features: :func:`jaxmotif.pattern_features`.

    The graphs that are transformed are directed if those that were fitted are; if patterns have labels, these stand for
    the same words in all graphs.

    Args:
      patterns: names or small graphs, with labels or not; directed if the graphs are.
      induced, log, normalize: as for :func:`jaxmotif.pattern_features`.
      directed: whether the edges of arrays and of PyTorch Geometric's ``Data`` are arcs.
      cache: as for :class:`GraphletFeatures`.

    Example:
      >>> PatternFeatures(["triangle", "4-cycle"], log=False).fit_transform([[(0, 1), (1, 2), (2, 3), (3, 0)]])
      array([[0., 1.]])
    """

    takes_arcs = True
    patterns: Sequence[PatternLike] = ("triangle", "2-star")
    induced: bool = True
    log: bool = True
    normalize: Normalize = None
    directed: bool = False
    cache: str | os.PathLike[str] | None = None

    def _learn(self, graphs: Graphs) -> None:
        self.example_ = example_graph(graphs)
        super()._learn(graphs)

    def _names(self, graphs: Graphs) -> tuple[str, ...]:
        check_normalize(self.normalize)
        roles = all_roles(as_patterns(self.patterns, graphs), self.patterns, "graph")
        return tuple(role.name for found in roles for role in found)

    def _check_new(self, graphs: Graphs) -> None:
        if graphs.directed != self.example_.directed:
            new, old = ("directed", "undirected") if graphs.directed else ("undirected", "directed")
            raise ValueError(f"the graphs are {new} and those that were fitted {old}; build all alike")
        given = as_patterns(self.patterns, graphs)
        if any(pattern.node_labels is not None or pattern.edge_labels is not None for pattern in given):
            check_words([self.example_, *(graphs.given or ())])

    def _settings(self, graphs: Graphs) -> list[Any]:
        given = as_patterns(self.patterns, graphs)
        parts = [part for pattern in given for part in (pattern.adjacency, pattern.node_labels, pattern.edge_labels)]
        return [self.induced, self.log, self.normalize, *parts]

    def _values(self, graphs: Graphs) -> np.ndarray:
        options = {"induced": self.induced, "log": self.log, "normalize": self.normalize}
        return pattern_features(graphs, self.patterns, **options).values.astype(np.float64)


class _Kernel(_OfGraphs):
    """Base of the kernels, which have a column for each graph that was fitted."""

    normalize = True

    def _names(self, graphs: Graphs) -> tuple[str, ...]:
        check_switch(self.normalize, "normalize")
        return tuple(f"graph-{i}" for i in range(len(graphs)))


@dataclasses.dataclass(eq=False, repr=False)
class GraphletKernel(_Kernel):
    """A positive semidefinite kernel between graphs, for a pipeline in which ``SVC(kernel="precomputed")`` comes next.

    Args:
      kind: what graphs are compared by. ``"counts"``: the counts of their graphlets. ``"density"``: the counts, each
        divided by how many sets of as many nodes there are. ``"centred"``, after NetDis: the counts of the connected
        graphlets, less those expected in a random graph of as many nodes and edges, divided by the square root of
        those expected. ``"gcd"``: exp(-gamma d^2), where d is their graphlet correlation distance (GCD-11).
      size: 3, 4 or 5, the number of nodes of the largest graphlets (``"gcd"``: always 4).
      normalize: whether vectors of counts are scaled so that a graph's similarity to itself is 1.
      gamma: the factor in ``"gcd"``.

    Example:
      >>> graphs = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)]]
      >>> GraphletKernel().fit_transform(graphs).round(2)[0].tolist()
      [1.0, 1.0, 0.25]

    References:
      Shervashidze et al., "Efficient graphlet kernels for large graph comparison", AISTATS 2009. Ali et al.,
      "Alignment-free protein interaction network comparison", Bioinformatics 2014. Yaveroğlu et al., "Revealing the
      hidden language of complex networks", Scientific Reports 2014.
    """

    kind: Literal["counts", "density", "centred", "gcd"] = "density"
    size: Literal[3, 4, 5] = 4
    normalize: bool = True
    gamma: float = 0.1

    def _learn(self, graphs: Graphs) -> None:
        self.vectors_ = self._vectors(graphs)
        super()._learn(graphs)

    def _values(self, graphs: Graphs) -> np.ndarray:
        return self._similarities(self._vectors(graphs))

    def _learned_values(self, graphs: Graphs) -> np.ndarray:
        # BLAS multiplies an array by itself in another way, whose last bits may differ from those of ``transform``.
        return self._similarities(self.vectors_.copy())

    def _similarities(self, vectors: np.ndarray) -> np.ndarray:
        """Return how similar graphs are to those that were fitted."""
        if self.kind != "gcd":
            return vectors @ self.vectors_.T
        apart = ((vectors[:, None] - self.vectors_[None]) ** 2).sum(axis=-1)
        return np.exp(-self.gamma * apart)

    def _vectors(self, graphs: Graphs) -> np.ndarray:
        if self.kind not in ("counts", "density", "centred", "gcd"):
            raise ValueError(f"kind must be 'counts', 'density', 'centred' or 'gcd', got {self.kind!r}")
        if self.kind == "gcd":
            check_number(self.gamma, "gamma", 0)
            found, upper = node_orbits(graphs), np.triu_indices(11, 1)
            return np.array([graphlet_correlation_matrix(found.rows(i))[upper] for i in range(len(graphs))])
        names, counts = _graphlet_names(self.size), _graphlets(graphs, self.size)
        vectors = _scaled(counts, graphs, names, False, "density") if self.kind == "density" else counts
        if self.kind == "centred":
            vectors = _centred(counts, graphs, names)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(length == 0, 1, length) if self.normalize else vectors


@dataclasses.dataclass(eq=False, repr=False)
class WeisfeilerLehmanKernel(_Kernel):
    """The Weisfeiler-Lehman subtree kernel between graphs, for a pipeline with ``SVC(kernel="precomputed")`` next.

    In each round a node gets a new color, which stands for its old color and the old colors of all its neighbours (in
    directed graphs: of its successors). The similarity of two graphs is a sum over all rounds and colors: of the number
    of nodes of the color in one graph times that in the other. Colors are compared exactly, not by hashes, on JAX's
    default device.

    Args:
      rounds: how often colors are refined; with 0 they are the node labels, where graphs have them.
      normalize: whether a graph's similarity to itself is 1.
      directed: whether the edges of arrays and of PyTorch Geometric's ``Data`` are arcs.

    Example:
      >>> graphs = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)]]
      >>> WeisfeilerLehmanKernel(rounds=1, normalize=False).fit_transform(graphs).tolist()
      [[18.0, 18.0], [18.0, 24.0]]

    References:
      Shervashidze et al., "Weisfeiler-Lehman graph kernels", Journal of Machine Learning Research 2011.
    """

    takes_arcs = True
    rounds: int = 5
    normalize: bool = True
    directed: bool = False

    def _learn(self, graphs: Graphs) -> None:
        whole_number(self.rounds, "rounds", least=0)
        self.graphs_ = graphs
        super()._learn(graphs)

    def _check_new(self, graphs: Graphs) -> None:
        check_words([*(self.graphs_.given or ()), *(graphs.given or ())])  # the unions know no words

    def _values(self, graphs: Graphs) -> np.ndarray:
        both = Graphs.from_graphs([self.graphs_.union(pad=None), graphs.union(pad=None)])
        starts = np.append(self.graphs_.node_starts, self.graphs_.node_starts[-1] + graphs.node_starts[1:])
        return self._similarities(dataclasses.replace(both, node_starts=starts, given=None), len(self.graphs_))

    def _learned_values(self, graphs: Graphs) -> np.ndarray:
        return self._similarities(graphs, 0)

    def _similarities(self, graphs: Graphs, fitted: int) -> np.ndarray:
        """Return the similarities of the graphs from number ``fitted`` on to the first ``fitted`` graphs.

        If ``fitted`` is 0, they are the similarities of all graphs to all.
        """
        colors = np.array(refined_colors(graphs.union(), self.rounds)[:, : int(graphs.node_starts[-1])], np.int64)
        colors += np.arange(len(colors))[:, None] * graphs.node_starts[-1]  # one column for each color of each round
        rows = np.broadcast_to(np.repeat(np.arange(len(graphs)), graphs.n), colors.shape)
        shape = len(graphs), int(colors.max(initial=0)) + 1
        counts = scipy.sparse.csr_array((np.ones(colors.size), (rows.ravel(), colors.ravel())), shape)
        # Colors that many graphs have are multiplied fastest as a dense matrix, the many others as a sparse one.
        often = np.bincount(counts.indices, minlength=shape[1]) * 50 > len(graphs)
        few, rest = (counts[:, np.flatnonzero(some)] for some in (often, ~often))
        dense, first = few.toarray(), fitted or len(graphs)
        found = dense[fitted:] @ dense[:first].T + rest[fitted:] @ rest[:first].T
        length = np.maximum(np.sqrt(counts.power(2).sum(axis=1)), 1) if self.normalize else np.ones(len(graphs))
        return found / np.outer(length[fitted:], length[:first])


def _of_size(size: int, four: tuple[str, ...], five: tuple[str, ...]) -> tuple[str, ...]:
    check_graphlet_size(size)
    return four if size == 4 else five


def _graphlet_names(size: int) -> tuple[str, ...]:
    if size not in (3, 4, 5):
        raise ValueError(f"size must be 3, 4 or 5, got {size!r}")
    return GRAPHLET_NAMES[:6] if size == 3 else _of_size(size, GRAPHLET_NAMES, NAMES_5)


def _graphlets(graphs: Graphs, size: int) -> np.ndarray:
    """Return counts of graphlets, float64 ``[graphs, graphlets]``."""
    counts = graphlet_counts(graphs, size=5 if size == 5 else 4).values
    return counts[:, : len(_graphlet_names(size))].astype(np.float64)


def _scaled(counts: np.ndarray, graphs: Graphs, names: tuple[str, ...], log: bool, normalize: Normalize) -> np.ndarray:
    check_normalize(normalize)
    return scaled(counts, lambda: _sets(graphs, listed_patterns(list(names), False)), log, normalize)


def _sets(graphs: Graphs, patterns: list[Pattern]) -> np.ndarray:
    """Count the sets of nodes of each pattern's size in each graph, float64 ``[graphs, patterns]``."""
    return Source.of(graphs, "graph").sets([pattern.num_nodes for pattern in patterns])


def _centred(counts: np.ndarray, graphs: Graphs, names: tuple[str, ...]) -> np.ndarray:
    """Return counts of connected graphlets of three nodes and more, less their mean in G(n, p) of equal density."""
    patterns = listed_patterns(list(names), False)
    kept = [i for i, p in enumerate(patterns) if p.num_nodes > 2 and len(p.components()) == 1]
    chosen = [patterns[i] for i in kept]
    p = (graphs.m / np.maximum(graphs.n * (graphs.n - 1) / 2, 1))[:, None]
    edges = np.array([pattern.num_edges for pattern in chosen])
    gaps = np.array([comb(pattern.num_nodes, 2) for pattern in chosen]) - edges
    ways = np.array([factorial(pattern.num_nodes) // automorphism_count(pattern) for pattern in chosen])
    expected = _sets(graphs, chosen) * ways * p**edges * (1 - p) ** gaps
    return (counts[:, kept] - expected) / np.sqrt(np.maximum(expected, 1))
