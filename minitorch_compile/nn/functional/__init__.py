"""The operations of neural networks as functions.

One file a concept: activation, softmax, dropout, linear, embedding, attention, normalization, distance,
classification_loss, regression_loss, margin_loss, ctc_loss; conv, pooling, padding, interpolation, pixel_shuffle, fold,
grid_sample. What is an op already, with the same parameters, is imported from the op table; the other forms, which have
`inplace` or PyTorch's older parameters as well, are declared here with @functional.

>>> from minitorch_compile import tensor
>>> relu(tensor([-1.0, 2.0]))
tensor([0., 2.])
"""

from minitorch_compile.tensor.ops import (
    adaptive_avg_pool2d,
    batch_norm,
    conv2d,
    cross_entropy,
    dropout,
    embedding,
    gelu,
    layer_norm,
    linear,
    log_softmax,
    max_pool2d,
    mse_loss,
    nll_loss,
    relu,
    scaled_dot_product_attention,
    sigmoid,
    silu,
    softmax,
    tanh,
)

__all__ = [
    "adaptive_avg_pool2d",
    "batch_norm",
    "conv2d",
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "layer_norm",
    "linear",
    "log_softmax",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "relu",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "tanh",
]
