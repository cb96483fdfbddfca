"""The ground floor: exact 64-bit integers for users; bits, rows and offsets, padded sizes within the library."""

from importlib import import_module

TYPE_CHECKING = False  # a flag of typing, which takes a while to import
if TYPE_CHECKING:
    from jaxmotif.arrays._int64 import Int64 as Int64
    from jaxmotif.arrays._int64 import checked_psum as checked_psum

__all__ = ["Int64", "checked_psum"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    """Import what users may import when it is asked for: most modules here need no JAX."""
    if name in __all__:
        return getattr(import_module("jaxmotif.arrays._int64"), name)
    raise AttributeError(f"module 'jaxmotif.arrays' has no attribute {name!r}")
