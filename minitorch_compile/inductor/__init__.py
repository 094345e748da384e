"""Floor 6: graphs of prims become loops, loops are fused, and the fused loops become Numba kernels."""

from minitorch_compile.tensor.cpu import target_processor as named_processor  # before Numba compiles anything

# isort: split
from minitorch_compile.inductor.compile_graph import compile_graph
