"""`torch._higher_order_ops`: operations that take functions, for programs that import them from there.

>>> import minitorch_compile as torch
>>> associative_scan.associative_scan(torch.add, torch.tensor([1, 2, 3]), dim=0)
tensor([1, 3, 6])
"""

from minitorch_compile._higher_order_ops import associative_scan, foreach_map
from minitorch_compile._higher_order_ops import cond as _cond
from minitorch_compile._higher_order_ops import while_loop as _while_loop
from minitorch_compile.func.control_flow import cond, while_loop

__all__ = ["associative_scan", "cond", "foreach_map", "while_loop"]
