"""Kernels as PTX of our own (internal): Pallas bodies in CUDA C++, compiled by NVRTC or shipped, launched by XLA."""
