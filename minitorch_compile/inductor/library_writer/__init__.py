"""Writes the library of kernels for eager operations (`kernel_library/`)."""
