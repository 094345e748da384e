"""vmap itself: dimensions, nesting, chunks, randomness, and what it says when it can't."""

from collections import namedtuple

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import vmap


def test_the_batch_may_be_any_dimension_of_arguments_and_results():
    x, y = torch.randn(2, 5, 3), torch.randn(3, 2, 5)
    result = vmap(lambda a, b: a * b.t(), in_dims=(1, 2), out_dims=-1)(x, y)
    expected = torch.stack([x[:, i] * y[:, :, i].t() for i in range(5)], -1)
    assert torch.equal(result, expected)
    assert torch.equal(vmap(lambda a: a, in_dims=-1, out_dims=(1,))(x), x.movedim(-1, 1))


def test_arguments_and_results_may_be_nested():
    def f(pair, options):
        return {"sum": pair[0] + pair[1], "scaled": [pair[0] * options["by"]]}

    a, b = torch.randn(4, 2), torch.randn(4, 2)
    result = vmap(f, in_dims=((0, 0), None))((a, b), {"by": torch.tensor(3.0)})
    assert torch.equal(result["sum"], a + b)
    assert torch.equal(result["scaled"][0], a * 3)
    moved = vmap(f, in_dims=(0, {"by": None}), out_dims={"sum": 1, "scaled": [0]})((a, b), {"by": torch.tensor(3.0)})
    assert torch.equal(moved["sum"], (a + b).t())


def test_it_nests_and_levels_do_not_mix():
    x, y = torch.randn(3, 4), torch.randn(5, 4)
    table = vmap(lambda a: vmap(lambda b: a @ b)(y))(x)
    assert torch.allclose(table, x @ y.t())
    three = vmap(vmap(vmap(lambda a: a.sum())))(torch.ones(2, 3, 4, 5))
    assert torch.equal(three, torch.full((2, 3, 4), 5.0))


def test_what_is_the_same_for_all_examples_comes_out_for_each():
    result = vmap(lambda x: (x, torch.ones(2)))(torch.zeros(3))
    assert result[1].shape == (3, 2)
    assert torch.equal(
        vmap(lambda x, y: y * 2, in_dims=(0, None))(torch.zeros(3), torch.ones(2)), torch.full((3, 2), 2.0)
    )


def test_out_dims_none_is_for_what_is_no_batch():
    x, shared = torch.randn(3, 4), torch.ones(2)
    assert vmap(lambda a: "text", out_dims=None)(x) == "text"
    doubled, same, number = vmap(lambda a: (a * 2, shared, 7), out_dims=(0, None, None), chunk_size=2)(x)
    assert torch.equal(doubled, x * 2) and same is shared and number == 7
    with pytest.raises(ValueError, match="differs between the examples"):
        vmap(lambda a: a, out_dims=None)(x)


def test_dimensions_for_any_registered_container():
    pair = namedtuple("pair", "first second")
    x, y = torch.randn(3, 2), torch.randn(2)
    found = vmap(lambda p: pair(p.first * p.second, p.first), in_dims=(pair(0, None),), out_dims=pair(1, 0))(pair(x, y))
    assert torch.equal(found.first, (x * y).t()) and torch.equal(found.second, x)


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7, 8])
def test_chunks_give_the_same(chunk_size):
    x = torch.randn(7, 3)
    by_chunks = vmap(lambda a: (a.sin(), a.sum()), out_dims=(1, 0), chunk_size=chunk_size)(x)
    assert torch.equal(by_chunks[0], x.sin().t())
    assert torch.allclose(by_chunks[1], x.sum(1))


def test_numbers_promote_like_numbers():
    x, numbers = torch.randn(3, 2), torch.tensor([1, 2, 3])
    assert vmap(lambda a, n: a * n)(x, numbers.double()).dtype is torch.float32
    assert vmap(lambda n: n / 2)(numbers).dtype is torch.float32
    assert vmap(lambda a, n: torch.where(n > 1, a, n))(x, numbers.double()).dtype is torch.float32


def test_random_numbers_are_asked_about():
    x = torch.zeros(4)
    with pytest.raises(RuntimeError, match="randomness='different'"):
        vmap(lambda a: a + torch.randn(()))(x)
    same = vmap(lambda a: a + torch.randn(()), randomness="same")(x)
    different = vmap(lambda a: a + torch.randn(()), randomness="different")(x)
    assert len(set(same.tolist())) == 1
    assert len(set(different.tolist())) == 4
    dropped = vmap(lambda a: F.dropout(a), randomness="different")(torch.ones(3, 100))
    assert not torch.equal(dropped[0], dropped[1])


def test_random_numbers_of_one_vmap_inside_another():
    outer = vmap(lambda a: vmap(lambda b: b * 0 + torch.rand(()), randomness="same")(a), randomness="different")
    result = outer(torch.zeros(2, 3))
    assert torch.equal(result[:, :1].expand(2, 3), result)
    assert result[0, 0] != result[1, 0]


