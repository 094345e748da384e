"""From groups to numba.cuda kernels, and the program that launches them."""
