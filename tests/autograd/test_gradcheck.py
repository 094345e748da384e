"""gradcheck finds what is wrong, and says where."""

from __future__ import annotations

import pytest

from minitorch_compile import ones, tensor
from minitorch_compile.autograd import Function, GradcheckError, gradcheck, gradgradcheck
from minitorch_compile.tensor import float64


class WrongSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, upper):
        return upper * ctx.saved_tensors[0] * 3


class SquareWithADetachedGradient(WrongSquare):
    @staticmethod
    def backward(ctx, upper):
        return upper * ctx.saved_tensors[0].detach() * 2


def leaf(*values):
    return tensor(list(values), dtype=float64, requires_grad=True)


def test_a_wrong_gradient():
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(WrongSquare.apply, leaf(1.0, 2.0))
    assert not gradcheck(WrongSquare.apply, leaf(1.0, 2.0), raise_exception=False)


def test_a_right_gradient_with_a_wrong_gradient_of_its_own():
    assert gradcheck(SquareWithADetachedGradient.apply, leaf(1.0, 2.0))
    with pytest.raises(GradcheckError):
        gradgradcheck(SquareWithADetachedGradient.apply, leaf(1.0, 2.0))


def test_the_inputs_are_left_as_they_were():
    x = leaf(1.0, 2.0)
    gradcheck(lambda x: x.exp(), x)
    assert x.tolist() == [1, 2]
    assert x.grad is None


def test_several_inputs_and_outputs_of_which_some_do_not_count():
    assert gradcheck(lambda x, n, y: (x * n, y > 0, x + y), (leaf(1.0), 3, leaf(2.0)))


def test_nothing_to_check():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, ones(1, dtype=float64))


def test_float32_is_too_coarse():
    with pytest.raises(ValueError, match="input 0 must be float64"):
        gradcheck(lambda x: x, ones(1, requires_grad=True))
