"""Sums of counts that pass 2^53, 2^62 and 2^63: features, against the counts of graphlets."""

import numpy as np
import pytest

from jaxmotif import node_orbits, pattern_features
from jaxmotif.features import _patterns
from jaxmotif.patterns._catalogue import CONNECTED
from tests.laws.test_large import LEAVES, hub
from tests.more import more

NAMES = ("4-star", "fork", "cricket")


@pytest.mark.parametrize(
    ("limit", "induced"), [*((limit, True) for limit in LEAVES), (2**53, False), *more((2**63, False))]
)
def test_sums_of_orbits_are_exact(limit, induced, monkeypatch):
    graph = hub(LEAVES[limit])
    alone = node_orbits(graph, size=5)
    monkeypatch.setattr(_patterns, "node_orbits", lambda *_, size, **__: {5: alone}[size])  # counted once
    table = (alone if induced else node_orbits(graph, size=5, induced=False)).to_numpy()
    orbits = [g.node_orbits for name in NAMES for g in CONNECTED if g.name == name]
    if limit < 2**63:  # as Python integers a table of all nodes takes long
        at_nodes = pattern_features(graph, NAMES, per="node", induced=induced).values
        expected = [sorted(table[:, orbit].tolist()) for own in orbits for orbit in sorted(set(own))]
        assert sorted(sorted(column.tolist()) for column in at_nodes.T) == sorted(expected)
    whole = pattern_features(graph, NAMES, induced=induced)
    counts = [sum(table[:, own[0]].tolist()) // own.count(own[0]) for own in orbits]
    assert whole.values[0].tolist() == counts
    assert max(counts) > limit
    if limit == 2**53 and not induced:
        assert int(float(counts[0])) != counts[0]  # no float holds it
    assert whole.values.dtype == (object if sum(counts) >= 2**63 else np.int64)
