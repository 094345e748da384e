"""The operations of neural networks as functions: every op that is declared "functional".

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
