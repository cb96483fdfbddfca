"""The query language: text is parsed to a query, and never evaluated as code."""

from jaxmotif.language._parse import parse
from jaxmotif.language._query import Clause, Comparison, Edge, Query, QueryError

__all__ = ["Clause", "Comparison", "Edge", "Query", "QueryError", "parse"]
