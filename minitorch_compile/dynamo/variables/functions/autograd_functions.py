"""Subclasses of autograd.Function: `Cube.apply(x)` is one node of the graph, with its own backward behind it.

The node calls the class at run time, so nothing that forward and backward do may be lost: both are traced once to see
that they only compute, and to guard what they read. If no gradient is wanted, forward is traced like any function.

>>> from minitorch_compile.autograd import Function
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Cube(Function):
...     @staticmethod
...     def forward(ctx, x):
...         ctx.save_for_backward(x)
...         return x**3
...     @staticmethod
...     def backward(ctx, grad):
...         (x,) = ctx.saved_tensors
...         return grad * 3 * x**2
>>> print(captured(lambda x: Cube.apply(x) + 1, ones(2)))
x -> ((x ** 3) + 1,)
>>> print(captured(lambda x: Cube.apply(x) + 1, ones(2, requires_grad=True)))
x -> (apply(x) + 1,)
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.fakes.graph_steps import is_followed_from_outside, is_inside
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable, TupleVariable
from minitorch_compile.dynamo.variables.functions.skipped_modules import is_library_code
from minitorch_compile.dynamo.variables.objects.class_lookup import is_library, look_up, wrap_found
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Template, held_class
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.symbolic import surely_equal
from minitorch_compile.tensor import grad_mode, ops
from minitorch_compile.tensor.dispatch.dispatch import stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from minitorch_compile.dynamo.guards.source import Source
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer
    from minitorch_compile.fx import Node
    from minitorch_compile.tensor.tensor_base import TensorBase

NONE = ConstantVariable(None)
REMARKS = ("mark_non_differentiable", "set_materialize_grads")  # what ctx is told that tracing need not know


class ContextVariable(VariableTracker):
    """The `ctx` of forward and backward, while they are traced."""

    def __init__(self, cls: type, needs_input_grad: list[bool]) -> None:
        super().__init__()
        self.cls = cls
        self.saved: list[Value] = []
        self.needs_input_grad = [ConstantVariable(needed) for needed in needs_input_grad]

    def python_type(self) -> type:
        return self.cls.node_class  # type: ignore[attr-defined]

    def getattr(self, tracer: Tracer, name: str) -> Value:
        stored = tracer.side_effects.attribute(self, name)
        if stored is not None:
            return stored
        if name == "saved_tensors":
            return TupleVariable(self.saved)
        if name == "needs_input_grad":
            return TupleVariable(list(self.needs_input_grad))
        if name in ("save_for_backward", *REMARKS):
            return BuiltinMethodVariable(self, name)
        self.unsupported(f"the attribute '{name}' of ctx")

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        tracer.side_effects.store_attribute(self, name, value)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "save_for_backward":
            self.saved = list(args)
        return NONE


def shows_as_it_is(output: TensorBase, argument: TensorBase) -> bool:
    """Whether they are the same elements of the same memory in the same order."""
    looks = [(x.sizes, x.strides, x.offset) for x in (output, argument)]
    return output.storage is argument.storage and surely_equal(*looks)


def nodes_in(arguments: Any) -> list[Node]:
    """The tensors among the arguments, in lists as well."""
    found: list[Node] = []
    map_arg(arguments, lambda node: found.append(node))
    return found


def same_arguments(before: Any, after: Any) -> bool:
    """Whether nothing was put into a list or taken out of it."""
    return repr(before) == repr(after) and nodes_in(before) == nodes_in(after)


class ApplyVariable(VariableTracker):
    """`cls.apply`"""

    def __init__(self, cls: type, source: Source | None = None) -> None:
        super().__init__(source)
        self.cls = cls

    def describe(self) -> str:
        return f"{self.cls.__qualname__}.apply()"

    def python_type(self) -> type:
        return type(self.cls.apply)  # type: ignore[attr-defined]

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if kwargs:
            tracer.raise_error(TypeError, "apply() takes no keyword arguments")
        tracked = [arg.realize() for arg in args]
        needed = [isinstance(arg, TensorVariable) and bool(arg.fake.requires_grad) for arg in tracked]
        context = ContextVariable(self.cls, needed)
        if not (any(needed) and grad_mode.state.enabled):
            return without_gradients(tracer, lambda: self._forward(tracer, context, args))
        before = tuple(tracer.graph_argument(arg) for arg in tracked)
        if is_inside(tracer.output.graph) and any(map(_is_followed, tracked)):
            self.unsupported("a gradient that is wanted both inside a transform and outside", "autograd-call")
        trial = Trial(tracer.output, nodes_in(before))
        without_gradients(tracer, lambda: self._both(tracer, context, args))
        trial.undo(self)
        if not same_arguments(before, tuple(tracer.graph_argument(arg) for arg in tracked)):
            self.unsupported("a list among the arguments that is written to", "unsupported-call")
        return tracer.output.call("call_function", self.cls.apply, args, {})  # type: ignore[attr-defined]

    def reconstruct(self, output: Output) -> Template:
        return Template(held_class(self.cls), ".apply")

    def _forward(self, tracer: Tracer, context: ContextVariable, args: list[Value]) -> Value:
        if getattr(self.cls, "setup_context", None) is None:
            return tracer.call(self._method(tracer, "forward"), [context, *args], {})
        result = tracer.call(self._method(tracer, "forward"), args, {})
        tracer.call(self._method(tracer, "setup_context"), [context, TupleVariable(args), result], {})
        return result

    def _both(self, tracer: Tracer, context: ContextVariable, args: list[Value]) -> Value:
        """Forward, and backward with gradients that look like the outputs."""
        result = self._forward(tracer, context, args).realize()
        outputs = result.items if isinstance(result, SequenceVariable) else [result]
        self._refuse_outputs(outputs, args)
        gradients = [tracer.output.call("call_function", ops.zeros_like, [output], {}) for output in outputs]
        other_name = look_up(self.cls, "vjp")
        name = "backward" if other_name is None or is_library(other_name.owner) else "vjp"
        return tracer.call(self._method(tracer, name), [context, *gradients], {})

    def _refuse_outputs(self, outputs: Sequence[Value], args: list[Value]) -> None:
        """An output may be an argument, or have memory of its own; a part of an argument has two histories to tell.

        What is no tensor has none, and no place among the results of a graph's node.
        """
        tracked = [[value.realize() for value in values] for values in (outputs, args)]
        if not all(isinstance(output, TensorVariable) for output in tracked[0]):
            self.unsupported("an output that is no tensor", "unsupported-call")
        of_outputs, of_arguments = ([x.fake for x in values if isinstance(x, TensorVariable)] for values in tracked)
        for output in of_outputs:
            for argument in of_arguments:
                if output.storage is argument.storage and not shows_as_it_is(output, argument):
                    self.unsupported("an output that is a view of an argument", "unsupported-call")

    def _method(self, tracer: Tracer, name: str) -> Value:
        """A static method. What only forbids differentiating twice is looked through."""
        found = look_up(self.cls, name)
        if found is None or not isinstance(found.value, staticmethod):
            self.unsupported(f"a {name} that is no static method", "unsupported-call")
        assert found is not None
        function = found.value.__func__
        if is_library_code(function.__code__) and hasattr(function, "__wrapped__"):
            return tracer.output.wrap_constant(inspect.unwrap(function), name)
        return wrap_found(tracer, found, function, "__func__")


def _is_followed(argument: Value) -> bool:
    """Whether gradients go through an argument to somebody outside; of an example of a batch, that can't be told."""
    if not isinstance(argument, TensorVariable) or not argument.fake.requires_grad:
        return False
    return bool(stacks.transforms) or is_followed_from_outside(argument.fake)


