"""DotMotif's motifs by jaxmotif's executor, against DotMotif's own where it is installed."""

import networkx as nx
import pytest

from jaxmotif.compat.dotmotif import JaxmotifExecutor, _dicts, query_of
from jaxmotif.language import QueryError

HOST = nx.DiGraph()
HOST.add_nodes_from((name, {"kind": kind}) for name, kind in (("x", "KC"), ("y", "PN"), ("z", "KC"), ("w", "KC")))
HOST.add_weighted_edges_from([("x", "y", 9), ("y", "z", 5), ("z", "x", 7), ("y", "w", 5), ("w", "y", 1)])


class Parsed:
    """What the executor reads of ``dotmotif.Motif``, as DotMotif gives it for a small motif."""

    ignore_direction, exclude_automorphisms, limit = False, False, None

    def __init__(self, edges, edge=(), node=(), dynamic_edge=(), dynamic_node=()):
        self._shape = nx.MultiDiGraph()
        for u, v, exists in edges:
            self._shape.add_edge(u, v, exists=exists, action="SYN")
        self._asked = dict(edge), dict(node), dict(dynamic_edge), dict(dynamic_node)

    def to_nx(self):
        return self._shape

    def list_edge_constraints(self):
        return self._asked[0]

    def list_node_constraints(self):
        return self._asked[1]

    def list_dynamic_edge_constraints(self):
        return self._asked[2]

    def list_dynamic_node_constraints(self):
        return self._asked[3]


PATH = [("A", "B", True), ("B", "C", True), ("A", "C", False)]


def names(found):
    return sorted("".join(match[name] for name in sorted(match)) for match in found)


def test_motifs():
    executor = JaxmotifExecutor(graph=HOST)
    assert names(executor.find(Parsed(PATH))) == ["wyz", "xyw", "xyz", "yzx", "zxy"]
    assert executor.count(Parsed(PATH)) == 5
    assert len(executor.find(Parsed(PATH), limit=2)) == executor.count(Parsed(PATH), limit=2) == 2
    asked = Parsed(
        PATH,
        {("A", "B"): {"weight": {">": [4], "=": [9]}}, ("A", "C"): {}},
        {"C": {"kind": {"==": ["KC"]}}},
        {("A", "B"): {"weight": {">": [("B", "C", "weight")]}}},
        {"A": {"kind": {"==": [("C", "kind")]}}},
    )
    assert names(executor.find(asked)) == ["xyw", "xyz"]
    assert repr(query_of(asked)) == "Query(3 nodes, 2 edges, 1 forbidden edge, 5 conditions)"
    within = Parsed(PATH, (), {"C": {"kind": {"in": [["KC", "GC"]]}, "size": {}}, "B": {"kind": {"in": [("PN",)]}}})
    assert names(executor.find(within)) == ["wyz", "xyw", "xyz"]
    nothing = Parsed(PATH, {("A", "B"): {"colour": {"==": [1]}}})  # DotMotif finds nothing by what no edge has
    assert executor.find(nothing) == []
    undirected = Parsed([("A", "B", True)])
    undirected.ignore_direction = True
    assert executor.count(undirected) == 8
    undirected.exclude_automorphisms = True
    assert executor.count(undirected) == 4


def test_mistakes():
    with pytest.raises(ValueError, match="needs the graph"):
        JaxmotifExecutor()
    with pytest.raises(ValueError, match="'any' or 'all'"):
        JaxmotifExecutor(graph=HOST, multigraph_edge_match="some")
    with pytest.raises(ValueError, match="to itself"):
        JaxmotifExecutor(graph=HOST).find(Parsed([("A", "A", True)]))
    with pytest.raises(TypeError, match="lists of these, got None"):
        JaxmotifExecutor(graph=HOST).find(Parsed(PATH, (), {"A": {"kind": {"==": [None]}}}))
    words = Parsed(PATH, {("A", "B"): {"weight": {">": ["many"]}}})  # of no line of a text
    with pytest.raises(QueryError, match="^attribute 'weight' holds numbers, and 'many' is none") as caught:
        JaxmotifExecutor(graph=HOST).find(words)
    assert (caught.value.line, caught.value.column) == (0, 0)


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_each_match_is_a_dictionary(nodes):
    rows = [[f"{row}{column}" for column in range(nodes)] for row in range(3)]
    found = _dicts("ABCDE"[:nodes], [list(column) for column in zip(*rows, strict=True)])
    assert found == [{"ABCDE"[i]: row[i] for i in range(nodes)} for row in rows]


def test_the_same_as_dotmotif():
    dotmotif = pytest.importorskip("dotmotif", reason="compares with DotMotif where it is installed")
    for text in ("A -> B\nB -> C\nA !> C", "A -> B [weight >= 5]\nB -> C\nA.kind = C.kind", "A -> B\nC -> B"):
        for excluded in (False, True):
            motif = dotmotif.Motif(text, exclude_automorphisms=excluded)
            theirs = dotmotif.GrandIsoExecutor(graph=HOST).find(motif)
            ours = JaxmotifExecutor(graph=HOST).find(motif)
            if excluded:  # of those that can be exchanged, either
                theirs, ours = ([sorted(match.values()) for match in found] for found in (theirs, ours))
                assert sorted(theirs) == sorted(ours)
            else:
                assert names(theirs) == names(ours)
