"""torch.autograd.forward_ad, against jvp; the messages are PyTorch's."""

import pytest

import minitorch_compile as torch
from minitorch_compile.autograd import forward_ad as fwAD

FUNCTIONS = {
    "elementwise": lambda x: (x.sin() * 3 + x).exp(),
    "linear": lambda x: torch.nn.functional.linear(x, torch.ones(4, 3)),
    "several": lambda x: torch.stack([x, x * 2]).sum(0),
    "views": lambda x: x.view(3, 1).t()[0, 1:],
    "in place": lambda x: x.clone().mul_(3).add_(x),
    "softmax": lambda x: torch.softmax(x, 0),
    "a part of the results": lambda x: x.max(0).values,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_tangents_move_as_jvp_says(function):
    x, v = torch.tensor([0.5, 1.5, 1.0]), torch.tensor([1.0, -2.0, 0.5])
    with fwAD.dual_level():
        primal, tangent = fwAD.unpack_dual(function(fwAD.make_dual(x, v)))
    expected = torch.func.jvp(function, (x,), (v,))
    torch.testing.assert_close((primal, tangent), expected)


def test_a_tangent_ends_with_its_level():
    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.ones(2), torch.ones(2))
        assert fwAD.unpack_dual(torch.ones(2)).tangent is None
    assert fwAD.unpack_dual(dual).tangent is None


def test_what_can_carry_no_tangent_is_refused():
    with fwAD.dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got: torch.int64"):
            fwAD.make_dual(torch.ones(2, dtype=torch.int64), torch.ones(2))
        with pytest.raises(RuntimeError, match="forward gradient that has a different size than that of the original"):
            fwAD.make_dual(torch.ones(2), torch.ones(3))
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fwAD.make_dual(torch.ones(2), torch.ones(2))


def test_functionalize_gives_what_the_function_gives():
    def program(x):
        x.add_(1)
        return x * 2

    x = torch.ones(2)
    assert (torch.func.functionalize(program)(x).tolist(), x.tolist()) == ([4, 4], [2, 2])
    with pytest.raises(RuntimeError, match="invalid argument for remove=views"):
        torch.func.functionalize(program, remove="views")


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_values_that_require_grad_move_no_differently(function):
    """A tangent that an operation passes on as it is was once taken for a constant."""
    x, v = torch.tensor([0.5, 1.5, 1.0]), torch.tensor([1.0, -2.0, 0.5])
    expected = torch.func.jvp(function, (x,), (v,))[1]
    tracked = x.clone().requires_grad_()
    assert torch.equal(torch.func.jvp(function, (tracked,), (v,))[1], expected)
    with fwAD.dual_level():
        tangent = fwAD.unpack_dual(function(fwAD.make_dual(tracked, v))).tangent
    torch.testing.assert_close(tangent.detach(), expected)


def test_a_sum_of_two_values_that_require_grad():
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    v = torch.tensor([1.0, -2.0])
    assert torch.func.jvp(lambda a, b: a + b, (x, x * 2), (v, v))[1].tolist() == [2.0, -4.0]


class Product(torch.autograd.Function):
    """x * y * factor, and x + y."""

    @staticmethod
    def forward(ctx, x, y, factor):
        ctx.save_for_forward(x, y)
        ctx.factor = factor
        return x * y * factor, x + y

    @staticmethod
    def jvp(ctx, moved_x, moved_y, moved_factor):
        x, y = ctx.saved_tensors
        assert moved_factor is None
        return (moved_x * y + moved_y * x) * ctx.factor, moved_x + moved_y


def test_a_function_of_the_users_says_itself_how_it_moves():
    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
        product, total = Product.apply(dual, torch.tensor([3.0, 4.0]), 2.0)
        assert fwAD.unpack_dual(product).tangent.tolist() == [6.0, 0.0]
        assert fwAD.unpack_dual(total).tangent.tolist() == [1.0, 0.0]
