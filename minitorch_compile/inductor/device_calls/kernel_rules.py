"""How prims become kernels of a GPU's own, which are neither loops as everywhere nor a library's.

>>> sorted(name for name in KERNEL_RULES if KERNEL_RULES[name].__module__ != of_elements.__module__)
['broadcast_in_dim', 'max_pool2d_backward', 'permutation_of_pivots', 'scan', 'scatter_add', 'sort']
"""

from __future__ import annotations

from minitorch_compile.inductor.device_calls.max_pooling import max_pool_backward_rule
from minitorch_compile.inductor.device_calls.merge_sort import sort_rule
from minitorch_compile.inductor.device_calls.one_of_a_row import one_of_a_row_rule
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError
from minitorch_compile.inductor.device_calls.parallel_scan import scan_rule
from minitorch_compile.inductor.device_calls.pivot_order import pivot_order_rule
from minitorch_compile.inductor.device_calls.stored_statistics import stored_statistics_rule
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF, in_float32
from minitorch_compile.inductor.lowering.pointwise import elementwise_rule
from minitorch_compile.inductor.lowering.table import WITHOUT_A_KERNEL, Rule


def of_elements(name: str) -> Rule:
    """The rule of an elementwise prim that the CPU has no kernels for."""
    plain = elementwise_rule(name)

    def rule(graph: GraphLowering, *operands: TensorBox) -> TensorBox:
        element = operands[0].dtype
        if name in ("complex", "nextafter") and element in HALF:  # of two float16 it would be complex32
            raise NoKernelError(WITHOUT_A_KERNEL[name])
        made = in_float32(plain, [element]) if element in HALF else plain
        result: TensorBox = made(graph, *operands)
        return result

    return rule


KERNEL_RULES: dict[str, Rule] = {
    **{name: of_elements(name) for name in ("airy_ai", "complex", "imag", "nextafter", "real", "zeta")},
    "broadcast_in_dim": stored_statistics_rule,
    "max_pool2d_backward": max_pool_backward_rule,
    "permutation_of_pivots": pivot_order_rule,
    "scan": scan_rule,
    "scatter_add": one_of_a_row_rule,
    "sort": sort_rule,
}
