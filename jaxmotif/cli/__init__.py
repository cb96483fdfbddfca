"""The ``jaxmotif`` command."""

from jaxmotif.cli.app import main as main
