"""autograd.Function."""

import gc
import weakref

import pytest

import minitorch_compile as torch
from minitorch_compile import is_grad_enabled, ones, tensor
from minitorch_compile.autograd import Function, grad, gradcheck, gradgradcheck
from minitorch_compile.autograd.function import once_differentiable
from minitorch_compile.tensor import float64


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, upper):
        (result,) = ctx.saved_tensors
        return upper * result


class SinCos(Function):
    """Two outputs, a number among the arguments."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        ctx.save_for_backward(x)
        return (x * scale).sin(), (x * scale).cos()

    @staticmethod
    def backward(ctx, by_sin, by_cos):
        (x,) = ctx.saved_tensors
        z = x * ctx.scale
        return (by_sin * z.cos() - by_cos * z.sin()) * ctx.scale, None


def leaf(*values):
    return tensor(list(values), dtype=float64, requires_grad=True)


def test_gradients_of_the_first_and_second_order():
    assert gradcheck(Exp.apply, leaf(0.5, -1.0))
    assert gradgradcheck(Exp.apply, leaf(0.5, -1.0))
    assert gradcheck(lambda x: SinCos.apply(x, 3), leaf(0.5, -1.0))
    assert gradgradcheck(lambda x: SinCos.apply(x, 3), leaf(0.5, -1.0))


def test_an_output_without_a_gradient_gets_zeros():
    x = leaf(0.0)
    sin, _ = SinCos.apply(x, 2)
    sin.backward()
    assert x.grad.tolist() == [2]


def test_or_none_if_asked_for():
    class Second(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            assert first is None
            return second * 2

    x = leaf(1.0)
    Second.apply(x)[1].backward()
    assert x.grad.tolist() == [2]


def test_nothing_is_recorded_in_forward_and_no_node_is_left_without_need():
    class Check(Function):
        @staticmethod
        def forward(ctx, x):
            assert not is_grad_enabled()
            assert not (x * 2).requires_grad
            return x * 2

    assert Check.apply(ones(1)).grad_fn is None
    shown = repr(Check.apply(leaf(1.0)).grad_fn)  # as PyTorch shows it
    assert shown.startswith("<minitorch_compile.autograd.function.CheckBackward object at 0x")


def test_needs_input_grad():
    class Needs(Function):
        @staticmethod
        def forward(ctx, x, y, n):
            assert ctx.needs_input_grad == (False, True, False)
            return x * y

        @staticmethod
        def backward(ctx, upper):
            return None, upper, None

    Needs.apply(ones(1), leaf(1.0), 3).backward()


def test_setup_context():
    class Square(Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, upper):
            return 2 * ctx.saved_tensors[0] * upper

    assert gradcheck(Square.apply, leaf(0.5, -1.0))


def test_non_differentiable_and_integer_outputs():
    class Sort(Function):
        @staticmethod
        def forward(ctx, x):
            rounded = x.floor()
            ctx.mark_non_differentiable(rounded)
            return x * 1, rounded, x.argmax()

        @staticmethod
        def backward(ctx, upper, *_):
            return upper

    values, rounded, place = Sort.apply(leaf(1.5, 2.5))
    assert [values.requires_grad, rounded.requires_grad, place.requires_grad] == [True, False, False]


def test_an_argument_that_is_returned_is_a_new_result():
    class Pass(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, upper):
            return upper * 5

    x = leaf(1.0)
    y = Pass.apply(x)
    assert y is not x
    assert x.is_leaf
    y.backward()
    assert x.grad.tolist() == [5]


def test_an_argument_that_is_changed_in_place():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, upper):
            return upper * 2

    x = leaf(1.0)
    y = x * 1
    z = Double.apply(y)
    assert z is y
    z.backward()
    assert x.grad.tolist() == [2]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double.apply(leaf(1.0))


class Nines(Function):
    """Writes to memory in a way that nothing but `mark_dirty` tells of."""

    @staticmethod
    def forward(ctx, x, is_returned=True):
        x.detach().numpy()[...] = 9
        ctx.mark_dirty(x)
        return x if is_returned else x + 1

    @staticmethod
    def backward(ctx, upper):
        return upper * 0, None


def test_what_is_marked_dirty_is_known_to_be_changed():
    y = leaf(1.0) * 1
    sine = y.sin()
    Nines.apply(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        sine.backward()


def test_what_is_marked_dirty_must_be_returned():
    with pytest.raises(RuntimeError, match="not returned as output"):
        Nines.apply(leaf(1.0) * 1, False)


def test_where_nothing_is_recorded_leaves_may_be_changed():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        Nines.apply(x[:1])
    assert x.tolist() == [9, 1]


class ExpInPlace(Function):
    @staticmethod
    def forward(ctx, scale, x):
        """exp(x) * scale, written to x."""
        x.exp_().mul_(scale)
        ctx.mark_dirty(x)
        ctx.save_for_backward(scale, x)
        return x

    @staticmethod
    def backward(ctx, upper):
        scale, y = ctx.saved_tensors
        return (upper * y / scale).sum(), upper * y


def test_a_view_that_is_changed_in_place():
    x, scale = torch.arange(4.0, requires_grad=True), tensor(2.0, requires_grad=True)
    base = x * 1
    window, overlapping = base[1:3], base[2:]
    assert ExpInPlace.apply(scale, window) is window
    assert type(base.grad_fn).__name__ == "CopySlices"
    loss = (base * torch.arange(4.0)).sum() + overlapping.sum()
    (first, by_scale) = torch.autograd.grad(loss, (x, scale), create_graph=True)
    e = torch.arange(4.0).exp()
    assert torch.allclose(first, torch.stack([0 * e[0], 2 * e[1], 6 * e[2], torch.tensor(4.0)]))
    assert torch.allclose(by_scale, e[1] + 3 * e[2])
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second, torch.stack([0 * e[0], 2 * e[1], 6 * e[2], 0 * e[3]]))


def test_a_view_of_what_needs_no_gradients_takes_them_on():
    base, scale = torch.zeros(3), tensor(2.0, requires_grad=True)
    ExpInPlace.apply(scale, base.view(3, 1)[1:])
    base.sum().backward()
    assert scale.grad.item() == 2


def test_views_that_a_function_must_not_change():
    class Two(ExpInPlace):
        @staticmethod
        def forward(ctx, scale, x):
            return ExpInPlace.forward(ctx, scale, x), x + 1

    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        Two.apply(leaf(1.0), torch.ones(2)[:1])
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        ExpInPlace.apply(leaf(1.0), torch.ones(2, requires_grad=True)[:1])
    base = torch.ones(2, requires_grad=True) * 1
    with torch.no_grad():
        untracked = base[:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        ExpInPlace.apply(leaf(1.0), untracked)


def test_saved_tensors_are_checked_for_changes():
    x = leaf(1.0)
    y = Exp.apply(x)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*ExpBackward"):
        y.backward()


def test_saved_tensors_are_freed():
    x = leaf(1.0)
    y = Exp.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_a_saved_result_is_no_cycle():
    gc.disable()
    try:
        y = Exp.apply(leaf(1.0))
        died = weakref.ref(y.storage)
        del y
        assert died() is None
    finally:
        gc.enable()


def test_a_saved_tensor_returned_as_gradient_is_copied():
    class Linear(Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return x * w

        @staticmethod
        def backward(ctx, upper):
            return ctx.saved_tensors[0], None

    x, w = leaf(1.0), tensor([7.0], dtype=float64)
    Linear.apply(x, w).backward()
    x.grad.zero_()
    assert w.tolist() == [7]


class TestErrors:
    def test_too_few_gradients(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x, y):
                return x + y

            @staticmethod
            def backward(ctx, upper):
                return upper

        with pytest.raises(
            RuntimeError, match=r"WrongBackward returned an incorrect number of gradients \(expected 2, got 1\)"
        ):
            Wrong.apply(leaf(1.0), leaf(1.0)).backward()

    def test_a_gradient_of_the_wrong_shape(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, upper):
                return upper.sum()

        with pytest.raises(
            RuntimeError, match=r"WrongBackward returned an invalid gradient at index 0 - got \[\] but expected"
        ):
            Wrong.apply(leaf(1.0, 2.0)).sum().backward()

    def test_saving_something_else(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(3)

        with pytest.raises(TypeError, match="can only save variables, but got int"):
            Wrong.apply(leaf(1.0))

    def test_once_differentiable(self):
        class Once(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            @once_differentiable
            def backward(ctx, upper):
                return upper * 1

        x = leaf(1.0)
        assert grad(Once.apply(x), x)[0].tolist() == [1]
        (g,) = grad(Once.apply(x), x, create_graph=True)
        assert not g.requires_grad  # a constant: the gradient that came in was one
        (g,) = grad(Once.apply(x) ** 2, x, create_graph=True)
        with pytest.raises(RuntimeError, match="differentiate twice"):
            g.backward()


def test_a_function_is_called_through_apply():
    class Old(Function):
        def forward(self, x):
            return x

    with pytest.raises(RuntimeError, match="non-static forward method is deprecated"):
        Old()(tensor([1.0]))


def test_backward_may_be_called_vjp():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = tensor([1.0], requires_grad=True)
    Double.apply(x).backward()
    assert x.grad.item() == 2
