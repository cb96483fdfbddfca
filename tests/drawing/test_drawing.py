"""Drawings: every line and head is there, nodes do not lie on lines, words are text."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from jaxmotif import Graph, query
from jaxmotif.drawing import draw_network, draw_pattern
from jaxmotif.drawing._drawing import arrange
from jaxmotif.matching._bind import bind
from jaxmotif.patterns import Pattern, class_names, named_pattern


@pytest.mark.parametrize("directed", [True, False])
def test_named_classes(directed):
    for text, name in class_names(directed).items():
        pattern = named_pattern(text, directed)
        drawing = draw_pattern(pattern, title=name)
        pairs = int(np.triu(pattern.neighbors).sum())
        assert len(drawing.lines) == pairs
        assert len(drawing.heads) == (int(pattern.adjacency.sum()) if directed else 0)
        root = ET.fromstring(drawing.svg(width=64))
        assert root.find("{http://www.w3.org/2000/svg}title").text == name
        assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == pattern.num_nodes
        corners = np.array([*drawing.nodes, *(p for line in drawing.lines for p in line)])
        assert corners.min() >= 0
        assert corners.max() <= 64


@pytest.mark.parametrize("name", ["ffl", "3-cycle", "210", "bi-fan", "300"])
def test_heads_lie_on_their_arcs_and_point_along_them(name):
    """A head is a triangle with its tip before the node that the arc leads to, upright on the line between both."""
    pattern = named_pattern(name, True)
    drawing = draw_pattern(pattern)
    found = []
    for tip, *corners in np.array(drawing.heads):
        base = np.mean(corners, axis=0)
        for u, v in np.argwhere(pattern.adjacency).tolist():
            start, end = np.array([drawing.nodes[u], drawing.nodes[v]])
            along = (end - start) / np.linalg.norm(end - start)
            across = np.array([-along[1], along[0]])
            on_line = np.allclose([(tip - start) @ across, (base - start) @ across], 0)
            before = [(end - place) @ along for place in (tip, base)]
            if on_line and drawing.radius < before[0] < drawing.radius + 3 < before[1] < drawing.radius + 12:
                found.append((u, v))
                assert np.allclose((corners - base) @ along, 0)
                assert np.allclose(sum((corners - base) @ across), 0)
    assert sorted(found) == [(u, v) for u, v in np.argwhere(pattern.adjacency).tolist()]


def test_no_line_leads_through_a_third_node():
    rng = np.random.default_rng(0)
    for k in (4, 5, 6, 8):
        for _ in range(5):
            adjacency = rng.random((k, k)) < 0.4
            np.fill_diagonal(adjacency, False)
            pattern = Pattern(adjacency, None, None, True)
            places = arrange(pattern)
            assert np.linalg.norm(places[:, None] - places[None] + 9 * np.eye(k)[..., None], axis=2).min() > 0.3
            for a, b in np.argwhere(np.triu(pattern.neighbors)):
                for c in set(range(k)) - {int(a), int(b)}:
                    step, to = places[b] - places[a], places[c] - places[a]
                    along = step @ to / (step @ step)
                    aside = abs(step[0] * to[1] - step[1] * to[0]) / math.hypot(*step)
                    assert aside > 0.05 or not 0 < along < 1


def test_arcs_lead_downwards():
    for name in ("ffl", "bi-fan", "bi-parallel", "021U", "021D"):
        pattern = named_pattern(name, True)
        places = arrange(pattern)
        assert all(places[v, 1] >= places[u, 1] - 1e-9 for u, v in np.argwhere(pattern.adjacency)), name


def test_labels_signs_and_marks():
    pattern = named_pattern("0,1,1:.,5,6,.,.,7,.,.,.")
    drawing = draw_pattern(pattern, {0: "a<b", 1: "gene"}, {5: "+", 6: "inhibitory", 7: "binds & holds"}, marked=[2])
    assert drawing.words == ("a<b", "gene", "gene")
    assert [word for _, word in drawing.texts] == ["bin…"]
    # The text stands beside its line, on the side that is farther from the middle of the picture.
    ((place, _),), (start, end) = drawing.texts, np.array(drawing.nodes)[[1, 2]]
    line, centre = (start + end) / 2, np.full(2, drawing.side / 2)
    assert abs((place - line) @ (end - start)) < 0.1 * np.linalg.norm(end - start)
    assert np.linalg.norm(place - centre) > np.linalg.norm(line - centre) + 5
    assert len(drawing.heads) == 2  # the negative arc ends in a bar
    assert len(drawing.lines) == 4
    svg = drawing.svg()
    assert "a&lt;b" in svg
    assert "bin…" in svg
    assert svg.count("--accent") == 1
    ET.fromstring(svg)


def test_marked_nodes_have_the_accent_and_are_larger():
    svg = draw_pattern(named_pattern("ffl"), marked=[1]).svg()
    radii = [float(radius) for radius in re.findall(r'<circle.*? r="(.*?)"', svg)]
    fills = re.findall(r'<circle.*? fill="(.*?)"', svg)
    assert radii == [radii[0], radii[0] + 1, radii[0]]
    assert ["--accent" in fill for fill in fills] == [False, True, False]


def test_unlike_arcs_of_a_pair_go_side_by_side():
    drawing = draw_pattern(named_pattern(".,1,2,.", True))
    (a, b), (c, d) = drawing.lines
    assert not np.allclose([*a, *b], [*d, *c])
    assert len(drawing.texts) == 2


def test_what_must_not_be_there_is_dashed():
    target = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    pattern = bind(query("A -> B; B -> C; A !> C; B !> A"), target)
    drawing = draw_pattern(pattern, names=("A", "B", "C"))
    assert (len(drawing.lines), len(drawing.dashes), len(drawing.heads)) == (2, 2, 4)
    assert drawing.svg().count("stroke-dasharray") == 1
    assert ">B<" in drawing.svg()


def test_too_large(tmp_path):
    with pytest.raises(ValueError, match="41 nodes is too large to draw; at most 40"):
        draw_pattern(named_pattern("41-cycle"))
    with pytest.raises(ValueError, match="a network of 41 nodes is too large to draw; at most 40"):
        draw_network(Graph.from_edges([(0, 40)]))
    draw_pattern(named_pattern("40-cycle")).save(tmp_path / "ring.svg")
    assert ET.parse(tmp_path / "ring.svg").getroot().get("width") == "256"
