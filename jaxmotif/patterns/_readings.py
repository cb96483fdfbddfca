"""Readings of labelled classes in words: who acts on whom and how; types of signed feed-forward and feedback loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from jaxmotif.patterns._automorphisms import node_orbits
from jaxmotif.patterns._catalogue import TABLES
from jaxmotif.patterns._pattern import Pattern

Words = Mapping[int, str] | None

_SIGNS = {word: sign for sign, words in TABLES["signs"] for word in words.split()}
"""Signs by the words that say so, in small letters."""

_LOOPS = dict(TABLES["signed feed-forward loops"])
"""Types of feed-forward loops by the signs of X -> Y, X -> Z and Y -> Z (Mangan and Alon, PNAS 2003)."""


def sign_of(word: str) -> str:
    """Return the sign that a word stands for, ``+`` or ``-``, and an empty string for other words.

    Example:
      >>> sign_of("Activator"), sign_of("inhibits"), sign_of("binds")
      ('+', '-', '')
    """
    return _SIGNS.get(word.lower(), "")


def number_signs(patterns: Iterable[Pattern]) -> Words:
    """Return the signs for which the edge labels 1 and -1 of patterns stand, or ``None`` if they have other labels.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> number_signs([named_pattern(".,1,.,.", True), named_pattern(".,-1,.,.", True)])
      {-1: '-', 0: '', 1: '+'}
      >>> number_signs([named_pattern(".,1,.,.", True), named_pattern(".,0,.,.", True)])
    """
    labels: set[int] = set()
    for pattern in patterns:
        if pattern.edge_labels is not None:
            labels.update(pattern.edge_labels[pattern.adjacency].tolist())
    return {-1: "-", 0: "", 1: "+"} if -1 in labels and labels <= {-1, 0, 1} else None


def signed_type(pattern: Pattern, edge_words: Words) -> str:
    """Return the type of a signed loop of three nodes, and an empty string for other patterns.

    A feed-forward loop is coherent where its direct arc has the sign of the path beside it. A feedback loop is positive
    where an even number of its arcs is negative.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> signed_type(named_pattern(".,.,.,1,.,.,0,0,.", True), {0: "+", 1: "-"})
      'incoherent, I1'
    """
    adjacency = pattern.adjacency
    if not pattern.directed or pattern.edge_labels is None or pattern.num_nodes != 3 or adjacency.sum() != 3:
        return ""
    out = adjacency.sum(axis=1)
    sign = [[sign_of((edge_words or {}).get(label, "")) for label in row] for row in pattern.edge_labels.tolist()]
    if sorted(out) == [0, 1, 2] and sorted(adjacency.sum(axis=0)) == [0, 1, 2]:
        x, y, z = np.argsort(-out).tolist()
        return _LOOPS.get(sign[x][y] + sign[x][z] + sign[y][z], "")
    signs = "".join(sign[a][b] for a, b in np.argwhere(adjacency).tolist())
    if (out == 1).all() and (adjacency.sum(axis=0) == 1).all() and len(signs) == 3:
        return "negative feedback" if signs.count("-") % 2 else "positive feedback"
    return ""


def describe(pattern: Pattern, node_words: Words = None, edge_words: Words = None) -> str:
    """Return who acts on whom in a pattern with labels, in words that a terminal shows.

    Nodes are lettered, those with most arcs out first, and an arc's label stands in its middle.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> describe(named_pattern("0,1:.,3,.,.", True), {0: "cell", 1: "gene"}, {3: "+"})
      'X = cell, Y = gene: X -[+]-> Y'
      >>> describe(named_pattern("5,6,6:001001110", False))
      'X = 6, Y = 5, Z = 6: X - Z, Y - Z'
    """
    adjacency, size = pattern.adjacency, pattern.num_nodes
    order = np.lexsort((np.arange(size), adjacency.sum(axis=0), -adjacency.sum(axis=1)))
    if not pattern.directed:
        order = order[::-1]
    letters = {int(node): "XYZWVUTSRQ"[i] if size <= 10 else f"n{i}" for i, node in enumerate(order)}

    def word(label: int, words: Words) -> str:
        return (words or {}).get(label, str(label))

    def arrow(a: int, b: int) -> str:
        head = ">" if pattern.directed else ""
        label = "" if pattern.edge_labels is None else word(int(pattern.edge_labels[a, b]), edge_words)
        return f"-[{label}]-{head}" if label else f"-{head}"

    parts = []
    for i, a in enumerate(order.tolist()):
        for b in order[i + 1 :].tolist():
            both = adjacency[a, b] and adjacency[b, a] and pattern.directed
            same = both and arrow(a, b) == arrow(b, a)
            if same:
                parts.append(f"{letters[a]} <{arrow(a, b)} {letters[b]}")
                continue
            if adjacency[a, b]:
                parts.append(f"{letters[a]} {arrow(a, b)} {letters[b]}")
            if adjacency[b, a] and pattern.directed:
                parts.append(f"{letters[b]} {arrow(b, a)} {letters[a]}")
    said = ""
    if pattern.node_labels is not None:
        kinds = pattern.node_labels.tolist()
        said = ", ".join(f"{letters[i]} = {word(kinds[i], node_words)}" for i in order.tolist()) + ": "
    return said + ", ".join(parts)


def role_words(pattern: Pattern) -> list[str]:
    """Return what each node does in a pattern, in a word or two; nodes that automorphisms exchange have the same words.

    Among one-way arcs, a regulator has only outgoing ones, a target only incoming ones, and an intermediate both.
    "mutual" says that the node also has reciprocated arcs, "isolated" that it has none. In undirected patterns the
    words are the degree. Roles that would have the same words are numbered.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> role_words(named_pattern("ffl")), role_words(named_pattern("120D"))
      (['regulator', 'intermediate', 'target'], ['mutual target', 'mutual target', 'regulator'])
      >>> role_words(named_pattern("4-path", False))
      ['degree 2', 'degree 2', 'degree 1', 'degree 1']
    """
    adjacency, orbits = pattern.adjacency, node_orbits(pattern)
    if len(set(orbits.tolist())) == 1:
        return ["member"] * pattern.num_nodes
    sends, receives, mutual = (
        {u for u, v in np.argwhere(kind).tolist()}
        for kind in (adjacency & ~adjacency.T, adjacency.T & ~adjacency, adjacency & adjacency.T)
    )
    words = []
    for node in range(pattern.num_nodes):
        if not pattern.directed:
            words.append(f"degree {adjacency[node].sum()}")
            continue
        kind = ("", "target", "regulator", "intermediate")[2 * (node in sends) + (node in receives)]
        words.append(" ".join(filter(None, ("mutual" * (node in mutual), kind))) or "isolated")
    numbered = []
    for node, word in enumerate(words):
        alike = sorted({orbit for orbit, other in zip(orbits.tolist(), words, strict=True) if other == word})
        numbered.append(f"{word} {alike.index(orbits[node]) + 1}" if len(alike) > 1 else word)
    return numbered


def role_columns(pattern: Pattern) -> list[str] | None:
    """Return a name for each node of a pattern by its role, or ``None`` where there are no names.

    Only directed patterns with several roles have names. Nodes that share a role are numbered.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> role_columns(named_pattern("120D")), role_columns(named_pattern("triangle", False))
      (['mutual_target_1', 'mutual_target_2', 'regulator'], None)
    """
    words = [word.replace(" ", "_") for word in role_words(pattern)]
    if not pattern.directed or len(set(words)) == 1:
        return None
    return [f"{word}_{words[:i].count(word) + 1}" if words.count(word) > 1 else word for i, word in enumerate(words)]
