"""Libraries of the package's extras, which are imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load_extra(module: str, needing: str, extra: str = "io") -> Any:
    """Import a module of a library that an extra of the package has.

    Args:
      module: its full name.
      needing: what needs the library, with the verb, for the error.
      extra: the extra.

    Raises:
      ImportError: if the library is not installed; it names the extra.

    Example:
      >>> load_extra("numpy.linalg", "this needs").__name__
      'numpy.linalg'
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(f"{needing} {library}: pip install 'jaxmotif[{extra}]'") from error
