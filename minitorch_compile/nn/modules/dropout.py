"""Dropout layers: random in training, nothing in evaluation.

>>> from minitorch_compile import nn, ones
>>> nn.Dropout(0.5).eval()(ones(3)), nn.Dropout2d(0.2)
(tensor([1., 1., 1.]), Dropout2d(p=0.2, inplace=False))
"""

from __future__ import annotations

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor


class _Dropout(Module):
    """Holds the probability of being dropped. ValueError unless it is within [0, 1]."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """While training, each element is 0 with probability `p`, else divided by 1 - p, so that the mean stays; after
    eval(), the input. `inplace` overwrites the input. ValueError unless p is between 0 and 1.

    >>> layer = torch.nn.Dropout(p=0.5)
    >>> layer.eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """dropout of whole channels: (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """dropout of whole channels: (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """dropout of whole channels: (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """The dropout for selu: mean and variance stay what they are."""

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
