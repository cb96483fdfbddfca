"""Pictures of small graphs as SVG, and of graphs in matplotlib."""

from jaxmotif.drawing._drawing import Drawing, draw_network, draw_pattern

__all__ = ["Drawing", "draw_network", "draw_pattern"]
