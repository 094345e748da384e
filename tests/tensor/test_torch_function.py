"""__torch_function__: subclasses of Tensor, other objects, modes. The names were recorded from PyTorch 2.13."""

import pytest

import minitorch_compile as torch
from minitorch_compile import overrides
from minitorch_compile.nn import functional as F

seen = []


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(func)
        return super().__torch_function__(func, types, args, kwargs)


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, types, len(args), kwargs


@pytest.fixture
def x():
    seen.clear()
    return torch.ones(2, 2).as_subclass(Logged)


CALLS = [
    (lambda x: x + 1, torch.Tensor.add),
    (lambda x: 1 + x, torch.Tensor.add),
    (lambda x: torch.ones(2, 2) + x, torch.Tensor.add),
    (lambda x: 1 - x, torch.Tensor.__rsub__),
    (lambda x: 1 / x, torch.Tensor.__rtruediv__),
    (lambda x: 2**x, torch.Tensor.__rpow__),
    (lambda x: x**2, torch.Tensor.pow),
    (lambda x: x @ x, torch.Tensor.matmul),
    (lambda x: x == x, torch.Tensor.__eq__),
    (lambda x: x // 2, torch.Tensor.__floordiv__),
    (lambda x: -x, torch.Tensor.neg),
    (lambda x: x[0], torch.Tensor.__getitem__),
    (lambda x: x.add(1), torch.Tensor.add),
    (lambda x: torch.add(x, 1), torch.add),
    (lambda x: torch.add(torch.ones(2, 2), other=x), torch.add),
    (lambda x: x.sum(), torch.Tensor.sum),
    (lambda x: x.mean(dim=0), torch.Tensor.mean),
    (lambda x: F.relu(x), F.relu),
    (lambda x: F.linear(x, x), F.linear),
    (lambda x: torch.stack([x, x]), torch.stack),
    (lambda x: torch.cat([torch.ones(2, 2), x]), torch.cat),
    (lambda x: x.add_(1), torch.Tensor.add_),
    (lambda x: torch.zeros_like(x), torch.zeros_like),
    (lambda x: x.reshape(-1), torch.Tensor.reshape),
    (lambda x: x.detach(), torch.Tensor.detach),
]


@pytest.mark.parametrize(("call", "func"), CALLS, ids=[getattr(f, "__qualname__", str(f)) for _, f in CALLS])
def test_it_is_asked_once_with_the_function_that_was_called(call, func, x):
    result = call(x)
    assert seen == [func]
    assert type(result) is Logged
    plain = call(torch.ones(2, 2))
    assert bool((torch.Tensor.as_subclass(result, torch.Tensor) == plain).all())


def test_a_subclass_without_its_own_keeps_its_class():
    class Own(torch.Tensor):
        pass

    class Further(Own):
        pass

    own, further = torch.ones(2).as_subclass(Own), torch.ones(2).as_subclass(Further)
    assert [type(t) for t in (own * 2, own + further, *torch.ones(2, 2).as_subclass(Own).split(1))] == [
        Own,
        Further,
        Own,
        Own,
    ]
    assert type(torch.max(torch.ones(2, 2).as_subclass(Own), 0).values) is Own
    assert repr(own) == "Own([1., 1.])"


def test_strangers_are_refused_together():
    class One(torch.Tensor):
        pass

    class Other(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers"):
        torch.ones(2).as_subclass(One) + torch.ones(2).as_subclass(Other)


def test_any_object_may_override():
    class Fresh(Duck):
        """Nobody has seen it yet: the first call is a large operation."""

    fresh = Fresh()
    assert F.softplus(fresh) == ("softplus", (Fresh,), 1, None)
    assert F.linear(fresh, torch.ones(2)) == ("linear", (Fresh,), 2, None)
    assert torch.add(torch.ones(2), fresh) == ("add", (Fresh,), 2, None)
    assert torch.ones(2) + fresh == fresh + torch.ones(2) == ("add", (Fresh,), 2, None)
    assert torch.stack([fresh, fresh]) == ("stack", (Fresh,), 1, None)


def test_parameters_and_switched_off_classes_override_nothing():
    class Off(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    assert type(torch.ones(2).as_subclass(Off) + 1) is torch.Tensor
    assert not overrides.has_torch_function((torch.nn.Parameter(torch.ones(1)), torch.ones(1)))


def test_it_can_be_switched_off(x):
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
    assert seen == []


def test_gradients_are_plain_and_reach_the_leaf_behind():
    leaf = torch.ones(2, requires_grad=True)
    own = leaf.as_subclass(Logged)
    (own * own).sum().backward()
    assert not own.is_leaf
    assert (type(leaf.grad), leaf.grad.tolist()) == (torch.Tensor, [2, 2])
    made = torch.Tensor._make_subclass(Logged, torch.ones(2), True)
    (made * 3).sum().backward()
    assert (type(made), type(made.grad), made.grad.tolist()) == (Logged, torch.Tensor, [3, 3])


def test_a_mode_is_asked_about_everything():
    names = []

    class Names(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(overrides.resolve_name(func))
            return func(*args, **(kwargs or {}))

    with Names():
        F.relu(torch.ones(2) + 1)
    torch.ones(1)
    assert names == ["torch.ones", "torch.Tensor.add", "torch.nn.functional.relu"]


def test_own_functions_take_part():
    def double(x, times=2):
        if overrides.has_torch_function_unary(x):
            return overrides.handle_torch_function(double, (x,), x, times=times)
        return x * times

    assert double(Duck(), times=3) == ("double", (Duck,), 1, {"times": 3})
    assert double(torch.ones(1)).item() == 2


def test_tensor_like_is_what_overrides():
    assert [overrides.is_tensor_like(v) for v in (Duck(), torch.ones(1), 1)] == [True, True, False]
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert torch.add in overrides.get_testing_overrides()


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_compiled_functions_give_what_plain_ones_give(backend, x):
    result = torch.compile(lambda x: (x + 1) * 2, backend=backend)(x)
    assert (type(result), result.tolist()) == (Logged, [[4, 4], [4, 4]])


def test_the_function_is_the_one_that_was_called_though_somebody_stands_before_all_calls():
    names = []

    class Named(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            names.append(torch.overrides.resolve_name(func))
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2).as_subclass(Named)
    with torch.autocast("cpu"):
        x + 1
        torch.exp(x)
    with torch.profiler.profile():
        x.sum()
    assert names == ["torch.Tensor.add", "torch.exp", "torch.Tensor.sum"]


def test_a_subclass_may_ask_for_what_each_tensor_keeps():
    class Own(torch.Tensor):
        @property
        def dtype(self):
            return super().dtype

    x = torch.ones(2, dtype=torch.float64).as_subclass(Own)
    assert x.dtype is torch.float64 and (x + 1).dtype is torch.float64
