"""Layers and models.

>>> from minitorch_compile import nn
>>> sum(p.numel() for p in nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).parameters())
58
"""

from minitorch_compile.nn import functional, init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.activation import GELU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Tanh
from minitorch_compile.nn.modules.container import ModuleDict, ModuleList, Sequential
from minitorch_compile.nn.modules.linear import Identity, Linear
from minitorch_compile.nn.parameter import Buffer, Parameter

__all__ = [
    "GELU",
    "Buffer",
    "Identity",
    "Linear",
    "LogSoftmax",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "init",
]
