"""Views: the shortest chain that shows the same.

A view computes nothing: it is another layout, sizes, strides and an offset, over the same memory. So a chain of views
*is* a layout, and two chains that arrive at the same layout are the same function. The pass walks back along each
chain and asks, from the farthest value on, whether no view at all or a single one would show the same.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> def program(x):
...     there_and_back = x.transpose(0, 1).unsqueeze(0).squeeze(0).t()
...     return there_and_back.exp(), x.permute(1, 0)[1:].permute(1, 0)[:, ::2].cos()
>>> graph = trace(program, [empty_fake((4, 6))]).graph
>>> print(graph.compact())
x -> (exp(t(squeeze(unsqueeze(transpose(x, 0, 1), 0), 0))), cos(slice(permute(slice(permute(x, (1, 0)), 0, 1), ...
>>> print(merge_views(graph).compact())
x -> (exp(x), cos(slice(x, 1, 1, 6, 2)))

Prims have no strides: their views copy, in the end, and mean only which element stands where. They are compared as if
all of them showed a row-major tensor, which is the same question.

Source: the view simplifications of PyTorch's `torch/_inductor/fx_passes/joint_graph.py` are rules on pairs of views.
"""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile.aot.passes.node_facts import (
    are_alike,
    has_known_sizes,
    is_prim,
    is_view,
    name_of,
    op_named,
    seen_by_caller,
    tensor_of,
)
from minitorch_compile.aot.passes.single_views import layout_after, same_layout, single_views
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import surely_equal
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, fake_like

LONGEST_CHAIN = 8  # each view of a chain is tried from each value before it
RESHAPING = ("view", "reshape")


def merge_views(graph: Graph) -> Graph:
    """Chains of views, as short as a single view can make them; what changes nothing disappears.

    Results of the graph are tensors of their own and stay so. In graphs of ops they are left alone, with all that they
    are views of; prims, whose views are copies, only must not return an argument, or one value twice.
    """
    merged = copy.deepcopy(graph)
    results = seen_by_caller(merged)
    returned = set(merged.output_node().all_input_nodes)
    mixed = any(map(is_prim, merged.nodes))  # ops that read prims can't rely on the strides in meta["val"]
    for node in list(merged.nodes):
        if node.op != "call_function" or not is_view(node):
            continue
        if is_prim(node) or (not mixed and node not in results):
            _shorten(node, returned)
    merged.eliminate_dead_code()
    return merged


def _shorten(node: Node, returned: set[Node]) -> None:
    """Lets the users of a view read what is as good and nearer to the beginning of its chain."""
    if node.op != "call_function" or not isinstance(node.args[0] if node.args else None, Node):
        return
    if not _is_known(node):
        if node not in returned:
            _shorten_unknown(node)
        return
    chain = list(_chain_to(node))
    for start in range(len(chain) - 1):
        if _replaced_from(chain[start], chain[start + 1 :], returned):
            return


def _is_known(node: Node) -> bool:
    val = tensor_of(node)
    return val is not None and has_known_sizes(val)


def _chain_to(node: Node) -> list[Node]:
    """The value that a chain of views begins with, and the views, the last of which is `node`."""
    chain = [node]
    while len(chain) <= LONGEST_CHAIN and is_view(chain[0]) and len(chain[0].all_input_nodes) == 1:
        source = chain[0].args[0]
        if not isinstance(source, Node) or not _is_known(source) or is_prim(chain[0]) != is_prim(node):
            break
        chain.insert(0, source)
    return chain


def _replaced_from(base: Node, views: list[Node], returned: set[Node]) -> bool:
    """Whether the last of `views` is what `base` itself, or one view of it, shows too; then that is read instead."""
    node, prims = views[-1], is_prim(views[-1])
    start = _layout_of(base, prims)
    goal: TensorBase | None = start
    for view in views:
        goal = None if goal is None else layout_after(view.target, view.args[1:], goal)
    if goal is None:
        return False
    if same_layout(goal, start, prims):
        return _stands_for(base, node, returned)
    if len(views) == 1:
        return False
    for name, arguments in single_views(start, goal, prims):
        target = op_named(name, node)
        found = layout_after(target, arguments, start)
        if found is not None and same_layout(found, goal, prims):
            return _stands_for(_beside(node, target, (base, *arguments)), node, returned)
    return False


def _stands_for(other: Node, node: Node, returned: set[Node]) -> bool:
    """Lets users read `other`, if that can be: a result of the graph must be new, and no other result."""
    if node in returned:
        if not is_prim(other) or other in returned:
            return False
        returned.add(other)
    node.replace_all_uses_with(other)
    return True


def _layout_of(base: Node, prims: bool) -> TensorBase:
    val = base.meta["val"]
    return empty_fake(val.sizes, None, val.dtype) if prims else fake_like(val)


def _beside(node: Node, target: Any, arguments: tuple[Any, ...]) -> Node:
    with node.graph.inserting_before(node):
        single = node.graph.call_function(target, arguments)
    single.meta = dict(node.meta)
    return single


# ---------------------------------------------------------------------------------------------- unknown sizes


def _shorten_unknown(node: Node) -> None:
    """Where sizes are symbols: a view of a view is one, and what certainly changes nothing disappears."""
    source = node.args[0]
    if name_of(node) in RESHAPING and name_of(source) in RESHAPING and _lies_in_order(source.args[0]):
        node.update_arg(0, source.args[0])
    if name_of(node) in (*RESHAPING, "expand", "broadcast_in_dim") and are_alike(node.args[0], node):
        node.replace_all_uses_with(node.args[0])


def _lies_in_order(node: object) -> bool:
    """Whether any view of the value is possible: it is row-major in memory."""
    val = tensor_of(node)
    return val is not None and surely_equal(val.strides, contiguous_strides(val.sizes))
