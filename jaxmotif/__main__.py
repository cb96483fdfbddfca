"""``python -m jaxmotif``."""

from jaxmotif.cli import program

program()
