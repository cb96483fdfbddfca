"""Pictures in matplotlib: what is on the axes."""

import numpy as np
import pytest

from jaxmotif import Graph, datasets
from jaxmotif.drawing import draw_pattern
from jaxmotif.patterns import named_pattern
from tests.report.made_up import made_up

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture
def ax():
    from matplotlib import pyplot

    yield pyplot.subplots()[1]
    pyplot.close("all")


def test_drawing(ax):
    draw_pattern(named_pattern("ffl"), marked=[0]).plot(ax)
    assert len(ax.lines) == 3
    assert len(ax.patches) == 3 + 3  # heads and nodes


def test_profile(ax):
    found = made_up(["000000110", "000001100", "000100110"])
    assert found.plot_profile(ax, "worm") is ax
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), found.significance.profile)
    made_up(["000000110", "000001110", "000100110"], seed=1).plot_profile(ax, "another")
    ax.figure.canvas.draw()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["6", "12", "38", "14"]
    assert ax.lines[3].get_xdata(orig=False).tolist() == [0, 3, 2]  # a class has one place
    assert ax.lines[1].get_color() != ax.lines[3].get_color()


def test_graph(ax):
    graph = datasets.load("florentine")
    family = graph.node_names[0]
    graph.plot(ax, highlight=[family])
    points = [len(c.get_offsets()) for c in ax.collections if hasattr(c, "get_sizes")]
    assert points == [14, 1]
    assert sum(len(c.get_segments()) for c in ax.collections if hasattr(c, "get_segments")) == graph.m
    Graph.from_edges([(0, 1)], node_names=["$\\frac$", "b"]).plot(ax)
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="Nobody.*no nodes of the graph"):
        graph.plot(ax, highlight=["Nobody"])
    with pytest.raises(ValueError, match="2001 nodes is too large to draw"):
        Graph.from_edges([(0, 2000)]).plot(ax)
