"""From groups to Numba kernels for the CPU, and the generated file that calls them."""
