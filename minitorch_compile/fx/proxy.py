"""Proxies: stand-ins for values that write down what is done to them.

An operator, a method, a call of an op or of a wrapped function on a proxy adds a node to its tracer's graph, and gives
a proxy for the result. A proxy around a node of a finished graph adds to that graph:

>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x = Proxy(graph.placeholder("x"))
>>> _ = graph.output(((x + 1).relu() * x.shape[0]).node)
>>> print(graph.compact())
x -> (x + 1).relu() * x.shape[0]

What needs a value can't be written down, and is an error:

>>> bool(x > 0)
Traceback (most recent call last):
minitorch_compile.fx.tracer_base.TraceError: symbolically traced variables cannot be used as inputs to control flow
"""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from minitorch_compile.fx import op_calls
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.expressions import BINARY, UNARY
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.tracer_base import GraphAppendingTracer, Scope, ScopeContextManager, TraceError, TracerBase
from minitorch_compile.tensor.dispatch.written_signatures import says
from minitorch_compile.tensor.tensor_base import TensorBase


@says("(node, tracer=None)")
class Proxy:
    """Stands for the value of `node` in a program that is being traced by `tracer`."""

    __array_ufunc__ = None  # NumPy's operators leave `array @ proxy` to __rmatmul__

    def __new__(cls, *args: Any, **kwargs: Any) -> Proxy:
        op_calls.watch(cls)
        return super().__new__(cls)

    def __del__(self) -> None:
        op_calls.unwatch(type(self))

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer: TracerBase = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"{type(self).__name__ if type(self) is not Attribute else 'Proxy'}({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k.startswith("__"):  # protocols such as __array__ or __deepcopy__: not supported, so not there
            raise AttributeError(k)
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        instruction = _instruction(sys._getframe(1))
        if instruction.opname == "UNPACK_SEQUENCE":  # a, b = proxy
            return (self[i] for i in range(instruction.argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and _is_assert(sys._getframe(1)):
            self.tracer.create_proxy("call_function", assert_fn, (self,), {})
            return True
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call"
            " torch.fx.wrap('len') at module scope"
        )

    def keys(self) -> Any:
        """What `f(**proxy)` asks for first."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Proxy:
        """What a call of an op means that has a proxy among its arguments."""
        proxies: list[Proxy] = []
        map_aggregate((args, kwargs), lambda leaf: proxies.append(leaf) if isinstance(leaf, Proxy) else None)
        return op_calls.record(orig_method, args, kwargs or {}, proxies)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        return self  # a copy of the value would be a node; a copy of the stand-in stands for the same value


@says("(root, attr)")
class Attribute(Proxy):
    """`x.name`: a method if it is called, else the attribute's value."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]  # a getattr node only if the value is really used
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


@says("(tracer, node, name, param)")
class ParameterProxy(Proxy):
    """A parameter whose sizes are known while tracing: conditions on them can be decided."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def size(self) -> Any:
        return self.param.size()

    def dim(self) -> int:
        return self.param.dim()

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.nelement()


def assert_fn(x: Any) -> None:
    """What a traced `assert` becomes."""
    if not x:
        raise AssertionError("Assertion failed")


def find_proxy(*values: Any) -> Proxy | None:
    """The last proxy in any nesting of values; None if there is none."""
    found: list[Proxy] = []
    map_aggregate(values, lambda leaf: found.append(leaf) if isinstance(leaf, Proxy) else None)
    return found[-1] if found else None


# ---------------------------------------------------------------------------------------------- operators


def _add_operators() -> None:
    """Give Proxy the operators, each recorded as a call of the function of the same name in `operator`."""
    for function in (*BINARY, *UNARY, operator.getitem, operator.abs):
        name = function.__name__.strip("_")
        if hasattr(operator, f"__{name}__"):  # `is` and `not` can't be overloaded
            setattr(Proxy, f"__{name}__", _operator(function))  # type: ignore[arg-type]
        if hasattr(operator, f"__i{name}__"):  # what has an in-place form has a reflected one: 2 - x
            setattr(Proxy, f"__r{name}__", _reflected(function))  # type: ignore[arg-type]
    Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # __eq__ above took it away


def _operator(function: Callable[..., Any]) -> Callable[..., Proxy]:
    def method(self: Proxy, *others: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (self, *others), {})

    return method


# What PyTorch's tensors call the operators that they hand to a proxy on their right.
TENSOR_METHODS = {"truediv": "div", "mod": "remainder"} | {
    name: f"__{name.strip('_')}__" for name in ("floordiv", "lshift", "rshift", "and_", "or_", "xor")
}


def _reflected(function: Callable[..., Any]) -> Callable[..., Proxy]:
    name = TENSOR_METHODS.get(function.__name__, function.__name__)

    def method(self: Proxy, other: Any) -> Proxy:
        if isinstance(other, TensorBase):
            return self.tracer.create_proxy("call_method", name, (other, self), {})
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    return method


_add_operators()


# ---------------------------------------------------------------------------------------------- who asks


def _instruction(frame: FrameType) -> dis.Instruction:
    """The instruction that a frame is at."""
    return next(each for each in dis.get_instructions(frame.f_code) if each.offset == frame.f_lasti)


def _is_assert(frame: FrameType) -> bool:
    """Whether a frame is at the jump of an `assert`: what comes if it isn't taken is an AssertionError."""
    instructions = list(dis.get_instructions(frame.f_code))
    here = next(i for i, each in enumerate(instructions) if each.offset == frame.f_lasti)
    following = [each for each in instructions[here : here + 6] if each.opname not in ("CACHE", "NOT_TAKEN", "TO_BOOL")]
    if following[0].opname.startswith("POP_JUMP"):
        following = following[1:]
    elif len(following) > 1 and following[1].opname.startswith("POP_JUMP"):
        following = following[2:]
    else:
        return False
    raised = following[0] if following else None
    named = raised is not None and raised.argval in ("AssertionError", AssertionError)
    return raised is not None and (raised.opname == "LOAD_ASSERTION_ERROR" or named)


__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
    "assert_fn",
    "find_proxy",
]
