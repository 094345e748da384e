"""__torch_dispatch__: wrapper classes and modes, below autograd. The names are those that PyTorch 2.13 gives."""

import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F
from minitorch_compile.pytree import tree_map, tree_map_only
from minitorch_compile.utils._python_dispatch import (
    TorchDispatchMode,
    is_traceable_wrapper_subclass,
    return_and_correct_aliasing,
)

aten = torch.ops.aten
log = []


class Logging(torch.Tensor):
    """Computes what it wraps, and notes each call."""

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        result = torch.Tensor._make_wrapper_subclass(
            cls, elem.size(), strides=elem.stride(), dtype=elem.dtype, device=elem.device, requires_grad=requires_grad
        )
        result.elem = elem
        return result

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def wrap(x):
            return Logging(x) if isinstance(x, torch.Tensor) else x

        args, kwargs = tree_map_only(Logging, lambda x: x.elem, (args, kwargs or {}))
        log.append(str(func))
        return tree_map(wrap, func(*args, **kwargs))


class Two(torch.Tensor):
    """Two tensors side by side."""

    @staticmethod
    def __new__(cls, a, b, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, requires_grad=requires_grad)

    def __init__(self, a, b, requires_grad=False):
        self.a, self.b = a, b

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        a = func(*tree_map_only(Two, lambda t: t.a, args), **kwargs)
        b = func(*tree_map_only(Two, lambda t: t.b, args), **kwargs)
        return return_and_correct_aliasing(func, args, kwargs, Two(a, b))

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, meta, outer_size, outer_stride):
        return Two(inner["a"], inner["b"])


