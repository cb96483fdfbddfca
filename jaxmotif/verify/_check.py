"""The course of a check: what is compared with what, and what follows from it."""

import os
import time
from dataclasses import dataclass, field
from math import comb

import numpy as np

from . import _graph as graphs
from . import _modular as modular
from ._algebra import Query
from ._certificate import FORMAT, Refused, check_form, need, read_certificate, seed_of
from ._counts import count_around, count_graphlets
from ._graph import Shape, SimpleGraph
from ._modular import P, exact_sum

# What the rows of the table are, and how many nodes the root of a column has, in jobs that have these.
ROWS = {"edge_graphlets": "edges", "node_orbits": "nodes", "subgraph_census": "nodes", "count_matches": "nodes"}
ROOTS = {"edge_graphlets": 2, "node_orbits": 1, "count_matches": 1}

# The least probability with which a sum with random weights tells two tables apart.
ALMOST = "1 - 2^-59"

# The number of graphs with so many nodes.
ALL = {2: 2, 3: 4, 4: 11, 5: 34}


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
        content = certificate if isinstance(certificate, dict) else read_certificate(os.fspath(certificate))
        check_form(content)
        return _Check(content, graph, answer, time.process_time() + seconds).run()
    except Refused as refused:
        return Report(False, str(refused))
    except (ValueError, LookupError, OverflowError) as error:  # lists that do not fit each other, and the like
        return Report(False, f"the parts of the certificate do not fit each other ({error})")


