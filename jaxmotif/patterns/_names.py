"""Names of small graphs: the name of a class in the field, and the pattern of a name, a number or a class string."""

from __future__ import annotations

import collections
import difflib
import math
import os
import re
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmotif.arrays._label_words import plain_word, split_words
from jaxmotif.arrays._present import meant
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._catalogue import CONNECTED, GRAPHLETS_5, TABLES, Edge, edges_of
from jaxmotif.patterns._pattern import Pattern
from jaxmotif.patterns._readings import describe, number_signs, signed_type

if TYPE_CHECKING:
    from jaxmotif.graph import Graph, GraphLike

Words = Mapping[int, str] | None
Edges = Sequence[Edge]

_LARGEST = 1024  # most nodes of k-cycle and the other families
_LARGEST_NAMED = 5  # most nodes of a class with a name
_LONGEST_CODE = 8  # letters of a code that has room at an axis

_CLASSES = {name: edges_of(arcs) for name, arcs in TABLES["directed"]}
"""Directed classes: triads by their census codes (mutual, asymmetric, null dyads), then motifs of the field."""

_FAMILIES: dict[str, tuple[Callable[[int, bool], Edges], int]] = {
    "cycle": (lambda k, _: [(i, (i + 1) % k) for i in range(k)], 3),
    "clique": (lambda k, directed: [(i, j) for i in range(k) for j in range(k) if i < j or (directed and i != j)], 1),
    "path": (lambda k, _: [(i, i + 1) for i in range(k - 1)], 1),
    "star": (lambda leaves, _: [(0, i + 1) for i in range(leaves)], 1),
}
"""Families of patterns by the word after the number: the function that makes the edges, and the least number."""

_WAYS = (
    "a name, a class string such as 000100110, id38 (mfinder's number, of three nodes), id:4:204 (of four), k-cycle, "
    "k-clique, k-path (k nodes) or k-star (k leaves)"
)


@cache
def class_names(directed: bool) -> dict[str, str]:
    """Return common names by class: directed triads and motifs of four nodes, or undirected graphs of up to five.

    Example:
      >>> class_names(True)["000100110"], class_names(False)["001001110"]
      ('030T feed-forward loop', '2-star')
    """
    if directed:
        return {canonical_string(Pattern.from_edges(arcs, directed=True)): name for name, arcs in _CLASSES.items()}
    return {canonical_string(Pattern.from_edges(g.edges, g.num_nodes)): g.name for g in CONNECTED}


def short_name(text: str, directed: bool) -> str:
    """Return the name of a class in the field: for ``030`` triads only the code, without a name the class string.

    Example:
      >>> short_name("000100110", True), short_name("0,1:0110", False)
      ('030T', '0,1:0110')
    """
    name = class_names(directed).get(text, text)
    return name[:4] if name.startswith("030") else name  # "030T feed-forward loop", "030C 3-cycle"


@cache
def przulj_names() -> dict[str, str]:
    """Return Przulj's numbers by class: G0 to G29, for the connected graphs of two to five nodes.

    Reference:
      Przulj: Biological network comparison using graphlet degree distribution, Bioinformatics 2007.

    Example:
      >>> przulj_names()["001001110"], przulj_names()["011101110"]
      ('G1', 'G2')
    """
    return {canonical_string(Pattern.from_edges(g.edges, g.num_nodes)): f"G{i}" for i, g in enumerate(CONNECTED)}


def class_id(text: str) -> int | None:
    """Return the number of a class in mfinder and FANMOD, its string read as binary; ``None`` with labels.

    Example:
      >>> class_id("000100110"), class_id("3,7:0010")
      (38, None)
    """
    return int(text, 2) if set(text) <= {"0", "1"} else None


