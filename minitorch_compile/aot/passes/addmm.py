"""A matrix product and a sum behind it, as the one operation that BLAS offers for both.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake
>>> def program(x, w, b):
...     return (x @ w + b).relu()
>>> graph = trace(program, [empty_fake((2, 3)), empty_fake((3, 4)), empty_fake((4,))]).graph
>>> print(graph.compact())
x, w, b -> relu(add(mm(x, w), b))
>>> print(merge_addmm(graph).compact())
x, w, b -> relu(addmm(b, x, w))

In graphs of prims there is no addmm: it is a product and a sum again, so that the sum can be fused with what follows
(the relu, here), which saves more than BLAS does. PyTorch merges, too, and undoes it before a pointwise function
(`unfuse_bias_add_to_pointwise`). A batched product with a sum stays as it is: `baddbmm` is made of these two.
"""

from __future__ import annotations

import copy

from minitorch_compile.aot.passes.node_facts import is_prim, name_of, op_named, seen_by_caller, tensor_of
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import surely_equal
from minitorch_compile.tensor.numerics.dtype import FLOATING


def merge_addmm(graph: Graph) -> Graph:
    """Each mm that one add reads, and nothing else, becomes an addmm with the other summand."""
    merged = copy.deepcopy(graph)
    results = seen_by_caller(merged)
    for node in merged.nodes:
        if name_of(node) != "add" or is_prim(node) or len(node.args) != 2:
            continue
        for product, summand in (node.args, node.args[::-1]):
            if _is_lone_product(product) and product not in results and _fits(summand, product, node):
                _replace(node, product, summand)
                break
    merged.eliminate_dead_code()
    return merged


def _is_lone_product(product: object) -> bool:
    return name_of(product) == "mm" and isinstance(product, Node) and len(product.users) == 1


def _fits(summand: object, product: Node, total: Node) -> bool:
    """Whether the sum is as large as the product and of its dtype, so that only the other summand is repeated."""
    added, wanted, made = tensor_of(summand), tensor_of(product), tensor_of(total)
    if added is None or wanted is None or made is None or summand is product:
        return False
    same_dtype = added.dtype is wanted.dtype is made.dtype and made.dtype.category == FLOATING
    return same_dtype and surely_equal((made.sizes, made.strides), (wanted.sizes, wanted.strides))


def _replace(total: Node, product: Node, summand: Node) -> None:
    with total.graph.inserting_before(total):
        merged = total.graph.call_function(op_named("addmm", total), (summand, *product.args))
    merged.meta = dict(total.meta)
    total.replace_all_uses_with(merged)
