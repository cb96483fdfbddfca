"""Options that several commands share, and what follows from them."""

from __future__ import annotations

import argparse
import contextlib
import logging
import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxmotif.devices._select import Hybrid

logger = logging.getLogger("jaxmotif")

_UNITS = {"": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate(("k", "m", "g", "t"), 1)
    for suffix, base in (("ib", 1024), ("b", 1000))
}


def add_work_options(parser: argparse.ArgumentParser, checkpoint: bool = True) -> None:
    """Add the options that say where and how a command works.

    Args:
      parser: The parser of the command.
      checkpoint: Whether the command can keep finished work in a folder.
    """
    parser.add_argument(
        "--device",
        type=device_choice,
        metavar="cpu|gpu|hybrid[:HOW]|N",
        help="where to run: one kind of device, GPUs and the CPU together, or N devices (default: the fastest found). "
        "HOW they share the work: any of order=degree|-degree|volume|-volume, alpha=SHARE (at most the CPU's), "
        "chunk=SHARE (what a GPU takes at once), and workers=N (threads of the CPU), as in hybrid:alpha=0.1,workers=4",
    )
    parser.add_argument(
        "--memory",
        type=memory_size,
        metavar="SIZE",
        help="working memory beyond the graph itself, for example 256MiB (default: from the device)",
    )
    parser.add_argument(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="have the workers of this Dask cluster share the work: the address of its scheduler (tls:// where it is "
        "encrypted), or its scheduler file. --device then says what each worker uses",
    )
    if checkpoint:
        parser.add_argument(
            "--checkpoint", type=Path, metavar="DIR", help="keep finished work here; the same command goes on from it"
        )
    cache = parser.add_mutually_exclusive_group()
    cache.add_argument(
        "--cache",
        metavar="DIR",
        help="keep compiled code here (default: $JAXMOTIF_CACHE, else $JAX_COMPILATION_CACHE_DIR, else "
        "~/.cache/jaxmotif)",
    )
    cache.add_argument("--no-cache", action="store_const", const="off", dest="cache", help="keep no compiled code")
    parser.add_argument("--quiet", action="store_true", help="no progress and no notes")


def device_choice(text: str) -> str | int | Hybrid:
    """Parse a kind of device, a way in which GPUs and the CPU share the work, or a number of devices.

    Example:
      >>> device_choice("gpu"), device_choice("4")
      ('gpu', 4)
      >>> device_choice("hybrid:order=-volume,alpha=0.1")
      Hybrid(order='-volume', alpha=0.1, chunk=0.05, workers=None)
    """
    if text in ("cpu", "gpu", "hybrid"):
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text.startswith("hybrid:"):
        return _parse_hybrid(text.removeprefix("hybrid:"))
    raise argparse.ArgumentTypeError(f"{text!r} is not cpu, gpu, hybrid or a number of devices")


def _parse_hybrid(text: str) -> Hybrid:
    from jaxmotif.devices._select import Hybrid

    kinds: dict[str, Callable[[str], Any]] = {"order": str, "alpha": float, "chunk": float, "workers": int}
    parts = [part.partition("=") for part in text.split(",")]
    try:
        return Hybrid(**{name: kinds[name](value) for name, _, value in parts})
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"hybrid has no {error}; use {', '.join(kinds)}") from None
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"hybrid:{text}: {error}") from None


def memory_size(text: str) -> int:
    """Return the number of bytes of a size such as ``256MiB``, ``1.5GB`` or ``1000000``.

    Example:
      >>> memory_size("256MiB"), memory_size("1.5 GB"), memory_size("4096")
      (268435456, 1500000000, 4096)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip().lower())
    size = int(float(match[1]) * _UNITS[match[2]]) if match and match[2] in _UNITS else 0
    if size <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write bytes or a unit, for example 256MiB or 2GB")
    return size


def limit(text: str) -> int | None:
    """Return a number to list or draw at most, or ``None`` for ``all``.

    Example:
      >>> limit("10"), limit("all")
      (10, None)
    """
    if text == "all":
        return None
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'all'")
    return int(text)


def seconds(text: str) -> float:
    """Return a time limit in seconds, above zero.

    Example:
      >>> seconds("2.5")
      2.5
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0; leave it out for no limit")
    return value


@contextlib.contextmanager
def program_cache(args: argparse.Namespace) -> Iterator[None]:
    """Keep compiled programs in a folder, unless that is turned off; where it cannot be done, log that and go on."""
    from jaxmotif.arrays._compile import compile_quickly
    from jaxmotif.arrays._program_cache import keep_compiled

    where = args.cache or os.environ.get("JAXMOTIF_CACHE")
    if where != "off":
        try:
            keep_compiled(where, quick=True)
        except OSError as error:
            logger.info("compiled code is not kept: %s (--no-cache for silence, --cache DIR for another place)", error)
    try:
        yield
    finally:
        compile_quickly(False)


@contextlib.contextmanager
def use_devices(args: argparse.Namespace) -> Iterator[None]:
    """Check before the work that the devices are there, or connect to the cluster that the user named.

    For ``--device cpu``, and where a cluster does the work, JAX is kept off accelerators.
    """
    import jax

    from jaxmotif.devices._cluster import connect
    from jaxmotif.devices._memory import check_within_device
    from jaxmotif.devices._select import select_devices

    if args.device == "cpu" or args.cluster is not None:
        jax.config.update("jax_platforms", "cpu")
    if args.cluster is None:
        check_within_device(args.memory, select_devices(args.device).main)
        yield
        return
    with connect(args.cluster, args.device) as args.device:
        yield


def work_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments that a job takes from the options of :func:`add_work_options`."""
    return {
        "devices": args.device,
        "memory": args.memory,
        "checkpoint": args.checkpoint,
        "progress": not args.quiet,
    }
