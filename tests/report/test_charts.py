"""Charts: the axes tell what is drawn."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from jaxmotif.report._charts import distributions


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
