"""What every tracer does: values become arguments of nodes, and nodes proxies.

Subclasses say how by overriding a method: `create_arg` for values of their own, `create_node` to watch or refuse nodes,
`to_bool` and `iter` where they know more about a value than nothing.

>>> from minitorch_compile.fx import Graph
>>> tracer = GraphAppendingTracer(Graph())
>>> x = tracer.create_proxy("placeholder", "x", (), {})
>>> tracer.create_arg({"rows": [x, 2], "part": slice(None, x)})
{'rows': [x, 2], 'part': slice(None, x, None)}
>>> tracer.create_arg(object())
Traceback (most recent call last):
NotImplementedError: argument of type: <class 'object'>: a node can't hold it; ...
"""

from __future__ import annotations

import dataclasses
import enum
import os
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.mutable_calls import refuse_mutation
from minitorch_compile.fx.node import Node, Target
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import device, dtype
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.memory_format import layout, memory_format
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.fx.proxy import Proxy

PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Values that stand for themselves among the arguments of a node.
CONSTANTS = (
    *(str, int, float, bool, complex, bytes, type(None), type(...)),
    *(dtype, device, Op, memory_format, layout, TensorBase, SymInt, enum.Enum),
)


class TraceError(ValueError):
    """The function does something with a stand-in that needs its value."""


class Scope:
    """The module whose forward runs: its dotted name, and its class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """Inside, `scope` says what `current_scope` says."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._scope, self._before = scope, copy(scope)
        vars(scope).update(vars(current_scope))

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *args: object) -> None:
        vars(self._scope).update(vars(self._before))


class TracerBase:
    """Makes nodes of `graph`."""

    graph: Graph
    record_stack_traces: bool = False  # whether nodes remember the user's lines, in meta["stack_trace"]
    check_mutable_operations: bool = False  # whether a call that writes into an argument is an error
    trace_asserts: bool = False  # whether an assert on a proxy becomes a node
    proxy_buffer_attributes: bool = False  # whether a module's buffers are proxies, as its parameters are
    traced_func_name: str = "forward"  # the method of a module that is traced
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, type]]

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Insert a node. Whoever overrides this sees every node that tracing makes."""
        if kind == "call_function" and self.check_mutable_operations:
            refuse_mutation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name or self.graph._target_to_str(target), type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if self.module_stack:
            node.meta["nn_module_stack"] = copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            lines = _users_lines()
            if lines:
                node.stack_trace = lines
        return node

    def proxy(self, node: Node) -> Proxy:
        """The stand-in for the value of a node."""
        from minitorch_compile.fx.proxy import Proxy

        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Insert a node, with values of any kind for arguments, and return the stand-in for its value."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node. NotImplementedError if it can't be one."""
        from minitorch_compile.fx.proxy import Proxy

        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, Node):
            return a
        if isinstance(a, (tuple, list)):
            items = [self.create_arg(item) for item in a]
            if isinstance(a, list):
                return items
            return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
        if isinstance(a, dict):
            return {self._create_key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, (slice, range)):
            return type(a)(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            given = {field.name: self.create_arg(getattr(a, field.name)) for field in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), given)
        if isinstance(a, CONSTANTS):
            return a
        raise NotImplementedError(
            f"argument of type: {type(a)}: a node can't hold it; hand over its parts, or let a Tracer of your own turn"
            " it into nodes in create_arg"
        )

    def _create_key(self, key: Any) -> Any:
        return key if isinstance(key, str) else map_arg(self.create_arg(key), _refuse_key)

    def to_bool(self, obj: Proxy) -> bool:
        """Called where a proxy's truth is asked for: a tracer that knows it returns it."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Called where a proxy is iterated over: a tracer that knows the length returns an iterator."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or"
            " **kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what"
            " types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy"
            " iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """Called for `**proxy`: a tracer that knows the keys returns them."""
        from minitorch_compile.fx.proxy import Attribute

        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """The tracer of proxies around nodes of a graph that is there already."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


def _refuse_key(node: Node) -> NoReturn:
    raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}")


def _users_lines() -> str:
    """Where the program stands, from the first `forward` on, in the form of a traceback."""
    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(PACKAGE_FOLDER)]
    forwards = [i for i, frame in enumerate(frames) if frame.name == "forward"]
    return "".join(traceback.format_list(frames[forwards[0] :])).strip() if forwards else ""