def without_gradients(tracer: Tracer, trace: Callable[[], Value]) -> Value:
    """Traces under no_grad. Where no gradient was in sight anyway, nothing of it is left in the graph."""
    output = tracer.output
    if not grad_mode.state.enabled:
        return trace()
    output.switch_grad_mode(False)
    before = list(output.graph.nodes)
    result = trace()
    inside = list(output.graph.nodes)[len(before) :]
    output.switch_grad_mode(True)
    if not any(_wants_gradients(argument) for node in inside for argument in node.all_input_nodes):
        output.graph.erase_node(list(output.graph.nodes)[-1])
        output.graph.erase_node(before[-1])
    return result


def _wants_gradients(node: Any) -> bool:
    return bool(getattr(node.meta["val"], "requires_grad", False))


class Trial:
    """Something is traced to be looked at, and then taken out of the graph again."""

    def __init__(self, output: Output, arguments: list[Node]) -> None:
        self.output = output
        self.arguments = set(arguments)
        self.nodes = set(output.graph.nodes)
        self.state = self._state()

    def _state(self) -> tuple[int, ...]:
        """What only grows, if something else than computing was done."""
        output = self.output
        changes = output.inputs, output.side_effects.effects, output.fakes.written, output.expectations
        return tuple(len(found) for found in changes)

    def undo(self, what: VariableTracker) -> None:
        made = [node for node in self.output.graph.nodes if node not in self.nodes]
        read = {source for node in made for source in node.all_input_nodes} & self.nodes
        if self._state() != self.state or not read <= self.arguments:
            raise Unsupported("autograd-call", f"{what.describe()} reads or changes more than its arguments.")
        for node in reversed(made):
            self.output.graph.erase_node(node)
        self.output.forget_erased_nodes(self.nodes)
