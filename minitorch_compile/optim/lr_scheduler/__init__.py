"""Learning rates that change as training goes on.

>>> from minitorch_compile import nn, optim, tensor
>>> opt = optim.SGD([nn.Parameter(tensor([1.0]))], lr=1.0)
>>> scheduler = StepLR(opt, step_size=2, gamma=0.1)
>>> rates = []
>>> for epoch in range(4):
...     rates += scheduler.get_last_lr(); opt.step(); scheduler.step()
>>> rates
[1.0, 1.0, 0.1, 0.1]
"""

from minitorch_compile.optim.lr_scheduler.composed import ChainedScheduler, SequentialLR
from minitorch_compile.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from minitorch_compile.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from minitorch_compile.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from minitorch_compile.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minitorch_compile.optim.lr_scheduler.scheduler import LRScheduler

_LRScheduler = LRScheduler  # its name before PyTorch 2.0

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]
