"""scikit-learn's own checks, what the features are, and learning with them."""

import importlib
import math
import pickle
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")
nx = pytest.importorskip("networkx")
pd = pytest.importorskip("pandas")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import SkipTestWarning  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402
from sklearn.utils import estimator_checks as checks  # noqa: E402

import jaxmotif  # noqa: E402
from jaxmotif import Graph, features  # noqa: E402
from jaxmotif.graph import Graphs  # noqa: E402
from jaxmotif.learn import GraphletFeatures, GraphletKernel, OrbitFeatures, PatternFeatures, WeisfeilerLehmanKernel  # noqa: E402
from jaxmotif.patterns import Pattern  # noqa: E402

ALL = [GraphletFeatures, OrbitFeatures, PatternFeatures, GraphletKernel, WeisfeilerLehmanKernel]


@pytest.fixture(scope="module")
def labelled():
    """Twenty graphs of 16 nodes with triads closed, twenty of as many edges without."""
    closed = [nx.watts_strogatz_graph(16, 4, 0.2, seed=i) for i in range(20)]
    return closed + [nx.gnm_random_graph(16, 32, seed=i) for i in range(20)], np.repeat([1, 0], 20)


@pytest.mark.parametrize("kind", ALL)
def test_scikit_learns_checks(kind):
    with pytest.warns(SkipTestWarning, match="which requires input"):  # its checks of data are for tables
        results = checks.check_estimator(kind(), on_fail=None)
    assert {result["status"] for result in results} == {"passed"}
    for check in (
        checks.check_no_attributes_set_in_init, checks.check_estimator_repr, checks.check_set_params,
        checks.check_get_params_invariance, checks.check_do_not_raise_errors_in_init_or_set_params,
        checks.check_parameters_default_constructible, checks.check_mixin_order, checks.check_valid_tag_types,
    ):  # fmt: skip
        check(kind.__name__, kind())


@pytest.mark.parametrize("kind", ALL)
def test_clones_pickles_and_tables(kind, labelled):
    graphs, _ = labelled
    made = kind().fit(graphs[:5])
    values = made.transform(graphs[:5])
    copy = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(copy.transform(graphs[:5]), values)
    fresh = clone(made).set_output(transform="pandas")
    frame = fresh.fit_transform(graphs[:5])
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == made.get_feature_names_out().tolist()
    np.testing.assert_array_equal(frame.to_numpy(), values)


def test_all_kinds_of_graphs_give_the_same(labelled):
    graphs = labelled[0][:5]
    arrays = [np.array(graph.edges) for graph in graphs]
    expected = [list(jaxmotif.graphlet_counts(graph).counts.values()) for graph in graphs]
    objects = np.empty(5, object)
    objects[:] = graphs
    for given in (graphs, arrays, objects, [Graph.from_networkx(graph) for graph in graphs]):
        np.testing.assert_array_equal(GraphletFeatures(log=False).fit_transform(given), expected)
    density = GraphletFeatures(log=False, normalize="density").fit_transform(graphs)
    np.testing.assert_allclose(density[:, :2].sum(axis=1), 1)
    np.testing.assert_allclose(density[:, 6:].sum(axis=1), 1)
    orbits = jaxmotif.node_orbits(graphs[0]).values
    pooled = OrbitFeatures(log=False).fit_transform(graphs)[0]
    np.testing.assert_allclose(pooled, np.concatenate([orbits.mean(0), orbits.std(0), orbits.max(0)]))
    patterns = PatternFeatures(["triangle", "4-cycle"], log=False).fit_transform(graphs)
    np.testing.assert_array_equal(patterns, np.array(expected)[:, [2, 9]])


def test_cross_validated_classification(labelled):
    for model in (
        make_pipeline(GraphletFeatures(), StandardScaler(), SVC()),
        make_pipeline(GraphletKernel("gcd"), SVC(kernel="precomputed")),
    ):
        assert cross_val_score(model, *labelled, cv=4).mean() > 0.85


