"""The graph motif sieve, which finds connected subgraphs with a given multiset of colors."""

from jaxmotif.sieve._polynomials import sieve_values
from jaxmotif.sieve._search import ColorMotifs, find_color_motif

__all__ = ["ColorMotifs", "find_color_motif", "sieve_values"]
