"""Small real networks that come with the package; ATTRIBUTION.md beside them says where they are from.

Example:
  >>> from jaxmotif import datasets
  >>> datasets.names()
  ('karate', 'florentine', 'celegans', 'celegans-gap')
  >>> graph = datasets.load("celegans")
  >>> graph.directed, int(graph.num_nodes), int(graph.num_edges), graph.node_names[0]
  (True, 279, 2194, 'ADAL')
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jaxmotif.arrays._present import meant

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

__all__ = ["Dataset", "describe", "load", "names", "resolve"]


class Dataset(NamedTuple):
    """Description of a bundled network."""

    description: str
    directed: bool
    reference: str
    licence: str


_FACTS = json.loads(Path(__file__).with_name("datasets.json").read_text(encoding="utf-8"))
_DATASETS = {name: Dataset(**facts) for name, facts in _FACTS.items()}


def names() -> tuple[str, ...]:
    """Return the names of the bundled networks."""
    return tuple(_DATASETS)


def describe(name: str) -> Dataset:
    """Return the description, direction, reference and licence of a bundled network.

    Raises:
      ValueError: no network has this name.

    Example:
      >>> describe("florentine").description
      '15 families of Renaissance Florence and their 20 marriages'
    """
    if name not in _DATASETS:
        raise ValueError(f"no bundled network is called {name!r}; there are {', '.join(_DATASETS)}")
    return _DATASETS[name]


def load(name: str) -> Graph:
    """Load a bundled network, with its nodes' names in ``node_names``.

    Raises:
      ValueError: no network has this name.

    Example:
      >>> graph = load("karate")
      >>> int(graph.num_nodes), int(graph.num_edges), graph.directed
      (34, 78, False)
    """
    from jaxmotif.io import read_graph

    describe(name)
    return read_graph(_path(name))


def resolve(name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file to read for a path or the name of a bundled network; a file that exists goes first.

    Raises:
      ValueError: there is neither such a file nor such a network.

    Example:
      >>> resolve("karate").name
      'karate.edges'
    """
    path = Path(name_or_path)
    name = os.fspath(name_or_path)
    if name and path.exists():  # an empty path is the current folder
        return path
    if name in _DATASETS:
        return _path(name)
    hint = meant(name, _DATASETS) or f"; bundled networks are {', '.join(_DATASETS)}"
    raise ValueError(f"there is no file {name!r}, nor a bundled network of that name{hint}")


def _path(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.edges")
