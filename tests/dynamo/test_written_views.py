"""Writing in place to a tensor that autograd may refuse: a leaf, a view of one, a view made under no_grad.

Each kind of tensor is given to a function that was compiled for every other kind before it.
"""

import pytest

import minitorch_compile as torch


def ones(**options):
    return torch.ones(2, 2, **options)


def without_grad(tensor):
    with torch.no_grad():
        return tensor.t()


def shown_before(view_of):
    """A view whose base is made a leaf after it."""
    base = ones()
    view = view_of(base)
    base.requires_grad_()
    return view


KINDS = {
    "plain": ones,
    "a leaf": lambda: ones(requires_grad=True),
    "computed": lambda: ones(requires_grad=True) * 2,
    "a view": lambda: ones().t(),
    "a view that was made a leaf": lambda: ones().t().requires_grad_(),
    "a view of a leaf": lambda: ones(requires_grad=True).t(),
    "a view of what is computed": lambda: (ones(requires_grad=True) * 2).t(),
    "a view of what is a leaf by now": lambda: shown_before(torch.t),
    "made under no_grad": lambda: without_grad(ones()),
    "made under no_grad, then a leaf": lambda: without_grad(ones()).requires_grad_(),
    "of a leaf, made under no_grad": lambda: without_grad(ones(requires_grad=True)),
    "of what is computed, made under no_grad": lambda: without_grad(ones(requires_grad=True) * 2),
    "of what is a leaf by now, made under no_grad": lambda: shown_before(without_grad),
}


def method(x, other, told):
    try:
        x.mul_(other)
    except RuntimeError as error:
        told.append(str(error))
    return x * 1


def method_of_a_view(x, other, told):
    try:
        x[0].mul_(other[0])
    except RuntimeError as error:
        told.append(str(error))
    return x * 1


def item(x, other, told):
    told.append("before")
    x[0] = other[0]
    return x * 1


def out(x, other, told):
    told.append("before")
    return torch.mul(x, other, out=x)


def under_no_grad(x, other, told):
    with torch.no_grad():
        x.mul_(other)
    return x * 1


def outcome(function, kind, requires_grad):
    x, told = KINDS[kind](), []
    try:
        result = function(x, torch.full((2, 2), 3.0, requires_grad=requires_grad), told)
    except RuntimeError as error:
        told.append(str(error).partition("\n")[0])
        return told, x.tolist()
    return told, x.tolist(), x.requires_grad, result.tolist(), result.requires_grad, result.is_leaf


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("write", [method, method_of_a_view, item, out, under_no_grad])
@pytest.mark.parametrize("first", ["plain", "a leaf", "computed", "a view"])
def test_a_write_is_refused_in_the_same_words(write, first, requires_grad):
    compiled = torch.compile(write, backend="eager")
    for kind in [first, *KINDS]:
        assert outcome(compiled, kind, requires_grad) == outcome(write, kind, requires_grad), kind
