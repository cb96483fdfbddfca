"""The course of a check: what is compared with what, and what follows from it."""

import os
import time
from dataclasses import dataclass, field
from math import comb

import numpy as np

from ._algebra import Query
from ._certificate import FORMAT, Refused, check_form, need, read_certificate, seed_of
from ._counts import count_around, count_around_nodes, count_graphlets
from ._graph import Shape, SimpleGraph, canonical, copies, graph_from_edges, is_connected, orbit_size, unrooted
from ._modular import P, digest, random_rows, random_weights, row_weights, sum_of_products, weighted_sums

ROWS = {"edge_graphlets": "edges", "node_orbits": "nodes", "subgraph_census": "nodes", "count_matches": "nodes"}
"""What the rows of the table are, of the jobs that have one. ``graphlet_counts`` and ``find_matches`` have none."""

ALMOST = "1 - 2^-59"
"""Least probability with which a sum with random weights tells two tables apart."""

ALL = {2: 2, 3: 4, 4: 11, 5: 34}
"""Number of graphs with so many nodes."""


@dataclass
class Report:
    """Findings of a check.

    Attributes:
      accepted: whether something was checked, and all of it holds.
      reason: what does not hold, if anything.
      checked: statements, each with the probability with which it would have been refused if it were wrong.
      open: what is not checked.
      names: what the names in statements mean: a small graph, with the numbers of the labels of its nodes and arcs.
    """

    accepted: bool
    reason: str = ""
    checked: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.accepted:
            return f"refused: {self.reason}"
        lines = [f"checked: {text}\n    (if wrong, refused with probability {p})" for text, p in self.checked.items()]
        lines += [f"not checked: {text}" for text in self.open]
        return "\n".join([*lines, *(f"here {name} is {meaning}" for name, meaning in self.names.items()), "accepted"])


def check(
    certificate: str | os.PathLike | dict, graph: SimpleGraph, answer: np.ndarray | None = None, seconds: float = 60.0
) -> Report:
    """Check a certificate against a graph.

    Args:
      certificate: the path of the file, or what is in it.
      graph: the graph, from :func:`graph_from_edges`. Its directions and labels do not count if the
        certificate leaves them out.
      answer: the table that the certificate is about, or the maps that were listed, integers ``[rows, columns]``.
      seconds: about how much CPU time the check may take. What it has not finished by then stays open.

    Raises:
      OSError: the file cannot be read.
    """
    try:
        if isinstance(certificate, dict):
            check_form(certificate)
        else:
            certificate = read_certificate(os.fspath(certificate))
        return _Check(certificate, graph, answer, seconds).run()
    except Refused as refused:
        return Report(False, str(refused))
    except (ValueError, LookupError, OverflowError) as error:  # lists that do not fit each other, and the like
        return Report(False, f"the parts of the certificate do not fit each other ({error})")


