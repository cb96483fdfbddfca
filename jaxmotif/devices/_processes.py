"""Several processes of ``jax.distributed``: how they join, check that they do the same work, and exchange results.

When something goes wrong in one of them, the others end with one line that says what (see
:mod:`jaxmotif.devices._channel`).
"""

from __future__ import annotations

import atexit
import errno
import json
import logging
import math
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import jax
import numpy as np

import jaxmotif
from jaxmotif.devices._channel import Channel, ClusterError, connect, listen, open_port

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

JOIN_SECONDS, SILENCE_SECONDS = 300.0, 20.0
"""Time to wait for another process to join, and for a sign of life of one that has joined.

The environment variable JAXMOTIF_CLUSTER_TIMEOUT sets both to a number of seconds.
"""

GRACE_SECONDS = 5.0
"""Time that a process has to end by itself, and to save its results, when another one has failed."""

_state: dict[str, Channel] = {}


def join_processes(text: str) -> None:
    """Make this process one of several.

    From then on this process ends, with one line and status 1, when another process fails.

    Args:
      text: ``"auto"`` where JAX finds the other processes by itself (Slurm, Open MPI, Kubernetes, TPU pods), or
        ``"NUMBER/COUNT@HOST:PORT"``: the number of this process, the number of processes, and an address of process 0
        that all can reach.

    Raises:
      ValueError: The text is neither.
      ClusterError: Another process does not come in time, or does not belong to these.
      OSError: The port is in use.
    """
    seconds, _ = _time_outs()
    # JAX's preemption service would take over SIGTERM.
    jax.config.update("jax_enable_preemption_service", False)
    if text == "auto":
        jax.distributed.initialize(initialization_timeout=math.ceil(seconds))
        if jax.process_count() > 1:
            _end_with_the_others(_channel())
        return
    match = re.fullmatch(r"(\d+)/(\d+)@(.+):(\d+)", text)
    if match is None or not int(match[1]) < int(match[2]) or int(match[4]) >= 2**16:
        raise ValueError(f"{text!r} is neither 'auto' nor NUMBER/COUNT@HOST:PORT such as 0/2@node1:1234")
    number, count, host, port = int(match[1]), int(match[2]), match[3].strip("[]"), int(match[4])
    if count == 1:
        return
    channel = _meet(number, count, [(host, port)], port)
    _end_with_the_others(channel)
    # JAX's own service listens at a free port of the first process, which the others learn here.
    service = str(_free_port()).encode() if number == 0 else b""
    service_port = int(channel.exchange("port", service)[0])
    if number:
        host, service_port = "localhost", _relay(host, service_port)
    name = f"[{host}]" if ":" in host else host
    jax.distributed.initialize(f"{name}:{service_port}", count, number, heartbeat_timeout_seconds=10**6)


def _meet(number: int, count: int, addresses: list[tuple[str, int]], port: int) -> Channel:
    """Return the channel of this process when all processes have come."""
    (seconds, silence), version = _time_outs(), jaxmotif.__version__
    tell = logging.getLogger("jaxmotif").info
    if number == 0:
        try:
            server = open_port(port)
        except OSError as error:
            what = "is in use by another program" if error.errno == errno.EADDRINUSE else f"cannot be used: {error}"
            raise OSError(f"port {port} of this machine {what}; choose another for all processes") from None
        channel = listen(server, count, version, seconds, silence, tell)
    else:
        channel = connect(addresses, number, count, version, seconds, silence, tell)
    _state["channel"] = channel
    atexit.register(channel.leave)
    return channel


def _time_outs() -> tuple[float, float]:
    """Return how many seconds to wait for a process to join, and for a sign of life."""
    text = os.environ.get("JAXMOTIF_CLUSTER_TIMEOUT")
    if not text:
        return JOIN_SECONDS, SILENCE_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds < math.inf:
        raise ValueError(f"JAXMOTIF_CLUSTER_TIMEOUT={text!r} is not a number of seconds, at least 1")
    return seconds, seconds


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]


