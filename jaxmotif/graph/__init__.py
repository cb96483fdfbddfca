"""The graph container, and the ways to make one."""

from jaxmotif.graph.batch import disjoint_union, stack_graphs, unstack
from jaxmotif.graph.build import BuildReport, bucket_size
from jaxmotif.graph.container import Graph
from jaxmotif.graph.read import read_graph
from jaxmotif.graph.textscan import GraphFileError

__all__ = [
    "BuildReport", "Graph", "GraphFileError", "bucket_size", "disjoint_union", "read_graph", "stack_graphs", "unstack",
]  # fmt: skip
