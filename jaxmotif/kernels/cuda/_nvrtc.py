"""Compiling of CUDA C++ to PTX by NVRTC, NVIDIA's run-time compiler, which comes with JAX's CUDA wheels.

NVRTC needs no GPU.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from pathlib import Path

_PLACES = ("nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib", "nvidia/cu12/lib")


class NvrtcMissing(RuntimeError):
    """NVRTC was not found."""


def candidates() -> list[str]:
    """Return the paths to try in order: that in ``$JAXMOTIF_NVRTC``, NVIDIA's wheels, then the system's own places."""
    chosen = os.environ.get("JAXMOTIF_NVRTC")
    wheels = [
        str(file)
        for base in sys.path
        for place in _PLACES
        for file in sorted(Path(base or ".", place).glob("libnvrtc.so.*"))
        if ".alt." not in file.name
    ]
    return [*([chosen] if chosen else []), *wheels, "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]


@functools.cache
def _library() -> ctypes.CDLL:
    errors = []
    for place in candidates():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            errors.append(f"{place}: {error}")
    raise NvrtcMissing("NVRTC was not found; pip install nvidia-cuda-nvrtc-cu12 (" + "; ".join(errors) + ")")


def nvrtc_version() -> tuple[int, int]:
    """Return the version of NVRTC, such as ``(12, 4)``.

    Raises:
      NvrtcMissing: NVRTC was not found.
    """
    major, minor = ctypes.c_int(), ctypes.c_int()
    _library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def compile_ptx(text: str, capability: str = "75") -> str:
    """Compile CUDA C++ to PTX for GPUs of a compute capability and all later ones.

    Raises:
      NvrtcMissing: NVRTC was not found.
      RuntimeError: The text does not compile.
    """
    library, program = _library(), ctypes.c_void_p()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None), "create")
    try:
        flags = [f"--gpu-architecture=compute_{capability}".encode(), b"--std=c++17"]
        failed = library.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
        if failed:
            raise RuntimeError("NVRTC: " + _text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program))
        return _text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(size_of: ctypes._NamedFuncPointer, get: ctypes._NamedFuncPointer, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _check(size_of(program, ctypes.byref(size)), "size")
    text = ctypes.create_string_buffer(size.value)
    _check(get(program, text), "text")
    return text.value.decode()


def _check(code: int, what: str) -> None:
    if code:
        raise RuntimeError(f"NVRTC: {what} failed with code {code}")
