"""How prims become kernels of a GPU's own, which are neither loops as everywhere nor a library's.

>>> sorted(KERNEL_RULES)
['complex', 'imag', 'max_pool2d_backward', 'permutation_of_pivots', 'real', 'scan', 'sort']
"""

from __future__ import annotations

from minitorch_compile.inductor.device_calls.max_pooling import max_pool_backward_rule
from minitorch_compile.inductor.device_calls.merge_sort import sort_rule
from minitorch_compile.inductor.device_calls.parallel_scan import scan_rule
from minitorch_compile.inductor.device_calls.pivot_order import pivot_order_rule
from minitorch_compile.inductor.lowering.pointwise import elementwise_rule
from minitorch_compile.inductor.lowering.table import Rule

KERNEL_RULES: dict[str, Rule] = {
    **{name: elementwise_rule(name) for name in ("complex", "real", "imag")},  # which the CPU has no kernels for
    "max_pool2d_backward": max_pool_backward_rule,
    "permutation_of_pivots": pivot_order_rule,
    "scan": scan_rule,
    "sort": sort_rule,
}
