"""The ``jaxmotif`` command."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from types import FrameType


def program() -> None:
    """The ``jaxmotif`` program: runs :func:`main`, and hears Ctrl-C from the first import on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from jaxmotif.cli._interrupt import exit_now, prompt_interrupts

    with prompt_interrupts():
        status = main()
    exit_now(status)


def _end(number: int, frame: FrameType | None) -> None:
    """While the handlers themselves are imported, an interrupt has nothing to save and must not raise."""
    os.write(2, b"jaxmotif: interrupted\n")
    os._exit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command: :func:`jaxmotif.cli._app.main`."""
    from jaxmotif.cli._app import main

    return main(argv)
