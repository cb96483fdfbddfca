"""The PTX of a translated kernel, which is shipped with the package or else compiled by NVRTC."""

from __future__ import annotations

import functools
import hashlib
import zlib
from importlib.resources import files

from jaxmotif.kernels.cuda._nvrtc import compile_ptx
from jaxmotif.kernels.cuda._translate import Program


def shipped_name(program: Program) -> str:
    """Return the name of a kernel's file, which depends on its text, so that a file never belongs to another kernel."""
    return f"{program.name}-{hashlib.sha256(program.text.encode()).hexdigest()[:16]}.ptx.z"


def ptx_of(program: Program) -> str:
    """Return the PTX of a kernel, for compute capability 7.5 and later."""
    return _ptx(shipped_name(program), program.text)


@functools.cache
def _ptx(name: str, text: str) -> str:
    shipped = files("jaxmotif.kernels.cuda").joinpath("ptx", name)
    return zlib.decompress(shipped.read_bytes()).decode() if shipped.is_file() else compile_ptx(text)
