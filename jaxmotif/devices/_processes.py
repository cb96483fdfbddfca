"""Several processes of ``jax.distributed``: joining them, agreeing on the work, and what each found, known to all.

Whatever goes wrong in one of them, the others end with one line that says what: see :mod:`jaxmotif.devices._channel`.
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
"""How long to wait for another process to join, and for a sign of life of one that has: both are as many seconds as
the environment variable JAXMOTIF_CLUSTER_TIMEOUT says where it is set."""

GRACE_SECONDS = 5.0
"""How long a process may take to end by itself, and save what it has, when another one has failed."""

_state: dict[str, Channel] = {}


def join_processes(text: str) -> None:
    """Makes this process one of several; from then on it ends, with one line and status 1, when another one does.

    Args:
      text: ``"auto"`` where JAX finds out by itself (Slurm, Open MPI, Kubernetes, TPU pods), or
        ``"NUMBER/COUNT@HOST:PORT"``: which process of how many, and an address of process 0 that all reach.

    Raises:
      ValueError: for anything else.
      ClusterError: when another process does not come in time, or is none of these.
      OSError: when the port is in use.
    """
    seconds, _ = _time_outs()
    # JAX would take SIGTERM for itself.
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
    # JAX's own service goes to a free port of the first process.
    service = str(_free_port()).encode() if number == 0 else b""
    to = int(channel.exchange("port", service)[0])
    if number:
        host, to = "localhost", _relay(host, to)
    name = f"[{host}]" if ":" in host else host
    jax.distributed.initialize(f"{name}:{to}", count, number, heartbeat_timeout_seconds=10**6)


def _meet(number: int, count: int, addresses: list[tuple[str, int]], port: int) -> Channel:
    """The channel of this process, when all have come."""
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
    """To join, and for a sign of life."""
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
    """A port of this process that stands for one of the first process, and stays open when that one dies: JAX would end
    this process at once, with a C++ trace and before it has said what happened."""
    server = socket.create_server(("localhost", 0))

    def pump(source: socket.socket, to: socket.socket) -> None:
        try:
            while content := source.recv(2**16):
                to.sendall(content)
        except OSError:
            pass

    def serve() -> None:
        while True:
            near = server.accept()[0]
            try:
                far = socket.create_connection((host, port))
            except OSError:
                near.close()  # not there yet: JAX tries again
                continue
            for pair in ((near, far), (far, near)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def _end_with_the_others(channel: Channel) -> None:
    """Ends this process soon after another one has failed, also where compiled code runs for long."""

    def watch() -> None:
        channel.failed.wait()
        # The main thread may get to it first, and save what it has done.
        threading.Event().wait(GRACE_SECONDS)
        sys.stderr.write(f"jaxmotif: error: {channel.failure}\n")
        sys.stderr.flush()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def leave_processes(failure: str | None = None) -> bool:
    """Before this process ends: waits for the others to have ended their work, or tells them why it fails.

    Returns:
      Whether there are others; then JAX's own farewell would wait for those that are gone.
    """
    channel = _state.get("channel")
    if channel is None:
        return False
    if failure is None:
        channel.exchange("the end", b"")
    known = failure is None or channel.failure is not None
    channel.leave(None if known else f"process {channel.number} failed: {failure}")
    return True


def check_processes() -> None:
    """Raises ClusterError when another process has failed or ended."""
    if channel := _state.get("channel"):
        channel.check()


def _channel() -> Channel:
    """The channel of this process; made on first use where the processes met by JAX alone."""
    if "channel" not in _state:
        number, count, width = jax.process_index(), jax.process_count(), 1024
        server_port = _free_port() if number == 0 else 0
        mine = json.dumps([[host, server_port] for host in _own_hosts()])[:width] if number == 0 else ""
        addresses = json.loads(_from_the_first(np.frombuffer(mine.encode().ljust(width), np.uint8)).tobytes())
        _meet(number, count, [(host, port) for host, port in addresses], server_port)
    return _state["channel"]


def _own_hosts() -> list[str]:
    """Names of this machine for others, likely ones first."""
    hosts = [socket.gethostname(), "localhost"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; finds the address that packets would leave from
            hosts.insert(0, probe.getsockname()[0])
        except OSError:
            pass
    return hosts


def _from_the_first(content: np.ndarray) -> np.ndarray:
    """The bytes of the first process, by a collective of one device each, whatever their numbers."""
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
    """Leaves standard output to Python: what libraries print there when processes meet goes to standard error."""
    sys.stdout.flush()
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)


def check_alike(parts: Mapping[str, object], together: bool) -> None:
    """Makes sure that all processes were given the same work.

    Args:
      parts: what they were given, by name; values by their text.
      together: ``False`` when this process is on its own.

    Raises:
      ClusterError: in every process, when one was given something else; says which, and what.

    Example:
      >>> check_alike({"size": 3}, together=False)
    """
    if not together:
        return
    mine = {name: str(value) for name, value in parts.items()}
    everything = [json.loads(content) for content in _channel().exchange("options", json.dumps(mine).encode())]
    for number, theirs in enumerate(everything):
        names = [name for name in everything[0] | theirs if everything[0].get(name) != theirs.get(name)]
        if names:
            what = ", ".join(
                f"{name} {_short(theirs, name)} and not {_short(everything[0], name)}" for name in names[:3]
            )
            raise ClusterError(f"process {number} was given other work than process 0: {what}")


def _short(given: Mapping[str, str], name: str) -> str:
    text = given.get(name, "nothing")
    return text if len(text) <= 40 else f"{text[:12]}..."


def in_each_process(
    action: Callable[[], Mapping[str, ArrayLike]], together: bool, label: str = ""
) -> list[dict[str, np.ndarray]]:
    """Does something in this process, and in all others that call this too.

    Args:
      action: gives named arrays (no Python objects).
      together: ``False`` when this process is on its own.
      label: what this is, the same in all processes.

    Returns:
      What the action gave in each process, in their order.

    Raises:
      Exception: what the action raised here.
      ClusterError: what it raised elsewhere, or that another process has ended.

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
        raise  # that of another process, which all know of
    except Exception as error:
        failure, mine = error, {"failure": f"{type(error).__name__}: {error}"}
    everything = [_arrays(content) for content in channel.exchange(label, _bytes(mine))]
    if failure is not None:
        raise failure
    for number, arrays in enumerate(everything):
        if "failure" in arrays:
            raise ClusterError(f"process {number} failed: {arrays['failure']}")
    return everything


def _bytes(named: Mapping[str, ArrayLike]) -> bytes:
    """Arrays behind a line that describes them."""
    arrays = {name: np.asarray(array, order="C") for name, array in named.items()}
    head = json.dumps([(name, array.dtype.str, array.shape) for name, array in arrays.items()])
    return b"".join([head.encode(), b"\n", *(array.tobytes() for array in arrays.values())])


def _arrays(whole: bytes) -> dict[str, np.ndarray]:
    first = whole.index(b"\n") + 1
    found = {}
    for name, kind, shape in json.loads(whole[:first]):
        size = np.dtype(kind).itemsize * math.prod(shape)  # the copy is aligned
        found[name] = np.ndarray(shape, kind, bytearray(whole[first : first + size]))
        first += size
    return found
