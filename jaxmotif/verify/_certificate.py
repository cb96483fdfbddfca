"""Certificates as files. Their form is checked, value by value, before anything is computed from them."""

import hashlib
import json
from typing import Any

FORMAT = "jaxmotif certificate 1"
LARGEST_FILE = 2**23
SHAPE = {"name": str, "roots": int, "arcs": [[(int, bool, None)]], "labels": [(int, None)]}
"""Small graph: its first nodes are the root; entry (u, v) of ``arcs`` is null for no arc, true for any, or a label."""

FORM = {
    "format": str,
    "graph": {"sha256": str, "directed": bool, "nodes": int, "edges": int, "node_labels": bool, "edge_labels": bool},
    "claim": {
        "job": str,
        "induced": bool,
        "shapes": [SHAPE],
        "counts": [int],
        "maps_each": int,
        "columns": [SHAPE],
        "rows": int,
        "sums": [int],
        "sha256": str,
    },
    "fingerprints": [int],
    "witnesses": [[int]],
}
"""What a certificate consists of: a list here stands for any number of what is in it, a tuple for alternatives."""


class Refused(Exception):
    """The reason for which a certificate is not accepted."""


def need(holds: object, reason: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise Refused(reason)


def read_certificate(path: str) -> dict:
    """Read a certificate and check its form.

    Raises:
      Refused: for anything that is no certificate.
      OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    need(len(content) <= LARGEST_FILE, f"the file is larger than {LARGEST_FILE} bytes")
    try:
        certificate = json.loads(content, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the file is no certificate: {error}") from None
    check_form(certificate)
    return certificate


def check_form(value: Any, form: Any = FORM, where: str = "certificate") -> None:
    """Refuse a value that has not the form that is given, as ``FORM`` writes it."""
    wrong = f"the file is no certificate: {where} is not as it should be"
    if isinstance(form, dict):
        need(isinstance(value, dict) and value.keys() == form.keys(), wrong)
        for name in form:
            check_form(value[name], form[name], name)
    elif isinstance(form, list):
        need(isinstance(value, list), wrong)
        for item in value:
            check_form(item, form[0], where)
    elif isinstance(form, tuple):
        need(value is None or type(value) in form, wrong)
    else:
        need(type(value) is form, wrong)
    if type(value) is int:
        need(abs(value) < 2**256, wrong)
    if type(value) is str:
        need(len(value) <= 200 and value.isprintable(), wrong)


def _without_doubles(pairs: list) -> dict:
    need(len(dict(pairs)) == len(pairs), "the file is no certificate: a name is given twice")
    return dict(pairs)


def seed_of(certificate: dict) -> bytes:
    """Return the seed of all that is random: SHA-256 of the graph and the claim, which are thereby fixed before it."""
    fixed = json.dumps([certificate["graph"], certificate["claim"]], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(fixed.encode()).digest()
