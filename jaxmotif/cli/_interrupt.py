"""Ctrl-C, SIGTERM and SIGHUP end the program soon, wherever it is; what is done of a long job is saved first."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

GRACE_SECONDS = {"SIGINT": 2.0, "SIGTERM": 20.0, "SIGHUP": 20.0}
"""How long the program may take to end by itself after a signal. Batch systems, which send the last two, kill no sooner
than half a minute later; a person waits for less."""


class Stopped(KeyboardInterrupt):
    """The program was told to end.

    Attributes:
      status: for the shell, 128 and the signal's number: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
    """

    def __init__(self, number: int):
        super().__init__(number)
        self.status = 128 + number

    def __str__(self) -> str:
        name = signal.Signals(self.status - 128).name
        return "interrupted" if name == "SIGINT" else f"stopped by {name}"


@contextlib.contextmanager
def prompt_interrupts() -> Iterator[None]:
    """For the main thread of a program that ends with the block: raises :class:`Stopped` there on a signal that is not
    ignored, and ends the process if the block has not ended :data:`GRACE_SECONDS` later.

    Python acts on a signal only when compiled code returns to it, which can take a minute. So another thread hears the
    signal too. An exception in the midst of an import can crash extension modules, and in a callback it is lost: there
    the signal is put off for a moment.
    """
    ended, raised = threading.Event(), threading.Event()
    hear, tell = socket.socketpair()
    tell.setblocking(False)

    def stop(number: int, frame: FrameType | None) -> None:
        if raised.is_set() or _must_not_raise(frame):
            return
        raised.set()  # once: what follows is the saving and the clearing away
        raise Stopped(number)

    def watch() -> None:
        number = next((byte[0] for byte in iter(lambda: hear.recv(1), b"") if byte[0] in heard), None)
        if number is None:
            return
        ends = time.monotonic() + heard[number]
        while not ended.wait(0.05):
            if time.monotonic() > ends:
                sys.stderr.write(f"\njaxmotif: {Stopped(number)}\n")
                exit_now(128 + number)
            if not raised.is_set():
                _thread.interrupt_main(signal.Signals(number))  # once more, if it was put off

    heard: dict[int, float] = {}
    for name, seconds in GRACE_SECONDS.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup, a shell's background job
            heard[number] = seconds
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heard:  # too late for them
            signal.signal(number, signal.SIG_IGN)
        ended.set()
        signal.set_wakeup_fd(-1)
        tell.close()
        watcher.join()
        hear.close()


def _must_not_raise(frame: FrameType | None) -> bool:
    """Whether an import, a finalizer, or JAX's callback of the garbage collector is under way."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name in ("_xla_gc_callback", "__del__"):
            return True
        frame = frame.f_back
    return False


def exit_now(status: int) -> None:
    """Ends the process without waiting for compiled code in other threads, or for JAX to clear away."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a reader that has gone
            stream.flush()
    os._exit(status)
