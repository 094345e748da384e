"""What PyTorch calls the node of an op where its name isn't that of the op, or depends on the arguments.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, 3, requires_grad=True)
>>> x.sum().grad_fn.name(), x.sum(0).grad_fn.name(), (2**x).grad_fn.name(), x.log1p().grad_fn.name()
('SumBackward0', 'SumBackward1', 'PowBackward2', 'Log1PBackward0')

Source: PyTorch's derivatives.yaml; the number is that of the overload.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.tensor_base import TensorBase

NAMES = {
    "contiguous_copy": "CloneBackward0",
    "square": "PowBackward0",
    "log1p": "Log1PBackward0",
    "im2col": "Im2ColBackward0",
    "col2im": "Col2ImBackward0",
    "fft_c2c": "FftC2CBackward0",
    "fft_r2c": "FftR2CBackward0",
    "fft_c2r": "FftC2RBackward0",
    "_vector_norm": "LinalgVectorNormBackward0",
    "linalg_inv": "LinalgInvExBackward0",
    "_linalg_cholesky": "LinalgCholeskyExBackward0",
    "_linalg_solve": "LinalgSolveExBackward0",
    "_linalg_eigh": "LinalgEighBackward0",
    "_linalg_slogdet": "LinalgSlogdetBackward0",
    "scatter_src": "ScatterBackward0",
    "convolution_input_grad": "ConvolutionBackward0",
    "split_with_sizes_copy": "SplitWithSizesBackward0",
    "ctc_alignments": "CtcLossBackward0",
}


def name_of(op_name: str) -> str:
    """The name of its nodes, whatever the arguments."""
    return NAMES.get(op_name) or "".join(part.capitalize() for part in op_name.split("_")) + "Backward0"


def _power(base: Any, exponent: Any) -> str:
    if not isinstance(base, TensorBase):
        return "PowBackward2"
    return "PowBackward1" if isinstance(exponent, TensorBase) else "PowBackward0"


def _squeezed(input: Any, dim: Any = None) -> str:
    return "SqueezeBackward0" if dim is None else "SqueezeBackward2" if isinstance(dim, tuple) else "SqueezeBackward1"


def _clamped(input: Any, low: Any, high: Any) -> str:
    by_tensors = isinstance(low, TensorBase) or isinstance(high, TensorBase)
    return "ClampBackward0" if by_tensors else "ClampBackward1"


VARIANTS: dict[str, Callable[..., str]] = {
    "sum": lambda input, dim, *others: "SumBackward0" if dim is None else "SumBackward1",
    "mean": lambda input, dim, *others: "MeanBackward0" if dim is None else "MeanBackward1",
    "sub": lambda input, *others: "SubBackward0" if isinstance(input, TensorBase) else "RsubBackward1",
    "pow": _power,
    "squeeze": _squeezed,
    "clamp": _clamped,
    "max_pool_with_indices": lambda input, *others: f"MaxPool{_spatial(input)}DWithIndicesBackward0",
    "avg_pool": lambda input, *others: f"AvgPool{_spatial(input)}DBackward0",
}


def _spatial(input: Any) -> int:
    """The dimensions of an image; a signal is one of height 1."""
    return max(2, len(input.sizes) - 2)
