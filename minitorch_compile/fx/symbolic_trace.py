"""The simplest tracer: call the function with stand-ins that write down what is done to them.

>>> from minitorch_compile.fx import symbolic_trace
>>> print(symbolic_trace(lambda x, w: (x @ w).relu() + 1).graph.compact())
x, w -> (x @ w).relu() + 1

It sees only what happens to the stand-ins: an `if` on one of them cannot be decided, a side effect is executed once
and lost. That is why Dynamo, on the same floor, traces bytecode instead. This tracer is for small graphs: lessons,
examples and tests.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.expressions import BINARY, UNARY
from minitorch_compile.fx.graph import REQUIRED, Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node


class TraceError(ValueError):
    """The function does something with a stand-in that needs its value."""


class Proxy:
    """Stands for the value of `node`. Operators, methods and `call` on it add nodes to the graph."""

    __array_ufunc__ = None  # NumPy's operators leave `array @ proxy` to __rmatmul__

    def __init__(self, node: Node) -> None:
        self.node = node

    def __getattr__(self, name: str) -> Attribute:
        if name.startswith("__"):  # protocols such as __array__ or __deepcopy__: not supported, so not there
            raise AttributeError(name)
        return Attribute(self, name)

    def __bool__(self) -> NoReturn:
        raise TraceError(
            f"symbolic_trace: a branch depends on the value of '{self.node.name}', which is not known while tracing. "
            "Trace with minitorch_compile.compile, which breaks the graph there, or write the choice with where()."
        )

    def __iter__(self) -> Iterator[Any]:
        raise TraceError(
            f"symbolic_trace: the length of '{self.node.name}' is not known while tracing, so it can't be unpacked."
        )

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"


class Attribute(Proxy):
    """`x.name`: a method if it is called, else the attribute's value."""

    def __init__(self, root: Proxy, name: str) -> None:
        self.root = root
        self.name = name
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]  # a getattr node only if the value is really used
        if self._node is None:
            self._node = call(getattr, self.root, self.name).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return _record(self.root.node.graph, "call_method", self.name, (self.root, *args), kwargs)


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Proxy:
    """Record `function(*args, **kwargs)` as one node, whatever it does inside. One argument at least is a Proxy.

    >>> import math
    >>> print(symbolic_trace(lambda x: call(math.sqrt, x) + 1).graph.compact())
    x -> sqrt(x) + 1
    """
    graphs: list[Graph] = []
    map_aggregate((args, kwargs), lambda leaf: graphs.append(leaf.node.graph) if isinstance(leaf, Proxy) else None)
    if not graphs:
        raise TypeError("call: at least one argument must be a Proxy; otherwise call the function itself.")
    return _record(graphs[0], "call_function", function, args, kwargs)


def _record(graph: Graph, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
    args, kwargs = map_aggregate((args, kwargs), lambda leaf: leaf.node if isinstance(leaf, Proxy) else leaf)
    return Proxy(graph.create_node(op, target, args, kwargs))


def _add_operators() -> None:
    """Give Proxy the operators, each recorded as a call of the function of the same name in `operator`."""
    for function in (*BINARY, *UNARY, operator.getitem):
        name = function.__name__.strip("_")
        if hasattr(operator, f"__{name}__"):  # `is` and `not` can't be overloaded
            setattr(Proxy, f"__{name}__", lambda self, *others, _f=function: call(_f, self, *others))
        if hasattr(operator, f"__i{name}__"):  # what has an in-place form has a reflected one: 2 - x
            setattr(Proxy, f"__r{name}__", lambda self, other, _f=function: call(_f, other, self))
    Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # __eq__ above took it away


_add_operators()


def symbolic_trace(function: Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """The graph of `function`. Parameters named in `concrete_args` get that value instead of a stand-in."""
    graph = Graph()
    fixed = concrete_args or {}
    arguments = {
        name: fixed[name] if name in fixed else _placeholder(graph, parameter)
        for name, parameter in inspect.signature(function).parameters.items()
    }
    result = function(**arguments)
    graph.output(map_aggregate(result, lambda leaf: leaf.node if isinstance(leaf, Proxy) else leaf))
    return GraphModule({}, graph, getattr(function, "__name__", "GraphModule").strip("<>"))


def _placeholder(graph: Graph, parameter: inspect.Parameter) -> Proxy:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise TraceError(f"symbolic_trace: parameter '*{parameter.name}' has no fixed number of values; name each one.")
    default = REQUIRED if parameter.default is parameter.empty else parameter.default
    return Proxy(graph.placeholder(parameter.name, default))
