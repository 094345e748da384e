"""The operations of neural networks as functions.

One file a concept: activation, attention, classification_loss, ctc_loss, dropout, embedding, fold, fractional_pooling,
grid_sample, interpolation, loss_reduction, margin_loss, normalization, pooling, regression_loss, softmax. What is an op
already, with the same parameters, says so where it is declared (`functional=True`); the other forms, which have
`inplace` or PyTorch's older parameters as well, are declared here with @functional. `__init__.pyi` lists all.

>>> from minitorch_compile import tensor
>>> relu(tensor([-1.0, 2.0]))
tensor([0., 2.])
"""

from minitorch_compile.nn.functional import (
    activation,
    attention,
    classification_loss,
    ctc_loss,
    dropout,
    embedding,
    fold,
    fractional_pooling,
    grid_sample,
    interpolation,
    margin_loss,
    normalization,
    pooling,
    regression_loss,
    softmax,
)
from minitorch_compile.tensor.ops import visible_in

globals().update(visible_in("functional"))
__all__ = sorted(visible_in("functional"))
del visible_in
