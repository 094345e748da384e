"""torch._foreach_*: one call of an op for each tensor of a list. Values and refusals are PyTorch 2.13's."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile.tensor.functions.foreach import OF_ONE

NAN = float("nan")


def lists():
    return [torch.tensor([1.0, 3.0]), torch.tensor([[0.5, 2.0]])]


def numbers(tensors):
    return [x.tolist() for x in tensors]


@pytest.mark.parametrize("name", OF_ONE)
def test_each_of_a_list_as_alone(name):
    function, writing = getattr(torch, f"_foreach_{name}"), getattr(torch, f"_foreach_{name}_")
    expected, written = [getattr(torch, name)(x) for x in lists()], lists()
    torch.testing.assert_close(function(lists()), tuple(expected), equal_nan=True)
    assert writing(written) is written
    torch.testing.assert_close(written, expected, equal_nan=True)


WITH_OTHERS = [
    ("add", (lists(),), {"alpha": 2}, [[3.0, 9.0], [[1.5, 6.0]]]),
    ("add", (), {"scalar": 1}, [[2.0, 4.0], [[1.5, 3.0]]]),
    ("sub", ([1.0, 2.0],), {}, [[0.0, 2.0], [[-1.5, 0.0]]]),
    ("mul", (torch.tensor(2.0),), {}, [[2.0, 6.0], [[1.0, 4.0]]]),
    ("div", (2,), {}, [[0.5, 1.5], [[0.25, 1.0]]]),
    ("clamp_max", (1.0,), {}, [[1.0, 1.0], [[0.5, 1.0]]]),
    ("clamp_min", ([2.0, 1.0],), {}, [[2.0, 3.0], [[1.0, 2.0]]]),
    ("maximum", (2.0,), {}, [[2.0, 3.0], [[2.0, 2.0]]]),
    ("minimum", ([2.0, 1.0],), {}, [[1.0, 2.0], [[0.5, 1.0]]]),
    ("pow", (2,), {}, [[1.0, 9.0], [[0.25, 4.0]]]),
    ("lerp", ([torch.tensor(3.0), torch.tensor(0.0)], 0.5), {}, [[2.0, 3.0], [[0.25, 1.0]]]),
    ("lerp", (lists(),), {"weight": [0.5, 2.0]}, [[1.0, 3.0], [[0.5, 2.0]]]),
    ("addcmul", (lists(), lists()), {"value": 2}, [[3.0, 21.0], [[1.0, 10.0]]]),
    ("addcmul", (lists(), lists(), [1.0, 2.0]), {}, [[2.0, 12.0], [[1.0, 10.0]]]),
    ("addcdiv", (lists(), lists(), torch.tensor([1.0, 2.0])), {}, [[2.0, 4.0], [[2.5, 4.0]]]),
]


@pytest.mark.parametrize(("name", "operands", "named", "expected"), WITH_OTHERS)
def test_each_of_a_list_with_its_own_operand_or_one_for_all(name, operands, named, expected):
    result, written = getattr(torch, f"_foreach_{name}")(lists(), *operands, **named), lists()
    assert type(result) is tuple and numbers(result) == expected
    assert getattr(torch, f"_foreach_{name}_")(written, *operands, **named) is written
    assert numbers(written) == expected


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_greatest_and_least_of_nan_are_nan(name):
    each = getattr(torch, f"_foreach_{name}")
    (mine,), (other,) = each([torch.tensor([NAN])], 1.0), each([torch.ones(1)], [torch.tensor([NAN])])
    assert mine.isnan().all() and other.isnan().all()


def test_those_with_a_form_of_their_own():
    assert numbers(torch._foreach_pow(2.0, lists()[:1])) == [[2.0, 8.0]]
    assert numbers(torch._foreach_norm(lists(), float("inf"))) == [3.0, 2.0]
    assert torch._foreach_norm(lists(), dtype=torch.float64)[0].dtype is torch.float64
    assert numbers(torch._foreach_powsum(lists(), 2)) == [10.0, 4.25]
    assert numbers(torch._foreach_max(lists())) == [3.0, 2.0]
    assert numbers(torch._foreach_mm([torch.ones(1, 2)], [torch.ones(2, 1)])) == [[[2.0]]]
    assert numbers(torch._foreach_copy_([torch.zeros(2)], [torch.ones(2)])) == [[1.0, 1.0]]
    assert numbers(torch._foreach_zero_(lists())) == [[0.0, 0.0], [[0.0, 0.0]]]
    first = lists()
    copies = torch._foreach_clone(first)
    first[0].zero_()
    assert numbers(copies) == numbers(lists())


REFUSED = [
    ("no tensors", lambda: torch._foreach_add([], 1), RuntimeError, "must have at least one tensor"),
    ("other lengths", lambda: torch._foreach_add(lists(), lists()[:1]), RuntimeError, "same number.*got 2 and 1"),
    ("no list", lambda: torch._foreach_add(3, 1), TypeError, "expected a list or tuple of Tensors, got int"),
    ("no operand", lambda: torch._foreach_add(lists(), "x"), TypeError, "expected a number, a Tensor or a list"),
    ("too few", lambda: torch._foreach_addcmul(lists(), lists()), TypeError, "takes 2 or 3 operands"),
    ("too many", lambda: torch._foreach_sqrt(lists(), 2), TypeError, "takes 0 operands"),
    ("a vector", lambda: torch._foreach_add(lists(), torch.ones(2)), RuntimeError, "expected to be 0 dim"),
    ("unpacked", lambda: torch._foreach_addcdiv(lists(), lists(), lists(), torch.tensor(1.0)), RuntimeError, "packed"),
    ("no elements", lambda: torch._foreach_max([torch.ones(0)]), RuntimeError, "maximum of an empty tensor"),
    ("whole numbers", lambda: torch._foreach_add_([torch.arange(3)], 1.5), RuntimeError, "can't be cast"),
]


@pytest.mark.parametrize(("what", "call", "error", "message"), REFUSED)
def test_refusals(what, call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_compiled_step_with_them_is_one_graph():
    def step(weights, gradients, momenta):
        torch._foreach_mul_(momenta, 0.9)
        torch._foreach_add_(momenta, gradients)
        torch._foreach_add_(weights, momenta, alpha=-0.1)

    plain, compiled = [[lists(), lists(), lists()] for _ in range(2)]
    step(*plain)
    torch.compile(step, fullgraph=True)(*compiled)
    torch.testing.assert_close(plain, compiled)


def test_they_are_differentiable():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch._foreach_mul([x], 3.0)[0].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
