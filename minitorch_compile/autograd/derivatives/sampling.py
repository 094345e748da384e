"""Derivatives of random samples by the parameters of their distribution.

>>> from minitorch_compile.tensor import manual_seed, ops, tensor
>>> from minitorch_compile.autograd import grad
>>> _ = manual_seed(0)
>>> concentration = tensor(1000.0, requires_grad=True)
>>> (slope,) = grad(ops._standard_gamma(concentration), concentration)   # about 1: the mean is the concentration
>>> 0.8 < slope.item() < 1.2
True
"""

from __future__ import annotations

from minitorch_compile.autograd.derivative_table import Gradients, Unused, derivative, not_differentiable
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.grad_mode import is_grad_enabled

not_differentiable(
    ops.multinomial_choice, ops.poisson_quantile, ops.binomial_quantile, because="the result is a whole number"
)
not_differentiable(ops.gamma_quantile_slope, because="it has no closed form; PyTorch doesn't differentiate it either")


@derivative(ops.gamma_quantile)
def _(grad: Tensor, out: Tensor, concentration: Tensor, u: Unused) -> Gradients:
    if is_grad_enabled():
        raise NotImplementedError(
            "gamma samples: the derivative by the concentration can't be differentiated again; leave out create_graph,"
            " or detach the sample"
        )
    return grad * ops.gamma_quantile_slope(concentration, out)
