"""Entry point: the parser, exit codes, and errors in one line. Starts no JAX, so ``--help`` is quick."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module

import jaxmotif
from jaxmotif.cli.interrupt import INTERRUPTED, exit_now, prompt_interrupts

COMMANDS = ("graphlets", "match", "motifs", "census", "search", "datasets", "info")
FAILED, PIPE_CLOSED = 1, 141  # argparse itself exits with 2 on bad usage


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="jaxmotif",
        description="Find and count small patterns in graphs, exactly, on CPUs and accelerators.",
        epilog="Results go to standard output or --output, progress and notes to standard error. "
        "Exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"jaxmotif {jaxmotif.__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        import_module(f"jaxmotif.cli.{command}").add_parser(subparsers)
    return parser


def program() -> None:
    """The ``jaxmotif`` program: runs :func:`main`, and hears Ctrl-C at any time."""
    with prompt_interrupts():
        status = main()
    if status == INTERRUPTED:
        exit_now()
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
      argv: the arguments, ``sys.argv[1:]`` when ``None``.

    Returns:
      The exit status: 0 done, 1 failed, 130 interrupted, 141 the reader of standard output has gone.

    Raises:
      SystemExit: by argparse, with 2 on bad usage and 0 after ``--help`` and ``--version``.
    """
    try:
        args = build_parser().parse_args(argv)
        with logging_to_stderr(quiet=getattr(args, "quiet", False)):
            args.run(args)
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        print("jaxmotif: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered has no reader; the interpreter would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        if os.environ.get("JAXMOTIF_TRACEBACK"):
            traceback.print_exc()
        print(f"jaxmotif: error: {describe(error)}", file=sys.stderr)
        return FAILED


@contextlib.contextmanager
def logging_to_stderr(quiet: bool) -> Iterator[None]:
    """Shows the library's notes on standard error, unless quiet."""
    logger = logging.getLogger("jaxmotif")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("jaxmotif: %(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR if quiet else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def describe(error: Exception) -> str:
    """One line for the user.

    Example:
      >>> describe(ValueError("memory must be positive, got -1"))
      'memory must be positive, got -1'
      >>> describe(FileNotFoundError(2, "No such file or directory", "a.txt"))
      'a.txt: No such file or directory'
      >>> describe(KeyError("x"))
      "KeyError: 'x' (set JAXMOTIF_TRACEBACK=1 to see where)"
    """
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    elif isinstance(error, ValueError | TypeError | OSError | MemoryError):
        text = str(error)
    elif "RESOURCE_EXHAUSTED" in str(error):
        text = (
            f"a device ran out of memory ({str(error).splitlines()[0]}); use a device with more, or --memory for less"
        )
    else:
        text = f"{type(error).__name__}: {error} (set JAXMOTIF_TRACEBACK=1 to see where)"
    return " ".join(line.strip() for line in text.splitlines() if line.strip())
