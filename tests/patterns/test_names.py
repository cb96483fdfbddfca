"""Names of small graphs against strings and numbers written down by hand, and against networkx."""

from collections import Counter
from itertools import permutations

import networkx as nx
import numpy as np
import pytest

from jaxmotif import Graph, count_matches
from jaxmotif.arrays._label_words import in_words
from jaxmotif.patterns import (
    Pattern,
    _pattern,
    as_pattern,
    canonical_string,
    class_columns,
    class_id,
    class_labels,
    class_names,
    graphlet_columns,
    named_pattern,
    przulj_names,
)
from jaxmotif.patterns._readings import role_columns
from jaxmotif.patterns._ruled import RuledPattern
from jaxmotif.patterns._totals import NAMES_5


def test_names_of_classes():
    """By strings written down by hand; the numbers are those of mfinder and FANMOD."""
    triads = {
        "021D": 6,
        "021U": 36,
        "021C": 12,
        "111D": 74,
        "111U": 14,
        "030T": 38,
        "030C": 98,
        "201": 78,
        "120D": 108,
        "120U": 46,
        "120C": 102,
        "210": 110,
        "300": 238,
    }
    wanted = {format(number, "09b"): name for name, number in triads.items()} | {
        "0000000011001100": "bi-fan",
        "0000001110001000": "bi-parallel",
        "0001001010000100": "4-cycle",
        "0000000101001000": "3-chain",
        "0000000000001110": "single-input module",
        "0000000011001110": "multi-output feed-forward loop",
        "0000100011001100": "multi-input feed-forward loop",
        "0010": "arc",
        "0110": "reciprocated pair",
    }
    names = class_names(True)
    triad = {text: name.split()[0] for text, name in names.items() if len(text) == 9}
    assert names | triad == wanted
    few = {text: name for text, name in class_names(False).items() if len(text) <= 16}
    assert few == {
        "0110": "edge",
        "001001110": "2-star",
        "011101110": "triangle",
        "0001000100011110": "3-star",
        "0001001001011010": "4-path",
        "0001001101011110": "tailed-triangle",
        "0011001111001100": "4-cycle",
        "0011001111011110": "chordal-cycle",
        "0111101111011110": "4-clique",
    }


def test_names_are_of_different_classes():
    assert len(class_names(True)) == 22
    assert len(class_names(False)) == 30
    assert sorted(przulj_names()) == sorted(class_names(False))


def _digraphs(size):
    """Every connected directed graph of so many nodes, as a boolean matrix, one a class, by class."""
    cells = [(i, j) for i in range(size) for j in range(size) if i != j]
    found = {}
    for code in range(1 << len(cells)):
        adjacency = np.zeros((size, size), bool)
        for bit, (i, j) in enumerate(cells):
            adjacency[i, j] = code >> bit & 1
        degrees = adjacency.any(axis=0) | adjacency.any(axis=1)
        if degrees.all() and adjacency.tobytes() not in found:
            pattern = Pattern(adjacency, None, None, True)
            connected = len(pattern.components()) == 1
            for p in permutations(range(size)):
                found[adjacency[np.ix_(p, p)].tobytes()] = adjacency if connected else None
    return {canonical_string(Pattern(a, None, None, True)): a for a in found.values() if a is not None}


def _least_number(adjacency):
    """mfinder's number: the least that the matrix, row by row, is over all orders of the nodes."""
    size = len(adjacency)
    orders = list(permutations(range(size)))
    return min(int("".join("01"[int(x)] for x in adjacency[np.ix_(p, p)].ravel()), 2) for p in orders)


@pytest.mark.parametrize(("size", "number"), [(3, 13), (4, 199)])
def test_ids_are_the_least_numbers(size, number):
    classes = _digraphs(size)
    assert len(classes) == number
    ids = {text: class_id(text) for text in classes}
    assert ids == {text: _least_number(adjacency) for text, adjacency in classes.items()}
    for text, value in ids.items():
        assert canonical_string(named_pattern(f"id:{size}:{value}", True)) == text
        assert canonical_string(named_pattern(text, True)) == text
    if size == 4:  # bi-fan, bi-parallel, four-node feedback loop and clique in mfinder's dictionary
        assert {204, 904, 4740, 31710} <= set(ids.values())


