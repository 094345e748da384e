"""Which colour a node gets: what sort of operation it is.

>>> import operator
>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x = graph.placeholder("x")
>>> [kind_of(n) for n in (x, graph.call_function(operator.matmul, (x, x)), graph.call_method("relu_", (x,)))]
['input', 'contraction', 'write']

An Op knows its family. Operators and methods are looked up in the op table under their name.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.fx.effects import is_random, writes
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.targets import short_name

# From the families of the op table to the fewer that a reader wants to tell apart.
_FAMILIES = {
    "pointwise": "pointwise", "reduction": "reduction", "normalization": "reduction", "loss": "reduction",
    "pooling": "reduction",
    "contraction": "contraction", "convolution": "contraction", "view": "view", "shape": "view",
    "indexing": "movement", "joining": "movement", "copy": "movement", "sorting": "movement",
    "creation": "constant", "random": "random", "complex": "pointwise", "sampling": "pointwise",
    "scan": "reduction", "fourier": "contraction", "linalg": "contraction",
}  # fmt: skip
_POOLS = ("max", "avg", "adaptive_max", "adaptive_avg", "lp")
# Composite ops have no family; these are named after what their body mostly does.
_COMPOSITES = {
    **dict.fromkeys(("matmul", "linear", "scaled_dot_product_attention"), "contraction"),
    **dict.fromkeys(
        ("max", "min", "var", "std", "logsumexp", "layer_norm", "cross_entropy", "nll_loss", "mse_loss"),
        "reduction",
    ),
    **dict.fromkeys(("reshape", "flatten", "getitem", "narrow", "movedim", "view_as", "expand_as", "unbind"), "view"),
    **dict.fromkeys(("split", "chunk"), "view"),
    **dict.fromkeys((f"{name}{n}d" for name in ("conv", "conv_transpose") for n in (1, 2, 3)), "contraction"),
    **dict.fromkeys((f"{name}_pool{n}d" for name in _POOLS for n in (1, 2, 3)), "reduction"),
    **dict.fromkeys(("pad", "interpolate", "unfold", "fold", "grid_sample", "pixel_shuffle"), "movement"),
    **dict.fromkeys(("to", "type_as", "contiguous", "stack", "repeat", "index_select"), "movement"),
    **dict.fromkeys(("masked_fill", "truediv", "floordiv", "mod", "invert", "and_", "or_", "xor"), "pointwise"),
    **dict.fromkeys(("zeros", "ones", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones"), "constant"),
}
# The others go by the file they are declared in.
_FILES = {
    **dict.fromkeys(("activation", "softmax", "dropout"), "pointwise"),
    **dict.fromkeys(("regression_loss", "classification_loss", "margin_loss", "ctc_loss"), "reduction"),
    **dict.fromkeys(("normalization", "distance"), "reduction"),
    **dict.fromkeys(("attention", "bilinear", "einsum", "matrix_products", "vector_products"), "contraction"),
    **dict.fromkeys(("reshaping", "splitting"), "view"),
    **dict.fromkeys(("creation", "creation_like", "grids"), "constant"),
    **dict.fromkeys(("diagonals", "gathering", "index_along", "joining"), "movement"),
    **dict.fromkeys(("masking", "repeating", "flip_and_roll"), "movement"),
    "embedding": "movement",
}


def kind_of(node: Node) -> str:
    """A key of dot.KINDS."""
    if node.op == "placeholder":
        return "parameter" if getattr(node.meta.get("val"), "requires_grad", False) else "input"
    if node.op == "get_attr":
        return "constant"
    if node.op == "output":
        return "output"
    if writes(node) and node.op != "call_module":
        return "write"
    return "random" if is_random(node) else kind_of_target(node.target)


def kind_of_target(target: Any) -> str:
    """A key of dot.KINDS for what a node calls."""
    name = short_name(target)
    declared_in = str(getattr(target, "__module__", "")).rpartition(".")[2]
    return _FAMILIES.get(_family(target, name)) or _COMPOSITES.get(name) or _FILES.get(declared_in, "call")


def _family(target: Any, name: str) -> str:
    from minitorch_compile.tensor.dispatch.op import table

    return str(getattr(target, "kind", "") or getattr(table.get(name), "kind", ""))
