"""Messages among the processes of a cluster, and the news that one of them has ended: sockets to the first process.

The first process listens, the others connect and stay connected. What all give to :meth:`Channel.exchange` goes to the
first and comes back to all. A connection that closes, or is silent for longer than a heartbeat allows, means that its
process is gone: the first process tells all others, and whoever waits, or looks with :meth:`Channel.check`, ends with
one error that says which. JAX's own exchange ends such processes late, and with a C++ trace.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable

_HEAD = struct.Struct("!cQ")
_BEAT, _MESSAGE, _FAILURE, _BYE = b"b", b"m", b"f", b"e"
_PIECE = 2**20
_MOST_GREETING = 2**12


class ClusterError(RuntimeError):
    """Another process of the cluster is not there, has failed, or does something else."""


class _Line:
    """One connection: frames out under a lock, frames in by one thread."""

    def __init__(self, connection: socket.socket, silence: float):
        # Small messages at once: nothing is held back to be sent with more.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(silence)
        self._socket, self._lock = connection, threading.Lock()

    def settle(self, silence: float) -> None:
        """Sets how many seconds without a byte are too many."""
        self._socket.settimeout(silence)

    def send(self, kind: bytes, content: bytes = b"") -> None:
        with self._lock:
            self._socket.sendall(_HEAD.pack(kind, len(content)))
            view = memoryview(content)
            for first in range(0, len(view), _PIECE):  # a time-out is for a piece: a slow line is not a dead one
                self._socket.sendall(view[first : first + _PIECE])

    def receive(self, most: int | None = None) -> tuple[bytes, bytes]:
        kind, size = _HEAD.unpack(self._read(_HEAD.size))
        # Before anyone has said who he is, nothing large is read.
        if most is not None and size > most:
            raise ConnectionError("not a process of this cluster")
        return kind, bytes(self._read(size))

    def _read(self, size: int) -> bytearray:
        content = bytearray(size)
        view = memoryview(content)
        while view:
            count = self._socket.recv_into(view, min(len(view), _PIECE))
            if not count:
                raise ConnectionError("the connection was closed")
            view = view[count:]
        return content

    def end(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class Channel:
    """The connections of one process; made by :func:`listen` and :func:`connect`.

    Attributes:
      number, count: which process this is, of how many.
      failure: what became of another process, in words; ``None`` while all is well.
    """

    def __init__(self, number: int, lines: dict[int, _Line], count: int, silence: float):
        self.number, self.count = number, count
        self.failure: str | None = None
        self.failed = threading.Event()
        self._lines, self._silence, self._left = lines, silence, False
        self._inbox: dict[int, queue.SimpleQueue[bytes | None]] = {other: queue.SimpleQueue() for other in lines}
        self._exchanges = 0
        for other in lines:
            threading.Thread(target=self._listen_to, args=(other,), daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    def exchange(self, label: str, content: bytes) -> list[bytes]:
        """Gives a message, and takes those of all processes, in their order.

        Args:
          label: what this is about; the same in every process, or they do different work.

        Raises:
          ClusterError: another process has ended, or is about something else.
        """
        self.check()
        self._exchanges += 1
        # Numbered, so that a process that is one exchange behind is noticed, whatever the labels.
        about = f"{label} ({self._exchanges})"
        if self.number:
            self._send(0, _MESSAGE, _packed([about.encode(), content]))
            return _unpacked(self._take(0))
        everything = [content]
        # The first process gathers all and gives all to everyone: one connection for each process is enough.
        for other in range(1, self.count):
            theirs, message = _unpacked(self._take(other))
            if theirs != about.encode():
                self._fail(f"process {other} is at {theirs.decode()!r}, process 0 at {about!r}: give all the same work")
                self.check()
            everything.append(message)
        answer = _packed(everything)
        for other in range(1, self.count):
            self._send(other, _MESSAGE, answer)
        return everything

    def check(self) -> None:
        """Raises ClusterError when another process has failed or ended."""
        if self.failure is not None:
            raise ClusterError(self.failure)

    def leave(self, failure: str | None = None) -> None:
        """Tells the others that this process ends, and why if it is too early."""
        if self._left:
            return
        self._left = True
        for other in self._lines:
            with contextlib.suppress(OSError):
                self._lines[other].send(_BYE if failure is None else _FAILURE, (failure or "").encode())
                # What is on its way arrives although this process ends now.
                self._lines[other].end()

    def _send(self, other: int, kind: bytes, content: bytes) -> None:
        try:
            self._lines[other].send(kind, content)
        except OSError:  # the reader of this connection finds out why
            # Its own reader puts the reason, or the end, where this waits.
            while True:
                self._take(other)

    def _take(self, other: int) -> bytes:
        message = self._inbox[other].get()
        if message is None:
            # For whoever asks next: the end stays in the inbox.
            self._inbox[other].put(None)
            self._fail(f"process {other} has ended")  # too early
            raise ClusterError(self.failure)
        return message

    def _listen_to(self, other: int) -> None:
        try:
            while True:
                kind, content = self._lines[other].receive()
                if kind == _MESSAGE:
                    self._inbox[other].put(content)
                elif kind == _FAILURE:
                    self._fail(content.decode())
                if kind in (_FAILURE, _BYE):
                    break
        except TimeoutError:
            self._fail(f"process {other} has not been heard of for {self._silence:g} s")
        except (OSError, ValueError):
            self._fail(f"process {other} ended without a word (killed, or out of memory?)")
        finally:
            self._lines[other].close()
        self._inbox[other].put(None)  # after a farewell: nothing more will come

    def _fail(self, failure: str) -> None:
        """The first news counts; the first process passes it on."""
        if self._left or self.failure is not None:
            return
        self.failure = failure
        self.failed.set()
        for other, line in self._lines.items():
            self._inbox[other].put(None)
            # Only the first process is connected to all: it passes the news on.
            if not self.number:
                with contextlib.suppress(OSError):
                    line.send(_FAILURE, failure.encode())

    def _beat(self) -> None:
        while not self._left and self.failure is None:
            for line in self._lines.values():
                with contextlib.suppress(OSError):
                    line.send(_BEAT)
            # Several beats within the silence that is allowed: one lost or late one does no harm.
            self.failed.wait(min(self._silence / 8, 2.0))


def open_port(port: int) -> socket.socket:
    """Listens at a port of this machine, or at a free one for 0.

    Raises:
      OSError: the port is in use.
    """
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):  # tried again below, where it says why
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def listen(
    server: socket.socket, count: int, version: str, seconds: float, silence: float, tell: Callable[[str], None]
) -> Channel:
    """Waits for all other processes, as the first of them.

    Args:
      server: of :func:`open_port`; closed in the end.
      version: must be the same in all.
      seconds: to wait.
      silence: seconds after which a process that says nothing is taken for dead.
      tell: told now and then what is waited for.

    Raises:
      ClusterError: a process did not come, came twice, or differs.
    """
    lines: dict[int, _Line] = {}
    wait = _Wait(seconds, tell)
    with server:
        while len(lines) < count - 1:
            missing = [number for number in range(1, count) if number not in lines]
            port = server.getsockname()[1]
            wait.on(f"process{'es' * (len(missing) > 1)} {_listed(missing)} of {count} to connect to port {port}")
            # Now and then it looks at the clock, and says what it waits for.
            server.settimeout(0.2)
            try:
                refused = None if wait.left > 0 else f"{wait.what} did not come within {seconds:g} s"
                line = None if refused else _Line(server.accept()[0], 5.0)
            except TimeoutError:
                continue
            if line is not None:
                try:
                    theirs = json.loads(line.receive(_MOST_GREETING)[1])
                    number = int(theirs["number"])
                    refused = _unfit(theirs, number, lines, count, version)
                except (OSError, ValueError, KeyError, TypeError, struct.error):  # a stranger
                    line.close()
                    continue
                lines[-1 if refused else number] = line
            if refused:
                for line in lines.values():
                    with contextlib.suppress(OSError):
                        line.send(_FAILURE, refused.encode())
                    line.close()
                raise ClusterError(refused)
    for line in lines.values():
        # From here on silence means what it will mean for the whole run.
        line.settle(silence)
        with contextlib.suppress(OSError):  # it has ended meanwhile, as its reader will find
            line.send(_MESSAGE)
    return Channel(0, lines, count, silence)


def _unfit(theirs: dict[str, str | int], number: int, lines: dict[int, _Line], count: int, version: str) -> str | None:
    """Why a process cannot be one of these."""
    if theirs["count"] != count:
        return f"process {number} is one of {theirs['count']}, process 0 of {count}: give all the same number"
    if theirs["version"] != version:
        return f"process {number} runs jaxmotif {theirs['version']}, process 0 {version}: install the same everywhere"
    if number in lines or not 0 < number < count:
        return f"two processes say that they are number {number} of {count}: give each its own"
    return None


def connect(
    addresses: list[tuple[str, int]], number: int, count: int, version: str, seconds: float, silence: float,
    tell: Callable[[str], None],
) -> Channel:  # fmt: skip
    """Connects to the first process; arguments and errors as of :func:`listen`.

    Args:
      addresses: hosts and ports where it may be.
    """
    shown = " or ".join(f"{host}:{port}" for host, port in addresses)
    greeting = json.dumps({"number": number, "count": count, "version": version}).encode()
    wait = _Wait(seconds, tell)
    # By turns: which address is the right one is not known.
    for host, port in itertools.cycle(addresses):
        wait.on(f"process 0 of {count} at {shown}")
        if wait.left <= 0:
            raise ClusterError(f"{wait.what} did not answer within {seconds:g} s: is it running, and within reach?")
        try:
            line = _Line(socket.create_connection((host, port), min(wait.left, 5.0)), wait.left + 5.0)
        except OSError:  # not there yet
            time.sleep(0.2)
            continue
        try:
            line.send(_MESSAGE, greeting)
            # The first process answers when all have come: until then it may be silent.
            line.settle(wait.left + 5.0)
            kind, content = line.receive(_MOST_GREETING)
        except (OSError, ValueError, struct.error):
            line.close()
            time.sleep(0.2)
            continue
        if kind == _FAILURE:
            line.close()
            raise ClusterError(content.decode())
        line.settle(silence)
        return Channel(number, {0: line}, count, silence)
    raise AssertionError("no addresses")


class _Wait:
    """A deadline, and a word now and then on what is waited for."""

    def __init__(self, seconds: float, tell: Callable[[str], None]):
        self._ends, self._tell, self._next = time.monotonic() + seconds, tell, time.monotonic() + 3.0
        self.what = ""

    @property
    def left(self) -> float:
        return self._ends - time.monotonic()

    def on(self, what: str) -> None:
        self.what = what
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 30.0
            self._tell(f"waiting for {what}")


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:9])) + ", ..." * (len(numbers) > 9)


def _packed(parts: list[bytes]) -> bytes:
    return struct.pack(f"!I{len(parts)}Q", len(parts), *map(len, parts)) + b"".join(parts)


def _unpacked(whole: bytes) -> list[bytes]:
    (count,) = struct.unpack_from("!I", whole)
    lengths, first, parts = struct.unpack_from(f"!{count}Q", whole, 4), 4 + 8 * count, []
    for length in lengths:
        parts.append(whole[first : first + length])
        first += length
    return parts
