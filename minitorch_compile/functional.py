"""torch.functional: functions of torch that PyTorch writes in Python; programs import some of them from here.

>>> import minitorch_compile as torch
>>> einsum is torch.einsum, split is torch.split
(True, True)
"""

from __future__ import annotations

from minitorch_compile.tensor.functions.low_rank import pca_lowrank, svd_lowrank
from minitorch_compile.tensor.ops import visible_in
from minitorch_compile.tensor.ops.reshaping import broadcast_shapes

NAMES = (
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "istft",
    "meshgrid",
    "norm",
    "split",
    "stft",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
)

_all = visible_in("torch")
globals().update({name: _all[name] for name in NAMES if name in _all})

__all__ = ["broadcast_shapes", "pca_lowrank", "svd_lowrank", *(name for name in NAMES if name in _all)]
