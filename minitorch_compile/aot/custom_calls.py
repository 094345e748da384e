"""Subclasses of autograd.Function in a functional graph: one node, until it is known whether gradients are wanted.

Tracing through `Cube.apply` now would lose its backward. So the functional program has a node that calls it. When the
joint graph is traced, the tape is there, and the call dissolves into the ops of forward and of backward; without
gradients, into those of forward.

>>> from minitorch_compile.autograd import Function
>>> from minitorch_compile.fx import Graph
>>> from minitorch_compile.aot.functional_program import functional_program
>>> class Double(Function):
...     @staticmethod
...     def forward(ctx, x):
...         return x * 2
...     @staticmethod
...     def backward(ctx, grad):
...         return grad * 100
>>> graph = Graph()
>>> _ = graph.output(graph.call_function(Double.apply, (graph.placeholder("x"),)))
>>> program = functional_program(GraphModule({}, graph), [empty_fake((2,))]).graph_module
>>> print(program.graph.compact())
x -> (Double_apply(x),)
>>> print(dissolved(program).graph.compact())
x -> (mul(x, 2),)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.aot.aliasing.names import Name, Root
from minitorch_compile.aot.aliasing.overwritten_values import seen_in
from minitorch_compile.aot.aliasing.view_steps import ViewStep
from minitorch_compile.aot.functionalize import Functionalize
from minitorch_compile.aot.tracing import Tracer, trace
from minitorch_compile.autograd import Function
from minitorch_compile.dynamo.fakes.fake_mode import FakeMode
from minitorch_compile.dynamo.variables.functions.autograd_functions import shows_as_it_is
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.grad_mode import is_grad_enabled, no_grad
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, fake_like


class CustomCall:
    """The target of the node: calls `cls.apply`."""

    def __init__(self, cls: type[Function]) -> None:
        self.cls = cls
        self.__name__ = f"{cls.__name__}_apply"
        self.__module__ = cls.__module__

    def __call__(self, *args: Any) -> Any:
        return self.cls.apply(*args)


def record_call(cls: type[Function], tracer: Tracer, functional: Functionalize, args: tuple[Any, ...]) -> Any:
    """Writes the node, and gives what stands for its outputs.

    An output may be an argument, or a view that shows it as it is, as in a layer that reverses gradients.
    NotImplementedError if it shares memory in another way.
    """
    values = [functional.value_of(arg) for arg in args]
    seen = seen_in(args, values)
    stand_ins = [_stand_in(value) for value in values]
    with no_grad(), dispatch.mode(FakeMode()):
        outputs = cls.apply(*stand_ins)
    several = isinstance(outputs, (tuple, list))
    returned = list(outputs) if several else [outputs]
    places = [_place_of(cls, output, stand_ins) for output in returned]
    results = [fake_like(output) for output in returned]
    node = tracer.graph.call_function(CustomCall(cls), tuple(tracer.as_argument(value) for value in values))
    node.meta.update(tracer.inherited)
    if not is_grad_enabled():
        node.meta["no_grad"] = True
    tracer.track_result(node, tuple(results) if several else results[0])
    names = [
        functional.bind(_stand_in(result), result) if place is None else _in_place(functional, args[place], result)
        for place, result in zip(places, results, strict=True)
    ]
    functional.note(tuple(results) if several else results[0], names, seen)
    return tuple(names) if several else names[0]


def _in_place(functional: Functionalize, argument: TensorBase, value: Tensor) -> TensorBase:
    """A new name for what a call returned: the memory of its argument, with the history of `value`."""
    result: TensorBase = ops.detach.meta(argument)
    source, contents = functional.name_of(argument), functional.contents_of(argument)
    root = Root(result, (*source.root.steps, *source.steps, ViewStep.of(ops.detach, argument, ())), value)
    root.is_result = True
    contents.roots.append(root)
    functional.names[id(result)] = Name(result, root, (), value, contents.writes)
    return result


def _stand_in(value: Any) -> Any:
    """A tensor that looks like it, with a memory of its own."""
    return empty_fake(value.sizes, value.strides, value.dtype, value.device) if isinstance(value, TensorBase) else value


def _place_of(cls: type[Function], output: Any, arguments: Sequence[Any]) -> int | None:
    """Which argument an output shares its memory with; None if it has memory of its own."""
    if isinstance(output, TensorBase) and output.is_fake:
        for place, argument in enumerate(arguments):
            if isinstance(argument, TensorBase) and shows_as_it_is(output, argument):
                return place
        if output.base is None:
            return None
    raise NotImplementedError(f"aot: an output of {cls.__name__} is no tensor, or shares memory; break the graph there")


def dissolved(module: GraphModule) -> GraphModule:
    """The graph with forward's ops in place of each call. Nothing of it is differentiated."""
    with no_grad():
        plain = trace(module, [node.meta["val"] for node in module.graph.find_nodes(op="placeholder")])
    plain.graph.output_node().meta["val"] = module.graph.output_node().meta["val"]
    return plain
