"""torch.utils.dlpack: memory shared with other libraries.

>>> from minitorch_compile import ones
>>> from_dlpack(to_dlpack(ones(2)))
tensor([1., 1.])
"""

from minitorch_compile.tensor.tensor_class.exchange import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
