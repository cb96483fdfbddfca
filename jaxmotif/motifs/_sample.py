"""Connected induced subgraphs drawn uniformly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.census._pair_states import degree_rank
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.graph._coerce import load_graph
from jaxmotif.kernels._tree_maps import COIN, uniform
from jaxmotif.motifs._estimate import check, has_subgraphs, skeletons_of, spanning_trees
from jaxmotif.motifs._proposals import NO_CODE, Draws, Sampler, seed_words

if TYPE_CHECKING:
    from chex import PRNGKey


@on_cluster(load_graph)
def sample_subgraphs(
    graph: GraphLike,
    size: int,
    num: int,
    key: int | PRNGKey | None = None,
    *,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> np.ndarray:
    """Draw connected induced subgraphs of ``size`` nodes, each exactly as likely as any other, independently.

    A random map of a tree into the graph (:func:`jaxmotif.estimate_census`) falls on a subgraph with a chance that is
    proportional to the subgraph's number of spanning trees. It is therefore kept with probability one over that number.
    This takes long in a graph where all subgraphs are dense.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one; directions do not matter.
      size: nodes of a subgraph, 3 to 10, or in a directed graph 3 to 8.
      num: how many subgraphs to draw. A larger number begins with the same subgraphs.
      key: a seed, or ``jax.random.key(seed)``, seed 0 when not given; the same bits on any device.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; one is used.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      progress: show a meter on standard error.

    Returns:
      int32 ``[num, size]``, node ids, ascending in each row; a subgraph may be drawn more than once.

    Raises:
      TypeError: a number that is no integer.
      ValueError: an option out of range, or a graph without a connected subgraph of this size.

    Example:
      >>> from jaxmotif import datasets, sample_subgraphs
      >>> sample_subgraphs(datasets.load("karate"), 4, 1000).shape
      (1000, 4)
    """
    graph = as_graph(graph)
    size = check(graph, size)
    num = whole_number(num, "num", least=0)
    if not has_subgraphs(graph, size):
        raise ValueError(
            f"no component of this graph has {size} nodes: there is no subgraph to draw; take a smaller size"
        )
    device = select_devices(devices).main
    draws = Draws(graph, size, (0, 0, 0), seed_words(key), 2)
    sampler = Sampler(draws, device, memory)
    back = np.argsort(degree_rank(graph)).astype(np.int32)
    found, first = [np.zeros((0, size), np.int32)], 0

    def draw(lanes: int) -> np.ndarray:
        sampler.lanes = lanes
        codes, nodes = next(sampler.maps(0, first, first + lanes))
        return thinned(sampler, np.asarray(codes), np.asarray(nodes), first)

    with meter(num, "subgraphs", "sample", enabled=progress) as bar:
        while (have := sum(map(len, found))) < num:
            lanes = sampler.lanes
            some, _ = with_smaller_steps(draw, lanes, sampler.smaller, device)
            found.append(np.sort(back[some], axis=1)[: num - have])
            bar.advance(len(found[-1]))
            first += sampler.lanes
    return np.concatenate(found)


def thinned(sampler: Sampler, codes: np.ndarray, nodes: np.ndarray, first: int) -> np.ndarray:
    """Keep each map with probability one over its subgraph's spanning trees; return the nodes, int32 ``[kept, size]``.

    Args:
      sampler: the sampler that drew the maps.
      codes: uint64 ``[maps]``, codes of the maps.
      nodes: int32 ``[size, maps]``, nodes of the maps.
      first: the number of the first map.
    """
    good = np.flatnonzero(codes != NO_CODE)
    different, which = np.unique(codes[good], return_inverse=True)
    draws = sampler.draws
    ways = spanning_trees(skeletons_of(different, sampler.graphs.dyads.codes, draws.size))[which]
    coin = uniform(np, np.uint64(draws.stream(0)), np.uint64(first) + good.astype(np.uint64), COIN)
    return nodes[:, good[coin * ways < 1]].T
