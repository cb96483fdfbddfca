"""Charts: the axes tell what is drawn."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from jaxmotif.drawing import draw_pattern
from jaxmotif.patterns import named_pattern
from jaxmotif.report._charts import Profile, distributions, profile_chart


@pytest.mark.parametrize("values", [[0, 1, 1, 2, 50, 50, 50, 1000], [1] * 300 + [7] * 20 + [10**5], [3]])
def test_points_of_a_distribution_are_read_off_by_its_axes(values):
    """By the words at the ends of both axes, as a reader does, each point is a number and how many nodes have it."""
    body = distributions({"orbit": np.array(values)}, {"orbit": ""})
    chart = ET.fromstring(body[body.index("<svg") : body.index("</svg>") + len("</svg>")])
    words = [(float(text.get("x")), float(text.get("y")), text.text) for text in chart.iter("text")]
    ticks = {"k": 1e3, "M": 1e6}
    numbers = [float(word.strip("kM")) * ticks.get(word[-1], 1) for _, _, word in words]
    (left, below), (right, _), (_, low), (_, high) = ((x, y) for x, y, _ in words)
    assert numbers[0] == numbers[2] == 1
    assert below > low > high
    found = set()
    for point in chart.iter("circle"):
        across = (float(point.get("cx")) - left) / (right - left)
        up = (low - float(point.get("cy"))) / (low - (high - 4))
        found.add((round(numbers[1] ** across, 6), round(numbers[3] ** up, 6)))
    expected = np.unique([x for x in values if x], return_counts=True)
    for (x, y), degree, nodes in zip(sorted(found), *expected, strict=True):
        assert x == pytest.approx(degree, rel=0.05)
        assert y == pytest.approx(nodes, rel=0.05)
    assert f"{values.count(0)} nodes never" in body


def test_a_line_has_a_gap_where_a_class_has_no_value():
    """Also at the end, and not where the value before the last one is missing."""
    values = np.array([0.1, 0.2, np.nan, 0.3, 0.4, np.nan])
    profile = Profile("a", values, values - 1, values + 1, values > 1)
    chart = profile_chart(list("abcdef"), [draw_pattern(named_pattern("ffl"))] * 6, [profile])
    (line,) = re.findall('<path class="line" d="([^"]*)"', chart)
    assert re.sub("[^A-Z]", "", line) == "MLML"


@pytest.mark.parametrize("classes", [17, 120])
def test_a_profile_of_many_classes_is_of_stems_and_the_points_of_motifs(classes):
    """There is no room for drawings, nor at last for labels; a class without a value has neither stem nor point."""
    rng = np.random.default_rng(classes)
    values, unusual = rng.random(classes) + 0.1, np.arange(classes) % 5 == 0
    values[3] = np.nan
    chart = ET.fromstring(
        profile_chart([f"c{i}" for i in range(classes)], [], [Profile("a", values, values - 1, values + 1, unusual)])
    )
    (path,) = (line.get("d") for line in chart.iter("path"))
    stems = np.array(re.findall(r"M(\S+) (\S+)V([^M]+)", path), float)
    (zero,) = (float(line.get("y1")) for line in chart.iter("line") if line.get("class") == "zero")
    assert (stems[:, 1] == zero).all()
    present = np.flatnonzero(np.isfinite(values))
    heights = zero - stems[:, 2]
    np.testing.assert_allclose(heights / heights[0], values[present] / values[0], atol=0.01)
    points = [(float(point.get("cx")), float(point.get("cy"))) for point in chart.iter("circle")]
    assert points == [tuple(stem) for stem in stems[unusual[present]][:, [0, 2]].tolist()]
    words = [text.text for text in chart.iter("text")]
    assert ("c0" in words) == (classes <= 80)
    assert len(list(chart.iter("rect"))) == classes - 1
