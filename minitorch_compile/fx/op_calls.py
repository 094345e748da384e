"""Calls of ops with proxies: `torch.relu(proxy)` becomes a node.

A proxy overrides what ops mean by `__torch_function__`, as anybody may. The dispatcher looks for such arguments only if
it has been told of their classes, so that plain calls stay quick; it is told of proxies as long as there is one.

>>> from minitorch_compile.fx import Graph, Proxy
>>> from minitorch_compile.tensor import ops, tensor
>>> graph = Graph()
>>> x = Proxy(graph.placeholder("x"))
>>> ops.relu(x), ops.relu(tensor([-1.0, 2.0]))
(Proxy(relu), tensor([0., 2.]))
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.op_names import positional_arguments
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.overrides import watching

if TYPE_CHECKING:
    from minitorch_compile.fx.proxy import Proxy

_lock = threading.RLock()  # a proxy may go while another is made: then the garbage collector is in here twice
_alive: dict[type, int] = {}


def watch(cls: type) -> None:
    """There is one proxy of this class more."""
    with _lock:
        _alive[cls] = _alive.get(cls, 0) + 1
        if _alive[cls] == 1:
            watching.append(cls)


def unwatch(cls: type) -> None:
    """There is one proxy of this class less."""
    with _lock:
        _alive[cls] -= 1
        if _alive[cls] == 0:
            watching.remove(cls)


def record(function: Callable[..., Any], args: Any, kwargs: dict[str, Any], proxies: Sequence[Proxy]) -> Proxy:
    """The node of a call of an op, of a method of tensors, or of a function that asks its arguments, on these and
    others."""
    tracers = {id(proxy.tracer): proxy.tracer for proxy in proxies}
    if len(tracers) > 1:
        raise RuntimeError(
            f"Found multiple different tracers {list(tracers.values())} while trying to trace operations {function!r}"
        )
    (tracer,) = tracers.values()
    if not isinstance(function, Op):
        kind = "call_method" if getattr(Tensor, function.__name__, None) is function else "call_function"
        target = function.__name__ if kind == "call_method" else function
        return tracer.create_proxy(kind, target, args, kwargs)
    if function is ops.einsum and len(args) == 2 and isinstance(args[1], (list, tuple)):
        args = (args[0], *args[1])  # operands in a list, which is the older way to write them
    args, kwargs = positional_arguments(function, args, kwargs)
    name = tracer.graph._target_to_str(function.__name__)
    return tracer.create_proxy("call_function", function, args, kwargs, name=name)