def class_columns(
    classes: Sequence[str], directed: bool, words: tuple[Words, Words] = (None, None)
) -> dict[str, list[Any]]:
    """Return the columns that identify classes, with which every table of classes begins.

    A class with labels gets the name, and Przulj's number, of the same graph without labels. The name of a signed loop
    of three nodes also has its type; labels 1 and -1 are signs if the classes have no others but 0. If some class has
    labels, one more column reads each labelled class in words.

    Args:
      classes: the strings of the classes.
      directed: whether they have directions.
      words: the words of the labels of nodes and of edges, each ``None`` where labels are numbers.

    Example:
      >>> class_columns(["000100110"], True)
      {'class': ['000100110'], 'id': [38], 'name': ['030T feed-forward loop'], 'przulj': ['']}
      >>> class_columns(["001001110", "3,7,3:001001110"], False)["przulj"]
      ['G1', 'G1']
      >>> signed = class_columns([".,.,.,1,.,.,0,0,."], True, (None, {0: "+", 1: "-"}))
      >>> signed["name"], signed["reading"]
      (['030T feed-forward loop (incoherent, I1)'], ['X -[+]-> Y, X -[+]-> Z, Y -[-]-> Z'])
    """
    names, numbers = class_names(directed), {} if directed else przulj_names()
    plain = [_without_labels(text, directed) for text in classes]
    columns = {
        "class": list(classes),
        "id": [class_id(text) for text in classes],
        "name": [names.get(text, "") for text in plain],
        "przulj": [numbers.get(text, "") for text in plain],
    }
    labelled = [class_id(text) is None for text in classes]
    if any(labelled):
        patterns = [named_pattern(text, directed) if has else None for text, has in zip(classes, labelled, strict=True)]
        signs = words[1] or number_signs(pattern for pattern in patterns if pattern is not None)
        types = ["" if pattern is None else signed_type(pattern, signs) for pattern in patterns]
        columns["name"] = [
            name + (f" ({kind})" if kind else "") for name, kind in zip(columns["name"], types, strict=True)
        ]
        columns["reading"] = ["" if pattern is None else describe(pattern, *words) for pattern in patterns]
    return columns


