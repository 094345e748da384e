"""What one does with the parameters of a model as a whole.

>>> from minitorch_compile import nn
>>> nn.utils.parameters_to_vector(nn.Linear(2, 3).parameters()).shape
torch.Size([9])
"""

from minitorch_compile.nn.utils import fusion, parametrizations, parametrize, prune, rnn, stateless
from minitorch_compile.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from minitorch_compile.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from minitorch_compile.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from minitorch_compile.nn.utils.memory_format import (
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
)
from minitorch_compile.nn.utils.skip_init import skip_init
from minitorch_compile.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from minitorch_compile.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "fusion",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]
