"""The entry point of the command: its parser, exit codes, and errors in one line.

This module does not start JAX, so that ``--help`` is quick.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence

import jaxmotif
from jaxmotif.arrays._present import visible
from jaxmotif.cli._command import run_command
from jaxmotif.cli._interrupt import Stopped
from jaxmotif.cli._parser import as_options, build_parser, parser_of

_POSITIONAL = ("graph", "query", "file", "to", "command", "argv")
FAILED, BAD_USAGE, PIPE_CLOSED = 1, 2, 141
"""Exit statuses; argparse itself exits with 2 on bad usage."""

FIRST_STEPS = """
Three things to try on a bundled network:
  jaxmotif motifs celegans --report worm.html    the motifs of a worm's nervous system, as a page
  jaxmotif match ffl celegans --limit 10         ten feed-forward loops, by the names of their neurons
  jaxmotif graphlets karate --per node           the orbits of each member of a club
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
      argv: The arguments, ``sys.argv[1:]`` when ``None``.

    Returns:
      The exit status: 0 when the command is done, 1 when it failed, 2 when there is no command, 130 when it was
      interrupted (143 by SIGTERM, 129 by SIGHUP), and 141 when the reader of standard output is gone.

    Raises:
      SystemExit: Raised by argparse, with 2 on bad usage and with 0 after ``--help`` and ``--version``.
    """
    args = argparse.Namespace()
    try:
        parser = build_parser()
        args = parser.parse_args(argv)
        args.argv = shlex.join(["jaxmotif", *(sys.argv[1:] if argv is None else argv)])
        if args.command is None:
            parser.print_help(sys.stderr)
            sys.stderr.write(FIRST_STEPS)
            return BAD_USAGE
        # XLA's own warnings say nothing to a user. Python's warnings become notes.
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        quiet = getattr(args, "quiet", False)
        with logging_to_stderr(quiet, parser_of(args.command)), warnings_as_notes():
            run_command(args)
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt as stop:
        stop = stop if isinstance(stop, Stopped) else Stopped(signal.SIGINT)
        print(f"jaxmotif: {stop}{_what_is_kept(args)}", file=sys.stderr)
        return stop.status
    except BrokenPipeError:
        # The rest of the output has no reader, and the interpreter would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        if os.environ.get("JAXMOTIF_TRACEBACK"):
            traceback.print_exc()
        text = as_options(describe(error), parser_of(str(args.command)))
        if isinstance(error, OSError) and error.filename and (option := _option_of(error.filename, args)):
            text = f"{option} {text}"
        print(f"jaxmotif: error: {text}", file=sys.stderr)
        return FAILED


def _option_of(path: str, args: argparse.Namespace) -> str | None:
    """Return the option whose value is a given path, if there is one."""
    names = (name for name, value in vars(args).items() if str(value) == str(path) and name not in _POSITIONAL)
    return next((f"--{name.replace('_', '-')}" for name in names), None)


def _what_is_kept(args: argparse.Namespace) -> str:
    """Say what an interrupted command has saved, and how to go on; return "" for a command without checkpoints."""
    if not hasattr(args, "checkpoint"):
        return ""
    if args.checkpoint is None or not os.path.exists(args.checkpoint):
        return "; nothing is kept: --checkpoint FOLDER would keep what is done, and the same command would go on"
    return f"; what was done is kept in {args.checkpoint}, and the same command goes on: {args.argv}"


class _NoteFormatter(logging.Formatter):
    """A formatter of the library's notes for a terminal.

    It replaces names of arguments by options of the command, and control characters, which names from files may hold,
    by escapes.

    Args:
      parser: The parser of the command.
    """

    def __init__(self, parser: argparse.ArgumentParser):
        super().__init__("jaxmotif: %(message)s")
        self._parser = parser

    def format(self, record: logging.LogRecord) -> str:
        """Return the note with options for arguments, and control characters as escapes."""
        return visible(as_options(super().format(record), self._parser))


@contextlib.contextmanager
def logging_to_stderr(quiet: bool, parser: argparse.ArgumentParser) -> Iterator[None]:
    """Show the library's notes on standard error, or only errors if ``quiet``."""
    logger = logging.getLogger("jaxmotif")
    handler = logging.StreamHandler()
    handler.setFormatter(_NoteFormatter(parser))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR if quiet else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Log each of Python's warnings once, in a line, and repair the folder of compiled code where it is broken."""
    noted: set[str] = set()

    def note(message: Warning | str, *_: object) -> None:
        text, logger = " ".join(str(message).split()), "jaxmotif.warnings"
        key = text
        if "persistent compilation cache entry" in text:
            from jaxmotif.arrays._program_cache import forget_broken

            state = "cannot be kept"
            if forget_broken(text):
                state, logger = "that was kept is broken, and is made anew", "jaxmotif"
            text = f"compiled code {state} ({text.partition(': ')[2]})"[:200]
            key = text.partition(" (")[0]
        if key not in noted:
            noted.add(key)
            logging.getLogger(logger).warning("%s", text)

    with warnings.catch_warnings():
        # Python would show equal warnings once, but each of these may be about another file.
        warnings.filterwarnings("always", "Error reading persistent compilation cache")
        warnings.showwarning = note
        yield


def describe(error: Exception) -> str:
    """Return an error as one line for the user.

    Example:
      >>> describe(ValueError("memory must be positive, got -1"))
      'memory must be positive, got -1'
      >>> describe(FileNotFoundError(2, "No such file or directory", "a.txt"))
      'a.txt: No such file or directory'
      >>> describe(KeyError("x"))
      "KeyError: 'x' (set JAXMOTIF_TRACEBACK=1 to see where)"
    """
    is_own = type(error).__module__.split(".")[0] == jaxmotif.__name__  # so that its text says everything
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    elif isinstance(error, ValueError | TypeError | OSError | MemoryError) or is_own:
        text = str(error)
    elif "RESOURCE_EXHAUSTED" in str(error):
        said = str(error).splitlines()[0]
        text = f"a device ran out of memory ({said}); use a device with more, or --memory for less"
    else:
        text = f"{type(error).__name__}: {error} (set JAXMOTIF_TRACEBACK=1 to see where)"
    return visible(" ".join(line.strip() for line in text.splitlines() if line.strip()))
