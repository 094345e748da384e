"""Functions of trees: flatten, rebuild, map, ask.

>>> tree_map(lambda a, b: a + b, {"x": 1, "y": [2]}, {"y": [20], "x": 10})
{'x': 11, 'y': [22]}
>>> tree_all(lambda n: n > 0, [1, (2, 3)]), tree_any(lambda n: n < 0, [1, (2, 3)])
(True, False)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from types import UnionType
from typing import Any

from minitorch_compile.pytree.containers import container_of
from minitorch_compile.pytree.tree_spec import LEAF, TreeSpec

IsLeaf = Callable[[Any], bool]
Types = type | tuple[type, ...] | UnionType


def tree_is_leaf(tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether the tree is a single leaf: no known container, or one that `is_leaf` takes for a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or container_of(tree) is None


def tree_flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeSpec]:
    """All leaves of `tree`, left to right, and its shape. `is_leaf(subtree)` may stop the descent early.

    >>> tree_flatten([(1, 2), 3], is_leaf=lambda t: isinstance(t, tuple))
    ([(1, 2), 3], TreeSpec(list, None, [*,
      *]))
    """
    leaves: list[Any] = []
    return leaves, _flatten_into(leaves, tree, is_leaf)


def _flatten_into(leaves: list[Any], tree: Any, is_leaf: IsLeaf | None) -> TreeSpec:
    rule = None if is_leaf is not None and is_leaf(tree) else container_of(tree)
    if rule is None:
        leaves.append(tree)
        return LEAF
    children, context = rule.flatten_fn(tree)
    return TreeSpec(rule.type, context, [_flatten_into(leaves, child, is_leaf) for child in children], rule)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of shape `treespec` with these leaves: the inverse of `tree_flatten`."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): expected `treespec` to be a TreeSpec, but got "
            f"{type(treespec).__name__}. The arguments are (leaves, treespec), in this order."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves alone."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: IsLeaf | None = None) -> Iterator[Any]:
    """The leaves one by one."""
    yield from tree_leaves(tree, is_leaf)


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of all arguments of a call."""
    return tree_leaves((args, kwargs))


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: IsLeaf | None = None) -> list[Any] | None:
    """One entry for each leaf of a shape, from a tree that may end earlier: a leaf in place of a subtree is for all in
    it. None if the tree is of another shape.

    >>> _broadcast_to_and_flatten((0, [None, 1]), tree_structure(({"a": 1, "b": 2}, [3, 4])))
    [0, 0, None, 1]
    """
    try:
        return treespec.spread(tree, lambda subtree: tree_is_leaf(subtree, is_leaf))
    except ValueError:
        return None


def tree_structure(tree: Any, is_leaf: IsLeaf | None = None) -> TreeSpec:
    """The shape alone."""
    return tree_flatten(tree, is_leaf)[1]


# ------------------------------------------------------------------------------------------------ maps


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """A tree of the same shape whose leaves are `func(leaf, ...)`; further trees supply further arguments.

    ValueError where the shapes differ; a further tree may be deeper, its subtrees are then the arguments.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Calls `func` on each leaf, for what it does; returns the tree itself.

    >>> tree_map_(print, [1, (2,)])
    1
    2
    [1, (2,)]
    """
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    type_or_types_or_pred: Types | Callable[[Any], bool],
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """Like `tree_map`, but leaves that are of none of the types (or not in the predicate) stay as they are.

    >>> tree_map_only(int, lambda n: n + 1, [1, "a", (2,)])
    [2, 'a', (3,)]
    """
    wanted = _predicate(type_or_types_or_pred)
    return tree_map(lambda leaf: func(leaf) if wanted(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Types | Callable[[Any], bool],
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """Calls `func` on each leaf of the types, for what it does; returns the tree itself."""
    tree_map_only(type_or_types_or_pred, func, tree, is_leaf)
    return tree


def map_only(
    type_or_types_or_pred: Types | Callable[[Any], bool], /
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: the function is for leaves of the types (or in the predicate), and others come back as they are.

    >>> tree_map(map_only(int)(lambda n: n + 1), [1, "a"])
    [2, 'a']
    """
    wanted = _predicate(type_or_types_or_pred)

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(func)
        def where_wanted(leaf: Any) -> Any:
            return func(leaf) if wanted(leaf) else leaf

        return where_wanted

    return decorate


def _predicate(types: Types | Callable[[Any], bool]) -> Callable[[Any], bool]:
    if isinstance(types, (type, tuple, UnionType)):
        return lambda leaf: isinstance(leaf, types)
    if callable(types):
        return types
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


# ------------------------------------------------------------------------------------------------ questions


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether `pred` is true of every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether `pred` is true of a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    type_or_types: Types, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None
) -> bool:
    """Whether `pred` is true of every leaf of these types."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: Types, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None
) -> bool:
    """Whether `pred` is true of a leaf of these types."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))
