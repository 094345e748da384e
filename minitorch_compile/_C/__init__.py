"""`torch._C`, as far as code that torch.fx writes refers to it. There is no extension module behind it."""

from minitorch_compile._C import _nn