class _Check:
    def __init__(self, certificate: dict, graph: SimpleGraph, answer: np.ndarray | None, deadline: float):
        need(certificate["format"] == FORMAT, f"the format is {certificate['format']!r}; this checker reads {FORMAT!r}")
        described, self._claim, self._drawn = certificate["graph"], certificate["claim"], certificate["witnesses"]
        self._job, self._table, self._prints = self._claim["job"], self._claim["table"], certificate["fingerprints"]
        self._deadline, self._report, self._answer, self._seed = deadline, Report(True), answer, seed_of(certificate)
        node_labels = graph.node_labels if described["node_labels"] else None
        edge_labels = graph.edge_labels if described["edge_labels"] else None
        directed = graph.directed and described["directed"]
        self._graph = graphs.graph_from_edges(graph.edges, graph.nodes, directed, node_labels, edge_labels)
        own = graphs.describe(*self._graph[:5])
        need(own == described, f"the certificate is of another graph than this one, which is {own}")
        need(self._job in (*ROWS, "graphlet_counts", "find_matches"), "the job is unknown")
        self._roots = ROOTS.get(self._job, 0)
        self._rows = own[ROWS[self._job]] if self._claim["columns"] else 0
        need(self._table["rows"] == self._rows, "the table has not a row for each edge or node")
        self._weights = modular.row_weights(self._seed, self._rows)
        self._own: dict[int, np.ndarray] = {}  # the checker's own columns, by their number in the table

    def run(self) -> Report:
        """Check everything, and return what was found."""
        for described in self._claim["shapes"] + self._claim["columns"]:
            pairs = [f"{u}>{v}: {k}" for u, row in enumerate(described["arcs"]) for v, k in enumerate(row) if k]
            text = f"with nodes {described['labels']}, {described['roots']} in the root, and arcs {', '.join(pairs)}"
            self._report.names[described["name"]] = text
        if self._answer is not None and self._job != "find_matches":
            need(self._answer.shape == (self._rows, len(self._prints)), "the answer has another shape")
            same = modular.digest(self._answer) == self._table["sha256"]
            need(same, "the answer is not the table of the certificate")
            self._report.checked["your table is the one of the certificate, by its SHA-256"] = "1"
        elif self._rows:
            self._report.open.append(f"whether your table is the one with SHA-256 {self._table['sha256']}")
        (self._check_maps if self._job in ("count_matches", "find_matches") else self._check_shapes)()
        need(self._report.checked, "nothing could be checked")
        return self._report

    def _check_maps(self) -> None:
        """Count the maps by algebra, and compare their number, and where they lead or which they are."""
        claim, ((described,), (count,)) = self._claim, (self._claim["shapes"], self._claim["counts"])
        query = Query(described, self._graph, claim["induced"], self._deadline)
        maps = query.count_at_root()
        need((exact_sum(maps) - count) % P == 0, "the number of maps is another one")
        exact = self._graph.nodes**query.size < P and count < P
        self._report.checked[f"the number of maps, {count}"] = "1" if exact else "1, but for multiples of 2^61 - 1"
        if claim["columns"]:
            need(claim["columns"] == [described] and described["roots"] == 1, "the column is of another query")
            need(self._table["sums"] == [count], "the column does not add up to the number of maps")
            self._compare(0, maps)
            self._report.checked["how many maps send node 0 of the query to each node"] = ALMOST
        if self._job == "find_matches":
            self._check_listing(query, self._seed, None, "the maps that were listed, in any order")
            if self._answer is not None:
                what = "the list that you have, with weights that nobody could foresee"
                self._check_listing(query, os.urandom(32), self._answer, what)

    def _check_listing(self, query: Query, seed: bytes, maps: np.ndarray | None, what: str) -> None:
        """Compare the sum over all maps of products of random weights, the same in any order, with that of a list."""
        weights = [modular.random_weights(seed, f"node {u}", self._graph.nodes) for u in range(query.size)]
        listed = self._prints if maps is None else [modular.sum_of_products(weights, maps)]
        own = exact_sum(query.count_at_root(weights)) % P
        need(listed == [own], f"a sum over all maps with random weights is not that of {what}")
        self._report.checked[what] = f"1 - {query.size} / 2^60"

    def _compare(self, column: int, own: np.ndarray) -> None:
        """Compare a column of the table with the checker's own, by its sum, its fingerprint, and value by value."""
        right = modular.weighted_sums(self._weights, own[:, None]) == [self._prints[column]]
        right = right and (exact_sum(own) - self._table["sums"][column]) % P == 0
        right = right and (self._answer is None or (self._answer[:, column] % P == own % P).all())
        need(right, f"column {self._claim['columns'][column]['name']} is another one")
        self._own[column] = own

    def _check_shapes(self) -> None:
        """Compare counts of small graphs, in the graph and at its edges or nodes."""
        graph, directed = self._graph, self._graph.directed
        shapes, columns = self._shapes("shapes", 0), self._shapes("columns", self._roots)
        counts, places, right = dict(zip(shapes, self._claim["counts"], strict=True)), [*columns], set()
        for shape, total in zip(places, self._table["sums"], strict=True):
            times, count = graphs.orbit_size(shape, directed), counts.get(graphs.unrooted(shape, directed), -1)
            need(total == times * count, f"the sum of a column is not {times} times its count")
            self._report.checked[f"the sums of all {len(columns)} columns agree with the counts"] = "1"
        for shape, own in count_graphlets(graph, self._claim["induced"], self._deadline).items():
            if shape[0] == 0:
                need(counts.get(shape, own) == own, "a count in the graph is another one")
                right.add(shape)
            elif shape in columns:
                self._compare(places.index(shape), own)
        for size, number in ALL.items() if self._claim["induced"] and self._job != "subgraph_census" else ():
            same = [count for shape, count in counts.items() if len(shape[2]) == size]
            every = len(same) < number or sum(same) == comb(graph.nodes, size)
            need(every, f"graphlets of {size} nodes: not all sets")
        self._check_rows(places)
        in_rows = {places[c] for c in self._own}
        right |= {graphs.unrooted(shape, directed) for shape in in_rows}
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
            shapes[graphs.canonical(self._graph.shape(described), self._graph.directed)] = described["name"]
        need(len(shapes) == len(set(shapes.values())) == len(self._claim[part]), f"two {part} have one meaning or name")
        return shapes

    def _check_rows(self, columns: list[Shape]) -> None:
        """Count rows again by listing the sets around them: those that were drawn, or all where all are shown."""
        listed = {shape: c for c, shape in enumerate(columns) if graphs.is_connected(shape) and len(shape[2]) > 1}
        if not listed or not self._drawn:
            return
        induced, number = self._claim["induced"], len(self._drawn)
        roots = self._graph.edges if self._roots == 2 else np.arange(self._graph.nodes)[:, None]
        rows = range(number) if number == self._rows else modular.random_rows(self._seed, self._rows, number)
        done, sizes = 0, {len(shape[2]) for shape in listed}
        for row, values in zip(rows, self._drawn, strict=True):
            try:
                found = count_around(self._graph, roots[row].tolist(), sizes, self._roots > 0, self._deadline)
            except TimeoutError:
                self._report.open.append(f"{number - done} of {number} rows: the time was over")
                break
            need(found.keys() <= listed.keys(), "a subgraph occurs that has no column")
            own = {c: column[row] for c, column in self._own.items()}
            for shape, c in listed.items():
                own[c] = sum(graphs.copies(shape, large, induced) * times for large, times in found.items())
            need(len(values) == len(columns) and all(values[c] == own[c] for c in own), f"row {row} is wrong")
            done += 1
        if done:
            chance = f"1 - {0.99**done:.1g} if 1% of all rows are wrong, 1 - {0.9**done:.1g} if 10%"
            what = f"all {done} rows" if done == self._rows else f"{done} rows drawn at random"
            self._report.checked[f"{what}, by listing all sets around them"] = "1" if done == self._rows else chance
        if done == self._rows:
            for c in set(listed.values()) - self._own.keys():
                self._compare(c, np.array([values[c] for values in self._drawn], object))