def test_przulj_numbers():
    """Orders and sizes of the figure: nodes, edges, degree sequence."""
    wanted = {
        "G0": [1, 1],
        "G1": [1, 1, 2],
        "G2": [2, 2, 2],
        "G3": [1, 1, 2, 2],
        "G4": [1, 1, 1, 3],
        "G5": [2] * 4,
        "G6": [1, 2, 2, 3],
        "G7": [2, 2, 3, 3],
        "G8": [3] * 4,
        "G9": [1, 1, 2, 2, 2],
        "G11": [1, 1, 1, 1, 4],
        "G15": [2] * 5,
        "G17": [1, 2, 2, 3, 4],
        "G19": [1, 2, 3, 3, 3],
        "G21": [2, 2, 2, 3, 3],
        "G27": [3, 3, 3, 3, 4],
        "G29": [4] * 5,
    }
    found = {name: sorted(named_pattern(name).adjacency.sum(axis=0).tolist()) for name in wanted}
    assert found == wanted
    assert {f"G{i}" for i in range(30)} == set(przulj_names().values())


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("Triangle", nx.complete_graph(3)),
        ("6-cycle", nx.cycle_graph(6)),
        ("5-path", nx.path_graph(5)),
        ("7-star", nx.star_graph(7)),
        ("5 clique", nx.complete_graph(5)),
        ("bull", nx.bull_graph()),
        ("house", nx.house_graph()),
        ("diamond", nx.diamond_graph()),
        ("3-star", nx.star_graph(3)),
        ("5-cycle", nx.cycle_graph(5, nx.DiGraph)),
        ("ffl", nx.DiGraph([(0, 1), (1, 2), (0, 2)])),
        ("003", nx.empty_graph(3, nx.DiGraph)),
        ("bi_fan", nx.DiGraph([(0, 2), (0, 3), (1, 2), (1, 3)])),
        ("feedback loop", nx.cycle_graph(3, nx.DiGraph)),
        ("2-clique", nx.DiGraph([(0, 1), (1, 0)])),
    ],
)
def test_names_against_networkx(name, graph):
    found = named_pattern(name, graph.is_directed())
    make = nx.DiGraph if graph.is_directed() else nx.Graph
    assert found.directed == graph.is_directed()
    assert nx.is_isomorphic(nx.from_numpy_array(found.adjacency, create_using=make), graph)


def test_names_of_graphlets_are_all_graphs_of_two_to_five_nodes():
    """As many as there are (A000088), and as many connected ones (A001349)."""
    patterns = [named_pattern(name) for name in NAMES_5]
    assert len({canonical_string(pattern) for pattern in patterns}) == len(patterns)
    assert Counter(pattern.num_nodes for pattern in patterns) == {2: 2, 3: 4, 4: 11, 5: 34}
    connected = Counter(pattern.num_nodes for pattern in patterns if len(pattern.components()) == 1)
    assert connected == {2: 1, 3: 2, 4: 6, 5: 21}


def test_labelled_classes_are_called_by_what_the_labels_are_on():
    labelled = ["0,1:.,0,.,.", "3,7:0010", ".,.,.,0,.,.,4,0,.", "0,0,1:000001110"]
    assert class_columns(labelled, True)["name"] == ["arc", "arc", "030T feed-forward loop", "111U"]


def test_labels_in_words():
    pattern = named_pattern("cell,gene:.,+,.,.", True, {0: "cell", 1: "gene"}, {0: "-", 3: "+"})
    assert canonical_string(pattern) == "0,1:.,3,.,."
    assert canonical_string(named_pattern("3,7:0010")) == "3,7:0010"
    with pytest.raises(ValueError, match="there is no label 'gnee'; there are cell, gene"):
        named_pattern("cell,gnee:0110", False, {0: "cell", 1: "gene"})


@pytest.mark.parametrize(
    ("name", "directed", "message"),
    [
        ("trianlge", None, "near: triangle"),
        ("triangle", True, "is undirected, and here it must be directed"),
        ("ffl", False, "is directed, and here it must be undirected.*or read the graph as directed"),
        ("id204", True, "204 is the number of no class of 3 nodes.*102 is.*id:K:204"),
        ("id:4:1", True, "none on the diagonal"),
        ("100000000", True, "diagonal"),
        ("001101", None, "is no pattern"),
        ("2-cycle", None, "between 3 and 1024"),
        ("9999999999-path", None, "between 1 and 1024"),
        ("", None, "is no pattern"),
        ("0,1,2:01101", None, "is no"),
        ("id:9:4", None, "at most 8"),
        ("0,1:001001110", None, "2 node labels and a matrix of 3 rows"),
        ("4294967301,1:0110", None, "node_labels must fit int32, .*, got .* = 4294967301;"),
    ],
)
def test_wrong_names(name, directed, message):
    with pytest.raises(ValueError, match=message):
        named_pattern(name, directed)


def test_a_number_is_no_name():
    with pytest.raises(TypeError, match="is a string, such as 'ffl' or 'id38', got 38"):
        named_pattern(38)


def test_a_pattern_for_a_target(tmp_path):
    target = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True)
    assert count_matches("ffl", target).count == count_matches("id38", target, induced=True).count == 1
    assert as_pattern([(0, 1)], target).directed
    (tmp_path / "ffl").write_text("0 1\n")
    assert as_pattern(str(tmp_path / "ffl"), target).num_edges == 1  # a file goes first
    with pytest.raises(ValueError, match="there is no file of that name"):
        as_pattern(str(tmp_path / "nothing.txt"), target)


