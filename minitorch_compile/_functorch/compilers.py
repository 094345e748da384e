"""`torch._functorch.compilers`: small compilers of graphs, and the boxed way of calling what they return.

A compiler is given a graph module and example inputs, and returns a function. A *boxed* function takes its arguments in
one list, which it may empty, so that they can be let go early.

>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x: (x + 1,))
>>> boxed = make_boxed_func(nop(module, []))
>>> boxed([2])
(3,)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.fx.graph_module import GraphModule

Compiled = Callable[..., Any]


def nop(fx_g: GraphModule, _: Any) -> GraphModule:
    """The graph module itself."""
    return fx_g


def print_compile(fx_g: GraphModule, _: Any) -> GraphModule:
    """The graph module, whose code is printed."""
    print(fx_g.code)
    return fx_g


def ts_compile(fx_g: GraphModule, inps: Sequence[Any]) -> Compiled:
    """In PyTorch the graph as TorchScript, which here is made of a program's text only: NotImplementedError."""
    raise NotImplementedError(
        "ts_compile: torch.jit.script takes functions and modules of a program, not graphs; torch.compile compiles"
        " the graph"
    )


def draw_graph_compile(name: str) -> Callable[[GraphModule, Any], GraphModule]:
    """A compiler that writes a drawing of each graph, `name.svg`, and returns the graph."""

    def draw(fx_g: GraphModule, inps: Any) -> GraphModule:
        fx_g.graph.draw().save(f"{name}.svg")
        return fx_g

    return draw


def make_boxed_func(f: Compiled) -> Compiled:
    """A function of one list that calls `f` with what is in it."""

    @functools.wraps(getattr(f, "forward", f))
    def boxed(args: list[Any]) -> Any:
        return f(*args)

    boxed.__dict__["_boxed_call"] = True
    return boxed


def make_boxed_compiler(compiler: Callable[..., Compiled]) -> Callable[..., Compiled]:
    """The compiler, whose results are boxed."""

    @functools.wraps(compiler)
    def boxing(fx_g: GraphModule, inps: Any) -> Compiled:
        return make_boxed_func(compiler(fx_g, inps))

    return boxing


def unboxed(compiler: Callable[..., Compiled]) -> Callable[..., Compiled]:
    """The compiler for callers that pass arguments one by one."""

    def unboxing(fx_g: GraphModule, inps: Any) -> Compiled:
        compiled = compiler(fx_g, inps)
        if not getattr(compiled, "_boxed_call", False):
            return compiled
        return lambda *args: compiled(list(args))

    return unboxing
