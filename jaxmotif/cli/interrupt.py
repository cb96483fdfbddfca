"""Ctrl-C that works at once, although Python cannot act on it while compiled code runs."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator

INTERRUPTED = 130
GRACE_SECONDS = 2.0


@contextlib.contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Ends the process soon after Ctrl-C; for the main thread.

    Python raises KeyboardInterrupt only when compiled code returns to it, which can take a minute, and loses it
    when it comes up in a callback. So another thread hears the signal too, and if the block has not ended
    :data:`GRACE_SECONDS` later, ends the process with status 130.
    """
    ended = threading.Event()
    hear, tell = socket.socketpair()
    tell.setblocking(False)

    def watch() -> None:
        while number := hear.recv(1):
            if number[0] == signal.SIGINT and not ended.wait(GRACE_SECONDS):
                sys.stderr.write("\njaxmotif: interrupted\n")
                exit_now()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    previous = signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(previous)
        tell.close()
        watcher.join()
        hear.close()


def exit_now() -> None:
    """Ends the process, interrupted, without waiting for compiled code that still runs in other threads."""
    sys.stderr.flush()
    os._exit(INTERRUPTED)
