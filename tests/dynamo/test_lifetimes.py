"""Compiled code keeps nothing of the user's alive: what the program drops is freed, as it is without compiling."""

import gc
import weakref

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo import region_of
from tests.dynamo.compiled import matrix

BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])


class Holder:
    pass


class TensorList(list):
    def __init__(self):
        super().__init__([torch.ones(3)])


def assert_freed(*references):
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)


def called(function, *arguments):
    """Several times, so that whatever is remembered between calls is."""
    for _ in range(4):
        function(*arguments)


@BACKENDS
def test_a_compiled_module(backend):
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    compiled = torch.compile(model, backend=backend)
    called(compiled, matrix())
    references = weakref.ref(model), weakref.ref(model[0].weight), weakref.ref(region_of(compiled))
    del model, compiled
    assert_freed(*references)


@BACKENDS
def test_a_module_that_was_an_argument(backend):
    compiled = torch.compile(lambda model, x: model(x), backend=backend)
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)))
    called(compiled, model, matrix())
    references = weakref.ref(model), weakref.ref(model[0].weight)
    del model
    assert_freed(*references)


@BACKENDS
def test_a_compiled_closure_and_what_it_closes_over(backend):
    def use():
        holder = Holder()
        holder.weight = torch.ones(3, requires_grad=True)

        def function(x):
            return x * holder.weight

        compiled = torch.compile(function, backend=backend)
        called(compiled, matrix())
        return [weakref.ref(o) for o in (holder, holder.weight, function, region_of(compiled))]

    assert_freed(*use())


def test_a_training_step():
    model = nn.Linear(3, 3)
    compiled = torch.compile(model)
    for _ in range(3):
        compiled(matrix()).sum().backward()
    references = weakref.ref(model), weakref.ref(model.weight), weakref.ref(model.weight.grad)
    del model, compiled
    assert_freed(*references)


def test_a_global_that_is_replaced():
    scope = {"model": nn.Linear(3, 3)}
    exec("def use(x): return model(x)", scope)
    compiled = torch.compile(scope["use"], backend="eager")
    called(compiled, matrix())
    reference = weakref.ref(scope["model"])
    scope["model"] = nn.Linear(3, 3)
    assert_freed(reference)
    compiled(matrix())


def test_a_parameter_that_is_replaced():
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)))
    compiled = torch.compile(model, backend="eager")
    called(compiled, matrix())
    reference = weakref.ref(model[1].weight)
    model[1].weight = nn.Parameter(torch.ones(3, 3))
    assert_freed(reference)


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (lambda x, thing: x + thing, lambda: torch.ones(3)),
        (lambda x, thing: x + thing[0], TensorList),
        (lambda x, thing: thing(x), lambda: lambda x: x + 1),
        (lambda x, thing: x + 1 if thing is None else x, Holder),
        (lambda x, thing: x + 1 if isinstance(thing, Holder) else x, Holder),
    ],
    ids=["tensor", "list", "function", "compared", "instance"],
)
def test_an_argument(function, make):
    compiled = torch.compile(function, backend="eager")
    thing = make()
    called(compiled, matrix(), thing)
    reference = weakref.ref(thing)
    del thing
    assert_freed(reference)


def test_a_class_made_on_the_way():
    cls = type("Local", (nn.Linear,), {})
    compiled = torch.compile(cls(3, 3), backend="eager")
    called(compiled, matrix())
    reference = weakref.ref(cls)
    del cls, compiled
    assert_freed(reference)


def test_an_exception_that_is_handled_while_a_function_is_compiled():
    compiled = torch.compile(lambda x: x + 1, backend="eager", dynamic=True)
    holder = Holder()

    def call(holder):
        try:
            raise KeyError
        except KeyError:
            compiled(matrix())

    call(holder)
    reference = weakref.ref(holder)
    del holder
    assert_freed(reference)


def test_around_a_graph_break():
    def broken(model, x):
        y = model(x)
        print(end="")
        return model(y)

    compiled = torch.compile(broken, backend="eager")
    model = nn.Linear(3, 3)
    called(compiled, model, matrix())
    reference = weakref.ref(model)
    del model
    assert_freed(reference)
