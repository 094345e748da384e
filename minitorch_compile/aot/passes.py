"""Small rewrites of functional graphs: each takes a graph module and gives one that computes the same with less.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> def program(x):
...     y = ops.view(ops.view(x, (6,)), (3, 2))
...     return ops.exp(y) / ops.exp(y).sum()
>>> print(simplify(trace(program, [empty_fake((2, 3))])).graph.compact())
x -> exp = exp(view(x, (3, 2))); div(exp, sum(exp))
"""

from __future__ import annotations

import copy
import operator

from minitorch_compile.aot.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.passes import merge_common_subexpressions
from minitorch_compile.symbolic import surely_equal
from minitorch_compile.tensor.pointwise_op import number_as
from minitorch_compile.tensor.strides import contiguous_strides, is_contiguous
from minitorch_compile.tensor.symbolic_layout import unknown_sizes
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def simplify(graph_module: GraphModule) -> GraphModule:
    """All passes of this file, and common subexpressions."""
    graph = merge_common_subexpressions(merge_views(fold_constants(graph_module.graph)))
    graph.eliminate_dead_code()
    simplified = LazyGraphModule(graph_module.attributes, graph)
    simplified.meta.update(graph_module.meta)
    return simplified


def fold_constants(graph: Graph) -> Graph:
    """A view or conversion of `full` becomes a `full`; a product with ones, or a quotient by them, its other factor.

    >>> from minitorch_compile.aot.tracing import trace
    >>> from minitorch_compile.tensor import empty_fake, ops
    >>> def program(x):
    ...     ones = ops.full((1, 2), 1).float().t()
    ...     return (x * ones.expand(2, 3)).exp()
    >>> print(fold_constants(trace(program, [empty_fake((2, 3))]).graph).compact())
    x -> exp(x)
    """
    folded = copy.deepcopy(graph)
    results = _seen_by_the_caller(folded)
    for node in folded.nodes:
        if node.op != "call_function" or node in results:
            continue
        if _is_constant_view(node):
            _replace_by_full(node)
        elif _name(node) in ("mul", "div") and _is_full_of_ones(node.args[1]) and _is_like(node.args[0], node):
            node.replace_all_uses_with(node.args[0])
    folded.eliminate_dead_code()
    return folded


def _is_constant_view(node: Node) -> bool:
    source = node.args[0] if node.args else None
    reads_full = isinstance(source, Node) and _name(source) == "full" and len(node.all_input_nodes) == 1
    if not reads_full or any(True for _ in unknown_sizes(node.meta["val"])):
        return False
    return getattr(node.target, "kind", None) == "view" or _name(node) in CONVERSIONS


def _replace_by_full(node: Node) -> None:
    """A constant of the sizes and dtype of `node`, in place of it."""
    source, val = node.args[0], node.meta["val"]
    value = source.args[1]
    if _name(node) in CONVERSIONS:  # 2.5 as an int is 2, and stays 2 as a float
        value = number_as(number_as(value, source.meta["val"].dtype.numpy), val.dtype.numpy).item()
    with node.graph.inserting_before(node):
        constant = node.graph.call_function(source.target, (tuple(val.sizes), value, val.dtype))
    constant.meta = {**node.meta, "val": empty_fake(val.sizes, None, val.dtype)}
    node.replace_all_uses_with(constant)


def _is_full_of_ones(node: object) -> bool:
    return isinstance(node, Node) and _name(node) == "full" and node.args[1] == 1


def _is_like(a: object, b: Node) -> bool:
    """Whether two values have the same sizes, dtype and layout."""
    if not isinstance(a, Node) or isinstance(a.meta["val"], tuple):
        return False
    x, y = a.meta["val"], b.meta["val"]
    return x.dtype is y.dtype and surely_equal((x.sizes, x.strides), (y.sizes, y.strides))


def merge_views(graph: Graph) -> Graph:
    """A view of a view becomes one view; a view, conversion or copy that changes nothing disappears.

    Results of the graph, and what they are views of, are left alone: they are tensors of their own.
    """
    merged = copy.deepcopy(graph)
    results = _seen_by_the_caller(merged)
    for node in merged.nodes:
        if node.op != "call_function" or node in results:
            continue
        _skip_inner_view(node)
        if _changes_nothing(node):
            node.replace_all_uses_with(node.args[0])
            merged.erase_node(node)
    merged.eliminate_dead_code()
    return merged


def _seen_by_the_caller(graph: Graph) -> set[Node]:
    """The results and everything whose memory they may show."""
    seen: set[Node] = set()
    waiting = list(graph.output_node().all_input_nodes)
    while waiting:
        node = waiting.pop()
        seen.add(node)
        if getattr(node.target, "kind", None) == "view" or node.target is operator.getitem:
            waiting += node.all_input_nodes
    return seen


def _name(node: object) -> str:
    """The op's name: `view` and `reshape` mean the same in the graphs of ops and of prims."""
    return getattr(node.target, "name", "") if isinstance(node, Node) else ""


RESHAPING = ("view", "reshape")
CONVERSIONS = ("to_copy", "convert_element_type")


def _skip_inner_view(node: Node) -> None:
    """view(view(x)) is view(x): both read x in row-major order."""
    source = node.args[0] if node.args else None
    if _name(node) not in RESHAPING or _name(source) not in RESHAPING:
        return
    assert isinstance(source, Node)
    if _lies_in_order(source.args[0]):
        node.update_arg(0, source.args[0])


def _lies_in_order(node: object) -> bool:
    """Whether any view of the value is possible: it is row-major in memory. Prims don't mind."""
    val = node.meta["val"] if isinstance(node, Node) else None
    if val is None or any(True for _ in unknown_sizes(val)):
        return val is not None and surely_equal(val.strides, contiguous_strides(val.sizes))
    return is_contiguous(val.sizes, val.strides)


def _changes_nothing(node: Node) -> bool:
    """Whether the node's value is that of its first argument, in sizes, dtype, layout and elements."""
    source = node.args[0] if node.args else None
    if not isinstance(source, Node) or not isinstance(source.meta.get("val"), TensorBase):
        return False
    before, after = source.meta["val"], node.meta["val"]
    if _name(node) in ("convert_element_type", "clone"):
        return before.dtype is after.dtype and surely_equal(before.strides, after.strides)
    if _name(node) in ("view", "reshape", "expand", "broadcast_in_dim"):
        return surely_equal((before.sizes, before.strides), (after.sizes, after.strides))
    return False
