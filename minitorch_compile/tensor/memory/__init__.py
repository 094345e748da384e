"""What a tensor consists of: a storage, the sizes and strides by which it is read, the device that it is on.

>>> from minitorch_compile.tensor.memory.strides import contiguous_strides
>>> contiguous_strides((2, 3, 4))
(12, 4, 1)
"""
