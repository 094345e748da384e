"""cond and the operation behind it, at PyTorch's place; they are in `func/control_flow.py`.

>>> cond_op.__name__
'cond_op'
"""

from minitorch_compile.func.control_flow import cond, cond_op

__all__ = ["cond", "cond_op"]
