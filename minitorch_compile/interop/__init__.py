"""Other libraries: einops works on our tensors; PyTorch's tensors and ours share memory.

NumPy and DLPack are nearer to the tensor: tensor/tensor_class/exchange.py.

>>> from minitorch_compile import ones
>>> from_torch([ones(2), "not a tensor of PyTorch's"])      # what isn't one stays as it is
[tensor([1., 1.]), "not a tensor of PyTorch's"]
"""

import importlib

from minitorch_compile.interop import einops_import
from minitorch_compile.interop.pytorch import from_torch, to_torch
from minitorch_compile.library.native_libraries import STAND_INS

einops_import.watch()
STAND_INS["torchvision", "_C"] = lambda: importlib.import_module("minitorch_compile.interop.torchvision_ops").define()

__all__ = ["from_torch", "to_torch"]
