"""torch.masked: reductions and normalizations that leave elements out, and tensors that know which of theirs count.

>>> from minitorch_compile import tensor
>>> x, known = tensor([1.0, 2.0, 30.0]), tensor([True, True, False])
>>> mean(x, mask=known)
tensor(1.5000)
>>> masked_tensor(x, known) * 2
MaskedTensor(
  [  2.0000,   4.0000,       --]
)

The functions are in `reductions.py` and `normalizations.py`; what a MaskedTensor answers is in `masked_tensor.py`.
"""

from minitorch_compile.masked.masked_tensor import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor
from minitorch_compile.masked.normalizations import (
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    normalize,
    softmax,
    softmin,
)
from minitorch_compile.masked.reductions import (
    amax,
    amin,
    argmax,
    argmin,
    logsumexp,
    mean,
    median,
    norm,
    prod,
    std,
    sum,
    var,
)

__all__ = [
    "MaskedTensor",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]
