"""Messages between the processes of a cluster, and the news that one of them has ended, over sockets.

The first process listens; the others connect to it and stay connected. :meth:`Channel.exchange` sends the messages of
all processes to the first, which sends them all back to everyone. When a connection closes or is silent for too long,
its process is taken for dead. The first process tells the others, and :meth:`Channel.check` and every call that waits
raise one error that says which process it was. JAX's own exchange would end such processes late, and with a C++ trace.
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
_PIECE = 2**20  # bytes that are sent or received at once
_MOST_GREETING = 2**12  # bytes of a message from a process that has not said who it is


class ClusterError(RuntimeError):
    """Another process of the cluster is missing, has failed, or does different work."""


class _Connection:
    """A connection to another process, on which several threads may send and one thread receives messages."""

    def __init__(self, connection: socket.socket, silence: float):
        # Without this option the system would hold small messages back, to send them together with later ones.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(silence)
        self._socket, self._lock = connection, threading.Lock()

    def allow_silence(self, seconds: float) -> None:
        """Set after how many seconds without a byte a call fails with TimeoutError."""
        self._socket.settimeout(seconds)

    def send(self, kind: bytes, content: bytes = b"") -> None:
        with self._lock:
            self._socket.sendall(_HEAD.pack(kind, len(content)))
            view = memoryview(content)
            # The time-out holds for each piece, so that a slow connection is not taken for a dead one.
            for first in range(0, len(view), _PIECE):
                self._socket.sendall(view[first : first + _PIECE])

    def receive(self, most: int | None = None) -> tuple[bytes, bytes]:
        kind, size = _HEAD.unpack(self._read(_HEAD.size))
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
    """The connections of one process, which :func:`listen` and :func:`connect` make.

    Attributes:
      number: The number of this process.
      count: The number of processes.
      failure: What happened to another process, in words; ``None`` while all is well.
      failed: An event that is set when there is a failure.
    """

    def __init__(self, number: int, connections: dict[int, _Connection], count: int, silence: float):
        self.number, self.count = number, count
        self.failure: str | None = None
        self.failed = threading.Event()
        self._connections, self._silence, self._left = connections, silence, False
        self._inbox: dict[int, queue.SimpleQueue[bytes | None]] = {other: queue.SimpleQueue() for other in connections}
        self._exchanges = 0
        for other in connections:
            threading.Thread(target=self._listen_to, args=(other,), daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    def exchange(self, label: str, content: bytes) -> list[bytes]:
        """Send a message to all processes, and return the messages of all in the order of their numbers.

        Args:
          label: What the message is about. It is the same in every process, unless they do different work.
          content: The message.

        Raises:
          ClusterError: Another process has ended, or its message is about something else.
        """
        self.check()
        self._exchanges += 1
        # The number shows a process that is one exchange behind, even where labels repeat.
        topic = f"{label} ({self._exchanges})"
        if self.number:
            self._send(0, _MESSAGE, _pack([topic.encode(), content]))
            return _unpack(self._take(0))
        messages = [content]
        for other in range(1, self.count):
            other_topic, message = _unpack(self._take(other))
            if other_topic != topic.encode():
                at = other_topic.decode()
                self._fail(f"process {other} is at {at!r}, process 0 at {topic!r}: give all the same work")
                self.check()
            messages.append(message)
        answer = _pack(messages)
        for other in range(1, self.count):
            self._send(other, _MESSAGE, answer)
        return messages

    def check(self) -> None:
        """Raise ClusterError if another process has failed or ended."""
        if self.failure is not None:
            raise ClusterError(self.failure)

    def leave(self, failure: str | None = None) -> None:
        """Tell the other processes that this one ends, and why if it ends too early."""
        if self._left:
            return
        self._left = True
        for connection in self._connections.values():
            with contextlib.suppress(OSError):
                connection.send(_BYE if failure is None else _FAILURE, (failure or "").encode())
                # Messages on their way still arrive after the connection is closed in this direction.
                connection.end()

    def _send(self, other: int, kind: bytes, content: bytes) -> None:
        try:
            self._connections[other].send(kind, content)
        except OSError:
            # The thread that reads this connection finds out why and puts an end into the inbox, so this loop ends
            # with an error that names the reason.
            while True:
                self._take(other)

    def _take(self, other: int) -> bytes:
        message = self._inbox[other].get()
        if message is None:
            # The end stays in the inbox for the next call.
            self._inbox[other].put(None)
            self._fail(f"process {other} has ended")
            raise ClusterError(self.failure)
        return message

    def _listen_to(self, other: int) -> None:
        try:
            while True:
                kind, content = self._connections[other].receive()
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
            self._connections[other].close()
        self._inbox[other].put(None)  # The end: no further message will come.

    def _fail(self, failure: str) -> None:
        """Keep the first failure, and pass it on if this is the first process, which is connected to all others."""
        if self._left or self.failure is not None:
            return
        self.failure = failure
        self.failed.set()
        for other, connection in self._connections.items():
            self._inbox[other].put(None)
            if not self.number:
                with contextlib.suppress(OSError):
                    connection.send(_FAILURE, failure.encode())

    def _beat(self) -> None:
        while not self._left and self.failure is None:
            for connection in self._connections.values():
                with contextlib.suppress(OSError):
                    connection.send(_BEAT)
            # There are several beats in the time of silence that is allowed, so that a late one does no harm.
            self.failed.wait(min(self._silence / 8, 2.0))


def open_port(port: int) -> socket.socket:
    """Listen at a port of this machine, or for 0 at a free one.

    Raises:
      OSError: The port is in use.
    """
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):  # The second attempt below raises an error that says why.
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def listen(
    server: socket.socket, count: int, version: str, seconds: float, silence: float, tell: Callable[[str], None]
) -> Channel:
    """Wait for all other processes, in the first of them.

    Args:
      server: The socket of :func:`open_port`, which is closed in the end.
      count: The number of processes.
      version: The version of jaxmotif, which must be the same in all processes.
      seconds: How many seconds to wait.
      silence: After how many seconds of silence a process is taken for dead.
      tell: A function that is told now and then what this process waits for.

    Raises:
      ClusterError: A process did not come, came twice, or differs.
    """
    connections: dict[int, _Connection] = {}
    wait = _Wait(seconds, tell)
    with server:
        while len(connections) < count - 1:
            missing = [number for number in range(1, count) if number not in connections]
            port = server.getsockname()[1]
            wait.on(f"process{'es' * (len(missing) > 1)} {_listed(missing)} of {count} to connect to port {port}")
            # A short time-out lets this loop look at the clock and say what it waits for.
            server.settimeout(0.2)
            try:
                refusal = None if wait.left > 0 else f"{wait.what} did not come within {seconds:g} s"
                connection = None if refusal else _Connection(server.accept()[0], 5.0)
            except TimeoutError:
                continue
            if connection is not None:
                try:
                    greeting = json.loads(connection.receive(_MOST_GREETING)[1])
                    number = int(greeting["number"])
                    refusal = _refusal(greeting, number, connections, count, version)
                except (OSError, ValueError, KeyError, TypeError, struct.error):
                    connection.close()  # This is no process of ours.
                    continue
                connections[-1 if refusal else number] = connection
            if refusal:
                for connection in connections.values():
                    with contextlib.suppress(OSError):
                        connection.send(_FAILURE, refusal.encode())
                    connection.close()
                raise ClusterError(refusal)
    for connection in connections.values():
        connection.allow_silence(silence)
        with contextlib.suppress(OSError):  # If the process has ended, the thread that reads will notice.
            connection.send(_MESSAGE)
    return Channel(0, connections, count, silence)


def _refusal(
    greeting: dict[str, str | int], number: int, connections: dict[int, _Connection], count: int, version: str
) -> str | None:
    """Return why a process cannot join, or ``None`` if it can."""
    if greeting["count"] != count:
        return f"process {number} is one of {greeting['count']}, process 0 of {count}: give all the same number"
    if greeting["version"] != version:
        theirs = greeting["version"]
        return f"process {number} runs jaxmotif {theirs}, process 0 {version}: install the same everywhere"
    if number in connections or not 0 < number < count:
        return f"two processes say that they are number {number} of {count}: give each its own"
    return None


def connect(
    addresses: list[tuple[str, int]],
    number: int,
    count: int,
    version: str,
    seconds: float,
    silence: float,
    tell: Callable[[str], None],
) -> Channel:
    """Connect to the first process.

    Args:
      addresses: Hosts and ports where it may listen.
      number: The number of this process.
      count: See :func:`listen`, also for the arguments that follow and for the error.
      version: The version of jaxmotif.
      seconds: How many seconds to wait.
      silence: After how many seconds of silence a process is taken for dead.
      tell: A function that is told now and then what this process waits for.
    """
    shown = " or ".join(f"{host}:{port}" for host, port in addresses)
    greeting = json.dumps({"number": number, "count": count, "version": version}).encode()
    wait = _Wait(seconds, tell)
    # The addresses are tried in turn, because it is not known which one this machine can reach.
    for host, port in itertools.cycle(addresses):
        wait.on(f"process 0 of {count} at {shown}")
        if wait.left <= 0:
            raise ClusterError(f"{wait.what} did not answer within {seconds:g} s: is it running, and within reach?")
        try:
            opened = socket.create_connection((host, port), min(wait.left, 5.0))
            connection = _Connection(opened, wait.left + 5.0)
        except OSError:
            time.sleep(0.2)  # The first process may not listen yet.
            continue
        try:
            connection.send(_MESSAGE, greeting)
            # The first process answers when all have come; until then it may be silent.
            connection.allow_silence(wait.left + 5.0)
            kind, content = connection.receive(_MOST_GREETING)
        except (OSError, ValueError, struct.error):
            connection.close()
            time.sleep(0.2)
            continue
        if kind == _FAILURE:
            connection.close()
            raise ClusterError(content.decode())
        connection.allow_silence(silence)
        return Channel(number, {0: connection}, count, silence)
    raise AssertionError("no addresses")


class _Wait:
    """A deadline, with a message now and then on what the process waits for."""

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


def _pack(parts: list[bytes]) -> bytes:
    return struct.pack(f"!I{len(parts)}Q", len(parts), *map(len, parts)) + b"".join(parts)


def _unpack(whole: bytes) -> list[bytes]:
    (count,) = struct.unpack_from("!I", whole)
    lengths, first, parts = struct.unpack_from(f"!{count}Q", whole, 4), 4 + 8 * count, []
    for length in lengths:
        parts.append(whole[first : first + length])
        first += length
    return parts
