"""`torch._C._nn`: the functions of `torch.nn.functional` that are built into PyTorch, at home there.

>>> from minitorch_compile.nn import functional as F
>>> linear is F.linear, log_sigmoid is F.logsigmoid
(True, True)
"""

from minitorch_compile.nn.functional import (
    avg_pool2d,
    avg_pool3d,
    elu_,
    gelu,
    hardtanh_,
    leaky_relu_,
    linear,
    one_hot,
    scaled_dot_product_attention,
    softplus,
    softshrink,
)
from minitorch_compile.nn.functional import logsigmoid as log_sigmoid

__all__ = [
    "avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "log_sigmoid", "one_hot",
    "scaled_dot_product_attention", "softplus", "softshrink",
]  # fmt: skip
