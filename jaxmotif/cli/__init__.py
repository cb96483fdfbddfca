"""The ``jaxmotif`` command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType


def program() -> None:
    """Run the ``jaxmotif`` program, which reacts to Ctrl-C from the first import on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_on_interrupt)
    _replace_closed_streams()
    from jaxmotif.cli._interrupt import exit_now, prompt_interrupts

    with prompt_interrupts():
        status = main()
    exit_now(status)


def _replace_closed_streams() -> None:
    """Open standard output and standard error if the process was started without them.

    Otherwise the next files that are opened would get their numbers, and what is printed would go into these files. A
    result for standard output now fails when it is written, and the user is told.
    """
    for name, number, mode in (("stdout", 1, os.O_RDONLY), ("stderr", 2, os.O_WRONLY)):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, mode)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "w"))  # noqa: SIM115 (It stays open until the process ends.)


def _exit_on_interrupt(number: int, frame: FrameType | None) -> None:
    """End the process on an interrupt while modules are imported, when there is nothing to save.

    An exception in the midst of an import could crash extension modules.
    """
    os.write(2, b"jaxmotif: interrupted\n")
    os._exit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (see :func:`jaxmotif.cli._app.main`)."""
    from jaxmotif.cli._app import main

    return main(argv)
