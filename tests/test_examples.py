"""The examples run and do what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.more
def test_graph_network_learns_from_features_counted_in_its_step():
    example = runpy.run_path(str(EXAMPLES / "graph_network.py"))
    assert example["train"](steps=100) > 0.9
    before, after = example["close_triangles"](steps=50)
    assert before < 0.6 < 0.8 < after
