"""torch.nn.parallel: one model on several GPUs or in several processes; here, on the one CPU in the one process.

>>> from minitorch_compile import nn, ones
>>> nn.parallel.DataParallel(nn.Flatten())(ones(1, 2, 3)).shape
torch.Size([1, 6])
"""

from minitorch_compile.nn.parallel.data_parallel import DataParallel, data_parallel
from minitorch_compile.nn.parallel.distributed import DistributedDataParallel
from minitorch_compile.nn.parallel.parallel_apply import parallel_apply
from minitorch_compile.nn.parallel.replicate import replicate
from minitorch_compile.nn.parallel.scatter_gather import gather, scatter

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]
