"""Pictures of graphs in matplotlib, which is in the extra ``plot``."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxmotif.arrays._extras import load_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jaxmotif.graph._container import Graph

ACCENT, INK, SOFT = "#b8380c", "#1d1b18", "#8a8379"
MOST_NODES = 2000
"""Most nodes of a graph that is drawn; with more, nothing could be seen."""

_ROUNDS = 120  # rounds of the layout


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes ``ax``, or new ones of a size in inches.

    Raises:
      ImportError: where matplotlib is not installed.
    """
    if ax is not None:
        return ax
    check_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def new_figure(size: tuple[float, float], layout: Literal["constrained"] | None = "constrained") -> Figure:
    """Return a figure of a size in inches that no window shows.

    Raises:
      ImportError: where matplotlib is not installed.
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout=layout)


def check_matplotlib() -> None:
    """Raise ImportError, which names the extra, where matplotlib is not installed."""
    load_extra("matplotlib", "pictures need", "plot")


def plot_graph(graph: Graph, ax: Axes | None = None, highlight: Collection[Hashable] = ()) -> Axes:
    """Draw a graph on axes, with its nodes placed by springs; see :meth:`jaxmotif.Graph.plot`."""
    if graph.n > MOST_NODES:
        raise ValueError(f"a graph of {graph.n} nodes is too large to draw; at most {MOST_NODES}")
    ax = new_axes(ax, (6, 6))
    from matplotlib.collections import LineCollection

    edges, places = graph.edge_list(), spring_layout(graph)
    names = graph._names
    wanted = set(highlight)
    marked = np.array([name in wanted for name in names.tolist()], bool)
    if unknown := wanted - set(names.tolist()):
        raise ValueError(f"highlight names {sorted(map(str, unknown))[:5]}, which are no nodes of the graph")
    inside = marked[edges].all(axis=1) if edges.size else np.zeros(0, bool)
    thin = float(np.clip(20 / max(graph.m, 1) ** 0.5, 0.25, 1.1))
    ax.add_collection(LineCollection(list(places[edges[~inside]]), colors=SOFT, linewidths=thin, alpha=0.6, zorder=1))
    if graph.directed:
        for u, v in edges[inside].tolist():
            arrow = {"arrowstyle": "-|>", "color": ACCENT, "linewidth": 1.4, "shrinkA": 3, "shrinkB": 4}
            ax.annotate("", tuple(places[v]), tuple(places[u]), arrowprops=arrow, zorder=3)
    else:
        ax.add_collection(LineCollection(list(places[edges[inside]]), colors=ACCENT, linewidths=1.6, zorder=3))
    size = float(np.clip(4000 / max(graph.n, 1), 6, 60))
    ax.scatter(*places[~marked].T, s=size, color=INK, linewidths=0, zorder=2)
    ax.scatter(*places[marked].T, s=1.5 * size, color=ACCENT, linewidths=0, zorder=4)
    for i in np.flatnonzero(marked | (graph.n <= 40)).tolist():
        # Matplotlib would set a name with $ in it as a formula.
        style: dict[str, Any] = {"fontsize": 8, "color": INK, "zorder": 5, "parse_math": False}
        ax.annotate(str(names[i]), tuple(places[i]), xytext=(4, 4), textcoords="offset points", **style)
    ax.set_aspect("equal")
    ax.autoscale()
    ax.axis("off")
    return ax


def spring_layout(graph: Graph) -> np.ndarray:
    """Place the nodes of a graph by springs, float64 ``[n, 2]``, the same each time.

    Reference:
      Fruchterman & Reingold: Graph drawing by force-directed placement, Software: Practice and Experience 21, 1991.
    """
    places = np.random.default_rng(0).random((graph.n, 2))
    edges, ideal = graph.edge_list(), 1 / max(graph.n, 1) ** 0.5
    for heat in 0.1 * (1 - np.arange(_ROUNDS) / _ROUNDS):
        offset = places[:, None] - places[None]
        distance = np.sqrt((offset**2).sum(axis=2)) + 1e-9
        force = (offset * (ideal / distance)[..., None] ** 2).sum(axis=1)
        pull = places[edges[:, 0]] - places[edges[:, 1]]
        pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / ideal
        np.add.at(force, edges[:, 0], -pull)
        np.add.at(force, edges[:, 1], pull)
        force += 0.5 * (0.5 - places)  # pulls to the middle, since components would drift apart
        length = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
        places += force / length * np.minimum(length, heat)
    return places
