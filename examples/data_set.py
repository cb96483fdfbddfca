"""Encodings of the nodes of a data set of graphs by homomorphisms, and kernels between its graphs.

python examples/data_set.py
"""

import numpy as np

# JAX has no type for jax.Device, which may be an argument.
from jaxmotif.features import homomorphism_counts, spasm  # pyright: ignore[reportUnknownVariableType]
from jaxmotif.graph import Graphs
from jaxmotif.learn import GraphletKernel, WeisfeilerLehmanKernel


def rings(sizes: list[list[int]]) -> Graphs:
    """Graphs that are each some rings of given sizes, side by side."""
    graphs: list[list[tuple[int, int]]] = []
    for parts in sizes:
        starts = np.cumsum([0, *parts]).tolist()
        graphs.append([(s + i, s + (i + 1) % n) for s, n in zip(starts, parts, strict=False) for i in range(n)])
    return Graphs.from_edges(graphs)


def encodings(graphs: Graphs) -> np.ndarray:
    """How many homomorphic images of rings of seven and eight go through each node, ``[nodes, columns]``."""
    return homomorphism_counts(graphs, spasm("7-cycle", "8-cycle"), per="node", log=True).values


def similarities(graphs: Graphs) -> tuple[float, float]:
    """How alike the first two graphs are by their graphlets, and by their colors, which are all the same."""
    graphlets = GraphletKernel(size=5).fit_transform(graphs)
    colors = WeisfeilerLehmanKernel().fit(graphs).transform(graphs)
    return float(graphlets[0, 1]), float(colors[0, 1])


if __name__ == "__main__":
    one_ring_or_two = rings([[6], [3, 3], [8], [4, 4]])
    print("encodings of {} nodes, {} columns".format(*encodings(one_ring_or_two).shape))
    print("graphlets {:.2f} alike, colors {:.2f}".format(*similarities(one_ring_or_two)))
