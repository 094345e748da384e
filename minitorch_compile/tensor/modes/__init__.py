"""Modes that change what a whole block of code does: on shapes alone, or without a trace for autograd.

>>> from minitorch_compile.tensor import ones
>>> from minitorch_compile.tensor.modes.fake_tensor_mode import FakeTensorMode
>>> with FakeTensorMode():
...     ones(10**6, 10**6).sum().is_fake
True
"""
