"""The phases of a plan: in NumPy and on the device alike, and the domains against their definition."""

import re

import numpy as np
import pytest

from jaxmotif.arrays._bits import unpack_bits
from jaxmotif.graph import Graph
from jaxmotif.matching._options import FILTERS, Options, Search
from jaxmotif.matching._target import index_target
from jaxmotif.matching.planner import _device, _host
from jaxmotif.matching.planner._ask import ABSENT, ANY, constrain_query
from jaxmotif.matching.planner._order import choose_order
from jaxmotif.matching.planner._placements import Layout
from jaxmotif.matching.planner._reduce import filter_target, reduce_and_measure
from jaxmotif.matching.planner._tally import choose_tallied_orders, lay_out
from jaxmotif.patterns import Pattern
from tests.matching.oracle import PAD, random_graph
from tests.more import more


def reference_domains(asked, host, filters):
    """By definition: bool ``[k, n]``, nodes in no order."""
    query, n = asked.query, host.num_nodes
    keep = np.ones((query.num_nodes, n), bool)
    if query.node_labels is not None:
        keep &= host.node_labels[None] == query.node_labels[:, None]
    sides = [(query.adjacency, host.adjacency)]
    if query.directed:
        sides.append((query.adjacency.T, host.adjacency.T))
    for wanted, given in sides:
        if "degree" in filters:
            keep &= given.sum(axis=1)[None] >= wanted.sum(axis=1)[:, None]
        if "frequency" in filters:
            for label in set(query.node_labels.tolist()):
                had, ask = given[:, host.node_labels == label], wanted[:, query.node_labels == label]
                keep &= had.sum(axis=1)[None] >= ask.sum(axis=1)[:, None]

    def pairs(u, x):
        """Which pairs of target nodes (v, w) u and x may be mapped to."""
        kind = asked.kinds[asked.which[u, x]]
        there, back = (host.adjacency, host.adjacency.T)[:: 1 - 2 * kind.direction]
        fits = there.copy()
        labels = host.edge_labels
        if labels is not None:
            labels, back_labels = (labels, labels.T)[:: 1 - 2 * kind.direction]
            if kind.labelled:
                fits &= labels == kind.label
            if kind.reverse_labelled:
                fits &= back_labels == kind.reverse_label
        return fits if kind.reverse == ANY else fits & (back != (kind.reverse == ABSENT))

    while "consistency" in filters:
        before = keep.copy()
        for u, x in np.argwhere(asked.which >= 0):
            keep[u] &= (pairs(u, x) & keep[x]).any(axis=1)
        if (before == keep).all():
            break
    return keep


@pytest.mark.parametrize(
    ("directed", "filters"),
    [
        (False, FILTERS), (True, FILTERS), (False, ("label", "degree")), (False, ("label", "frequency")),
        *more((True, ("label", "degree")), (True, ("label", "frequency"))),
    ],
)  # fmt: skip
def test_domains_are_those_defined(directed, filters, monkeypatch):
    smaller = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        host, target = random_graph(rng, 15, rng.choice([0.15, 0.3]), directed, 3, 2)
        query, _ = random_graph(rng, int(rng.integers(2, 6)), 0.5, directed, 3, 2)
        asked = constrain_query(query, Options(induced=bool(seed % 2)))
        expected = reference_domains(asked, host, filters)
        # Slots beside dropped nodes alone are looked at, or all.
        monkeypatch.setattr(_host, "FEW_SLOTS", 0 if seed % 2 else 2**13)
        smaller += not expected.all()
        for on_host in (True, False):
            index = index_target(target, True, on_host)
            options = Options(induced=bool(seed % 2), search=Search(filters=filters))
            kept = filter_target(index, asked, None, options)
            found = unpack_bits(np.ascontiguousarray(np.asarray(kept.bits).T))[:15, : query.num_nodes].T
            assert (found[:, np.argsort(np.asarray(index.ids)[:15])] == expected).all()
            assert kept.sizes.tolist() == expected.sum(axis=1).tolist()
            alive = expected.any(axis=0)
            assert [kept.nodes, kept.slots] == [
                alive.sum(),
                (host.neighbors if not directed else host.adjacency)[alive][:, alive].sum(),
            ]
    assert smaller > 6


def measure(index, asked, options):
    """The phases up to the measures; ``None`` where some domain is empty."""
    kept = filter_target(index, asked, None, options)
    return None if kept.empty else reduce_and_measure(index, asked, kept, options)


@pytest.mark.parametrize("directed", [True, *more(False)])
def test_lists_and_measures_are_alike(directed, monkeypatch):
    compared = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        # Lists of one family at a time, of two, or of all.
        monkeypatch.setattr(_host, "SLOTS_AT_ONCE", (1, 250, 2**20)[seed % 3])
        _, target = random_graph(rng, 15, 0.5, directed, 2, 2)
        query, _ = random_graph(rng, 3, 0.5, directed, 2, 2)
        options = Options(induced=bool(seed % 2))
        homes = [index_target(target, True, on_host) for on_host in (True, False)]
        found = [measure(index, constrain_query(query, options), options) for index in homes]
        if found[0] is None:
            assert found[1] is None
            continue
        compared += 1
        (lists, here), (other, there) = found
        for name in here._fields:
            np.testing.assert_allclose(getattr(here, name), getattr(there, name), rtol=1e-6)
        count = int(lists.families.count)
        np.testing.assert_array_equal(lists.families.rows[:count], other.families.rows[:count])
        assert lists.totals[:count].tolist() == other.totals[:count].tolist()
        assert lists.longest[:count].tolist() == other.longest[:count].tolist()
        # Nodes in blocks, of which the last one overlaps another.
        in_blocks = (_device.measure_lists(other.families, options, block) for block in (6, 2**14))
        for one, whole in zip(*in_blocks, strict=True):
            np.testing.assert_array_equal(one, whole)
    assert compared > 3


def test_the_shape_of_what_is_asked():
    rng = np.random.default_rng(0)
    query, target = random_graph(rng, 5, 0.5, True, 2, None)
    asked = constrain_query(query, Options(induced=True))
    apart = ~query.neighbors & ~np.eye(5, dtype=bool)
    for direction, non_neighbours in enumerate(asked.non_neighbours):
        assert {asked.kinds[i].direction for i in non_neighbours[apart]} == {direction}
        assert (non_neighbours[~apart] == -1).all()
    assert np.stack(asked.joined()[:2], axis=1).tolist() == np.argwhere(query.neighbors).tolist()
    assert target.node_capacity == PAD[0]


@pytest.mark.parametrize(("of", "each", "added"), [("node", 2**30, 2), ("edge", 2**31, 1)])
def test_as_many_cells_as_their_numbers_tell_apart(of, each, added):
    """Of a triangle, two nodes or one edge: lists are said to be so long, since filling them would take gigabytes."""
    triangle, options = [(0, 1), (1, 2), (2, 0)], Options(tally=of)
    asked = constrain_query(Pattern.from_edges(triangle), options)
    lists, measured = measure(index_target(Graph.from_edges(triangle), True, True), asked, options)
    order = choose_order(asked, measured, options.search, closed_form=True, allowed=None)
    [tallied] = choose_tallied_orders(asked, order, measured, options, None)

    def cells(number):
        longer = lists._replace(nodes=number) if of == "node" else lists._replace(totals=np.full(3, number))
        return lay_out(tallied, Layout(asked, tallied.order, longer, measured)).size

    assert cells(each - 1) == added * (each - 1) < 2**31
    with pytest.raises(ValueError, match=re.escape(f"{2**31} candidate edges, over the limit of {2**31 - 1}")):
        cells(each)