class _Check:
    def __init__(self, certificate: dict, graph: SimpleGraph, answer: np.ndarray | None, seconds: float):
        need(certificate["format"] == FORMAT, f"the format is {certificate['format']!r}; this checker reads {FORMAT!r}")
        described, self._claim, self._drawn = certificate["graph"], certificate["claim"], certificate["witnesses"]
        self._job, self._table, self._prints = self._claim["job"], self._claim["table"], certificate["fingerprints"]
        self._deadline, self._report, self._answer = time.process_time() + seconds, Report(True), answer
        node_labels = graph.node_labels if described["node_labels"] else None
        edge_labels = graph.edge_labels if described["edge_labels"] else None
        directed = graph.directed and described["directed"]
        self._graph = graph_from_edges(graph.edges, graph.nodes, directed, node_labels, edge_labels)
        own = self._graph.described()
        need(own == described, f"the certificate is of another graph than this one, which is {own}")
        need(self._job in (*ROWS, "graphlet_counts", "find_matches"), "the job is unknown")
        self._rows = own[ROWS[self._job]] if self._claim["columns"] else 0
        need(self._table["rows"] == self._rows, "the table has not a row for each edge or node")
        self._seed, self._own = seed_of(certificate), {}
        self._weights = row_weights(self._seed, self._rows)

    def run(self) -> Report:
        """Check everything, and return what was found."""
        for described in self._claim["shapes"] + self._claim["columns"]:
            pairs = [f"{u}>{v}: {k}" for u, row in enumerate(described["arcs"]) for v, k in enumerate(row) if k]
            text = f"with nodes {described['labels']}, {described['roots']} in the root, and arcs {', '.join(pairs)}"
            self._report.names[described["name"]] = text
        if self._answer is not None and self._job != "find_matches":
            need(self._answer.shape == (self._rows, len(self._prints)), "the answer has another shape")
            need(digest(self._answer) == self._table["sha256"], "the answer is not the table of the certificate")
            self._report.checked["your table is the one of the certificate, by its SHA-256"] = "1"
        elif self._rows:
            self._report.open.append(f"whether your table is the one with SHA-256 {self._table['sha256']}")
        if self._job in ("count_matches", "find_matches"):
            self._check_maps()
        else:
            self._check_shapes()
        need(self._report.checked, "nothing could be checked")
        return self._report

    def _check_maps(self) -> None:
        """Count the maps by algebra, and compare their number, and where they lead or which they are."""
        claim, ((described,), (count,)) = self._claim, (self._claim["shapes"], self._claim["counts"])
        query = Query(described, self._graph, claim["induced"], self._deadline)
        maps = query.count_at_root()
        need((maps.sum(dtype=object) - count) % P == 0, "the number of maps is another one")
        exact = self._graph.nodes**query.size < P and count < P
        self._report.checked[f"the number of maps, {count}"] = "1" if exact else "1, but for multiples of 2^61 - 1"
        if claim["columns"]:
            need(claim["columns"] == [described] and described["roots"] == 1, "the column is of another query")
            need(self._table["sums"] == [count], "the column does not add up to the number of maps")
            self._compare(0, maps)
            self._report.checked["how many maps send node 0 of the query to each node"] = ALMOST
        if self._job == "find_matches":
            self._check_listing(query)

    def _check_listing(self, query: Query) -> None:
        """Compare sums over all maps, with random weights, which are the same in any order."""
        for seed, maps in ((self._seed, None), (os.urandom(32), self._answer))[: 1 + (self._answer is not None)]:
            chance = f"1 - {query.size} / 2^60"
            weights = [random_weights(seed, f"node {u}", self._graph.nodes) for u in range(query.size)]
            own = query.count_at_root(weights).sum(dtype=object) % P
            if maps is None:
                need([own] == self._prints, "a sum over all maps with random weights is another one")
                self._report.checked["the maps that were listed, in any order"] = chance
            else:
                need(sum_of_products(weights, maps) == own, "the answer is not the list of all maps")
                self._report.checked["the list that you have, with weights that nobody could foresee"] = chance

    def _compare(self, column: int, own: np.ndarray) -> None:
        """Compare a column of the table with the checker's own, by its sum, its fingerprint, and value by value."""
        name = self._claim["columns"][column]["name"]
        right = weighted_sums(self._weights, own[:, None]) == [self._prints[column]]
        need(right and (own.sum(dtype=object) - self._table["sums"][column]) % P == 0, f"column {name} is another one")
        if self._answer is not None:
            need((self._answer[:, column] % P == own % P).all(), f"column {name} of the answer is another one")
        self._own[column] = own

    def _check_shapes(self) -> None:
        """Compare counts of small graphs, in the graph and at its edges or nodes."""
        roots = {"edge_graphlets": 2, "node_orbits": 1}.get(self._job, 0)
        shapes, columns = self._shapes("shapes", 0), self._shapes("columns", roots)
        counts, right = dict(zip(shapes, self._claim["counts"], strict=True)), set()
        for shape, total in zip(columns, self._table["sums"], strict=True):
            times, whole = orbit_size(shape, self._graph.directed), unrooted(shape, self._graph.directed)
            need(total == times * counts.get(whole, -1), f"the sum of a column is not {times} times its count")
            self._report.checked[f"the sums of all {len(columns)} columns agree with the counts"] = "1"
        if not (self._graph.directed or self._graph.states > 2 or self._graph.node_labels is not None):
            right = self._check_graphlets(counts, list(columns), roots)
        self._check_rows(list(columns))
        right |= {unrooted(shape, self._graph.directed) for c, shape in enumerate(columns) if c in self._own}
        in_rows = {shape for c, shape in enumerate(columns) if c in self._own}
        for what, named, proved in (("the counts of", shapes, right), ("each value of column", columns, in_rows)):
            if names := [name for shape, name in named.items() if shape in proved]:
                self._report.checked[f"{what} {', '.join(names)}"] = "1" if named is shapes else ALMOST
            if names := [name for shape, name in named.items() if shape not in proved]:
                self._report.open.append(f"{what} {', '.join(names)}, beyond this")

    def _shapes(self, part: str, roots: int) -> dict[Shape, str]:
        """Return the shapes of a part of the claim, and their names."""
        shapes = {}
        for described in self._claim[part]:
            need(time.process_time() < self._deadline, "the time was over before all shapes were read")
            need(described["roots"] == roots, "a root is not that of the job")
            shapes[canonical(self._graph.shape(described), self._graph.directed)] = described["name"]
        need(len(shapes) == len(set(shapes.values())) == len(self._claim[part]), f"two {part} have one meaning or name")
        return shapes

    def _check_graphlets(self, counts: dict[Shape, int], columns: list[Shape], roots: int) -> set[Shape]:
        """Compare counts of up to four nodes with formulas, and return those that are right."""
        around, right = count_around_nodes(self._graph, self._deadline), set()
        if around is not None:
            for shape, own in count_graphlets(self._graph, around, 2, self._claim["induced"]).items():
                whole, total = unrooted(shape, False), own.sum(dtype=object) // orbit_size(shape, False)
                need(counts.get(whole, total) == total, "a count in the graph is another one")
                right.add(whole)
            for shape, own in (
                count_graphlets(self._graph, around, roots, self._claim["induced"]).items() if roots else ()
            ):
                if shape in columns:
                    self._compare(columns.index(shape), own)
        for size, number in ALL.items() if self._claim["induced"] else ():
            same = {shape for shape in counts if len(shape[2]) == size}
            if len(same) == number:
                all_sets = sum(counts[shape] for shape in same) == comb(self._graph.nodes, size)
                need(all_sets, f"graphlets of {size} nodes: not all sets")
                right |= same if len(same - right) == 1 else set()
        return right

    def _check_rows(self, columns: list[Shape]) -> None:
        """Count rows again by listing the sets around them: those that were drawn, or all where all are shown."""
        listed = {shape: c for c, shape in enumerate(columns) if is_connected(shape) and len(shape[2]) > 1}
        if not listed or not self._drawn:
            return
        sizes, rooted, done = {len(shape[2]) for shape in listed}, columns[0][0] > 0, 0
        roots = self._graph.edges if columns[0][0] == 2 else np.arange(self._graph.nodes)[:, None]
        is_whole = len(self._drawn) == self._rows
        rows = range(self._rows) if is_whole else random_rows(self._seed, self._rows, len(self._drawn))
        try:
            for row, values in zip(rows, self._drawn, strict=True):
                found = count_around(self._graph, tuple(roots[row].tolist()), sizes, rooted, self._deadline)
                need(found.keys() <= listed.keys(), "a subgraph occurs that has no column")
                own = {c: found[shape] for shape, c in listed.items()}
                if not self._claim["induced"]:
                    own = {
                        c: sum(copies(shape, large) * found[large] for large in found) for shape, c in listed.items()
                    }
                own |= {c: column[row] for c, column in self._own.items()}
                need(len(values) == len(columns) and all(values[c] == own[c] for c in own), f"row {row} is wrong")
                done += 1
        except TimeoutError:
            self._report.open.append(f"{len(rows) - done} of {len(rows)} rows: the time was over")
        if done:
            shares = [f"1 - {(1 - share) ** done:.1g} if {share:.0%} of all rows are wrong" for share in (0.01, 0.1)]
            chance = "1" if done == self._rows else ", ".join(shares)
            what = f"all {done} rows" if done == self._rows else f"{done} rows drawn at random"
            self._report.checked[f"{what}, by listing all sets around them"] = chance
        if is_whole and done == self._rows:
            for c in set(listed.values()) - self._own.keys():
                self._compare(c, np.array([values[c] for values in self._drawn], object))
