"""SparseAdam: Adam for sparse gradients, which touches only what they speak of.

>>> from minitorch_compile import nn, tensor
>>> table = nn.Embedding(4, 2, sparse=True)
>>> before = table.weight.detach().clone()
>>> table(tensor([2])).sum().backward()
>>> SparseAdam(table.parameters(), lr=0.1).step()
>>> (table.weight != before).any(1)
tensor([False, False,  True, False])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim.optimizer import Group, Optimizer
from minitorch_compile.tensor import Tensor


class SparseAdam(Optimizer):
    """Adam (Kingma and Ba 2014) for parameters whose gradients are sparse; the step is `sparse_gradients.py`'s."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not lr > 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        params = [p for group in self.param_groups for p in group["params"]]
        sparse = [i for i, p in enumerate(params) if p.is_sparse_layout]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    def steps_differ(self, group: Group) -> bool:
        return True

    def update(self, group: Group, params: list[Tensor]) -> None:
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
