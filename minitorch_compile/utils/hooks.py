"""The handle that registering a hook returns, where PyTorch has it.

>>> from minitorch_compile import nn
>>> isinstance(nn.Identity().register_forward_hook(lambda *args: None), RemovableHandle)
True
"""

from minitorch_compile.autograd.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
