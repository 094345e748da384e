"""The Tensor class: every op as a method, Python's operators, and what is asked of a tensor besides.

>>> from minitorch_compile.tensor.tensor_class.tensor_class import Tensor
>>> Tensor([1.0, 2.0]) + 1
tensor([2., 3.])
"""
