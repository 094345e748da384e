"""Where a leaf stands: the keys that lead to it from the root.

>>> tree = {"layers": [1, (2, 3)]}
>>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path(tree)]
[("['layers'][0]", 1), ("['layers'][1][0]", 2), ("['layers'][1][1]", 3)]
>>> tree_map_with_path(lambda path, leaf: len(path) * leaf, tree)
{'layers': [2, (6, 9)]}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.pytree.containers import GetAttrKey, MappingKey, SequenceKey, container_of
from minitorch_compile.pytree.tree_spec import TreeSpec
from minitorch_compile.pytree.trees import IsLeaf, tree_structure

__all__ = [
    "GetAttrKey", "MappingKey", "SequenceKey", "key_get", "keystr", "tree_flatten_with_path", "tree_leaves_with_path",
    "tree_map_with_path",
]  # fmt: skip

KeyPath = tuple[Any, ...]


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[KeyPath, Any]]:
    """Each leaf with its path. ValueError for a container that was registered without `flatten_with_keys_fn`."""
    found: list[tuple[KeyPath, Any]] = []
    _collect(found, (), tree, is_leaf)
    return found


def _collect(found: list[tuple[KeyPath, Any]], path: KeyPath, tree: Any, is_leaf: IsLeaf | None) -> None:
    rule = None if is_leaf is not None and is_leaf(tree) else container_of(tree)
    if rule is None:
        found.append((path, tree))
        return
    if rule.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Please pass a flatten_with_keys_fn argument"
            " to register_pytree_node."
        )
    for key, child in rule.flatten_with_keys_fn(tree)[0]:
        _collect(found, (*path, key), child, is_leaf)


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Each leaf with its path, and the tree's shape."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Like `tree_map`, with the leaf's path as first argument of `func`."""
    with_paths, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [[path for path, _ in with_paths], [leaf for _, leaf in with_paths]]
    return spec.unflatten(map(func, *columns, *(spec.flatten_up_to(rest) for rest in rests)))


def keystr(kp: Sequence[Any]) -> str:
    """A path as one would write it in Python: ``['layers'][1].weight``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Sequence[Any]) -> Any:
    """What stands at the end of a path."""
    for key in kp:
        obj = key.get(obj)
    return obj
