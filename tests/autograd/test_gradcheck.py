"""gradcheck finds what is wrong, and says where."""

from __future__ import annotations

import numpy as np
import pytest

from minitorch_compile import complex128, from_numpy, ones, tensor
from minitorch_compile.autograd import Function, GradcheckError, gradcheck, gradgradcheck
from minitorch_compile.tensor import float64, ops


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


def leaf(*values, dtype=float64):
    return tensor(list(values), dtype=dtype, requires_grad=True)


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


def test_a_complex_input_counts_as_two_numbers():
    """By PyTorch's convention the gradient is that by the real part plus i times that by the imaginary part."""

    class Conjugate(Function):
        @staticmethod
        def forward(ctx, z):
            return from_numpy(np.conj(z.array))

        @staticmethod
        def backward(ctx, g):
            return from_numpy(np.conj(g.array))

    z = from_numpy(np.array([1 + 2j, -0.5j, 3.0])).requires_grad_()
    assert gradcheck(Conjugate.apply, z)

    class Holomorphic(Conjugate):
        @staticmethod
        def backward(ctx, g):
            return g

    assert not gradcheck(Holomorphic.apply, z, raise_exception=False)


def test_a_backward_that_changes_its_mind_is_noticed():
    calls = []

    class Moody(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            calls.append(1)
            return g * 2 * (1 + 1e-7 * len(calls))

    x = tensor([1.0, 2.0], dtype=float64, requires_grad=True)
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(Moody.apply, x)
    assert gradcheck(Moody.apply, x, nondet_tol=1e-4)


def test_gradients_of_gradients_with_strided_output_gradients():
    x = tensor([[0.5, -1.0]], dtype=float64, requires_grad=True)
    assert gradgradcheck(lambda x: x.exp() * x, x, gen_non_contig_grad_outputs=True)


class Exponential(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        ctx.save_for_forward(y)
        return y

    @staticmethod
    def backward(ctx, upper):
        return upper * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * ctx.saved_tensors[0]


class ExponentialThatMovesWrongly(Exponential):
    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3


class ExponentialWithoutJvp(Exponential):
    jvp = Function.jvp


@pytest.mark.parametrize("func", [Exponential.apply, lambda x: x.sin() * x, lambda x: x.abs()])
@pytest.mark.parametrize("x", [leaf(0.3, -0.7), leaf(0.3 + 0.5j, -0.7 + 0.1j, dtype=complex128)])
def test_tangents_are_checked(func, x):
    if func != Exponential.apply or x.dtype is float64:  # that formula is one for real numbers
        assert gradcheck(func, x, check_forward_ad=True, check_batched_grad=True)


def test_wrong_tangents():
    x, wrong = leaf(0.3, -0.7), ExponentialThatMovesWrongly.apply
    assert gradcheck(wrong, x)
    with pytest.raises(
        GradcheckError, match="computed with forward mode mismatch for output 0 with respect to input 0"
    ):
        gradcheck(wrong, x, check_forward_ad=True, check_backward_ad=False)
    assert not gradcheck(wrong, x, check_forward_ad=True, raise_exception=False)
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        gradcheck(ExponentialWithoutJvp.apply, x, check_forward_ad=True)


def test_forward_over_reverse():
    assert gradgradcheck(lambda x: x.sin() * x, leaf(0.3, -0.7), check_fwd_over_rev=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check_backward_ad": False}, "at least one of check_forward_ad or check_backward_ad"),
        ({"check_batched_forward_grad": True}, "requires check_forward_ad"),
        ({"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True}, "check_backward_ad"),
    ],
)
def test_modes_that_contradict_each_other(options, message):
    with pytest.raises(AssertionError, match=message):
        gradcheck(lambda x: x * 2, leaf(1.0), **options)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.exp(), x.sin() * 2),
        lambda x: ops.softmax(x, 0) @ x,
        lambda x: x.clone().mul_(x),
        lambda x: ops.complex(x, x * 2).exp(),
        lambda x: (x.detach() * 2, x.sum()),
    ],
)
def test_batches_of_tangents(function):
    assert gradcheck(function, leaf(1.0, 0.5), check_forward_ad=True, check_batched_forward_grad=True)


def test_a_function_that_looks_whether_it_is_run_on_a_batch():
    def wrong(x):
        return x * (3 if x.is_example else 2)

    with pytest.raises(GradcheckError, match="tangents computed as a batch differ from those of a loop"):
        gradcheck(wrong, leaf(1.0, 0.5), check_forward_ad=True, check_batched_forward_grad=True)
