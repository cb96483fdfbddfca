"""Packages whose names load on first use, so that an import of the package is quick and starts no JAX."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package whose stub says where each name comes from.

    Type checkers read the same stub (Scientific Python's SPEC 1). Public modules of the package that the stub does not
    name can also be used as attributes of the package, and are then imported.

    Args:
      package: The name of the package.
      file: The path of its ``__init__.py``, beside which the stub ``__init__.pyi`` lies. A line of the stub such as
        ``from jaxmotif.graph import Graph as Graph`` says where a name is defined. A name that the stub imports from
        the package itself is a module of the package.
    """
    homes: dict[str, str] = {}
    with open(f"{file}i", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("from "):
                words = line.split()
                homes[words[-1]] = words[1]

    def load(name: str) -> object:
        if name not in homes:
            if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
                return import_module(f"{package}.{name}")
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        value = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names, [*homes]
