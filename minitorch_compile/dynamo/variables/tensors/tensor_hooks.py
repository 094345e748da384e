"""Hooks on tensors. Those from outside get theirs after the graph has run, which is before any gradient comes back.

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

On what the graph computes, a node keeps the hook's place; which function it is, is told after the graph, too. So it may
have values of its own, whatever becomes of them later in the program.

>>> def g(x, factor):
...     y = x * 3
...     y.register_hook(lambda grad: grad * factor)
...     return y.sum()
>>> print(generated(g, ones(2, requires_grad=True), 5))
(out_0, out_1) = graph(x)
cell_0 = CellType()
cell_0.cell_contents = factor
tuple_0 = (cell_0,)
function_0 = FunctionType(code__lambda_, G, '<lambda>', None, tuple_0)
tell(out_1, function_0)
return out_0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch_compile.autograd.removable_handle import RemovableHandle
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Computed, Held, Made, Template, call
from minitorch_compile.dynamo.variables.side_effects import Effect
from minitorch_compile.dynamo.variables.tensors.tensor_members import METHODS
from minitorch_compile.fx import Node

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class HookHandleVariable(VariableTracker):
    """What registering a hook gives."""

    def __init__(self, tensor: TensorVariable, method: str, hook: Value, earlier: Value | None = None) -> None:
        super().__init__()
        self.tensor = tensor
        self.method = method
        self.hook = hook
        self.earlier = earlier  # of the same tensor, whose hook runs before

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
        tracer.side_effects.add(HookEffect(self.tensor, self, ".remove()"))
        return ConstantVariable(None)

    def reconstruct(self, output: Output) -> Made:
        if self.earlier is not None:
            held = Held(register_after, "register_after")
            return Made("handle", call(held, self.earlier, self.tensor, repr(self.method), self.hook))
        return Made("handle", call(Template(self.tensor, f".{self.method}"), self.hook))


def register_after(earlier: RemovableHandle, tensor: Any, method: str, hook: Callable[..., Any]) -> RemovableHandle:
    """Registers a hook that is to run after the one whose handle is there already."""
    handle: RemovableHandle = getattr(tensor, method)(hook)
    return handle


def register_hook(tensor: Any) -> RemovableHandle:
    """The target of a node: keeps the place of a hook on the tensor."""
    handle: RemovableHandle = tensor.register_hook(_keep_place)
    return handle


def _keep_place(grad: Any) -> None:
    """The gradient stays as it is."""


def tell(handle: RemovableHandle, function: Callable[[Any], Any]) -> None:
    """Which function takes that place."""
    handle.hooks[handle.id].hook = function


class GraphHandleVariable(HookHandleVariable):
    """The handle that such a node gives."""

    def __init__(self, tensor: TensorVariable, hook: Value, node: Node) -> None:
        super().__init__(tensor, "register_hook", hook)
        self.node = node

    def reconstruct(self, output: Output) -> Computed:  # type: ignore[override]
        return Computed()


@dataclass
class HookEffect(Effect):
    """A hook is registered, or taken away."""

    handle: HookHandleVariable
    action: str = ""

    def overwrites(self) -> Any:
        return None

    def statement(self) -> Template:
        if isinstance(self.handle, GraphHandleVariable) and not self.action:
            return call(Held(tell, "tell"), self.handle, self.handle.hook)
        return Template(self.handle, self.action)


def _registered(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    given = [*args, *kwargs.values()]
    if len(given) != 1 or [*kwargs] not in ([], ["hook"]):
        raise Unsupported("wrong-arguments", f".{name}() takes one function.")
    if tensor.source is None and tensor.fake.requires_grad and name == "register_hook":
        node = tracer.output.plain_node(register_hook, [tensor], None)
        return _noted(tracer, GraphHandleVariable(tensor, given[0], node))
    if tensor.source is None or not tensor.fake.requires_grad:
        raise Unsupported("autograd-call", f".{name}() of a tensor that the graph computes, or without gradients.")
    if name == "register_post_accumulate_grad_hook" and not tensor.fake.is_leaf:
        raise Unsupported("autograd-call", f".{name}() of a tensor that is no leaf.")
    before = [e.handle for e in tracer.side_effects if isinstance(e, HookEffect) and e.target is tensor]
    return _noted(tracer, HookHandleVariable(tensor, name, given[0], before[-1] if before else None))


def _noted(tracer: Tracer, handle: HookHandleVariable) -> Value:
    tracer.side_effects.add(HookEffect(handle.tensor, handle))
    return handle


def registers_hooks(output: Output) -> bool:
    """Whether the program registers a hook that a gradient in it would meet."""
    return any(isinstance(effect, HookEffect) for effect in output.side_effects)


def hooked_tensors(output: Output) -> list[TensorVariable]:
    """The tensors from outside on which the program registers a hook."""
    handles = (effect.handle for effect in output.side_effects if isinstance(effect, HookEffect))
    return [handle.tensor for handle in handles if not isinstance(handle, GraphHandleVariable)]


METHODS.update(dict.fromkeys(("register_hook", "register_post_accumulate_grad_hook"), _registered))
