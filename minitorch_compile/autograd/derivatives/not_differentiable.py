"""The ops without a derivative, each with the reason.

>>> from minitorch_compile.tensor import ones
>>> (ones(2, requires_grad=True) > 0).requires_grad
False
"""

from __future__ import annotations

from minitorch_compile.autograd.derivative_table import not_differentiable
from minitorch_compile.tensor import ops

not_differentiable(ops.eq, ops.ne, ops.lt, ops.le, ops.gt, ops.ge, because="the result is bool")
not_differentiable(ops.isnan, ops.logical_and, ops.logical_or, ops.logical_not, because="the result is bool")
not_differentiable(ops.logical_xor, ops.isinf, ops.isfinite, ops.isreal, ops.signbit, because="the result is bool")
not_differentiable(ops.any, ops.all, because="the result is bool")
not_differentiable(
    ops.argmax, ops.argmin, ops.argwhere, ops.repeated_positions, because="the result is int64: positions"
)
not_differentiable(
    ops.argsort, ops.topk_indices, ops.median_index, ops.mode_index, because="the result is int64: positions"
)
not_differentiable(ops.running_extreme_indices, ops.searchsorted_places, because="the result is int64: positions")
not_differentiable(
    ops.unique_parts, ops.unique_consecutive_parts, because="which elements are equal; PyTorch has no derivative either"
)
not_differentiable(ops.bincount, ops.histc, ops.isin_elements, because="counting is a staircase")
not_differentiable(
    ops.bitwise_and, ops.bitwise_or, ops.bitwise_xor, ops.bitwise_not, because="floats have no such operation"
)
not_differentiable(
    ops.bitwise_left_shift, ops.bitwise_right_shift, ops.gcd, ops.lcm, because="floats have no such operation"
)
not_differentiable(ops.nextafter, because="it says how floats are spaced, which is no function of real numbers")
not_differentiable(ops.floor_divide, because="a staircase in both arguments; PyTorch doesn't differentiate it either")
not_differentiable(
    ops.philox_uniform, ops.philox_normal, ops.philox_randint, because="random numbers of an integer seed"
)
not_differentiable(ops.mt19937_rejected, because="random numbers, which take as many draws as they happen to take")
not_differentiable(ops.view_dtype, because="other numbers, out of the same bits")
not_differentiable(ops.detach, because="it is there to stop gradients")
