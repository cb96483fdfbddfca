"""Pictures in matplotlib: what is on the axes."""

import numpy as np
import pytest

from jaxmotif import Graph, datasets
from jaxmotif.drawing import draw_network, draw_pattern
from jaxmotif.graph._plot import spring_layout
from jaxmotif.motifs._compare import compare_motifs, plot_tree
from jaxmotif.motifs._result import class_axes
from jaxmotif.patterns import Pattern, named_pattern
from jaxmotif.report import motif_figures, motifs_report
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
    assert found.plot_profile(ax) is ax
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), found.significance.profile)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["021D", "021C", "030T"]


def test_counts(ax):
    found = made_up(["000000110", "000001100", "000100110"])
    ax.figure.set_size_inches(4, 2.5)
    found.plot_counts(ax)
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_array_equal(heights[:3], found.counts)
    np.testing.assert_array_equal(heights[3:], found.significance.mean)
    assert [text.get_text() for text in ax.texts] == [word for word in found.verdicts.verdict if word]
    ax.figure.canvas.draw()
    assert ax.get_ylim()[0] == 0
    assert all(text.get_window_extent().y1 < ax.get_window_extent().y1 for text in ax.texts)
    (ranges,) = (lines.get_segments() for lines in ax.collections)
    ends = np.quantile(found.random_counts, [0.025, 0.975], axis=0)
    for ((x, low), (_, high)), i in zip(ranges, range(3), strict=True):
        assert (x, low, high) == pytest.approx((i + 0.2, *ends[:, i]))


def test_comparison(ax):
    found = {
        "worm": made_up(["000000110", "000001100", "000100110"]),
        "another": made_up(["000000110", "000001110", "000100110"], seed=1),
    }
    compared = compare_motifs(found)
    compared.plot_profiles(ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["021D", "021C", "111U", "030T"]
    for line, profile in zip(ax.lines[1:], compared.profiles, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), profile)
    assert (compared.profile_low <= compared.profiles + 1e-12).all()
    assert (compared.profile_high >= compared.profiles - 1e-12).all()
    assert (compared.profile_high - compared.profile_low).max() > 0.001


def test_trees_of_a_comparison(ax):
    """Below the profiles is a tree for each distance, whose brackets stand at the mean distances of what they join."""
    graph = datasets.load("florentine")
    networks = [(name, graph, made_up(["000000110", "000100110"], seed)) for seed, name in enumerate("abc")]
    distances = {"GCD-11": np.array([[0, 4, 1], [4, 0, 6], [1, 6, 0.0]])}
    figure = motif_figures(networks, distances)["comparison"]()
    profiles, correlations, tree = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b", "c"]
    assert [line.get_label() for line in profiles.lines[1:]] == ["a", "b", "c"]
    assert correlations.get_xlabel() == "1 - correlation of profiles"
    assert tree.get_xlabel() == "GCD-11"
    assert [tick.get_text() for tick in tree.get_yticklabels()] == ["b", "a", "c"]
    assert [line.get_xdata().tolist() for line in tree.lines] == [[0, 1, 1, 0], [0, 5, 5, 1]]
    assert [line.get_ydata().tolist() for line in tree.lines] == [[1, 1, 2, 2], [0, 0, 1.5, 1.5]]
    assert tree.get_xlim()[1] == 0  # the networks are on the right
    assert set(motif_figures(networks[:1])) >= {"motifs"} > {"comparison"} & set(motif_figures(networks[:1]))


