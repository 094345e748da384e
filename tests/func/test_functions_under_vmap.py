"""autograd.Function under vmap, in each nesting with gradients, is what a loop over the examples gives."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile.func import grad, jacrev, vmap


class Scale(torch.autograd.Function):
    """x * y * k, and whole numbers that have no gradient."""

    @staticmethod
    def forward(x, y, k):
        return x * y * k, (x + y).long()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], inputs[1])
        ctx.k = inputs[2]
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, g, _):
        x, y = ctx.saved_tensors
        return g * y * ctx.k, g * x * ctx.k, None


class Exp(torch.autograd.Function):
    """Saves what it returns."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Sort(torch.autograd.Function):
    """Computes with NumPy, so it needs a rule of its own."""

    @staticmethod
    def forward(x, dim):
        order = torch.from_numpy(x.numpy().argsort(dim))
        return torch.take_along_dim(x, order, dim), order, torch.from_numpy(order.numpy().argsort(dim))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.dim = inputs[1]
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(output[2])

    @staticmethod
    def backward(ctx, g, *_):
        (inverse,) = ctx.saved_tensors
        return torch.take_along_dim(g, inverse, ctx.dim), None

    @staticmethod
    def vmap(info, in_dims, x, dim):
        assert info.batch_size == x.shape[in_dims[0]] and in_dims[1] is None
        return Sort.apply(x.movedim(in_dims[0], 0), dim % (x.dim() - 1) + 1), (0, 0, 0)


X = torch.arange(6.0).reshape(2, 3).div(5).flip(1)
Y = torch.tensor([1.0, 2.0, 3.0])


def scaled(a, b):
    return Scale.apply(a, b, 2.0)[0].sum()


def plain(a, b):
    return (a * b * 2.0).sum()


def same(found, wanted):
    torch.testing.assert_close(found, wanted)


def test_forward_is_that_of_each_example():
    found, numbers = vmap(lambda a: Scale.apply(a, Y, 2.0))(X)
    same(found, X * Y * 2.0)
    same(numbers, (X + Y).long())
    same(vmap(Exp.apply, in_dims=1, out_dims=1)(X), X.exp())


def test_gradients_inside_outside_and_nested():
    for f in (
        lambda g: vmap(grad(g, argnums=(0, 1)), in_dims=(0, None))(X, Y),
        lambda g: grad(lambda a, b: vmap(lambda row: g(row, b))(a).sum(), argnums=(0, 1))(X, Y),
        lambda g: vmap(vmap(grad(g, argnums=(0, 1)), in_dims=(0, None)), in_dims=(0, None))(X.expand(4, 2, 3), Y),
    ):
        same(f(scaled), f(plain))


def test_the_users_own_tape_reaches_what_is_the_same_for_all():
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    vmap(lambda a: scaled(a, y))(x).sum().backward()
    same((x.grad, y.grad), ((2 * Y).expand(2, 3), 2 * X.sum(0)))


def test_saved_results_and_second_derivatives():
    same(vmap(jacrev(jacrev(lambda a: Exp.apply(a).sum())))(X), torch.diag_embed(X.exp()))
    same(vmap(grad(grad(Exp.apply)))(Y), Y.exp())


def test_compiled():
    compiled = torch.compile(lambda v: vmap(grad(lambda a: Exp.apply(a).sum()))(v))
    same(compiled(X), X.exp())


def test_a_rule_of_the_class_gets_the_batch():
    same(vmap(lambda a: Sort.apply(a, -1)[0])(X), X.sort(-1).values)
    same(vmap(lambda a: Sort.apply(a, -1)[0], in_dims=1, out_dims=1)(X), X.sort(0).values)
    weights = torch.arange(3.0)
    found = vmap(grad(lambda a: (Sort.apply(a, 0)[0] * weights).sum()))(X)
    same(found, vmap(grad(lambda a: (a.sort(0).values * weights).sum()))(X))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: x, "to have two returns"),
        (lambda x: (x, 0, 0), "Got 3 returns"),
        (lambda x: (x, (None,)), "returned an incompatible"),
    ],
)
def test_a_rule_must_say_where_the_batch_is(answer, message):
    class Wrong(Exp):
        @staticmethod
        def vmap(info, in_dims, x):
            return answer(x)

    with pytest.raises(RuntimeError, match=message):
        vmap(Wrong.apply)(X)


def test_a_rule_and_the_switch_are_ambiguous():
    class Both(Sort):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError, match="both generate_vmap_rule"):
        vmap(lambda a: Both.apply(a, 0))(X)


def test_forward_must_be_given_the_examples_that_it_uses():
    leaf = Y.clone().requires_grad_()

    def program(row):
        class Captures(Exp):
            @staticmethod
            def forward(x):
                return x * row

        return Captures.apply(leaf)

    with pytest.raises(RuntimeError, match="isn't among its arguments"):
        vmap(program)(X)


def test_examples_in_a_list():
    class Line(Exp):
        @staticmethod
        def forward(x, line):
            return x * line[0] + line[1]

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs[1])

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    same(vmap(grad(lambda x, y: Line.apply(x, [y, torch.ones(())])))(Y, 2 * Y), 2 * Y)
    same(vmap(lambda x, y: Line.apply(x, [y, torch.ones(())]))(Y, 2 * Y), 2 * Y * Y + 1)


def test_rows_one_by_one_need_no_batching_rule():
    class Counts(Exp):
        @staticmethod
        def backward(ctx, g):
            g.nonzero()
            return g * ctx.saved_tensors[0]

    same(jacrev(Counts.apply, chunk_size=1)(Y), torch.diag(Y.exp()))
    two = jacrev(lambda v: (Exp.apply(v), v.sum()), chunk_size=1)(Y)
    same(two, (torch.diag(Y.exp()), torch.ones(3)))
