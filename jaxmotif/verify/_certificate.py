"""Certificates as files. Their form is checked, value by value, before anything is computed from them."""

import hashlib
import json
from typing import Any

FORMAT = "jaxmotif certificate 3"
LARGEST_FILE = 2**23

# A small graph: its first nodes are the root. Entry (u, v) of `arcs` is 0 for no arc, or the number of its label. The
# labels that occur in the graph are numbered in ascending order: of nodes from 0 on, of arcs from 1 on, which is also
# the number where there are none. A label that does not occur is -1, and `ANY` stands for any.
SHAPE = {"name": str, "roots": int, "arcs": [[int]], "labels": [int]}
ANY = -2

# What a certificate consists of: a list here stands for any number of what is in it.
GRAPH = {"sha256": str, "directed": bool, "nodes": int, "edges": int, "node_labels": bool, "edge_labels": bool}
TABLE = {"rows": int, "sums": [int], "sha256": str}
CLAIM = {"job": str, "induced": bool, "shapes": [SHAPE], "counts": [int], "columns": [SHAPE], "table": TABLE}
FORM = {"format": str, "graph": GRAPH, "claim": CLAIM, "fingerprints": [int], "witnesses": [[int]]}


class Refused(Exception):
    """The reason for which a certificate is not accepted."""


def need(holds: object, reason: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise Refused(reason)


def read_certificate(path: str) -> Any:
    """Read what a file of a certificate says, in whatever form.

    Raises:
      Refused: for anything that is no certificate.
      OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    need(len(content) <= LARGEST_FILE, f"the file is larger than {LARGEST_FILE} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the file is no certificate: {error}") from None


def check_form(value: Any, form: Any = FORM, where: str = "certificate") -> None:
    """Refuse a value that has not the form that is given, as ``FORM`` writes it."""
    right = type(value) in (form, type(form)) and (type(value) is not dict or value.keys() == form.keys())
    right = right and (not isinstance(value, int) or abs(value) < 2**256)
    right = right and (not isinstance(value, str) or (len(value) <= 200 and value.isprintable()))
    need(right, f"the file is no certificate: {where} is not as it should be")
    for name, item in value.items() if isinstance(value, dict) else ():
        check_form(item, form[name], name)
    for item in value if isinstance(value, list) else ():
        check_form(item, form[0], where)


def seed_of(certificate: dict) -> bytes:
    """Return the seed of all that is random: SHA-256 of the graph and the claim, which are thereby fixed before it."""
    fixed = json.dumps([certificate["graph"], certificate["claim"]], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(fixed.encode()).digest()
