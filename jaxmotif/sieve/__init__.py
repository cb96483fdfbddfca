"""The graph motif sieve: vertices, and sets of vertices, that are connected and carry given colors."""

from jaxmotif.sieve.polynomials import sieve_values

__all__ = ["sieve_values"]
