"""The graph container, and the ways to make one."""

from jaxmotif.graph.batch import disjoint_union, stack_graphs, unstack
from jaxmotif.graph.build import BuildReport, bucket_size
from jaxmotif.graph.container import Graph

__all__ = ["BuildReport", "Graph", "bucket_size", "disjoint_union", "stack_graphs", "unstack"]
