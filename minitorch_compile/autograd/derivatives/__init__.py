"""The formulas, one file a family, as in tensor/ops. Importing this package fills the table of derivatives."""

from minitorch_compile.autograd.derivatives import (
    activation,
    contraction,
    conv,
    copies,
    elementary,
    indexing,
    joining,
    linear_algebra,
    normalization,
    norms,
    not_differentiable,
    pointwise,
    pooling,
    reduction,
    sampling,
    view,
)

__all__ = [
    "activation",
    "contraction",
    "conv",
    "copies",
    "elementary",
    "indexing",
    "joining",
    "linear_algebra",
    "normalization",
    "norms",
    "not_differentiable",
    "pointwise",
    "pooling",
    "reduction",
    "sampling",
    "view",
]
