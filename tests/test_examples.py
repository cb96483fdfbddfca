"""The examples run and do what they say."""

import runpy
from pathlib import Path

import jax
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.more
def test_graph_network_learns_from_features_counted_in_its_step():
    example = runpy.run_path(str(EXAMPLES / "graph_network.py"))
    assert example["train"](steps=100) > 0.9
    before, after = example["close_triangles"](steps=50)
    assert before < 0.6 < 0.8 < after


def test_one_ring_and_two_have_equal_colors_but_not_graphlets():
    example = runpy.run_path(str(EXAMPLES / "data_set.py"))
    graphs = example["rings"]([[6], [3, 3]])
    graphlets, colors = example["similarities"](graphs)
    assert graphlets < 0.9 < 0.999 < colors
    triangles = example["encodings"](graphs).sum(axis=1)
    assert triangles[:6].max() < triangles[6:].min()


@pytest.mark.more
def test_modules_of_equinox_and_flax_learn(monkeypatch):
    pytest.importorskip("equinox")
    pytest.importorskip("flax")
    monkeypatch.syspath_prepend(EXAMPLES)  # its data set is that of another example
    example = runpy.run_path(str(EXAMPLES / "modules.py"))
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):  # for what is in the libraries
        assert example["train_equinox"](steps=60) > 0.9
        assert example["train_flax"](steps=60) > 0.9
