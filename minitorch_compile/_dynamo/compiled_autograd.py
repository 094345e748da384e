"""`torch._dynamo.compiled_autograd`: `loss.backward()` as one graph, whatever graphs the forward pass was cut into.

Inside `enable(compiler)`, the walk through the recorded graph is traced, hooks included; `compiler` gets the graph
and returns what is called in its place. Each backward() is traced anew.

>>> import minitorch_compile as torch
>>> graphs = []
>>> def compiler(graph_module):
...     graphs.append(graph_module.graph.compact())
...     return graph_module
>>> x = torch.ones(2, requires_grad=True)
>>> loss = (x * 3).sum()
>>> handle = x.register_hook(lambda gradient: gradient + 10)
>>> with enable(compiler):
...     loss.backward()
>>> x.grad, graphs
(tensor([13., 13.]), ['arg0_1 -> [add(mul(expand(view(arg0_1, (1,)), (2,)), 3), 10)]'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch_compile.aot.make_fx import make_fx
from minitorch_compile.autograd import entry_points
from minitorch_compile.autograd.accumulate import accumulate
from minitorch_compile.autograd.engine import BackwardPass
from minitorch_compile.autograd.node import AccumulateGrad, Edge, Node
from minitorch_compile.autograd.reachable import below, leading_to
from minitorch_compile.tensor.grad_mode import no_grad

Compiler = Callable[[Any], Callable[..., Any]]


@contextmanager
def _enable(compiler_fn: Compiler, dynamic: bool = True, ignore_active_disable_ctx: bool = True) -> Iterator[None]:
    """Inside, `compiler_fn(graph_module)` makes the function that computes the gradients of a backward(). The graph's
    sizes are those of this call, with `dynamic` too."""

    def walk(roots: Sequence[Edge], gradients: Sequence[Any], needed: set[Node] | None, **options: Any) -> None:
        _compiled_walk(compiler_fn, roots, gradients, needed, **options)

    entry_points.walks.append(walk)
    try:
        yield
    finally:
        entry_points.walks.remove(walk)


enable = _enable


@contextmanager
def _disable() -> Iterator[None]:
    """Inside, backward() walks as usual."""
    before = entry_points.walks[:]
    entry_points.walks.clear()
    try:
        yield
    finally:
        entry_points.walks[:] = before


disable = _disable


def _compiled_walk(
    compiler_fn: Compiler,
    roots: Sequence[Edge],
    gradients: Sequence[Any],
    needed: set[Node] | None,
    *,
    retain_graph: bool | None,
    create_graph: bool,
) -> None:
    if create_graph:
        raise RuntimeError("compiled_autograd does not support create_graph: call backward() outside of enable()")
    nodes = below(roots) if needed is None else needed
    leaves = [node for node in sorted(nodes, key=lambda node: node.number) if isinstance(node, AccumulateGrad)]
    edges: list[Edge] = [(leaf, 0) for leaf in leaves]

    def program(*gradients: Any) -> list[Any]:
        walk = BackwardPass(True, False, leading_to(roots, set(leaves)), edges)
        walk.start(roots, gradients)
        return [walk.captured[edge] for edge in edges]

    with _disable(), no_grad():
        graph_module = make_fx(program)(*gradients)
        found = compiler_fn(graph_module)(*gradients)
        looked_at = {gradient.storage for gradient in (*found, *gradients) if gradient is not None}
        for leaf, gradient in zip(leaves, found, strict=True):
            accumulate(leaf, gradient, False, looked_at)
    if not retain_graph:
        for node in nodes:
            node.release()


__all__ = ["disable", "enable"]