def test_types_of_signed_feed_forward_loops():
    """X to Y to Z beside X to Z: coherent where the direct sign is the product; numbers as in Mangan and Alon 2003."""
    words = {0: "activator", 1: "represses"}
    types = {
        "000": "C1", "110": "C2", "011": "C3", "101": "C4", "001": "I1", "111": "I2", "010": "I3", "100": "I4",
    }  # fmt: skip
    for (xy, xz, yz), kind in types.items():
        text = canonical_string(named_pattern(f".,{xy},{xz},.,.,{yz},.,.,.", True))
        (name,) = class_columns([text], True, (None, words))["name"]
        coherent = int(xz) == int(xy) ^ int(yz)
        assert name == f"030T feed-forward loop ({'' if coherent else 'in'}coherent, {kind})"
    loops = [canonical_string(named_pattern(f".,{a},.,.,.,{b},{c},.,.", True)) for a, b, c in ("000", "010", "111")]
    names = class_columns(loops, True, (None, words))["name"]
    assert [name.partition("(")[2] for name in names] == [
        "positive feedback)",
        "negative feedback)",
        "negative feedback)",
    ]
    assert class_columns(loops, True)["name"] == ["030C 3-cycle"] * 3  # of numbers no sign is known
    signed = [".,1,1,.,.,-1,.,.,.", ".,1,1,.,.,1,.,.,."]
    for further, kinds in ((".,0,.,.", [" (incoherent, I1)", " (coherent, C1)"]), (".,2,.,.", ["", ""])):
        names = class_columns([*signed, further], True)["name"]  # but for 1 and -1 alone
        assert names[:2] == [f"030T feed-forward loop{kind}" for kind in kinds]


def test_a_node_without_edges_has_a_role():
    assert role_columns(named_pattern("010000000")) == ["regulator", "target", "isolated"]


def test_readings_in_words():
    both = named_pattern("0,1,1:.,2,.,2,.,3,.,.,.", True)
    text = canonical_string(both)
    (reading,) = class_columns([text], True, ({0: "TF", 1: "gene"}, {2: "binds", 3: "+"}))["reading"]
    assert reading == "X = gene, Y = TF, Z = gene: X <-[binds]-> Y, X -[+]-> Z"
    assert "reading" not in class_columns(["000100110"], True)


@pytest.mark.parametrize("word", ["a,b", "a:b", ".", "\\", "a\\,", ":", "-"])
def test_words_of_labels_are_never_ambiguous(word):
    nodes, edges = {0: word, 1: "x"}, {0: "y", 1: word}
    for text in ("0,1:.,1,.,.", "1,0:.,.,0,.", "0,0:0110"):
        directed = "," in text.rpartition(":")[2]
        written = in_words(text, nodes, edges)
        again = named_pattern(written, directed, nodes, edges)
        assert canonical_string(again) == canonical_string(named_pattern(text, directed))


def test_columns_that_identify_graphlets():
    names = ["edge", "triangle", "4-cycle", "4-node-1-edge"]
    found = graphlet_columns(names)
    assert found["graphlet"] == names
    assert found["przulj"] == ["G0", "G2", "G5", ""]
    assert found["id"] == [class_id(canonical_string(named_pattern(name))) for name in names]


def test_labels_of_classes_are_short_and_of_one_class_each():
    strings = [canonical_string(named_pattern(name, directed=True)) for name in ("021D", "021U", "030T", "030C", "300")]
    assert class_labels(class_columns(strings, True)) == ["021D", "021U", "030T", "030C", "300"]
    fours = [canonical_string(named_pattern(name)) for name in ("4-cycle", "4-clique", "3-star")]
    labels = class_labels(class_columns(fours, False))
    assert len(set(labels)) == 3


def test_facts_are_found_once_and_are_not_kept_without_end(monkeypatch):
    monkeypatch.setattr(_pattern, "MOST_FACTS", 4)
    path, found = Pattern.from_edges([(0, 1), (1, 2)]), []
    for fact in (0, 1, 1, 2, 3, 0, 4, 0, 0):
        assert path.known(fact, lambda fact=fact: found.append(fact) or -fact) == -fact
    assert found == [0, 1, 2, 3, 4, 0]  # with the fifth, the first four are forgotten
    assert len(path._cache) == 2


def test_patterns_of_one_content_are_one_but_those_with_rules_their_own():
    path, again = Pattern.from_edges([(0, 1), (1, 2)]), Pattern.from_edges([(1, 2), (0, 1)])
    assert path.shared() is again.shared()
    assert path.shared() is not Pattern.from_edges([(0, 1), (1, 2)], node_labels=[0, 0, 1]).shared()
    none = np.zeros((3, 3), bool)
    ruled = RuledPattern(path.adjacency, None, None, False, ~path.adjacency & ~np.eye(3, dtype=bool), none.astype(int))
    assert ruled.shared() is ruled
    assert as_pattern(ruled, Graph.from_edges([(0, 1)]), largest=9, name="query") is ruled
