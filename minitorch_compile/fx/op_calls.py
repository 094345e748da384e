"""Calls of ops with proxies: `torch.relu(proxy)` becomes a node.

An op computes; it knows nothing of stand-ins. So as long as there is a proxy anywhere, each call of an op first looks
whether a proxy is among its arguments. When the last one is gone, ops are called as ever.

>>> from minitorch_compile.fx import Graph, Proxy
>>> from minitorch_compile.tensor import ops, tensor
>>> graph = Graph()
>>> x = Proxy(graph.placeholder("x"))
>>> ops.relu(x), ops.relu(tensor([-1.0, 2.0]))
(Proxy(relu), tensor([0., 2.]))
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.op_names import positional_arguments
from minitorch_compile.tensor.dispatch.op import Op

if TYPE_CHECKING:
    from minitorch_compile.fx.proxy import Proxy
else:
    Proxy = ()  # proxy.py puts the class here

TENSOR_METHODS = "minitorch_compile.tensor.tensor_class"
_lock = threading.RLock()
_alive = 0
_replaced: dict[Any, Callable[..., Any]] = {}


def watch() -> None:
    """There is one proxy more."""
    global _alive
    with _lock:
        _alive += 1
        if _alive == 1:
            for cls in _with_calls_of_their_own(Op):
                _replaced[cls] = cls.__call__
                cls.__call__ = _watched(cls.__call__)


def unwatch() -> None:
    """There is one proxy less."""
    global _alive
    with _lock:
        _alive -= 1
        if _alive == 0:
            while _replaced:
                cls, call = _replaced.popitem()
                cls.__call__ = call


def _with_calls_of_their_own(cls: Any) -> list[Any]:
    """The class and its subclasses, as far as they say themselves how they are called."""
    below = [each for subclass in cls.__subclasses__() for each in _with_calls_of_their_own(subclass)]
    return [cls, *below] if "__call__" in vars(cls) else below


def _watched(call: Callable[..., Any]) -> Callable[..., Any]:
    def watched(self: Op, *args: Any, **kwargs: Any) -> Any:
        proxies: list[Proxy] = []
        _collect(args, proxies)
        if kwargs:
            _collect(kwargs.values(), proxies)
        if not proxies:
            return call(self, *args, **kwargs)
        by_method = sys._getframe(1).f_globals.get("__name__", "").startswith(TENSOR_METHODS)
        return record(self, args, kwargs, proxies, by_method)

    return watched


def _collect(values: Iterable[Any], found: list[Proxy]) -> None:
    for value in values:
        if isinstance(value, Proxy):
            found.append(value)
        elif type(value) in (list, tuple):
            _collect(value, found)
        elif type(value) is dict:
            _collect(value.values(), found)


def record(
    op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], proxies: list[Proxy], by_method: bool = False
) -> Proxy:
    """The node of a call of `op` on proxies; `by_method`: it was a method of a tensor that called it."""
    tracers = {id(proxy.tracer): proxy.tracer for proxy in proxies}
    if len(tracers) > 1:
        raise RuntimeError(f"Found multiple different tracers {list(tracers.values())} while trying to trace {op!r}")
    (tracer,) = tracers.values()
    if by_method:
        return tracer.create_proxy("call_method", op.__name__, args, kwargs)
    args, kwargs = positional_arguments(op, args, kwargs)
    return tracer.create_proxy("call_function", op, args, kwargs, name=tracer.graph._target_to_str(op.__name__))
