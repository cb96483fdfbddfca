"""Where the experiments find real networks.

Every script that reads some takes ``--data FOLDER``; without it they are looked for in $JAXMOTIF_DATA, and then in
shared/data beside the repository. FOLDER holds directed/, labelled/ and undirected/, or is the one of them that a
script reads.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

Kind = Literal["directed", "labelled", "undirected"]
DATA = Path(os.environ.get("JAXMOTIF_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def data_folder(data: Path, kind: Kind) -> Path:
    """The folder of networks of a kind; if there is none, the end of the program."""
    if (data / kind).is_dir():
        return data / kind
    # Of the default, which is never the one of them, a folder without networks of that kind is as good as none.
    if data.is_dir() and (data != DATA or data.name == kind):
        return data
    raise SystemExit(f"no {kind} networks in {data}: name their folder by --data FOLDER, or in JAXMOTIF_DATA")


def parse_with_data(parser: argparse.ArgumentParser, bare: bool = False) -> argparse.Namespace:
    """The command line with ``--data FOLDER``, of which :func:`data_folder` is taken where networks are read.

    ``bare``: FOLDER may also stand first, or behind all else, without ``--data``.
    """
    parser.add_argument("--data", type=Path, metavar="FOLDER", default=DATA, help="of networks (default: %(default)s)")
    words = sys.argv[1:]
    if bare and words and Path(words[0]).is_dir():
        words.insert(0, "--data")
    options, rest = parser.parse_known_args(words)
    if bare and len(rest) == 1 and Path(rest[0]).is_dir():
        options.data = Path(rest.pop())
    if rest:
        raise SystemExit(f"{rest[0]}: neither an option nor a folder; networks: --data FOLDER, or JAXMOTIF_DATA")
    return options


def undirected(data: Path, name: str) -> Graph:
    from jaxmotif.graph import read_graph  # late, here and below: some scripts choose a platform, or a package, first

    return read_graph(data_folder(data, "undirected") / f"{name}.edges.gz", format="edges")


def directed(data: Path, name: str) -> Graph:
    from jaxmotif.graph import read_graph

    return read_graph(data_folder(data, "directed") / f"{name}.edges", directed=True)


def instance(data: Path, name: str) -> tuple[Graph, Graph]:
    """Query and target of ``TARGET/QUERY``, and whatever stands behind a further stroke, of the labelled networks."""
    from jaxmotif.graph import read_graph

    target, query = name.split("/")[:2]
    folder = data_folder(data, "labelled") / target
    return read_graph(folder / "queries" / f"{query}.txt"), read_graph(folder / "target.txt.gz")
