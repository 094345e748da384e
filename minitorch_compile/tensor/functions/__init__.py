"""Functions of the torch namespace that are no ops.

>>> from minitorch_compile.tensor.functions.predicates import is_tensor
>>> is_tensor([1.0])
False
"""
