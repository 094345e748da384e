"""`torch._higher_order_ops`: operations that take functions, for programs that import them from there.

>>> import minitorch_compile as torch
>>> associative_scan.associative_scan(torch.add, torch.tensor([1, 2, 3]), dim=0)
tensor([1, 3, 6])
"""

from minitorch_compile._higher_order_ops import associative_scan, foreach_map

__all__ = ["associative_scan", "foreach_map"]
