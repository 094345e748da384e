"""__torch_function__ in compiled code: subclasses, other objects and modes say what plain programs hear them say."""

import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F

BACKENDS = ["eager", "aot_eager", "inductor"]
each_backend = pytest.mark.parametrize("backend", BACKENDS)
names = []


class Kept(torch.Tensor):
    """Results are of this class."""


class Doubled(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        return result * 2 if func is torch.Tensor.add else result


class Named(torch.Tensor):
    """Notes each function."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        names.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


class Subtracting(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return torch.sub(*args) if func is torch.add else func(*args, **(kwargs or {}))


def values():
    return torch.tensor([[0.5, 1.0], [2.0, 4.0]])


def plain(x):
    return torch.Tensor.as_subclass(x, torch.Tensor)


def assert_same(result, expected):
    assert type(result) is type(expected)
    if isinstance(expected, tuple):
        for got, wanted in zip(result, expected, strict=True):
            assert_same(got, wanted)
    elif isinstance(expected, torch.Tensor):
        assert torch.allclose(plain(result), plain(expected))
    else:
        assert result == expected


def assert_compiles(function, *args, backend="eager"):
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    expected = function(*args)
    for _ in range(2):
        assert_same(compiled(*args), expected)


CALLS = [
    lambda x: (x + 1) * 2,
    lambda x: 1 - x,
    lambda x: 1 / x,
    lambda x: x**2 + 2**x,
    lambda x: x[0],
    lambda x: x.T @ x,
    lambda x: x == x,
    lambda x: -x.abs(),
    lambda x: torch.cat([torch.ones(2, 2), x]),
    lambda x: torch.max(x, 0).values,
    lambda x: x.split(1),
    lambda x: F.linear(x, x).relu(),
    lambda x: F.softmax(x, dim=-1),
    lambda x: (x.shape, type(x), isinstance(x, torch.Tensor)),
    lambda x: torch.zeros_like(x).add_(x),
    lambda x: plain(x) + 1,
    lambda x: x.as_subclass(torch.Tensor) + 1,
]


@pytest.mark.parametrize("cls", [Kept, Doubled])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_mean_what_the_class_says(number, cls):
    assert_compiles(CALLS[number], values().as_subclass(cls))


@each_backend
def test_on_all_backends(backend):
    assert_compiles(lambda x, y: ((x + y).sin(), y + 1, x), values().as_subclass(Doubled), values(), backend=backend)


def test_the_functions_are_asked_about_in_the_same_order():
    def function(x):
        return (1 - x[0]).exp() + x.T.sum()

    x = values().as_subclass(Named)
    function(x)
    expected = names[:]
    names.clear()
    torch.compile(function, backend="eager", fullgraph=True)(x)
    assert names == expected
    names.clear()


@each_backend
def test_gradients_come_to_the_leaf(backend):
    def loss(w):
        return (w.as_subclass(Doubled) + w).sum()

    leaf = values().requires_grad_()
    torch.compile(loss, backend=backend, fullgraph=True)(leaf).backward()
    assert (type(leaf.grad), leaf.grad.tolist()) == (torch.Tensor, [[4, 4], [4, 4]])
    made = torch.Tensor._make_subclass(Kept, values(), True)
    torch.compile(lambda w: (w * w).sum(), backend=backend, fullgraph=True)(made).backward()
    assert (type(made.grad), made.grad.tolist()) == (torch.Tensor, [[1, 2], [4, 8]])


def test_a_subclass_that_is_a_leaf_and_one_that_is_not_are_two_versions():
    compiled = torch.compile(lambda x: x.is_leaf and x + 1 is not None, backend="eager")
    leaf = torch.Tensor._make_subclass(Kept, values(), True)
    assert compiled(leaf) and not compiled(leaf * 1)


def test_what_is_written_in_place_stays_the_same_object():
    def function(x):
        y = x + 1
        return y.mul_(2) is y, x.add_(1) is x, y

    assert_compiles(lambda x: function(x.clone()), values().as_subclass(Kept))
    x = values().as_subclass(Kept)
    assert torch.compile(function, backend="inductor")(x)[:2] == (True, True)
    assert plain(x).tolist() == [[1.5, 2.0], [3.0, 5.0]]


def test_switched_off_inside_and_outside():
    def off(x):
        with torch._C.DisableTorchFunctionSubclass():
            y = x + 1
        return y, x + 1

    x = values().as_subclass(Doubled)
    assert_compiles(off, x)
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    assert type(compiled(x)) is Doubled
    with torch._C.DisableTorchFunctionSubclass():
        assert type(compiled(x)) is torch.Tensor
    assert type(compiled(x)) is Doubled


def test_a_break_while_it_is_switched_off():
    def off(x):
        with torch._C.DisableTorchFunctionSubclass():
            y = x + 1
            torch._dynamo.graph_break()
            z = x + 1
        return y, z, x + 1

    x = values().as_subclass(Doubled)
    for _ in range(2):
        assert_same(torch.compile(off, backend="eager")(x), off(x))


@each_backend
def test_a_mode_inside(backend):
    def function(x):
        with Subtracting():
            y = torch.add(x, 1)
        return y, torch.add(x, 1)

    assert_compiles(function, values(), backend=backend)


@each_backend
def test_a_mode_outside_is_asked_by_the_plain_function(backend):
    compiled = torch.compile(lambda x: torch.add(x, 1), backend=backend)
    for _ in range(2):
        assert compiled(torch.ones(1)).item() == 2
        with Subtracting():
            assert compiled(torch.ones(1)).item() == 0


def test_a_break_in_a_mode_leaves_the_function_plain():
    def function(x):
        with Subtracting():
            y = torch.add(x, 1)
            torch._dynamo.graph_break()
            z = torch.add(x, 2)
        return y, z, torch.add(x, 1)

    for _ in range(2):
        assert_same(torch.compile(function, backend="eager")(values()), function(values()))
    assert torch.add(torch.ones(1), 1).item() == 2


def test_what_a_handler_prints_breaks_the_graph(capsys):
    class Printing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            print(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    x = values().as_subclass(Printing)
    compiled = torch.compile(lambda x: (x * 2).sum(), backend="eager")
    for _ in range(2):
        assert type(compiled(x)) is Printing
        assert capsys.readouterr().out == "mul\nsum\n"


def test_strangers_are_refused_as_in_the_plain_program():
    class Other(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.add'"):
        torch.compile(lambda x, y: x + y, backend="eager")(values().as_subclass(Kept), values().as_subclass(Other))


def test_an_own_function_takes_part():
    def double(x, times=2):
        if torch.overrides.has_torch_function_unary(x):
            return torch.overrides.handle_torch_function(double, (x,), x, times=times)
        return x * times

    class Answering:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func is double, types == (Answering,), kwargs

    assert_compiles(lambda x: (double(Answering(), times=3), double(x)), values())