def test_writing_in_place():
    x, y = torch.zeros(3, 2), torch.arange(3.0)
    result = vmap(lambda a, b: a.add_(b).mul_(2))(x, y)
    assert torch.equal(result, x)
    assert torch.equal(x, (y * 2)[:, None].expand(3, 2))

    def fill(a):
        made = torch.zeros_like(a)
        made[0] = a[1]
        return made

    assert torch.equal(vmap(fill)(torch.arange(6.0).view(3, 2))[:, 0], torch.tensor([1.0, 3.0, 5.0]))
    with pytest.raises(RuntimeError, match="the same for all of them"):
        vmap(lambda a, shared: shared.add_(a), in_dims=(0, None))(y, torch.zeros(()))


def test_views_of_examples_share_memory_with_the_batch():
    x = torch.zeros(3, 4)
    vmap(lambda a: a.view(2, 2)[1].fill_(7))(x)
    assert torch.equal(x, torch.tensor([0.0, 0, 7, 7]).expand(3, 4))


def test_gradients_flow_through_it():
    x, w = torch.randn(5, 3, requires_grad=True), torch.randn(3, requires_grad=True)
    vmap(lambda a: torch.tanh(a @ w))(x).sum().backward()
    expected = torch.autograd.grad(torch.tanh(x @ w).sum(), (x, w))
    assert torch.allclose(x.grad, expected[0])
    assert torch.allclose(w.grad, expected[1])


def test_an_empty_batch_has_results_of_the_right_sizes():
    x = torch.zeros(0, 3, 4)
    assert vmap(lambda a: a @ torch.ones(4, 2))(x).shape == (0, 3, 2)
    assert vmap(lambda a: a.view(-1).softmax(0))(x).shape == (0, 12)
    assert vmap(lambda a: F.conv2d(a[None, None], torch.ones(1, 1, 2, 2)))(x).shape == (0, 1, 1, 2, 3)


@pytest.mark.parametrize(
    "action, error, message",
    [
        (lambda: vmap(torch.sin, in_dims=1)(torch.ones(3)), ValueError, "in_dims is 1 for a tensor of 1 dimensions"),
        (lambda: vmap(torch.sin, in_dims=None)(torch.ones(3)), ValueError, "in_dims must be an int or a tuple"),
        (lambda: vmap(torch.sin, in_dims=(None,))(torch.ones(3)), ValueError, "at least one argument must be batched"),
        (lambda: vmap(torch.sin, in_dims=[0])(torch.ones(3)), ValueError, "in_dims must be an int or a tuple"),
        (lambda: vmap(torch.add)(torch.ones(3), torch.ones(4)), ValueError, r"one size, but they have \[3, 4\]"),
        (lambda: vmap(torch.add, in_dims=(0,))(torch.ones(3), torch.ones(3)), ValueError, "does not fit the arguments"),
        (lambda: vmap(torch.mul)(torch.ones(3), 2), ValueError, "only tensors can be batched"),
        (lambda: vmap(torch.sin)(), ValueError, "without arguments"),
        (
            lambda: vmap(lambda x: 3)(torch.ones(3)),
            ValueError,
            "must return tensors, but returned an object of type int",
        ),
        (lambda: vmap(torch.sin, out_dims=(0, 1))(torch.ones(3)), ValueError, "out_dims must be an int"),
        (lambda: vmap(torch.sin, randomness="some")(torch.ones(3)), RuntimeError, "randomness must be one of"),
        (lambda: vmap(torch.sin, chunk_size=0)(torch.ones(3)), ValueError, "chunk_size must be None or a positive int"),
        (lambda: vmap(lambda x: x.item())(torch.ones(3)), RuntimeError, "needs a number out of a tensor"),
        (lambda: vmap(lambda x: x if x > 0 else -x)(torch.ones(3)), RuntimeError, "torch.where for an if"),
        (lambda: vmap(lambda x: x.nonzero())(torch.ones(3, 2)), RuntimeError, "nonzero|argwhere"),
        (lambda: vmap(lambda x: x[x > 0])(torch.ones(3, 2)), RuntimeError, "depends on the data"),
        (lambda: vmap(lambda x: x.requires_grad_())(torch.ones(3)), RuntimeError, "torch.func.grad"),
        (lambda: vmap(lambda x: x.detach_())(torch.ones(3, 2)), RuntimeError, "returns a new tensor, such as detach()"),
        (lambda: vmap(lambda x: x.data)(torch.ones(3, 2)), RuntimeError, r"use x.detach\(\)"),
        (lambda: vmap(lambda x: x.sum(3))(torch.ones(3, 2)), IndexError, "Dimension out of range"),
        (lambda: vmap(lambda x: x.view(3))(torch.ones(3, 2)), RuntimeError, "shape"),
    ],
)
def test_what_it_says_when_it_cannot(action, error, message):
    with pytest.raises(error, match=message):
        action()


def test_nothing_is_left_behind_after_an_error():
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: 1 / 0)(torch.ones(3))
    assert torch.equal(vmap(lambda x: x + 1)(torch.zeros(2)), torch.ones(2))
