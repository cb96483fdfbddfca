"""PyTorch Geometric's transforms where neither it nor torch is installed: NumPy stands in for what they use of both."""

import copy
import importlib
import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.learn.pyg import AddGraphletOrbits, AddPatternCounts
from jaxmotif.patterns import Pattern


class Tensor(np.ndarray):
    """An array with the methods of a tensor that the transforms call."""

    device = "cpu"

    def cpu(self):
        return self

    def numpy(self):
        return np.asarray(self)

    def to(self, kind):
        return self if isinstance(kind, str) else self.astype(kind)

    def dim(self):
        return self.ndim

    def view(self, *shape):
        return self.reshape(shape) if isinstance(shape[0], int) else super().view(*shape)


class Data(dict):
    """Attributes by name, of which ``x`` is ``None`` where it is not given."""

    def __getattr__(self, name):
        if name in self or name == "x":
            return self.get(name)
        raise AttributeError(name)

    __setattr__ = dict.__setitem__

    def __copy__(self):
        return Data(self)


def tensor(values):
    return np.asarray(values).view(Tensor)


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    def promote_types(old, new):
        """Return the wider of two kinds of floats; with any integers or truth values, torch takes the floats."""
        return np.promote_types(old, new) if old.kind == "f" else new

    stand_in = SimpleNamespace(from_numpy=tensor, cat=np.concatenate, promote_types=promote_types)
    monkeypatch.setitem(sys.modules, "torch", stand_in)


GRAPH = nx.gnm_random_graph(10, 18, seed=1)
ENDS = np.array(GRAPH.edges).T
COLUMNS = np.concatenate([ENDS, ENDS[::-1], [[3], [3]]], axis=1)
"""Both arcs of each edge, and a self loop."""


def data(**more):
    return Data(edge_index=tensor(COLUMNS), num_nodes=10, **{name: tensor(values) for name, values in more.items()})


def test_orbits_by_name_and_beside_x():
    expected = jaxmotif.node_orbits(GRAPH).values
    assert (AddGraphletOrbits(log=False)(data()).orbits == expected).all()
    beside = AddGraphletOrbits(attr_name=None, log=False)
    assert (beside(data()).x == expected).all()
    for x in (np.arange(10.0), np.ones((10, 2))):
        given = data(x=x)
        wide = beside(given).x
        assert (wide[:, :-15] == x.reshape(10, -1)).all()
        assert (wide[:, -15:] == expected).all()
        assert given.x.shape == x.shape  # a copy has the columns


@pytest.mark.parametrize("kind", [np.int64, np.bool_, np.float16])
def test_logarithms_beside_integers_and_halves_are_floats(kind):
    wide = AddGraphletOrbits(attr_name=None)(data(x=np.ones((10, 2), kind))).x
    assert wide.dtype == np.float32
    np.testing.assert_allclose(wide[:, 2:], np.log1p(jaxmotif.node_orbits(GRAPH).values), rtol=1e-6)
    assert AddGraphletOrbits(attr_name=None)(data(x=np.ones(10))).x.dtype == np.float64


def test_what_is_not_there_is_told():
    with pytest.raises(ValueError, match="no edge_index"):
        AddGraphletOrbits()(Data(edge_index=None, num_nodes=3))
    with pytest.raises(ValueError, match="no attribute 'z'"):
        AddPatternCounts(["triangle"], node_label="z")(data())
    with pytest.raises(ValueError, match='attr_name=None adds to x, .* with per="edge" name an attribute'):
        AddPatternCounts(["triangle"], "edge", attr_name=None)


@pytest.mark.parametrize("add", [AddGraphletOrbits(log="no"), AddPatternCounts(["triangle"], log="no")])
def test_words_are_no_switches(add):
    with pytest.raises(TypeError, match="log must be True or False, got 'no'"):
        add(data())