def test_names_of_networks_and_classes_are_no_formulas(ax):
    """Matplotlib would leave ``_a`` out of a legend, and take what stands between two $ for a formula."""
    names = ["_a", "US$ b EU$", "c\x1b$"]
    compared = compare_motifs({name: made_up(["000000110", "000100110"], seed) for seed, name in enumerate(names)})
    compared.plot_profiles(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["_a", "US$ b EU$", "c\\x1b$"]
    plot_tree(ax, names, 1 - compared.correlation, "distance")
    class_axes(ax, ["$\\frac$", "\x1b"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["$\\frac$", "\\x1b"]
    ax.figure.canvas.draw()


def test_two_networks_of_one_name_are_refused():
    networks = [("x", datasets.load("florentine"), made_up(["000000110", "000100110"], seed)) for seed in range(2)]
    for draw in (motif_figures, motifs_report):
        with pytest.raises(ValueError, match="two networks are called 'x'"):
            draw(networks)


def test_words_of_drawings_stay_text(ax):
    """Names in front of lines have a halo, words within circles have none; both are text without control characters."""
    graph = Graph.from_edges([(0, 1)], node_names=["ADAL", "B\x1b"])
    labelled = draw_pattern(Pattern.from_edges([(0, 1)], node_labels=[0, 1]), {0: "p\ud800", 1: "q"})
    for drawing, words in ((draw_network(graph, [0, 1]), ["ADAL", "B\\x1b"]), (labelled, ["p\\ud800", "q"])):
        picture = drawing.plot()
        assert [text.get_text() for text in picture.texts if not text.get_path_effects()] == words
        picture.figure.canvas.draw()


def test_graph(ax):
    graph = datasets.load("florentine")
    family = graph.node_names[0]
    graph.plot(ax, highlight=[family])
    points = [len(c.get_offsets()) for c in ax.collections if hasattr(c, "get_sizes")]
    assert points == [14, 1]
    assert sum(len(c.get_segments()) for c in ax.collections if hasattr(c, "get_segments")) == graph.m
    loop = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], directed=True)
    before = len(ax.texts)
    loop.plot(ax, highlight=[0, 1, 2])
    places = spring_layout(loop)
    arrows = [(text.xy, text.xyann) for text in ax.texts[before:] if text.arrow_patch is not None]
    assert arrows == [(tuple(places[v]), tuple(places[u])) for u, v in ((0, 1), (1, 2), (2, 0))]
    Graph.from_edges([(0, 1)], node_names=["$\\frac$", "b"]).plot(ax)
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="Nobody.*no nodes of the graph"):
        graph.plot(ax, highlight=["Nobody"])
    with pytest.raises(ValueError, match="2001 nodes is too large to draw"):
        Graph.from_edges([(0, 2000)]).plot(ax)


def test_springs_bring_joined_nodes_together():
    """And keep all nodes apart."""
    graph = datasets.load("karate")
    places = spring_layout(graph)
    length = np.hypot(*(places[:, None] - places[None]).T)
    joined = np.zeros((graph.n, graph.n), bool)
    joined[tuple(graph.edge_list().T)] = True
    others = ~(joined | joined.T | np.eye(graph.n, dtype=bool))
    assert length[joined].mean() < 0.75 * length[others].mean()
    assert length[~np.eye(graph.n, dtype=bool)].min() > 0.02


@pytest.mark.parametrize(("inches", "dpi"), [(2, 100), (5, 60)])
def test_pens_and_words_keep_to_the_size_of_the_picture(inches, dpi):
    """A line is as wide, and a word as high, as the drawing says, in whatever unit the figure is."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(inches, inches), dpi=dpi)
    labelled = Pattern.from_edges([(0, 1), (1, 2)], node_labels=[1, 2, 123456])
    for drawing in (draw_pattern(named_pattern("ffl")), draw_pattern(labelled)):
        ax = drawing.plot(figure.add_axes((0, 0, 1, 1)))
        figure.canvas.draw()
        (left, _), (right, _) = ax.transData.transform([(0, 0), (1, 0)])
        unit = (right - left) / dpi * 72
        assert [line.get_linewidth() for line in ax.lines] == pytest.approx([drawing.pen * unit] * len(drawing.lines))
        assert len(ax.texts) == len(drawing.words)
        for text, place in zip(ax.texts, drawing.nodes, strict=bool(drawing.words)):
            extent = text.get_window_extent()
            assert extent.width <= 2 * drawing.radius * (right - left)
            assert ax.transData.inverted().transform((extent.x0 + extent.width / 2, 0))[0] == pytest.approx(
                place[0], abs=1
            )
        ax.remove()
    pyplot.close(figure)