@pytest.mark.parametrize("kind", ["counts", "density", "centred", "gcd"])
def test_kernels_are_positive_semidefinite(kind, labelled):
    graphs = labelled[0][::5]
    kernel = GraphletKernel(kind).fit(graphs)
    values = kernel.transform(graphs)
    np.testing.assert_allclose(values, values.T)
    np.testing.assert_allclose(np.diag(values), 1)
    assert np.linalg.eigvalsh(values).min() > -1e-9
    assert kernel.transform(graphs[:2]).shape == (2, len(graphs))
    if kind == "gcd":
        distance = features.graphlet_correlation_distance(graphs[0], graphs[1])
        assert values[0, 1] == pytest.approx(np.exp(-0.1 * distance**2))


def test_expected_counts_are_those_of_random_graphs():
    """The centre of three-node graphlets in G(n, p), by hand."""
    from jaxmotif.learn._sklearn import _centred

    graphs = Graphs.from_edges([[(0, 1), (1, 2), (2, 3)]])
    found = _centred(np.zeros((1, 2)), graphs, ("triangle", "2-star"))
    p = 3 / 6
    np.testing.assert_allclose(found, [[-(4 * p**3) / 1, -(4 * 3 * p**2 * (1 - p)) / np.sqrt(1.5)]])


def test_sizes_of_the_graphlet_kernel(labelled):
    """The kernel of 3, 4 and 5 nodes is that of densities, normalised."""
    graphs = labelled[0][::4]
    for size, columns in ((3, 6), (4, 17), (5, 51)):
        counts = np.array(
            [list(jaxmotif.graphlet_counts(g, size=max(size, 4)).counts.values())[:columns] for g in graphs]
        )
        sizes = np.repeat([2, 3, 4, 5], [2, 4, 11, 34])[:columns]
        density = counts / np.array([math.comb(16, k) for k in sizes])
        density /= np.linalg.norm(density, axis=1, keepdims=True)
        np.testing.assert_allclose(GraphletKernel(size=size).fit_transform(graphs), density @ density.T)


def test_a_kernel_counts_each_graph_once(labelled, monkeypatch):
    counted = []

    def count(graphs, **options):
        counted.append(len(graphs))
        return jaxmotif.graphlet_counts(graphs, **options)

    monkeypatch.setattr("jaxmotif.learn._sklearn.graphlet_counts", count)
    found = GraphletKernel().fit_transform(labelled[0][:6])
    assert counted == [6]
    np.testing.assert_array_equal(found, GraphletKernel().fit(labelled[0][:6]).transform(labelled[0][:6]))


def test_one_note_a_data_set(caplog):
    graphs = [nx.path_graph(n) for n in (3, 4, 5)]
    for graph in graphs:
        nx.set_node_attributes(graph, "C", "atom")
    graphs[2].add_edge(0, 2, bond=1)
    GraphletFeatures().fit_transform(graphs)
    assert [record.message.split(";")[0] for record in caplog.records] == [
        "graphs[0] and 2 others: passed over node attributes 'atom'",
        "graphs[2]: passed over edge attributes 'bond'",
    ]


def test_fitted_and_new_graphs_have_the_same_words():
    cells, drugs = (
        Graph.from_edges([(0, 1)], node_labels=[0, 0])._with_host_fields(None, None, {0: word})
        for word in ("cell", "drug")
    )
    kernel = WeisfeilerLehmanKernel(rounds=1, normalize=False).fit([cells])
    assert kernel.transform([cells]).tolist() == [[8]]
    with pytest.raises(ValueError, match="node label 0 is 'drug' in one graph and 'cell' in another"):
        kernel.transform([drugs])
    pairs = Graph.from_edges([(0, 1)], node_labels=[0, 1])._with_host_fields(None, None, {0: "cell", 1: "gene"})
    found = PatternFeatures(["cell,gene:0110"], log=False).fit([cells, pairs])
    assert found.transform([cells, pairs]).tolist() == [[0], [1]]
    found = PatternFeatures([Pattern.from_edges([(0, 1)], node_labels=[0, 0])]).fit([cells])
    with pytest.raises(ValueError, match="node label 0 is 'drug' in one graph and 'cell' in another"):
        found.transform([drugs])
    assert PatternFeatures(["edge"], log=False).fit([cells]).transform([drugs]).tolist() == [[1]]  # asks for no words
    with pytest.raises(ValueError, match="the graphs are directed and those that were fitted undirected"):
        PatternFeatures(["4-path"]).fit([nx.path_graph(4)]).transform([nx.DiGraph([(0, 1), (1, 2), (3, 2)])])


