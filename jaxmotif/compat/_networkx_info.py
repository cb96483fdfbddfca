"""The description of the backend for networkx, which reads it on import, so that nothing else is imported here."""

from __future__ import annotations

SMALLEST = 5_000
"""Fewest edges of a graph that comes here: networkx answers for smaller ones before a program is compiled."""

_EXACT = "Exact, by jaxmotif; without weights, on simple graphs with at least one node."
_MAPS = "By jaxmotif's level search; at most 1024 nodes, either both graphs directed or none."

FUNCTIONS = {
    "triadic_census": "Self loops are refused.",
    "triads_by_type": "Self loops are refused.",
    "triangles": _EXACT,
    "all_triangles": _EXACT,
    "clustering": _EXACT,
    "average_clustering": _EXACT,
    "transitivity": _EXACT,
    "square_clustering": _EXACT,
    "generalized_degree": _EXACT,
    "vf2pp_is_isomorphic": _MAPS,
    "vf2pp_isomorphism": _MAPS,
    "vf2pp_all_isomorphisms": _MAPS + " The order of the isomorphisms is another.",
    "is_isomorphic": _MAPS + " Without node_match and edge_match.",
    "could_be_isomorphic": "Without maximal cliques: properties must not hold 'c'.",
    "fast_could_be_isomorphic": _EXACT,
}


def get_info() -> dict:
    """Return the description of the backend, for the entry point ``networkx.backend_info``.

    Example:
      >>> get_info()["backend_name"]
      'jaxmotif'
    """
    return {
        "backend_name": "jaxmotif",
        "project": "jaxmotif",
        "package": "jaxmotif",
        "short_summary": "Triads, triangles, squares and isomorphisms, exact, on CPUs and GPUs with JAX.",
        "functions": {name: {"additional_docs": text} for name, text in FUNCTIONS.items()},
        "default_config": {"smallest": SMALLEST},
    }
