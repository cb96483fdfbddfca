"""The kinds of values that options take, as functions of their text; ``options.txt`` names these functions."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxmotif.arrays._extras import load_extra

if TYPE_CHECKING:
    from jaxmotif.devices._select import Hybrid

_UNITS = {"": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate(("k", "m", "g", "t"), 1)
    for suffix, base in (("ib", 1024), ("b", 1000))
}


def _parse(
    text: str, convert: Callable[[str], Any], refusal: str, holds: Callable[[Any], bool] = lambda value: True
) -> Any:
    """Convert the text of an option to its value, for which something holds, or refuse the text."""
    try:
        value = convert(text)
        right = holds(value)
    except ValueError:
        right = False
    if not right:
        raise argparse.ArgumentTypeError(f"{text!r} {refusal}")
    return value


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
    refusal = "is neither 'all' nor a whole number of at least 0"
    return _parse(text, int, refusal, lambda _: text.isdecimal() and len(text) <= 18)


def seconds(text: str) -> float:
    """Return a time limit in seconds, above zero.

    Example:
      >>> seconds("2.5")
      2.5
    """
    refusal = "is not a number of seconds above 0; write for example 60, or leave it out"
    return _parse(text, float, refusal, lambda value: 0 < value < math.inf)


def whole_number(text: str) -> int:
    """Parse a whole number, which may be written as ``1e9``.

    Example:
      >>> whole_number("1e9"), whole_number("250000")
      (1000000000, 250000)
    """
    convert = int if text.lstrip("-").isdecimal() else float
    refusal = "is not a whole number; write for example 1000000 or 1e6"
    return int(_parse(text, convert, refusal, lambda value: value % 1 == 0))  # not so for infinity


def number(text: str) -> float:
    """Parse a number.

    Example:
      >>> number("0.05"), number("1e-3")
      (0.05, 0.001)
    """
    return _parse(text, float, "is not a number; write for example 0.05 or 1e-3", math.isfinite)


class FormatNames:
    """The names of formats, which are looked up only when they are needed."""

    def __iter__(self) -> Iterator[str]:
        from jaxmotif.io._registry import READABLE

        return iter(("auto", *READABLE))


def columns(text: str) -> tuple[int | str, ...]:
    """Parse columns such as ``source,target`` or ``0,2``.

    Example:
      >>> columns("pre,post,kind"), columns("0,2")
      (('pre', 'post', 'kind'), (0, 2))
    """
    chosen = tuple(column(name) for name in text.split(","))
    if len(chosen) not in (2, 3) or "" in chosen:
        raise argparse.ArgumentTypeError(f"{text!r} is not two or three columns such as source,target or 0,1")
    return chosen


def column(text: str) -> int | str:
    """Parse the number of a column, counted from 0, or its name."""
    return int(text) if text.isdecimal() and len(text) < 10 else text


def motif(text: str) -> dict[str, int]:
    """Parse a motif such as ``red:2,blue:1``, where a color without a number occurs once.

    Example:
      >>> motif("red:2,blue")
      {'red': 2, 'blue': 1}
    """
    motif: dict[str, int] = {}
    for part in text.split(","):
        color, colon, number = part.strip().rpartition(":")
        color, number = (color, number) if colon else (number, "1")
        if not color or not number.isdecimal() or not int(number):
            raise argparse.ArgumentTypeError(f"{part!r} is not a color and a number such as red:2")
        if color in motif:
            raise argparse.ArgumentTypeError(f"color {color!r} is named twice")
        motif[color] = int(number)
    return motif


def edge_labels(text: str) -> tuple[str, ...]:
    """Parse labels of edges such as ``activates,binds``.

    Example:
      >>> edge_labels("activates,binds")
      ('activates', 'binds')
    """
    labels = tuple(label.strip() for label in text.split(","))
    if "" in labels:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of labels such as activates,binds")
    return labels


def probability(text: str) -> float:
    """Parse a number between 0 and 1, both excluded."""
    return _parse(text, float, "is not a probability between 0 and 1, such as 1e-6", lambda value: 0 < value < 1)


def bins(text: str) -> int | list[float]:
    """Parse a number of bins, or the lengths between them.

    Example:
      >>> bins("8"), bins("0.5,2")
      (8, [0.5, 2.0])
    """
    convert = int if text.isdecimal() else lambda text: [float(part) for part in text.split(",")]
    return _parse(text, convert, "is neither a number of bins nor lengths such as 0.5,2")


def random_graphs(text: str) -> int | str:
    """Parse a number of random graphs, or ``auto``.

    Example:
      >>> random_graphs("1e4"), random_graphs("auto")
      (10000, 'auto')
    """
    number = text if text == "auto" else whole_number(text)
    if isinstance(number, int) and number < 2:
        raise argparse.ArgumentTypeError(f"at least 2, since a standard deviation needs two; got {number}")
    return number


def path(text: str) -> Path:
    """Parse the path of a file or a folder; an empty one would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; name a file or a folder")
    return Path(text)


def path_with_ending(text: str, option: str, endings: str) -> Path:
    """Parse the path of a file whose name ends in one of some ways, which are given as in ``FILE.parquet|csv``."""
    allowed = [f".{ending}" for ending in endings.removeprefix("FILE.").split("|")]
    if not text.lower().endswith(tuple(allowed)):
        raise argparse.ArgumentTypeError(f"{text!r} must end in {', '.join(allowed[:-1])} or {allowed[-1]}")
    if text.lower().endswith(".parquet"):
        try:
            load_extra("pyarrow", f"{option} FILE.parquet needs")
        except ImportError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return Path(text)


def class_file(text: str) -> tuple[str, Path]:
    """Parse the path of a file, perhaps after a class and a colon; the name of a class may hold colons.

    Example:
      >>> name, path = class_file("id:4:204:fans.graphml")
      >>> name, path.name
      ('id:4:204', 'fans.graphml')
    """
    match = re.fullmatch(r"(?:(.+):)?((?:[A-Za-z]:[\\/])?[^:]+)", text)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a file such as loops.graphml, perhaps after a class: ffl:FILE"
        )
    return match[1] or "", Path(match[2])


def output_path(text: str) -> Path | None:
    """Parse the path of a result, which is ``None`` for standard output, ``-``."""
    return None if text == "-" else path(text)
