"""torch.nn.parallel: one model on several GPUs; without a GPU, on the one CPU.

>>> from minitorch_compile import nn, ones
>>> nn.parallel.DataParallel(nn.Flatten())(ones(1, 2, 3)).shape
torch.Size([1, 6])
"""

from minitorch_compile.nn.parallel.data_parallel import DataParallel

__all__ = ["DataParallel"]
