"""How prims become kernels of a GPU's own, which are neither loops as everywhere nor a library's.

>>> sorted(KERNEL_RULES)
['sort']
"""

from __future__ import annotations

from minitorch_compile.inductor.device_calls.merge_sort import sort_rule
from minitorch_compile.inductor.lowering.table import Rule

KERNEL_RULES: dict[str, Rule] = {"sort": sort_rule}
