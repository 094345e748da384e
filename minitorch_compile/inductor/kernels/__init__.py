"""Kernels that are not made from loops: BLAS, convolution, pooling. Each is called inside native code, by symbol."""
