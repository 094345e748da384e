"""What one does with the parameters of a model as a whole.

>>> from minitorch_compile import nn
>>> nn.utils.parameters_to_vector(nn.Linear(2, 3).parameters()).shape
torch.Size([9])
"""

from minitorch_compile.nn.utils import rnn
from minitorch_compile.nn.utils.clip_grad import clip_grad_norm_, clip_grad_value_, get_total_norm
from minitorch_compile.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "rnn",
    "vector_to_parameters",
]
