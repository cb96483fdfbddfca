"""The array mechanisms that the jobs share (internal).

Importing this room tells :mod:`jaxmotif.arrays._compile`, which must not import it, how to find out in which form
kernels run on a device.
"""

from jaxmotif.arrays._compile import register_kernels
from jaxmotif.kernels._launch import first_that_works

register_kernels(first_that_works)