def class_labels(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a short label of each class for an axis, from its code in the field or its number, and its labels.

    Args:
      columns: what :func:`class_columns` returns.

    Example:
      >>> class_labels(class_columns(["000100110", "0000000110000110"], True))
      ['030T', '390']
      >>> class_labels(class_columns([".,.,.,1,.,.,0,0,.", ".,.,.,.,.,.,0,1,."], True, (None, {0: "+", 1: "-"})))
      ['I1', '021D + -']
    """
    labels = []
    readings = columns.get("reading", [""] * len(columns["class"]))
    for number, name, reading in zip(columns["id"], columns["name"], readings, strict=True):
        code = name.partition(" (")[0]
        code = code.partition(" ")[0] if code.startswith("030") else code
        signed = re.search(r"[CI]\d(?=\)$)", name)
        if number is not None:
            labels.append(code if 0 < len(code) <= _LONGEST_CODE else str(number))
        elif signed:
            labels.append(signed[0])
        else:
            labels.append(" ".join([code, *re.findall(r"(?<== )[^,:]+|(?<=-\[)[^\]]+", reading)]).strip())
    # Where several classes would share a label, each is labelled by its reading in words.
    times = collections.Counter(labels)
    return [reading if times[label] > 1 else label for label, reading in zip(labels, readings, strict=True)]


def _without_labels(text: str, directed: bool) -> str:
    """Return the class of the same graph without labels, or the class itself where none of its size has a name."""
    cells = text.rpartition(":")[2]
    entries, no_edge = (cells.split(","), ".") if "," in cells else (cells, "0")
    if class_id(text) is not None or len(entries) > _LARGEST_NAMED**2:
        return text
    return _unlabelled_class("".join("01"[entry != no_edge] for entry in entries), directed)


@cache
def _unlabelled_class(cells: str, directed: bool) -> str:
    """Return the class of an adjacency matrix of 0 and 1, row by row."""
    size = math.isqrt(len(cells))
    adjacency = np.array([cell == "1" for cell in cells]).reshape(size, size)
    return canonical_string(Pattern(adjacency, None, None, directed))


def graphlet_columns(names: Sequence[str], directed: bool = False) -> dict[str, list[Any]]:
    """Return the columns that identify graphlets, connected or not.

    Example:
      >>> graphlet_columns(["triangle", "4-node-1-edge"])
      {'graphlet': ['triangle', '4-node-1-edge'], 'id': [238, 18], 'przulj': ['G2', '']}
    """
    classes = [_graphlet_class(name, directed) for name in names]
    return {"graphlet": list(names)} | {name: class_columns(classes, directed)[name] for name in ("id", "przulj")}


@cache
def _graphlet_class(name: str, directed: bool) -> str:
    """Return the class of a graphlet."""
    return canonical_string(named_pattern(name, directed))


@cache
def _named(directed: bool) -> dict[str, tuple[Edges, int]]:
    """Return the edges and the number of nodes of each plain name."""
    shapes: dict[str, tuple[Edges, int]]
    if directed:
        shapes = {name: (arcs, max(map(max, arcs)) + 1) for name, arcs in _CLASSES.items()}
        shapes |= {"003": ([], 3), "012": ([(0, 1)], 3), "102": ([(0, 1), (1, 0)], 3)}
    else:
        shapes = {g.name: (g.edges, g.num_nodes) for g in GRAPHLETS_5}
        shapes |= {f"G{i}": (g.edges, g.num_nodes) for i, g in enumerate(CONNECTED)}
    aliases = TABLES["directed aliases" if directed else "undirected aliases"]
    shapes |= {alias: shapes[name] for alias, name in aliases}
    return {_plain(name): shape for name, shape in shapes.items()}


def _plain(name: str) -> str:
    """Return a name in small letters, with hyphens for spaces and underscores."""
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


def named_pattern(
    name: str, directed: bool | None = None, node_words: Words = None, edge_words: Words = None
) -> Pattern:
    """Return the small graph that a name means.

    | name | |
    |---|---|
    | ``triangle``, ``4-clique``, ``bull``, ``5-node-1-edge`` | graphlets of 2 to 5 nodes, connected or not |
    | ``G0`` .. ``G29`` | the connected ones, by Przulj's numbers |
    | ``030T``, ``ffl``, ``bi-fan``, ``003`` | triads by their census codes, and motifs; directed |
    | ``4-cycle``, ``7-path``, ``5-clique``, ``6-star`` | k nodes, or the k leaves of a star; directed: one way round, \
along the path, both ways, out of the center |
    | ``000100110``, ``3,7:0010``, ``cell,gene:.,+,.,.`` | the string of a class, or any adjacency matrix, row by row |
    | ``id38``, ``id:4:204`` | the number of a class in mfinder and FANMOD, of three nodes or of the size that comes \
first |

    Args:
      name: a name; capital letters, spaces and underscores make no difference.
      directed: whether the pattern must be directed; with ``None`` it is undirected where the name allows both.
      node_words: the words that node labels stand for, where a class string has words.
      edge_words: likewise for edge labels.

    Raises:
      TypeError: for anything but a string.
      ValueError: for a name that does not exist (the message has similar names), or for a pattern that is directed
        where it must not be, or the other way round.

    Example:
      >>> named_pattern("ffl"), named_pattern("G7")
      (Pattern(directed, 3 nodes, 3 edges), Pattern(undirected, 4 nodes, 5 edges))
      >>> named_pattern("id:4:204").adjacency.astype(int).tolist()  # the bi-fan
      [[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a pattern is a string, such as 'ffl' or 'id38', got {name!r}")
    pattern = _parse_class(name, node_words, edge_words)
    if pattern is None:
        pattern = _find_name(_plain(name), bool(directed)) or _find_name(_plain(name), not directed)
    elif directed and not pattern.directed:  # a symmetric matrix may be either
        pattern = Pattern(pattern.adjacency, pattern.node_labels, pattern.edge_labels, True)
    if pattern is None:
        raise ValueError(f"{name!r} is no pattern{_similar_names(name, directed)}; one is given as {_WAYS}")
    if directed is not None and pattern.directed != directed:
        own, other = ("directed", "undirected") if pattern.directed else ("undirected", "directed")
        raise ValueError(
            f"the pattern {name!r} is {own}, and here it must be {other}{_similar_names(name, directed)}; take one of "
            f"that kind, or read the graph as {own} (directed={pattern.directed})"
        )
    return pattern


def is_pattern_name(name: str) -> bool:
    """Return whether a word is the name of a pattern (:func:`named_pattern`)."""
    try:
        return named_pattern(name) is not None
    except ValueError:
        return False


_graph_patterns: weakref.WeakKeyDictionary[Graph, Pattern] = weakref.WeakKeyDictionary()
"""The patterns of graphs, each as long as its graph lives."""


def listed_patterns(patterns: Sequence[GraphLike | Pattern], directed: bool) -> list[Pattern]:
    """Return the patterns of a list of names (:func:`named_pattern`), patterns and small graphs."""
    from jaxmotif.graph import as_graph

    def pattern(thing: GraphLike | Pattern) -> Pattern:
        if isinstance(thing, str):
            return named_pattern(thing, directed)
        return thing if isinstance(thing, Pattern) else Pattern.from_graph(as_graph(thing, directed, "pattern"))

    check_listed(patterns)
    return [pattern(thing) for thing in patterns]


def check_listed(patterns: object) -> None:
    """Raise TypeError where something else, such as a name, stands in the place of a list of patterns."""
    if isinstance(patterns, str) or not isinstance(patterns, Collection):
        such = patterns if isinstance(patterns, str) else "triangle"
        raise TypeError(f"patterns must be a list, such as [{such!r}]; got {patterns!r}")


def as_pattern(thing: GraphLike | Pattern, target: Graph, largest: int = _LARGEST, name: str = "query") -> Pattern:
    """Return the pattern that an argument means, for a search in a target.

    Args:
      thing: a :class:`Pattern`; the name of one (:func:`named_pattern`), unless a file has that name; or anything that
        :func:`jaxmotif.graph.as_graph` takes. A graph that does not say whether it is directed is directed if the
        target is.
      target: the graph to search, which the pattern must suit: both directed or not, with the same words for labels.
      largest: most nodes of the pattern.
      name: the name of the argument, for messages.

    Raises:
      TypeError: for anything that is no pattern.
      ValueError: for a pattern that does not suit the target, or is too large.
    """
    from jaxmotif.graph import Graph, as_graph
    from jaxmotif.graph._words import check_words

    if isinstance(thing, str) and not os.path.exists(thing):
        try:
            thing = named_pattern(thing, target.directed, target.node_label_names, target.edge_label_names)
        except ValueError as error:
            missing = "; there is no file of that name" if "is no pattern" in str(error) else ""
            words = "; a query in words is jaxmotif.query(...)" if any(x in thing for x in "<>|") else ""
            raise ValueError(f"{name}: {error}{missing}{words}") from None
    elif not isinstance(thing, Pattern):
        thing = as_graph(thing, target.directed, name)
    size = thing.n if isinstance(thing, Graph) else thing.num_nodes
    if not 1 <= size <= largest:
        raise ValueError(f"the {name} has {size} nodes; it must have 1 to {largest}")
    if thing.directed != target.directed:
        kind = {True: "directed", False: "undirected"}
        raise ValueError(
            f"the {name} is {kind[thing.directed]} and the target {kind[target.directed]}; build both alike "
            "(directed=True or False)"
        )
    if isinstance(thing, Pattern):
        return thing.shared()
    check_words((target, thing))
    if thing not in _graph_patterns:
        _graph_patterns[thing] = Pattern.from_graph(thing).shared()
    return _graph_patterns[thing]


def _find_name(name: str, directed: bool) -> Pattern | None:
    """Return the pattern of a plain name, such as a member of a family like k-cycle, or ``None``."""
    edges, size = _named(directed).get(name, ([], 0))
    if not size and (family := re.fullmatch(rf"(\d+)-({'|'.join(_FAMILIES)})", name)) is not None:
        make, least = _FAMILIES[family[2]]
        k = int(family[1]) if len(family[1]) < 6 else _LARGEST + 1
        if not least <= k <= _LARGEST:
            raise ValueError(f"{name}: the number must be between {least} and {_LARGEST}")
        edges, size = make(k, directed), k + (family[2] == "star")
    return Pattern.from_edges(edges, size, directed) if size else None


def _parse_class(text: str, node_words: Words, edge_words: Words) -> Pattern | None:
    """Return the pattern of a matrix that is written as a number or a string; ``None`` if the text is no matrix.

    The pattern is undirected if the matrix is symmetric.
    """
    text = text.strip()
    if (number := re.fullmatch(r"id[:-]?(?:(\d):)?(\d{1,20})", text.lower())) is not None:
        return _pattern_of_id(int(number[1] or 3), int(number[2]))
    *heads, cells = split_words(text, ":")
    head, colon = ":".join(heads), bool(heads)
    entries = split_words(cells, ",") if "," in cells else list(cells)
    size = math.isqrt(len(entries))
    if not entries or size**2 != len(entries) or ("," not in cells and not set(cells) <= {"0", "1"}):
        return None
    labels = [_label(text, plain_word(word), node_words) for word in split_words(head, ",")] if colon else None
    if labels is not None and len(labels) != size:
        raise ValueError(f"{text!r} has {len(labels)} node labels and a matrix of {size} rows")
    present = np.array([entry != ("." if "," in cells else "0") for entry in entries]).reshape(size, size)
    values = None
    if "," in cells:
        numbers = [0 if entry == "." else _label(text, plain_word(entry), edge_words) for entry in entries]
        values = np.array(numbers, np.int64).reshape(size, size)
    return _pattern_of_matrix(text, present, None if labels is None else np.array(labels, np.int64), values)


def _pattern_of_matrix(text: str, present: np.ndarray, labels: np.ndarray | None, values: np.ndarray | None) -> Pattern:
    """Return the pattern of a matrix of edges, with node labels and edge labels, undirected if symmetric."""
    if present.diagonal().any():
        raise ValueError(f"{text!r} joins a node to itself: the diagonal of its matrix must be empty")
    symmetric = np.array_equal(present, present.T) and (values is None or np.array_equal(values, values.T))
    return Pattern(present, labels, values, not symmetric)


def _pattern_of_id(size: int, number: int) -> Pattern:
    """Return the pattern of a number in mfinder and FANMOD."""
    text = f"{number:b}".zfill(size**2)
    # A number of more bits begins with a 1 on the diagonal.
    if not 1 <= size <= 8 or "1" in text[:: size + 1]:
        raise ValueError(
            f"{number} is the number of no class of {size} nodes (the adjacency matrix, row by row, is {size**2} bits "
            f"with none on the diagonal); id:K:{number} is the one of K nodes, at most 8"
        )
    pattern = _pattern_of_matrix(text, np.array([bit == "1" for bit in text]).reshape(size, size), None, None)
    # Only the least matrix of a class is accepted. Without the size, as in id204 for a bi-fan, a user would otherwise
    # get another class.
    if (least := class_id(canonical_string(pattern))) != number:
        raise ValueError(
            f"{number} is the number of no class of {size} nodes: {least} is that of this matrix, the least over the "
            f"orders of its nodes; id:K:{number} is the one of K nodes"
        )
    return pattern


def _label(text: str, word: str, words: Words) -> int:
    """Return the number of a label that is written as a number or as its word."""
    numbers = [label for label, known in (words or {}).items() if known == word]
    if numbers:
        return numbers[0]
    if words is None and re.fullmatch(r"-?\d{1,18}", word):
        return int(word)
    known = f"; there are {', '.join(sorted(words.values())[:20])}" if words else ""
    raise ValueError(f"{text!r}: there is no label {word!r}{known}{meant(word, (words or {}).values())}")


def _similar_names(name: str, directed: bool | None) -> str:
    """Return the names most like a wrong one, for messages."""
    kinds = (False, True) if directed is None else (directed,)
    known = [plain for kind in kinds for plain in _named(kind)]
    close = difflib.get_close_matches(_plain(name), known, n=4, cutoff=0.5)
    return f" (near: {', '.join(dict.fromkeys(close))})" if close else ""
