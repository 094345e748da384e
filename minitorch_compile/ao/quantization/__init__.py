"""torch.ao.quantization: the places in a model where a quantised one would change its tensors. Nothing is quantised.

Models that can be quantised carry these markers always, and run in float until they are converted.

>>> from minitorch_compile import nn
>>> model = nn.Sequential(QuantStub(), nn.Identity(), DeQuantStub())
>>> model(1.5)
1.5
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class QuantStub(Module):
    """Where floats would become quantised numbers; the identity, as in PyTorch before a model is converted.

    qconfig: how it would be done; kept.
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Where they would become floats again; the identity, likewise."""


class QuantWrapper(Module):
    """A module between both markers."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.quant, self.dequant, self.module = QuantStub(), DeQuantStub(), module
        self.train(module.training)

    def forward(self, X: Any) -> Any:
        return self.dequant(self.module(self.quant(X)))
