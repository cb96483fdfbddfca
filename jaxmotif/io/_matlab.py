"""MATLAB's mat files: an adjacency matrix, read by SciPy in a process of its own.

A damaged file can crash SciPy's reader, and with it the process. In a process of its own that is an error like others.
"""

from __future__ import annotations

import json
import subprocess
import sys

from jaxmotif.io._format import Contents, Options, Reader, passed_over
from jaxmotif.io._matrix import matrix_contents
from jaxmotif.io._numpy import read_array, read_npz
from jaxmotif.io._text import FREE_BYTES, MAX_RATIO, TextFile

_BEGINS = b"MATLAB 5.0 MAT-f"
_PATIENCE = 600
"""Seconds after which reading a file is given up."""
_ROOM = 4 << 30
"""Bytes of address space that NumPy and SciPy need for themselves, beyond those for the file."""
_PROGRAM = """
import contextlib, io, json, sys
with contextlib.suppress(ImportError, ValueError):  # not every system has limits
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
import numpy as np
from scipy import io as files, sparse
data, found = io.BytesIO(), files.loadmat(io.BytesIO(sys.stdin.buffer.read()))
shapes = {name: getattr(x, "shape", ()) for name, x in found.items() if not name.startswith("__")}
square = [name for name, shape in shapes.items() if len(shape) == 2 and shape[0] == shape[1] > 1]
if len(square) == 1:
    matrix = found[square[0]]
    if sparse.issparse(matrix):
        matrix.eliminate_zeros()
        sparse.save_npz(data, matrix)
    else:
        np.save(data, matrix, allow_pickle=False)
print(json.dumps({"square": square, "others": [name for name in shapes if name not in square]}), flush=True)
sys.stdout.buffer.write(data.getvalue())
"""


def read_matlab(file: TextFile, options: Options) -> Contents:
    """Read the one square matrix of a file, dense or sparse; undirected if it is symmetric."""
    data = file.data()
    if not data.startswith(_BEGINS):
        raise file.error("expected a mat file of MATLAB's versions 5 to 7; save it with '-v7'")
    limit = str(_ROOM + max(FREE_BYTES, MAX_RATIO * len(data)))
    command = [sys.executable, "-P", "-c", _PROGRAM, limit]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise file.error(f"this mat file took longer than {_PATIENCE} s to read") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1][:150] if said else f"its reader ended by signal {-done.returncode}"
        raise file.error(f"this mat file cannot be read: {reason}")
    head, _, matrix = done.stdout.partition(b"\n")
    names = json.loads(head)
    if len(names["square"]) != 1:
        raise file.error(
            f"expected one square matrix, found {', '.join(names['square'])[:60] or 'none'}; save the matrix alone "
            "(save('network.mat', 'A'))"
        )
    if matrix.startswith(b"PK"):
        with TextFile(f"{file.path}, matrix {names['square'][0]}", data=matrix) as part:
            contents = read_npz(part, options)
    else:
        contents = matrix_contents(file, read_array(file, matrix), options)
    others = passed_over("other variables", names["others"]) if names["others"] else ()
    return contents._replace(notes=(*contents.notes, *others), format="mat")


FORMATS = {"mat": Reader(read_matlab, lambda sample: sample.magic.startswith(_BEGINS), "bytes")}
