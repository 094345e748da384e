"""How prims become kernels of a GPU's own, which are neither loops as everywhere nor a library's.

>>> sorted(KERNEL_RULES)
['max_pool2d_backward', 'permutation_of_pivots', 'scan', 'sort']
"""

from __future__ import annotations

from minitorch_compile.inductor.device_calls.max_pooling import max_pool_backward_rule
from minitorch_compile.inductor.device_calls.merge_sort import sort_rule
from minitorch_compile.inductor.device_calls.parallel_scan import scan_rule
from minitorch_compile.inductor.device_calls.pivot_order import pivot_order_rule
from minitorch_compile.inductor.lowering.table import Rule

KERNEL_RULES: dict[str, Rule] = {
    "max_pool2d_backward": max_pool_backward_rule,
    "permutation_of_pivots": pivot_order_rule,
    "scan": scan_rule,
    "sort": sort_rule,
}
