"""Taking arguments apart by a spec that says how they are nested: what traced code calls (`pytree_code.py`).

>>> from minitorch_compile.pytree import tree_flatten
>>> _, spec = tree_flatten([{"a": 1, "b": [2, 3]}])
>>> tree_flatten_spec([{"b": [20, 30], "a": 10}], spec)
[10, 20, 30]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.pytree import TreeSpec

FlattenFuncSpec = Callable[[Any, TreeSpec], list[Any]]
# How to take a program's own containers apart: by class.
SUPPORTED_NODES: dict[type, FlattenFuncSpec] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[type, Any] = {}


def register_pytree_flatten_spec(
    cls: type, flatten_fn_spec: FlattenFuncSpec, flatten_fn_exact_match_spec: Any = None
) -> None:
    """`flatten_fn_spec(container, spec)` gives the children of a container that was registered as a pytree."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of a tree that is nested as `spec` says, and maybe deeper."""
    if spec.is_leaf():
        return [pytree]
    flatten = SUPPORTED_NODES.get(spec.type)
    children = flatten(pytree, spec) if flatten else _children(pytree, spec)
    return [leaf for child, below in zip(children, spec.children()) for leaf in tree_flatten_spec(child, below)]


def _children(tree: Any, spec: TreeSpec) -> list[Any]:
    if isinstance(tree, (list, tuple)):
        return list(tree)
    if spec.type is dict:  # also a stand-in for one
        return [tree[key] for key in spec.context]
    if spec.type in (list, tuple) or hasattr(spec.type, "_fields"):
        return [tree[i] for i in range(spec.num_children)]
    return spec._matching_children(tree)
