"""Layers and models.

>>> from minitorch_compile import nn
>>> sum(p.numel() for p in nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).parameters())
58
"""

from minitorch_compile.nn import functional, init, utils
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.activation import GELU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Tanh
from minitorch_compile.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from minitorch_compile.nn.modules.container import ModuleDict, ModuleList, Sequential
from minitorch_compile.nn.modules.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from minitorch_compile.nn.modules.dropout import Dropout
from minitorch_compile.nn.modules.flatten import Flatten, Unflatten
from minitorch_compile.nn.modules.linear import Identity, Linear
from minitorch_compile.nn.modules.loss import CrossEntropyLoss, MSELoss, NLLLoss
from minitorch_compile.nn.modules.normalization import LayerNorm
from minitorch_compile.nn.modules.pooling import AdaptiveAvgPool2d, MaxPool2d
from minitorch_compile.nn.modules.rnn import (
    GRU,
    LSTM,
    RNN,
    GRUCell,
    LSTMCell,
    RNNBase,
    RNNCell,
    RNNCellBase,
)
from minitorch_compile.nn.modules.sparse import Embedding
from minitorch_compile.nn.parameter import Buffer, Parameter

__all__ = [
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AdaptiveAvgPool2d",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Buffer",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRUCell",
    "Identity",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "Unflatten",
    "functional",
    "init",
    "utils",
]
