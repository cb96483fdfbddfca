"""The description of the backend for networkx, which reads it on import, so that nothing else is imported here."""

from __future__ import annotations

import json
from pathlib import Path


def get_info() -> dict:
    """Return the description of the backend, for the entry point ``networkx.backend_info``.

    Its configuration ``smallest`` is the fewest edges of a graph that comes here (ten times as many for triangles
    alone): networkx answers for smaller ones before a program is compiled.

    Example:
      >>> get_info()["backend_name"]
      'jaxmotif'
    """
    return json.loads(Path(__file__).with_name("networkx_info.json").read_text(encoding="utf-8"))