@pytest.mark.parametrize("per", ["graph", "node", "edge"])
def test_patterns_with_labels(per):
    pattern, labels = Pattern.from_edges([(0, 1), (1, 2)], node_labels=[0, 1, 0]), np.arange(10) % 2
    built = Graph.from_edges(ENDS.T, 10, node_labels=labels)
    expected = jaxmotif.pattern_features(built, [pattern], per=per).values
    if per == "edge":
        row = {frozenset(edge): i for i, edge in enumerate(built.edge_list().tolist())}
        expected = [expected[row[frozenset(ends)]] if ends[0] != ends[1] else [0] for ends in COLUMNS.T.tolist()]
    add = AddPatternCounts([pattern], per, log=False, node_label="z")
    found = add(data(z=labels)).patterns
    assert np.asarray(found).tolist() == np.asarray(expected).tolist()
    assert np.count_nonzero(expected)


@pytest.mark.parametrize(
    "add", [AddGraphletOrbits(), *(AddPatternCounts(["triangle"], per) for per in ("graph", "node", "edge"))]
)
def test_a_data_set_is_its_graphs(add):
    ring = np.array([[0, 1, 2], [1, 2, 0]])
    batch = Data(edge_index=tensor(np.concatenate([ring, ring + 3], axis=1)), num_nodes=6, ptr=tensor([0, 3, 6]))
    given = [data(), Data(edge_index=tensor(ring), num_nodes=5), batch]
    found = add.of_all(iter(given))
    for one, whole in zip(given, found, strict=True):
        alone = add(one)
        assert np.asarray(alone[add.attr_name]).tolist() == np.asarray(whole[add.attr_name]).tolist()
        assert add.attr_name not in one
    assert np.any(found[2][add.attr_name])


def test_several_kinds_of_nodes_are_refused():
    with pytest.raises(TypeError, match="to_homogeneous"):
        AddGraphletOrbits()(SimpleNamespace(edge_types=[("a", "to", "b")]))


def test_a_transform_of_pytorch_geometric_where_it_is_installed(monkeypatch):
    """Its base class copies the data and calls forward; a stand-in does the same."""

    class BaseTransform:
        def __call__(self, data):
            return self.forward(copy.copy(data))

    transforms = SimpleNamespace(BaseTransform=BaseTransform)
    monkeypatch.setitem(sys.modules, "torch_geometric", SimpleNamespace(transforms=transforms))
    monkeypatch.setitem(sys.modules, "torch_geometric.transforms", transforms)
    monkeypatch.delitem(sys.modules, "jaxmotif.learn.pyg")
    kind = importlib.import_module("jaxmotif.learn.pyg").AddGraphletOrbits
    assert issubclass(kind, BaseTransform)
    assert (kind(log=False)(data()).orbits == jaxmotif.node_orbits(GRAPH).values).all()


def test_a_batch_is_its_graphs():
    expected = jaxmotif.node_orbits(GRAPH).values
    two = Data(
        edge_index=tensor(np.concatenate([COLUMNS, COLUMNS + 10], axis=1)), num_nodes=20, ptr=tensor([0, 10, 20])
    )
    assert (AddGraphletOrbits(log=False)(two).orbits == np.concatenate([expected, expected])).all()


def test_a_data_set_without_graphs():
    assert AddGraphletOrbits().of_all([]) == []
    assert AddPatternCounts(["edge"]).of_all([]) == []


def test_everything_is_fetched_from_the_device():
    """A tensor of another device becomes an array by ``cpu`` alone."""

    class Far:
        def __init__(self, values):
            self.values, self.shape, self.device = np.asarray(values), np.shape(values), "cpu"

        def cpu(self):
            return tensor(self.values)

        def __array__(self, *_, **__):
            raise TypeError("can't convert cuda:0 device type tensor to numpy")

    batch = Data(edge_index=Far([[0, 1, 3], [1, 2, 4]]), num_nodes=5, ptr=Far([0, 3, 5]))
    assert AddGraphletOrbits(log=False)(batch).orbits[:, 0].tolist() == [1, 2, 1, 1, 1]
    assert AddPatternCounts(["edge"], "graph", log=False)(batch).patterns.tolist() == [[2], [1]]
