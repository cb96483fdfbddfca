"""Certificates as files. Their form is checked, value by value, before anything is computed from them."""

import hashlib
import json
import time
from typing import Any

FORMAT = "jaxmotif certificate 4"
LARGEST_FILE = 2**23

# A small graph. Its first `roots` nodes are the root, and `total` is how often it occurs in the large graph, or the sum
# of its column. Entry (u, v) of `matrix` is 0 for no arc, else the number of the arc's label; entry (u, u) is the
# number of the label of node u. The labels that occur in the large graph are numbered in ascending order, labels of
# nodes from 0 on and labels of arcs from 1 on. Without labels, all nodes have number 0 and all arcs number 1. A label
# that does not occur is -1, and `ANY` stands for any label.
SHAPE = {"name": str, "roots": int, "matrix": [[int]], "total": int}
ANY = -2

# What a certificate consists of: a list here stands for any number of what is in it.
GRAPH = {"directed": bool, "nodes": int, "edges": int, "sha256": str, "node_labels": str, "edge_labels": str}
CLAIM = {"maps": bool, "induced": bool, "shapes": [SHAPE], "order": [int], "columns": [SHAPE], "sha256": str}
FORM = {"format": str, "graph": GRAPH, "claim": CLAIM, "fingerprints": [int], "witnesses": [[int]]}


class Refused(ValueError):
    """The reason for which a certificate is not accepted."""


class Beyond(Refused):
    """The limit of the checker (of time, memory or size) because of which something cannot be checked."""


def need(holds: object, reason: str, error: type[Refused] = Refused) -> None:
    """Raise an error that refuses the certificate, or gives up a check (:class:`Beyond`), unless ``holds`` is true."""
    if not holds:
        raise error(reason)


def need_time(deadline: float) -> None:
    """Give up what is being checked after the deadline, a value of ``time.process_time``."""
    need(time.process_time() < deadline, "the time was over", Beyond)


def read_certificate(path: str) -> Any:
    """Read what a file of a certificate says, in whatever form.

    Raises:
      Refused: the file is too large, or no JSON.
      OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    need(len(content) <= LARGEST_FILE, f"the file is larger than {LARGEST_FILE} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Refused("this is no certificate: the file is no JSON") from None


def check_form(value: Any, form: Any = FORM, where: str = "certificate") -> None:
    """Refuse a value that has not the form that is given, as ``FORM`` writes it."""
    right = type(value) in (form, type(form)) and (type(value) is not dict or value.keys() == form.keys())
    right = right and (not isinstance(value, int) or abs(value) < 2**256)
    right = right and (not isinstance(value, str) or (len(value) <= 2**12 and value.isprintable()))
    need(right, f"the file is no certificate: {where} is not as it should be")
    for name, item in value.items() if isinstance(value, dict) else ():
        check_form(item, form[name], name)
    for item in value if isinstance(value, list) else ():
        check_form(item, form[0], where)


def seed_of(certificate: dict) -> bytes:
    """Return the seed of all random choices: SHA-256 of the graph and the claim, so that these are fixed before it."""
    return hashlib.sha256(json.dumps([certificate["graph"], certificate["claim"]], sort_keys=True).encode()).digest()
