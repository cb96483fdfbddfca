"""PyTorch Geometric's transforms (skipped without it)."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
nx = pytest.importorskip("networkx")

from torch_geometric.data import Batch, Data, InMemoryDataset  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402

import jaxmotif  # noqa: E402
from jaxmotif import Graph  # noqa: E402
from jaxmotif.learn import GraphletFeatures  # noqa: E402
from jaxmotif.learn.pyg import AddGraphletOrbits, AddPatternCounts  # noqa: E402
from jaxmotif.patterns import Pattern  # noqa: E402


def example(seed):
    graph = nx.gnm_random_graph(10, 18, seed=seed)
    ends = torch.tensor(list(graph.edges)).T
    both = torch.cat([ends, ends.flip(0), torch.tensor([[3], [3]])], dim=1)
    return graph, Data(x=torch.ones(10, 2), edge_index=both, z=torch.arange(10) % 2)


GRAPHS, DATA = zip(*[example(seed) for seed in range(6)], strict=True)


class Stored(InMemoryDataset):
    def __init__(self, root, **options):
        super().__init__(root, **options)
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self):
        return ["data.pt"]

    def process(self):
        self.save([self.pre_transform(data.clone()) for data in DATA], self.processed_paths[0])


def test_orbits_beside_x_and_by_name():
    expected = [jaxmotif.node_orbits(graph).values for graph in GRAPHS]
    for data, values in zip(DATA, expected, strict=True):
        np.testing.assert_array_equal(AddGraphletOrbits(log=False)(data.clone()).orbits, values)
        wide = AddGraphletOrbits(attr_name=None)(data.clone()).x
        np.testing.assert_allclose(wide[:, 2:], np.log1p(values), rtol=1e-6)
    batch = AddGraphletOrbits(log=False)(Batch.from_data_list([data.clone() for data in DATA]))
    np.testing.assert_array_equal(batch.orbits, np.concatenate(expected))


@pytest.mark.parametrize("per", ["graph", "node", "edge"])
def test_patterns_with_labels(per):
    pattern = Pattern.from_edges([(0, 1), (1, 2)], node_labels=[0, 1, 0])
    add = AddPatternCounts([pattern], per, log=False, node_label="z")
    for graph, data in zip(GRAPHS, DATA, strict=True):
        built = Graph.from_edges(list(graph.edges), 10, node_labels=np.arange(10) % 2)
        expected = jaxmotif.pattern_features(built, [pattern], per=per).values
        found = add(data.clone()).patterns
        if per == "edge":
            row = {tuple(edge): i for i, edge in enumerate(built.edge_list().tolist())}
            places = [row.get((min(u, v), max(u, v))) for u, v in data.edge_index.T.tolist()]
            expected = np.array([np.zeros(1) if i is None else expected[i] for i in places])
        np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:os.fork")  # the workers only collate
def test_pre_transform_and_workers(tmp_path):
    stored = Stored(str(tmp_path), pre_transform=AddGraphletOrbits(log=False))
    one, two = ([batch.orbits for batch in DataLoader(stored, 3, num_workers=workers)] for workers in (0, 2))
    expected = np.concatenate([jaxmotif.node_orbits(graph).values for graph in GRAPHS])
    np.testing.assert_array_equal(torch.cat(one), expected)
    np.testing.assert_array_equal(torch.cat(two), expected)


def test_transformers_take_data():
    expected = GraphletFeatures().fit_transform(list(GRAPHS))
    np.testing.assert_array_equal(GraphletFeatures().fit_transform(list(DATA)), expected)


def test_edge_counts_cannot_stand_in_x():
    with pytest.raises(ValueError, match="name an attribute"):
        AddPatternCounts(["triangle"], "edge", attr_name=None)
