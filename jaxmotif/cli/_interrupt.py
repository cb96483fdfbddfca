"""Signals: Ctrl-C, SIGTERM and SIGHUP end the program soon, wherever it is, after a long job has saved its results."""

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
"""Time that the program has to end by itself after a signal.

Batch systems send SIGTERM and SIGHUP, and kill a program half a minute later or more. A person does not wait so long.
"""


class Stopped(KeyboardInterrupt):
    """The program was told to end.

    Attributes:
      status: The exit status, which is 128 plus the number of the signal: 130 for Ctrl-C, 143 for SIGTERM and 129 for
        SIGHUP.
    """

    def __init__(self, number: int):
        super().__init__(number)
        self.status = 128 + number

    def __str__(self) -> str:
        name = signal.Signals(self.status - 128).name
        return "interrupted" if name == "SIGINT" else f"stopped by {name}"


@contextlib.contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Raise :class:`Stopped` in the main thread on a signal, and end the process if it does not end soon after.

    The program must end with the block. If the block has not ended :data:`GRACE_SECONDS` after the signal, the process
    is ended. Signals that are ignored stay ignored.

    Python acts on a signal only when compiled code returns to it, which can take a minute, so that another thread
    receives the signal too. An exception in the midst of an import can crash extension modules, and in a callback it is
    lost. In these places the exception is put off for a moment.
    """
    ended, raised = threading.Event(), threading.Event()
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def stop(number: int, frame: FrameType | None) -> None:
        if raised.is_set() or _must_not_raise(frame):
            return
        raised.set()  # A second exception would disturb the saving of results.
        raise Stopped(number)

    def watch() -> None:
        number = next((byte[0] for byte in iter(lambda: receiver.recv(1), b"") if byte[0] in grace), None)
        if number is None:
            return
        ends = time.monotonic() + grace[number]
        while not ended.wait(0.05):
            if time.monotonic() > ends:
                sys.stderr.write(f"\njaxmotif: {Stopped(number)}\n")
                exit_now(128 + number)
            if not raised.is_set():
                _thread.interrupt_main(signal.Signals(number))  # This tries again if the exception was put off.

    grace: dict[int, float] = {}  # in seconds, by signal
    for name, seconds in GRACE_SECONDS.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP.
        # A signal is ignored under nohup and in a shell's background jobs.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            grace[number] = seconds
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    for number in grace:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in grace:  # The program ends anyway.
            signal.signal(number, signal.SIG_IGN)
        ended.set()
        signal.set_wakeup_fd(-1)
        sender.close()
        watcher.join()
        receiver.close()


def _must_not_raise(frame: FrameType | None) -> bool:
    """Return whether an import, a finalizer, or JAX's callback of the garbage collector is running."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name in ("_xla_gc_callback", "__del__"):
            return True
        frame = frame.f_back
    return False


def exit_now(status: int) -> None:
    """End the process without waiting for compiled code in other threads, or for JAX to clean up."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # The reader of the stream may be gone.
            stream.flush()
    os._exit(status)
