"""`functorch.compile`: ahead-of-time autograd and what goes with it, in one place.

>>> from minitorch_compile.tensor import ones
>>> aot_function(lambda x: x + 1, nop)(ones(2))
tensor([2., 2.])
"""

from minitorch_compile._functorch.aot_autograd import aot_function, aot_module, aot_module_simplified
from minitorch_compile._functorch.compilers import (
    draw_graph_compile,
    make_boxed_compiler,
    make_boxed_func,
    nop,
    print_compile,
    ts_compile,
)
from minitorch_compile._functorch.partitioners import default_partition, min_cut_rematerialization_partition

compiled_function, compiled_module = aot_function, aot_module  # older names

__all__ = [
    "aot_function", "aot_module", "aot_module_simplified", "compiled_function", "compiled_module", "default_partition",
    "draw_graph_compile", "make_boxed_compiler", "make_boxed_func", "min_cut_rematerialization_partition", "nop",
    "print_compile", "ts_compile",
]  # fmt: skip
