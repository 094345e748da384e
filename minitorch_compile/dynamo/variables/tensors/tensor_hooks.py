"""Hooks on tensors from outside: they are registered after the graph has run, which is before any gradient comes back.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def double(grad):
...     return grad * 2
>>> def f(x):
...     x.register_hook(double)
...     return x * 3
>>> print(generated(f, ones(2, requires_grad=True)))                                      # doctest: +ELLIPSIS
(out_0,) = graph(x)
handle_0 = x.register_hook(t_...)
handle_0
return out_0

A hook on what the graph computes is registered by a node, as it is called, if nothing but globals are its own:

>>> from minitorch_compile.dynamo.testing import captured
>>> def g(x):
...     y = x * 3
...     y.register_hook(double)
...     return y.sum()
>>> print(captured(g, ones(2, requires_grad=True)))
x -> mul = x * 3; register_hook = register_hook(mul); (mul.sum(),)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.autograd.removable_handle import RemovableHandle
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.functions.functions import FunctionVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Computed, Made, Template, call
from minitorch_compile.dynamo.variables.side_effects import Effect
from minitorch_compile.dynamo.variables.tensors.tensor_members import METHODS
from minitorch_compile.fx import Node

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class HookHandleVariable(VariableTracker):
    """What registering a hook gives."""

    def __init__(self, tensor: TensorVariable, method: str, hook: Value) -> None:
        super().__init__()
        self.tensor = tensor
        self.method = method
        self.hook = hook

    def python_type(self) -> type:
        return RemovableHandle

    def truth(self, tracer: Tracer) -> bool:
        return True

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "remove":
            return BuiltinMethodVariable(self, name)
        self.unsupported(f"the attribute '{name}'", "autograd-call")

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name != "remove" or args or kwargs:
            self.unsupported(f"the method {name}()", "autograd-call")
        tracer.side_effects.note(HookEffect(self.tensor, self, ".remove()"))
        return ConstantVariable(None)

    def reconstruct(self, output: Output) -> Made:
        return Made("handle", call(Template(self.tensor, f".{self.method}"), self.hook))


class RegisterHook:
    """The target of a node: gives a tensor this hook."""

    __name__ = __qualname__ = "register_hook"

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook

    def __call__(self, tensor: Any) -> RemovableHandle:
        handle: RemovableHandle = tensor.register_hook(self.hook)
        return handle


class GraphHandleVariable(VariableTracker):
    """The handle that such a node gives."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node

    def python_type(self) -> type:
        return RemovableHandle

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        self.unsupported(f"the method {name}()", "autograd-call")

    def reconstruct(self, output: Output) -> Computed:
        return Computed()


def _registered_in_graph(tracer: Tracer, tensor: TensorVariable, hook: Value) -> Value:
    """A hook on what the graph computes."""
    function = hook.realize()
    own = isinstance(function, FunctionVariable) and (function.code.co_freevars or any(function.defaults(tracer)))
    if not isinstance(function, FunctionVariable) or own:
        raise Unsupported(
            "autograd-call",
            ".register_hook() of a tensor that the graph computes, with a function that has values of its own.",
            "give it a function of the module, without defaults and without variables of another function.",
        )
    made = FunctionType(function.code, function.scope(tracer).real)
    node = tracer.output.plain_node(RegisterHook(made), [tensor], None)
    return GraphHandleVariable(node)


@dataclass
class HookEffect(Effect):
    """A hook is registered, or taken away."""

    handle: HookHandleVariable
    action: str = ""

    def overwrites(self) -> Any:
        return None

    def statement(self) -> Template:
        return Template(self.handle, self.action)


def _registered(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    if len(args) != 1 or kwargs:
        raise Unsupported("wrong-arguments", f".{name}() takes one function.")
    if tensor.source is None and tensor.fake.requires_grad and name == "register_hook":
        return _registered_in_graph(tracer, tensor, args[0])
    if tensor.source is None or not tensor.fake.requires_grad:
        raise Unsupported("autograd-call", f".{name}() of a tensor that the graph computes, or without gradients.")
    if name == "register_post_accumulate_grad_hook" and not tensor.fake.is_leaf:
        raise Unsupported("autograd-call", f".{name}() of a tensor that is no leaf.")
    if any(isinstance(e, HookEffect) and e.target is tensor for e in tracer.side_effects):
        raise Unsupported("autograd-call", "another hook of the same tensor; in which order they run matters.")
    handle = HookHandleVariable(tensor, name, args[0])
    tracer.side_effects.note(HookEffect(tensor, handle))
    return handle


def registers_hooks(output: Output) -> bool:
    """Whether the program registers a hook that a gradient in it would meet."""
    return bool(hooked_tensors(output)) or any(isinstance(node.target, RegisterHook) for node in output.graph.nodes)


def hooked_tensors(output: Output) -> list[TensorVariable]:
    """The tensors on which the program registers a hook."""
    return [effect.handle.tensor for effect in output.side_effects if isinstance(effect, HookEffect)]


METHODS.update(dict.fromkeys(("register_hook", "register_post_accumulate_grad_hook"), _registered))
