from jaxmotif.arrays._int64 import Int64 as Int64
from jaxmotif.arrays._int64 import checked_psum as checked_psum
