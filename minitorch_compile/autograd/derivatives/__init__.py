"""The formulas, one file a family, as in tensor/ops. Importing this package fills the table of derivatives."""

from minitorch_compile.autograd.derivatives import (
    contraction,
    conv,
    copies,
    indexing,
    joining,
    normalization,
    not_differentiable,
    pointwise,
    pooling,
    reduction,
    view,
)

__all__ = [
    "contraction",
    "conv",
    "copies",
    "indexing",
    "joining",
    "normalization",
    "not_differentiable",
    "pointwise",
    "pooling",
    "reduction",
    "view",
]