class Diagonal(torch.Tensor):
    """A square matrix of which only the diagonal is kept."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, diagonal):
        return torch.Tensor._make_wrapper_subclass(cls, (len(diagonal), len(diagonal)), dtype=diagonal.dtype)

    def __init__(self, diagonal):
        self.diagonal = diagonal

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is aten.mm.default and all(isinstance(x, Diagonal) for x in args):
            return Diagonal(args[0].diagonal * args[1].diagonal)
        return NotImplemented


def two(requires_grad=False):
    return Two(torch.tensor([[1.0, 2], [3, 4]]), torch.tensor([[0.0, 1], [1, 0]]), requires_grad)


def test_a_logging_tensor_sees_forward_and_backward():
    x = Logging(torch.tensor([3.0]), requires_grad=True)
    log.clear()
    (x * x).sum().backward()
    assert (type(x.grad), x.grad.elem.tolist()) == (Logging, [6])
    assert log[:3] == ["aten.mul.Tensor", "aten.sum.default", "aten.ones_like.default"]
    assert log[-3:] == ["aten.mul.Tensor", "aten.mul.Tensor", "aten.add.Tensor"]


CALLS = [
    lambda t: (t @ t + 1) * 2 - t.T,
    lambda t: t.relu().exp() / 3,
    lambda t: t.softmax(0).amax(1),
    lambda t: F.gelu(t).mean(0),
    lambda t: torch.cat([t, t[0:1]]).reshape(-1),
    lambda t: t**2 + t.sigmoid() - t.var(),
    lambda t: F.linear(t, t, t[0]),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_both_sides_compute_what_tensors_compute_with_gradients(number):
    wrapped = two(requires_grad=True)
    sides = [side.clone().requires_grad_() for side in (wrapped.a, wrapped.b)]
    out = CALLS[number](wrapped)
    out.sum().backward()
    assert out.requires_grad and type(wrapped.grad) is Two
    for got, grad, side in zip((out.a, out.b), (wrapped.grad.a, wrapped.grad.b), sides, strict=True):
        expected = CALLS[number](side)
        expected.sum().backward()
        assert torch.allclose(got, expected) and torch.allclose(grad, side.grad, atol=1e-6)


def test_writing_in_place_gives_the_argument():
    t = two()
    assert t.add_(1) is t
    assert t.a.tolist() == [[2, 3], [4, 5]] and t.b.tolist() == [[1, 2], [2, 1]]


def test_a_view_has_the_memory_of_its_base():
    t = two()
    assert t.t().storage is t.storage and t.t().a.tolist() == [[1, 3], [2, 4]]


def test_what_a_class_does_not_answer_is_an_error():
    d = Diagonal(torch.tensor([1.0, 2.0]))
    assert (d @ d).diagonal.tolist() == [1, 4]
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.ops.aten.add.Tensor'; all __torch_dis"):
        d + 1


def test_a_wrapper_can_be_taken_apart():
    assert is_traceable_wrapper_subclass(two())
    assert not is_traceable_wrapper_subclass(torch.ones(1)) and not is_traceable_wrapper_subclass(
        Logging(torch.ones(1))
    )
    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(torch.nn.Parameter, (2,))


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.name())
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_what_autograd_does():
    layer, x = torch.nn.Linear(2, 3), torch.ones(4, 2)
    with Counting() as mode:
        layer(x).pow(2).mean().backward()
    assert mode.names[:4] == ["aten::t", "aten::addmm", "aten::pow.Tensor_Scalar", "aten::mean"]
    assert "aten::mm" in mode.names and "aten::sum.dim_IntList" in mode.names
    with torch.no_grad():
        count = len(mode.names)
        layer(x)
    assert len(mode.names) == count


def test_a_mode_may_compute_something_else():
    class Swapping(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            func = aten.add.Tensor if func is aten.mul.Tensor else func
            return func(*args, **(kwargs or {}))

    compiled = torch.compile(lambda x: x * 3, backend="eager")
    assert compiled(torch.ones(1)).item() == 3
    with Swapping():
        assert (torch.ones(1) * 3).item() == 4 and compiled(torch.ones(1)).item() == 4
    assert compiled(torch.ones(1)).item() == 3


def test_a_mode_is_asked_before_a_class():
    with Counting() as mode:
        result = two() * 2
    assert mode.names == ["aten::mul.Tensor"] and result.a.tolist() == [[2, 4], [6, 8]]


def test_compiled_functions_run_plainly_on_wrappers():
    compiled = torch.compile(lambda t: t * 2 + 1, backend="inductor")
    assert compiled(two()).b.tolist() == [[1, 3], [3, 1]]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: x + 1, "aten.add.Tensor"),
        (lambda x: x == 1, "aten.eq.Scalar"),
        (lambda x: x < x, "aten.lt.Tensor"),
        (lambda x: x**x, "aten.pow.Tensor_Tensor"),
        (lambda x: 2**x, "aten.pow.Scalar"),
        (lambda x: x.sum(0), "aten.sum.dim_IntList"),
        (lambda x: x.mean(0), "aten.mean.dim"),
        (lambda x: x[0], "aten.select.int"),
        (lambda x: x.transpose(0, 1), "aten.transpose.int"),
        (lambda x: x.softmax(0), "aten._softmax.default"),
        (lambda x: x.double(), "aten._to_copy.default"),
        (lambda x: x.add_(1), "aten.add_.Tensor"),
        (lambda x: torch.cat([x, x]), "aten.cat.default"),
    ],
)
def test_the_names_are_those_of_pytorch(call, name):
    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    seen, x = [], torch.ones(2, 2)
    with Names():
        call(x)
    assert seen == [name]


def test_overloads_are_found_by_name():
    assert aten.add.Tensor.overloadpacket is aten.add and str(aten.add) == "aten.add"
    assert aten.mm.default.name() == "aten::mm" and aten.sum.overloads()[:2] == ["dim_IntList", "default"]
    assert aten.relu(torch.tensor(-1.0)).item() == 0
    with pytest.raises(AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'nothing'"):
        aten.nothing
    with pytest.raises(AttributeError, match="The underlying op of 'aten.mm' has no overload name 'Tensor'"):
        aten.mm.Tensor
