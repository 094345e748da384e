"""A softmax over very many classes that spends its time on the frequent ones.

>>> from minitorch_compile import nn, ones, tensor
>>> layer = nn.AdaptiveLogSoftmaxWithLoss(8, 100, cutoffs=[10, 50], div_value=2.0)
>>> out, loss = layer(ones(3, 8), tensor([2, 20, 99]))
>>> out.shape, layer.log_prob(ones(3, 8)).shape
(torch.Size([3]), torch.Size([3, 100]))
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.container import ModuleList, Sequential
from minitorch_compile.nn.modules.linear import Linear
from minitorch_compile.tensor import Tensor, ops


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and their negative mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The classes, sorted by frequency, in clusters that end at `cutoffs` (Grave et al. 2017).

    The head scores the first cluster's classes, and each other cluster as a whole; a cluster's own scores come from a
    projection that is `div_value` times narrower than that of the one before. ValueError unless the cutoffs ascend
    within [1, n_classes - 1].
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        ends = list(cutoffs)
        if (
            not ends
            or ends != sorted(set(ends))
            or ends[0] <= 0
            or ends[-1] >= n_classes
            or any(int(c) != c for c in ends)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each"
                f" value is between 1 and n_classes-1, got {ends}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = ends[0]
        self.n_clusters = len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        made: Any = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, head_bias, **made)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (i + 1))
            narrow, scores = Linear(in_features, width, False, **made), Linear(width, high - low, False, **made)
            self.tail.append(Sequential(narrow, scores))

    def reset_parameters(self) -> None:
        """As at the start."""
        for layer in (self.head, *(layer for projection in self.tail for layer in projection)):
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        _check(input_, target_, self.n_classes)
        batched = target_.dim() > 0
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        cluster = sum((target >= end).long() for end in self.cutoffs[:-1])  # 0 is the shortlist
        head_place = ops.where(cluster == 0, target, self.shortlist_size - 1 + cluster)
        head = F.log_softmax(self.head(input), dim=1)
        output = head.gather(1, head_place.unsqueeze(1)).squeeze(1)
        for i, low in enumerate(self.cutoffs[:-1]):
            rows = (cluster == i + 1).nonzero().squeeze(1)
            if rows.numel():
                inside = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                places = (target.index_select(0, rows) - low).unsqueeze(1)
                output = output.index_add(0, rows, inside.gather(1, places).squeeze(1))
        return _ASMoutput(output if batched else output.squeeze(0), -output.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes, (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, projection in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(projection(input), dim=1) + of_cluster)
        return ops.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row."""
        return ops.argmax(self.log_prob(input), 1)


def _check(input: Tensor, target: Tensor, n_classes: int) -> None:
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with size"
            f" {input.size()}"
        )
    if target.dim() == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if target.numel() and not target.is_fake and bool(((target < 0) | (target >= n_classes)).any()):
        raise RuntimeError(
            f"Target values should be in [0, {n_classes - 1}], but values in range [{target.min().item()},"
            f" {target.max().item()}] were found."
        )
