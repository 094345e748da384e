"""Element types, their limits, and arithmetic on NumPy arrays that NumPy lacks or does slowly.

>>> from minitorch_compile.tensor.numerics.dtype import float16, int32, promote_types
>>> promote_types(float16, int32)
torch.float16
"""
