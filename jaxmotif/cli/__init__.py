"""The ``jaxmotif`` command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType


def program() -> None:
    """The ``jaxmotif`` program: runs :func:`main`, and hears Ctrl-C from the first import on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    _stand_in_for_closed_streams()
    from jaxmotif.cli._interrupt import exit_now, prompt_interrupts

    with prompt_interrupts():
        status = main()
    exit_now(status)


def _stand_in_for_closed_streams() -> None:
    """Of a process that was begun without them: else the next files opened would take their numbers, and what is
    printed. A result for standard output then fails as it is written, and so is told."""
    for name, number, mode in (("stdout", 1, os.O_RDONLY), ("stderr", 2, os.O_WRONLY)):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, mode)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "w"))  # noqa: SIM115 (for the life of the process)


def _end(number: int, frame: FrameType | None) -> None:
    """While the handlers themselves are imported, an interrupt has nothing to save and must not raise."""
    os.write(2, b"jaxmotif: interrupted\n")
    os._exit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command: :func:`jaxmotif.cli._app.main`."""
    from jaxmotif.cli._app import main

    return main(argv)
