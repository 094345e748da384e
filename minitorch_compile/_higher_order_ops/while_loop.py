"""while_loop and the operation behind it, at PyTorch's place; they are in `func/control_flow.py`.

>>> while_loop_op.__name__
'while_loop_op'
"""

from minitorch_compile.func.control_flow import while_loop, while_loop_op

__all__ = ["while_loop", "while_loop_op"]
