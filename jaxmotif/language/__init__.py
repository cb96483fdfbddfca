"""The query language: text to a query, parsed and never evaluated."""

from jaxmotif.language._parse import parse
from jaxmotif.language._query import Clause, Comparison, Edge, Query, QueryError

__all__ = ["Clause", "Comparison", "Edge", "Query", "QueryError", "parse"]
