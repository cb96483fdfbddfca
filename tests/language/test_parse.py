"""Texts and what they say; broken ones, and where they break."""

import random
import re
import sys

import pytest

from jaxmotif.graph import Graph
from jaxmotif.language import QueryError, parse
from jaxmotif.language._parse import _parser
from jaxmotif.matching._bind import bind
from jaxmotif.patterns._ruled import RuledPattern

TEXTS = (
    'A -> B; B -> C [type="inhibitory", weight > 20]; A !> C; A.kind = "KC"',
    "# a feed-forward loop\nA -> B # first\nB -> C\nA -> C",
    "A -> B as ab\nB -> C as bc\nab.weight >= bc.weight\nA.x != C.y\nA === C",
    'pair(x, y) { x -> y; y -> x }\nring(a, b, c) {\n pair(a, b)\n b -> c [w <= -1.5e3] as e\n e.t contains "q"\n'
    " a.s !in [1, 'two', true]\n}\nring(P, Q, R)\nring(R, S, P)",
    'A ~> B; A -> C; C -> B [p <> 3]; A[\'a key\'] in "abc"; B["b key"] !contains x; C.y == C.z',
)


def test_what_a_text_says():
    query = parse(TEXTS[0])
    assert query.names == ("A", "B", "C")
    assert [(e.source, e.target, e.present) for e in query.edges] == [(0, 1, True), (1, 2, True), (0, 2, False)]
    assert [clause[:3] for clause in query.edges[1].clauses] == [("type", "==", "inhibitory"), ("weight", ">", 20)]
    assert [(node, *clause[:3]) for node, clause in query.clauses] == [(0, "kind", "==", "KC")]
    assert repr(query) == "Query(3 nodes, 2 edges, 1 forbidden edge, 3 conditions)"
    query = parse(TEXTS[2])
    assert [c[:5] for c in query.comparisons] == [((0, 1), "weight", ">=", (1, 2), "weight"), (0, "x", "!=", 2, "y")]
    assert [twins[:2] for twins in query.twins] == [(0, 2)]


def test_macros_are_written_out():
    query = parse(TEXTS[3])
    assert query.names == ("P", "Q", "R", "S")
    assert [(e.source, e.target) for e in query.edges] == [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (3, 0)]
    named = [edge for edge in query.edges if edge.clauses]
    assert [(e.source, e.target, *(c[:3] for c in e.clauses)) for e in named] == [
        (1, 2, ("w", "<=", -1500.0), ("t", "contains", "q")),
        (3, 0, ("w", "<=", -1500.0), ("t", "contains", "q")),
    ]
    assert [(node, *clause[:3]) for node, clause in query.clauses] == [
        (0, "s", "!in", (1, "two", True)),
        (2, "s", "!in", (1, "two", True)),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "needs an edge"),
        ("A.x = 1", 1, 1, "A is neither a node of an edge nor a named edge"),
        ("A => B", 1, 3, "expected .*, found '='"),
        ("A -> B\nB -> C [w", 2, 10, "expected .*, found the end"),
        ("A -> A", 1, 1, "one node"),
        ("A -> B; A !> B", 1, 9, "both wanted and forbidden"),
        ("A -| B", 1, 3, "what kind of edge"),
        ("A -> B; A -> C as A_; B -> C as A_", 1, 33, "two edges named"),
        ("A -> B as C; B -> C; C.kind = 1", 1, 22, "C is the name of a node and of an edge"),
        ("m(x, y) { x -> y as y; y.w > 1 }; m(A, B)", 1, 24, "y is the name of a node and of an edge"),
        ("m(x, y) { x -> y }; m(x, y) { m(x, y) }", 1, 21, "two macros m"),
        ("\n".join(f"m{i}(x, y) {{ x -> y }}" for i in range(101)), 101, 1, "at most 100 macros"),
        ("A -> B; A !> C as ac", 1, 19, "no attributes to name"),
        ("m(x) { x -> y }; m(A)", 1, 13, "y is no parameter"),
        ("m(x) { m(x) }", 1, 8, "no macro m above"),
        ("m(x, y) { x -> y }\nm(A)", 2, 1, "takes 2 names, here are 1"),
        ("A -> B; A === A", 1, 9, "interchangeable with itself"),
    ],
)
def test_mistakes(text, line, column, problem):
    with pytest.raises(QueryError, match=problem) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert re.match(rf"query, line {line}, column {column}( \(.*\))?: ", str(caught.value))


def test_without_lark_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lark", None)
    _parser.cache_clear()
    with pytest.raises(ImportError, match=r"jaxmotif\[query\]"):
        parse("A -> B")
    with pytest.raises(TypeError, match="a query is text, got list"):
        parse(["A -> B"])


def test_macros_that_grow_without_limit_are_refused():
    lines = ["m0(a, b) { a -> b }"] + [f"m{i}(a, b) {{ m{i - 1}(a, b) m{i - 1}(b, a) }}" for i in range(1, 40)]
    with pytest.raises(QueryError, match="over the limit of 65536 statements"):
        parse("\n".join([*lines, "m39(A, B)"]))


def test_two_thousand_broken_texts_are_answered_or_refused_with_a_place():
    """What can be read is also bound to a graph that has most of the attributes."""
    columns = {name: [3, "KC", None] for name in ("kind", "x", "y", "s", "a key", "b key", "z")}
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], directed=True, pad=None)
    graph = graph.with_attributes(
        columns, {"weight": [1, 2, 3], "w": [0.5, None, 2], "p": [3, 4, 5], "t": ["q", "", 1]}
    )
    rng = random.Random(1)
    words = [word for text in TEXTS for word in re.findall(r"\w+|\s|.", text)]
    read = 0
    for _ in range(2000):
        text = list(rng.choice(TEXTS))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text) + 1)
            change = rng.randrange(4)
            if change == 0:
                text[at : at + rng.randint(1, 6)] = []
            elif change == 1:
                text[at:at] = rng.choice(words)
            elif change == 2:
                text[at:at] = chr(rng.choice([rng.randrange(32, 127), rng.randrange(1, 0xD000)]))
            else:
                other = rng.randrange(len(text) + 1)
                text[at:at] = text[other : other + 12]
        written = "".join(text)
        error = None
        try:
            read += isinstance(bind(parse(written), graph), RuledPattern)
        except QueryError as problem:
            error = problem
        if error is not None:
            assert 1 <= error.line <= written.count("\n") + 1
            assert 1 <= error.column <= len(written) + 1
            assert len(str(error)) < 400
    assert 100 < read < 1900
