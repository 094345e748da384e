"""What may be computed a second time, in the backward pass, instead of being kept since the forward pass.

Work that a kernel does on the way, while it waits for memory, is as good as free: elementwise functions, copies, rows
picked out of a table. What takes a kernel of its own is not: matrix products, sorting, reductions to a few numbers,
which are cheap to keep. Random numbers are kept, too, though the same seed would give the same ones: drawing them costs
more than reading a mask.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> graph = trace(lambda x, w: (x @ w).softmax(1).sum().exp(), [empty_fake((8, 8)), empty_fake((8, 8))]).graph
>>> {node.name: is_cheap(node) for node in graph.find_nodes(op="call_function")}
{'mm': False, 'softmax': True, 'sum_1': False, 'exp': True}

A user who writes `checkpoint(f, x)` asks for more: everything in f is computed again, whatever it costs. Its nodes
carry the number of their *region*, and so do the nodes of the backward pass that were made for them.

Source: the lists and rules in `torch/_functorch/partitioners.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from minitorch_compile.fx.node import Node
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor.tensor_base import TensorBase, nbytes

CHEAP_KINDS = frozenset({"pointwise", "view", "copy", "creation", "joining", "complex"})
# Whether these are cheap depends on how much they leave: softmax is as large as its argument, a sum is not.
SHRINKING_KINDS = frozenset({"reduction", "normalization"})
SHRINKING = 4  # "much smaller" is by more than this factor, as in PyTorch
# Of the indexing ops those that read here and there; the others write, and may have to add up.
PICKING = frozenset({"gather", "index", "embedding", "tril", "triu", "flip"})
# Elementwise, but each element takes a long series or a loop.
COSTLY = (
    "philox", "lgamma", "digamma", "polygamma", "igamma", "zeta", "bessel", "modified_bessel", "scaled_modified",
    "spherical_bessel", "airy", "erf_inv", "erfinv", "erfcx", "ndtri", "special_", "mvlgamma",
)  # fmt: skip


def is_cheap(node: Node) -> bool:
    """Whether computing the node's value again is better than keeping it."""
    if node.op == "get_attr" or node.target is operator.getitem or is_float(node):
        return True  # an item is there when its tuple is
    name, kind = getattr(node.target, "name", ""), getattr(node.target, "kind", None)
    if node.op != "call_function" or name.startswith(COSTLY):
        return False
    if kind in SHRINKING_KINDS:
        return SHRINKING * total_bytes([node]) >= total_bytes(node.all_input_nodes)
    return kind in CHEAP_KINDS or name in PICKING


def tells_equals(node: Node) -> bool:
    """Whether the value says which elements of one tensor equal those of another, such as the largest of a row.

    That is decided where both are first computed: of elements that are computed again, and rounded on the way as the
    first ones were not, none may be the largest.
    """
    return getattr(node.target, "name", "") == "eq" and len(node.all_input_nodes) == 2


def is_view(node: Node) -> bool:
    """Whether the value shows another one's elements: making it again costs nothing."""
    return getattr(node.target, "kind", None) == "view"


def is_constant(node: Node) -> bool:
    """Whether the node needs nothing to be computed from, or nothing but sizes."""
    return node.op == "get_attr" or (node.op == "call_function" and all(map(is_size, node.all_input_nodes)))


def is_size(node: Node) -> bool:
    """Whether the value is a size: they cost nothing to compute, from those that are always saved."""
    return isinstance(node.meta.get("val"), SymInt)


def is_float(node: Node) -> bool:
    """Whether the value is a float: never kept for the backward pass, which reads it from its tensor again."""
    return isinstance(node.meta.get("val"), SymFloat)


def region_of(node: Node) -> int | None:
    """The number of the call of `checkpoint` that the node was made for, None outside of one."""
    return node.meta.get("checkpoint_region")


def read_within_region(value: Node, reader: Node) -> bool:
    """Whether both belong to the same checkpointed region: then the reader gets the value anew."""
    return region_of(value) is not None and region_of(value) == region_of(reader)


def is_made_again(value: Node, reader: Node) -> bool:
    """Whether the reader never gets the value as it was: within a region, and where it is a float."""
    return is_float(value) or read_within_region(value, reader)


def total_bytes(nodes: Iterable[Node]) -> int:
    """The memory of these values, for the sizes that were seen if they are unknown."""
    return sum(_bytes(value) for node in nodes for value in tree_leaves(node.meta.get("val")))


def _bytes(value: Any) -> int:
    size = nbytes(value) if isinstance(value, TensorBase) else 0
    return size.hint if isinstance(size, SymInt) else size
