"""What belongs to no other floor: datasets and their loading.

>>> from minitorch_compile.utils.data import DataLoader
>>> len(DataLoader(range(10), batch_size=4))
3
"""

from minitorch_compile import pytree as _pytree
from minitorch_compile.utils import benchmark, checkpoint, data, dlpack, flop_counter, model_zoo
from minitorch_compile.utils.swapping import swap_tensors

__all__ = ["benchmark", "checkpoint", "data", "dlpack", "flop_counter", "model_zoo", "swap_tensors"]
