"""Orbits and counts of five-node subgraphs (internal): :mod:`jaxmotif.graphlets` is the front door."""