def test_refusals():
    for estimator, none in ((GraphletFeatures(), []), *((kind(), Graphs.from_edges([])) for kind in ALL)):
        with pytest.raises(ValueError, match="at least one graph"):
            estimator.fit(none)
    with pytest.raises(ValueError, match="put it in a list"):
        GraphletFeatures().fit([(0, 1), (1, 2)])
    with pytest.raises(TypeError, match="list of graphs"):
        GraphletFeatures().fit(Graph.from_edges([(0, 1)]))
    with pytest.raises(ValueError, match="size must be 3, 4 or 5"):
        GraphletFeatures(size=2).fit([[(0, 1)]])
    with pytest.raises(ValueError, match="pool must be"):
        OrbitFeatures(pool=("median",)).fit([[(0, 1)]])
    with pytest.raises(ValueError, match=r"pool must be .* got \(\)"):
        OrbitFeatures(pool=()).fit([[(0, 1)]])
    with pytest.raises(ValueError, match="kind must be"):
        GraphletKernel(kind="wl").fit([[(0, 1)]])
    fitted = GraphletFeatures().fit([[(0, 1), (1, 2)]]).set_params(normalize="x")
    with pytest.raises(ValueError, match="normalize must be"):
        fitted.transform([[(0, 1), (1, 2)]])
    for estimator in (GraphletFeatures(), OrbitFeatures(), GraphletKernel()):
        with pytest.raises(ValueError, match="counts in undirected graphs; PatternFeatures and WeisfeilerLehmanKernel"):
            estimator.fit([nx.DiGraph([(0, 1), (1, 2)])])


def test_what_to_install_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)  # as where an import fails
    monkeypatch.delitem(sys.modules, "jaxmotif.learn._sklearn")
    with pytest.raises(ImportError, match=r"pip install 'jaxmotif\[learn\]'"):
        importlib.import_module("jaxmotif.learn._sklearn")


@pytest.mark.parametrize(("estimator", "why"), [
    (GraphletFeatures(normalize="x"), "normalize must be"), (PatternFeatures(normalize="x"), "normalize must be"),
    (PatternFeatures("triangle"), r"such as \['triangle'\]"),
    (WeisfeilerLehmanKernel(rounds=2.5), "rounds must be an integer"),
    (GraphletFeatures(log="no"), "log must be True or False"),
    (PatternFeatures(directed="no"), "directed must be True or False"),
    (GraphletKernel(normalize="no"), "normalize must be True or False"),
    (OrbitFeatures(pool=np.array(["mean", "max"])), "pool must be"), (OrbitFeatures(pool=None), "pool must be"),
    (OrbitFeatures(pool=[["mean"]]), "pool must be"), (OrbitFeatures(pool=iter(["mean"])), "pool must be"),
    (GraphletKernel(kind="gcd", gamma="x"), "gamma must be a number"),
    (GraphletKernel(kind="gcd", gamma=math.nan), "gamma must be a number"),
    (GraphletKernel(kind="gcd", gamma=-1), "gamma must be a number"),
])  # fmt: skip
def test_fit_checks_the_parameters(estimator, why):
    with pytest.raises((TypeError, ValueError), match=why):
        estimator.fit([[(0, 1), (1, 2)]])
