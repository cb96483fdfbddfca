"""The ``jaxmotif`` command."""

from jaxmotif.cli.app import main as main
from jaxmotif.cli.app import program as program
