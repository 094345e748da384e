"""A function or a module as a graph module, by calling it with proxies (`tracer.py` says how).

>>> from minitorch_compile.fx import symbolic_trace
>>> print(symbolic_trace(lambda x, w: (x @ w).relu() + 1).graph.compact())
x, w -> (x @ w).relu() + 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.patching import wrap, wrapped_functions, wrapped_methods
from minitorch_compile.fx.placeholders import PH, PHBase, PHWithMeta, _assert_is_none
from minitorch_compile.fx.proxy import Attribute, Proxy, TraceError, find_proxy
from minitorch_compile.fx.tracer import ProxyableClassMeta, Tracer, is_fx_symbolic_tracing, is_fx_tracing
from minitorch_compile.nn.module import Module

_wrapped_fns_to_patch, _wrapped_methods_to_patch = wrapped_functions, wrapped_methods  # PyTorch's names


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """The graph module of `root`, a module or a function. Parameters named in `concrete_args` get that value instead of
    a proxy.

    >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> [node.op for node in traced.graph.nodes], traced(torch.tensor([-1.0, 2.0]))
    (['placeholder', 'call_function', 'call_function', 'output'], tensor([1., 3.]))
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, root._get_name() if isinstance(root, GraphModule) else name)


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Proxy:
    """Record `function(*args, **kwargs)` as one node, whatever it does inside. One argument at least is a Proxy.

    >>> import math
    >>> print(symbolic_trace(lambda x: call(math.sqrt, x) + 1).graph.compact())
    x -> sqrt(x) + 1
    """
    proxy = find_proxy(args, kwargs)
    if proxy is None:
        raise TypeError("call: at least one argument must be a Proxy; otherwise call the function itself.")
    return proxy.tracer.create_proxy("call_function", function, args, kwargs)


__all__ = [
    "PH", "Attribute", "GraphModule", "PHBase", "PHWithMeta", "Proxy", "ProxyableClassMeta", "TraceError", "Tracer",
    "_assert_is_none", "call", "is_fx_symbolic_tracing", "is_fx_tracing", "symbolic_trace", "wrap",
]  # fmt: skip
