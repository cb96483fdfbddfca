"""What every column of a result means, in one place; and the columns that all tables of classes begin with."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jaxmotif.arrays._label_words import in_words
from jaxmotif.cli._output import Column, Report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.patterns import Pattern

_WIDEST_CLASS = 36  # a class of 6 nodes; a table shows larger ones by their number, or with --wide

_CLASS = {
    "class": "the adjacency matrix, row by row, of the class in its canonical form; labels of nodes come first, before "
    "a colon, and those of edges stand in the place of 1",
    "id": "the same read as a binary number: the number of the class in mfinder and FANMOD; none with labels",
    "name": "what the field calls it, apart from labels: the names of the triad census, graphlets, ...",
    "przulj": "of undirected classes: their number as a graphlet, G0 to G29",
    "count": "how many sets of nodes of the graph induce it",
}

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "graphlets": {
        "graphlet": "the graphlet, by its name in PGD; with --typed the name, or the matrix, of the class of a census",
        "id": "its adjacency matrix in canonical form, row by row, read as a binary number: as of a census",
        "przulj": "its number among the connected ones, G0 to G29",
        "count": "how many sets of nodes induce it",
    },
    "graphlets --per edge": {
        "u, v": "the ends of the edge",
        "2-star ... 4-node-1-edge": "how many induced subgraphs of this kind the edge lies in; where a kind has unlike "
        "edges, its column says which, as in 4-path-end. The first 12 are the edge orbits of ORCA in its order",
    },
    "graphlets --per node": {"node": "the node", "orbit-0 ... orbit-14": "how many induced subgraphs the node lies in, "
        "by its place in them, in the numbering of ORCA"},
    "graphlets --typed --per edge, node": {"021C:0, 030T:0-1, ...": "how many induced subgraphs of this class the "
        "node, or edge, lies in by its role there: its class, and the lowest place of the role if it has several"},
    "census": _CLASS,
    "census --per node, --per edge": {
        "node; u, v": "the node; the ends of the edge",
        "2-star:0, 030T:0-1, ...": "how many sets of nodes that induce the class hold it in this role: the class, by "
        "name where it has one, and the lowest of its nodes or edges that has the role, where there are several",
    },
    "census --disjoint": {
        "disjoint": "occurrences chosen one after another so that no two share an edge (--disjoint edge, F2) or a node "
        "(node, F3): a lower bound of the most there are",
        "disjoint_upper": "an upper bound of these, by how many nodes or edges take each role",
    },
    "census --estimate": {
        "count": "the estimate of how many sets of nodes of the graph induce the class",
        "low, high": "the ends of its interval, at --level",
        "hits": "how many draws fell on the class; 2 / sqrt(hits) is about the relative half width of the interval",
        "frequency": "count by total",
    },
    "census --estimate, above the table": {
        "total, total_low, total_high": "all connected subgraphs of this size, estimated, and the interval",
        "samples, accepted": "maps of trees that were drawn, and those that were subgraphs",
    },
    "sample": {"node_0 ... node_9": "the nodes of a subgraph, by name, in the order of their ids"},
    "motifs": _CLASS | {
        "mean": "of the counts in the random graphs",
        "sd": "their standard deviation",
        "z": "(count - mean) / sd; none where sd is 0",
        "q": "false discovery rate at which the class is still found: Benjamini and Hochberg over all classes, of the "
        "two-sided p = 2 min(p_high, p_low)",
        "verdict": "motif: at least --threshold sd above the mean; anti-motif: as far below",
        "motif, anti_motif": "the same as truth values",
        "p_high": "(1 + random graphs with this count or more) / (1 + random graphs)",
        "p_low": "the same with this count or less",
        "profile": "z divided by the length of the vector of all z (significance profile)",
        "mean_low, mean_high": "95 % interval of the mean, from effective_size",
        "lag_correlation": "between the counts of a chain at full and at four times the length; near 0 is good",
        "effective_size": "how many independent random graphs these are worth, by a cautious reckoning",
    },
    "motifs --random auto": {
        "decided": "whether more random graphs would leave it as it is that q is at most --alpha, or above; above the "
        "table, for how many classes",
    },
    "motifs --estimate": {
        "count": "the estimate of how many sets of nodes of the graph induce the class; 0 where no draw fell on it",
        "error": "its standard error; 0 where no draw fell on the class",
        "random_error": "the standard error of the estimate in a random graph (root mean square over these)",
        "mean, mean_low, mean_high": "of the estimates in the random graphs, and the interval with their errors",
        "sd": "standard deviation of the random counts without the errors: sd^2 = max(s^2 - random_error^2, 0), where "
        "s^2 is the variance of the estimates",
        "z": "(count - mean) / sqrt(sd^2 + max(error, random_error)^2): nearer to 0 than that of exact counts, and "
        "near to it after many draws; none where the estimates in random graphs do not differ. A motif's is at least "
        "--threshold",
        "p_high, p_low, q": "from the ranks of estimates, and as valid as from those of counts",
    },
    "motifs, above the table": {
        "total": "connected subgraphs of this size in the graph",
        "estimate": "where counts are estimates: maps of trees drawn from each graph",
        "random_graphs": "how many random graphs were drawn",
        "null_model": "what every random graph keeps, and what is uniform over what",
        "attempts_per_edge": "switches tried for each edge and random graph; accepted_per_edge: those that were made",
        "engine": "how the random graphs were counted",
        "absent_classes": "whether classes that the graph itself does not have were looked for",
        "threshold": "of motifs and anti-motifs, in sd",
        "accepted_by_kind": "the same for each one-way arc, and for each reciprocated pair: below 10 of either, the "
        "chains are too short",
        "longer_z": "farthest difference of the means at full and at four times the length, in standard errors: beyond "
        "about 4 the chains are too short, take more --switches",
    },
    "match": {
        "query": "the file of the query",
        "matches": "how many maps (--per occurrence: sets of maps that differ by an automorphism of the query)",
        "seconds": "all that was done for it, compilation too",
        "search": "the search alone, which --seconds limits",
        "status": "done, or which limit stopped the search: there may then be more matches",
    },
    "match --limit": {"0, 1, ... or names": "one column for each node of the query: the node it is mapped to"},
    "census, motifs, match --occurrences": {
        "class, id, name, verdict; query": "what occurs, as in the table; of a folder of queries, which of them",
        "node_0, node_1, ... or names": "the node that takes the part of each row of the class's matrix, or of each "
        "node of the query; each set of nodes once (if not induced: each subgraph). JSON lines have a list, nodes",
    },
    "search": {
        "vertex": "a vertex that lies in a match; with --direction out or in, the root of one",
        "matches": "the numbers of the listed matches that it lies in",
    },
    "search, above the table": {
        "found": "whether there is a match",
        "repetitions": "runs of the sieve; 0 where simpler tests decided",
        "false_negative_bound": "bound on the probability, for each vertex, that it was missed",
    },
}  # fmt: skip


def explained(columns: Mapping[str, Mapping[str, str]] = COLUMNS) -> str:
    """Every column and its meaning, for a terminal."""
    blocks = []
    for command, names in columns.items():
        lines = [
            textwrap.fill(f"{name}: {meaning}", 100, initial_indent="  ", subsequent_indent="      ")
            for name, meaning in names.items()
        ]
        blocks.append("\n".join([command, *lines]))
    return "\n\n".join(blocks) + "\n"


def class_patterns(classes: Sequence[str], directed: bool) -> dict[str, Pattern]:
    """Classes as patterns, by names for files: their numbers, or their strings where they are labelled."""
    from jaxmotif.patterns import class_id, named_pattern

    return {
        f"id{number}" if (number := class_id(text)) is not None else text: named_pattern(text, directed)
        for text in classes
    }


def class_report(columns: Mapping[str, Column], graph: Graph, others: Sequence[str]) -> Report:
    """A table of classes, JSON's list of them, their labels in words.

    A terminal shows what fits and tells something: names, of which large subgraphs have none; numbers, of which
    labelled ones have none; strings unless they are very long; and the others named.
    """
    classes = [in_words(str(name), graph.node_label_names, graph.edge_label_names) for name in columns["class"]]
    labelled = any(number is None for number in columns["id"])
    short = labelled or max(map(len, classes), default=0) <= _WIDEST_CLASS
    shown = {"class": short, "id": not labelled} | {n: any(columns[n]) for n in ("name", "przulj")}
    narrow = [name for name, show in shown.items() if show] + list(others)
    return Report({}, {**columns, "class": classes}, narrow=narrow, objects="classes")
