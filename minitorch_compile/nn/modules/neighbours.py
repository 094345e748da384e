"""Layers that PyTorch keeps in other files than we do: each can be imported from there, too.

>>> from minitorch_compile.nn.modules.linear import LazyLinear
>>> LazyLinear.__module__.rpartition(".")[2]
'lazy'
"""

from __future__ import annotations

import importlib
from types import ModuleType

# By the file of PyTorch's.
NEIGHBOURS = {
    "modules.batchnorm": "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d",
    "modules.container": "ParameterDict ParameterList",
    "modules.conv": "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
    "modules.instancenorm": "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
    "modules.linear": "LazyLinear",
    "modules.loss": "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss MultiLabelMarginLoss MultiMarginLoss"
    " TripletMarginLoss TripletMarginWithDistanceLoss",
    "modules.pooling": "FractionalMaxPool2d FractionalMaxPool3d",
    "parameter": "UninitializedBuffer UninitializedParameter",
}


def place(nn: ModuleType) -> None:
    """Puts the layers there."""
    for file, names in NEIGHBOURS.items():
        module = importlib.import_module(f"{nn.__name__}.{file}")
        for name in names.split():
            setattr(module, name, getattr(nn, name))
