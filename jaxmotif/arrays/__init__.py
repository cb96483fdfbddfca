"""The ground floor (internal): 64-bit integers, bits, rows and offsets, padded sizes."""