def _relay(host: str, port: int) -> int:
    """Open a port of this process that forwards to a port of the first process, and return its number.

    The port stays open when the first process dies. JAX would otherwise end this process at once, with a C++ trace
    and before it could say what has happened.
    """
    server = socket.create_server(("localhost", 0))

    def forward(source: socket.socket, target: socket.socket) -> None:
        try:
            while content := source.recv(2**16):
                target.sendall(content)
        except OSError:
            pass

    def serve() -> None:
        while True:
            local = server.accept()[0]
            try:
                remote = socket.create_connection((host, port))
            except OSError:
                local.close()  # The first process does not listen yet, and JAX will try again.
                continue
            for pair in ((local, remote), (remote, local)):
                threading.Thread(target=forward, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def _end_with_the_others(channel: Channel) -> None:
    """End this process soon after another one has failed, even if compiled code is running."""

    def watch() -> None:
        channel.failed.wait()
        # The main thread has this much time to notice by itself and to save its results.
        threading.Event().wait(GRACE_SECONDS)
        sys.stderr.write(f"jaxmotif: error: {channel.failure}\n")
        sys.stderr.flush()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def leave_processes(failure: str | None = None) -> bool:
    """Wait for the other processes to end their work, or tell them why this one fails; call this before the end.

    Args:
      failure: Why this process fails, in words; ``None`` if it does not.

    Returns:
      Whether there are other processes. If so, JAX's own shutdown must be skipped, because it would wait for those
      that are gone.
    """
    channel = _state.get("channel")
    if channel is None:
        return False
    if failure is None:
        channel.exchange("the end", b"")
    is_news = failure is not None and channel.failure is None
    channel.leave(f"process {channel.number} failed: {failure}" if is_news else None)
    return True


def check_processes() -> None:
    """Raise ClusterError if another process has failed or ended."""
    if channel := _state.get("channel"):
        channel.check()


def _channel() -> Channel:
    """Return the channel of this process, which is made at the first use where JAX alone joined the processes."""
    if "channel" not in _state:
        number, count, width = jax.process_index(), jax.process_count(), 1024
        server_port = _free_port() if number == 0 else 0
        mine = json.dumps([[host, server_port] for host in _own_hosts()])[:width] if number == 0 else ""
        addresses = json.loads(_from_the_first(np.frombuffer(mine.encode().ljust(width), np.uint8)).tobytes())
        _meet(number, count, [(host, port) for host, port in addresses], server_port)
    return _state["channel"]


def _own_hosts() -> list[str]:
    """Return names and addresses of this machine by which others may reach it, the most likely first."""
    hosts = [socket.gethostname(), "localhost"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Connecting sends nothing; it only finds the address that packets would leave from.
            probe.connect(("192.0.2.1", 9))
            hosts.insert(0, probe.getsockname()[0])
        except OSError:
            pass
    return hosts


def _from_the_first(content: np.ndarray) -> np.ndarray:
    """Return the bytes that the first process passes in; one device of each process takes part in the exchange."""
    first: dict[int, jax.Device] = {}
    for device in jax.devices():
        first.setdefault(device.process_index, device)
    mesh = jax.sharding.Mesh(np.array(list(first.values())), ("process",))
    by_process = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("process"))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    mine = jax.device_put(content[None], first[jax.process_index()])
    rows = jax.make_array_from_single_device_arrays((len(first), content.size), by_process, [mine])
    gathered = jax.jit(lambda x: x[0], out_shardings=everywhere)(rows)
    return np.asarray(gathered.addressable_data(0))


def keep_stdout() -> None:
    """Redirect to standard error what libraries print to standard output; Python's own output stays where it was."""
    sys.stdout.flush()
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)


def check_alike(parts: Mapping[str, object], together: bool) -> None:
    """Check that all processes were given the same work.

    Args:
      parts: What this process was given, by name; values are compared by their text.
      together: Whether there are other processes.

    Raises:
      ClusterError: One was given different work; the error says which process, and what. It is raised in all.

    Example:
      >>> check_alike({"size": 3}, together=False)
    """
    if not together:
        return
    mine = {name: str(value) for name, value in parts.items()}
    processes = [json.loads(content) for content in _channel().exchange("options", json.dumps(mine).encode())]
    first = processes[0]
    for number, other in enumerate(processes):
        names = [name for name in first | other if first.get(name) != other.get(name)]
        if names:
            what = ", ".join(f"{name} {_shorten(other, name)} and not {_shorten(first, name)}" for name in names[:3])
            raise ClusterError(f"process {number} was given other work than process 0: {what}")


def _shorten(parts: Mapping[str, str], name: str) -> str:
    text = parts.get(name, "nothing")
    return text if len(text) <= 40 else f"{text[:12]}..."


def in_each_process(
    action: Callable[[], Mapping[str, ArrayLike]], together: bool, label: str = ""
) -> list[dict[str, np.ndarray]]:
    """Run a function in this process and in all others that call this, and return what it returned in each.

    Args:
      action: A function that returns arrays by name (no arrays of Python objects).
      together: Whether there are other processes.
      label: What this is about; the same in all processes.

    Returns:
      The arrays of each process, in the order of their numbers.

    Raises:
      Exception: The exception that the function raised in this process.
      ClusterError: The function raised an exception in another process, or another process has ended.

    Example:
      >>> in_each_process(lambda: {"found": np.int64(3)}, together=False)
      [{'found': array(3)}]
    """
    if not together:
        return [{name: np.asarray(array) for name, array in action().items()}]
    channel = _channel()
    failure = None
    try:
        mine = action()
    except ClusterError:
        raise  # Another process has failed, and all processes know.
    except Exception as error:
        failure, mine = error, {"failure": f"{type(error).__name__}: {error}"}
    by_process = [_unpack_arrays(content) for content in channel.exchange(label, _pack_arrays(mine))]
    if failure is not None:
        raise failure
    for number, arrays in enumerate(by_process):
        if "failure" in arrays:
            raise ClusterError(f"process {number} failed: {arrays['failure']}")
    return by_process


def _pack_arrays(named: Mapping[str, ArrayLike]) -> bytes:
    """Return the bytes of arrays, after a line of JSON with the name, type and shape of each."""
    arrays = {name: np.asarray(array, order="C") for name, array in named.items()}
    head = json.dumps([(name, array.dtype.str, array.shape) for name, array in arrays.items()])
    return b"".join([head.encode(), b"\n", *(array.tobytes() for array in arrays.values())])


def _unpack_arrays(content: bytes) -> dict[str, np.ndarray]:
    first = content.index(b"\n") + 1
    arrays = {}
    for name, dtype, shape in json.loads(content[:first]):
        size = np.dtype(dtype).itemsize * math.prod(shape)
        # The copy is there because the bytes of an array must be aligned in memory.
        arrays[name] = np.ndarray(shape, dtype, bytearray(content[first : first + size]))
        first += size
    return arrays
