"""Kernels for eager operations, which were compiled beforehand and are loaded without Numba."""
