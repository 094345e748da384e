"""Nested containers as a flat list of leaves, and back.

Every floor meets arguments such as ``{"x": t, "layers": [a, (b, None)]}`` and wants to do one thing to each tensor in
them. Flattening separates the two questions "which leaves?" and "how were they arranged?":

>>> leaves, spec = tree_flatten({"x": 1, "layers": [2, (3, None)]})
>>> leaves
[1, 2, 3, None]
>>> spec
TreeSpec(dict, ['x', 'layers'], [*, TreeSpec(list, None, [*, TreeSpec(tuple, None, [*, *])])])
>>> tree_unflatten([10 * leaf if leaf else leaf for leaf in leaves], spec)
{'x': 10, 'layers': [20, (30, None)]}

The semantics are those of ``torch.utils._pytree``: a container is recognised by its exact type (a subclass of list is
a leaf until it is registered), ``None`` is a leaf, and dictionaries keep their insertion order.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

Context = Any
FlattenFn = Callable[[Any], tuple[Iterable[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], Any]
IsLeaf = Callable[[Any], bool]


class Container(NamedTuple):
    """How one container type is taken apart and put together again."""

    flatten: FlattenFn
    unflatten: UnflattenFn


_containers: dict[type, Container] = {}


def register_pytree_node(cls: type, flatten_fn: FlattenFn, unflatten_fn: UnflattenFn) -> None:
    """Teach every tree function to look inside `cls`.

    `flatten_fn(obj)` returns (children, context); `unflatten_fn(children, context)` rebuilds the object. The context
    holds what is not a child (names, lengths, ...) and must be comparable with ``==``.

    >>> class Point:
    ...     def __init__(self, x, y): self.x, self.y = x, y
    >>> register_pytree_node(Point, lambda p: ([p.x, p.y], None), lambda children, _: Point(*children))
    >>> tree_leaves([Point(1, 2), 3])
    [1, 2, 3]
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_pytree_node: cls must be a class, but got {cls!r} of type {type(cls).__name__}.")
    if cls in _containers:
        raise ValueError(f"register_pytree_node: {cls!r} is already registered as pytree node.")
    _containers[cls] = Container(flatten_fn, unflatten_fn)


class NamedTupleNode:
    """The node type under which every namedtuple class is filed; the class itself is the context."""


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields") and type(value).__bases__ == (tuple,)


_NAMEDTUPLE = Container(lambda value: (list(value), type(value)), lambda children, cls: cls(*children))


def _container_of(tree: Any) -> tuple[Any, Container] | None:
    """The (node type, container rule) of a tree's root; None when the root is a leaf."""
    if type(tree) in _containers:
        return type(tree), _containers[type(tree)]
    if _is_namedtuple(tree):
        return NamedTupleNode, _NAMEDTUPLE
    return None


class TreeSpec:
    """The shape of a tree: everything but its leaves. Two trees of equal shape have equal specs."""

    __slots__ = ("type", "context", "children_specs", "num_leaves", "_rule")

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec], rule: Container | None) -> None:
        self.type = type
        self.context = context
        self.children_specs = children_specs
        self.num_leaves: int = sum(child.num_leaves for child in children_specs) if rule else 1
        self._rule = rule

    def is_leaf(self) -> bool:
        return self._rule is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Rebuild a tree of this shape; the number of leaves must be `num_leaves`."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree "
                f"that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> Any:
        if self._rule is None:
            return next(leaves)
        return self._rule.unflatten([child._build(leaves) for child in self.children_specs], self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of `tree` that stand where this spec has its leaves; the upper part must have the same shape."""
        if self._rule is None:
            return [tree]
        children = self._matching_children(tree)
        return [leaf for spec, child in zip(self.children_specs, children) for leaf in spec.flatten_up_to(child)]

    def _matching_children(self, tree: Any) -> list[Any]:
        found = _container_of(tree)
        node_type = found[0] if found else type(tree)
        if found is None or node_type is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type}, but got {node_type}.")
        children, context = found[1].flatten(tree)
        children = list(children)
        if len(children) != len(self.children_specs):
            raise ValueError(f"Node arity mismatch; expected {len(self.children_specs)}, but got {len(children)}.")
        if isinstance(tree, dict):
            return self._in_key_order(tree)
        if context != self.context:
            raise ValueError(f"Node context mismatch for {self.type}; expected {self.context!r}, but got {context!r}.")
        return children

    def _in_key_order(self, tree: dict[Any, Any]) -> list[Any]:
        """Dictionaries match by key, whatever order the second one was filled in."""
        keys = self.context[1] if self.type is defaultdict else self.context
        if missing := [key for key in keys if key not in tree]:
            raise ValueError(f"Node keys mismatch; missing key(s): {missing}, found: {list(tree)}.")
        return [tree[key] for key in keys]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves, tuple(self.children_specs)))

    def __repr__(self) -> str:
        if self._rule is None:
            return "*"
        name = "namedtuple" if self.type is NamedTupleNode else self.type.__name__
        children = ", ".join(map(repr, self.children_specs))
        return f"TreeSpec({name}, {self.context!r}, [{children}])"


LEAF = TreeSpec(None, None, [], None)


def tree_flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeSpec]:
    """All leaves of `tree`, left to right, and its shape. `is_leaf(subtree)` may stop the descent early.

    >>> tree_flatten([(1, 2), 3], is_leaf=lambda t: isinstance(t, tuple))
    ([(1, 2), 3], TreeSpec(list, None, [*, *]))
    """
    leaves: list[Any] = []
    return leaves, _flatten_into(leaves, tree, is_leaf)


def _flatten_into(leaves: list[Any], tree: Any, is_leaf: IsLeaf | None) -> TreeSpec:
    found = None if is_leaf is not None and is_leaf(tree) else _container_of(tree)
    if found is None:
        leaves.append(tree)
        return LEAF
    node_type, rule = found
    children, context = rule.flatten(tree)
    return TreeSpec(node_type, context, [_flatten_into(leaves, child, is_leaf) for child in children], rule)


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


def tree_structure(tree: Any, is_leaf: IsLeaf | None = None) -> TreeSpec:
    """The shape alone."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(fn: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """A tree of the same shape whose leaves are `fn(leaf, ...)`; further trees supply further arguments.

    >>> tree_map(lambda a, b: a + b, {"x": 1, "y": [2]}, {"y": [20], "x": 10})
    {'x': 11, 'y': [22]}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(fn, leaves, *(spec.flatten_up_to(rest) for rest in rests)))


def tree_map_only(types: type | tuple[type, ...], fn: Callable[[Any], Any], tree: Any) -> Any:
    """Like `tree_map`, but leaves that are not instances of `types` stay as they are.

    >>> tree_map_only(int, lambda n: n + 1, [1, "a", (2,)])
    [2, 'a', (3,)]
    """
    return tree_map(lambda leaf: fn(leaf) if isinstance(leaf, types) else leaf, tree)


register_pytree_node(tuple, lambda value: (value, None), lambda children, _: tuple(children))
register_pytree_node(list, lambda value: (value, None), lambda children, _: list(children))
register_pytree_node(dict, lambda d: (d.values(), list(d)), lambda children, keys: dict(zip(keys, children)))
register_pytree_node(
    OrderedDict, lambda d: (d.values(), list(d)), lambda children, keys: OrderedDict(zip(keys, children))
)
register_pytree_node(
    defaultdict,
    lambda d: (d.values(), [d.default_factory, list(d)]),
    lambda children, context: defaultdict(context[0], zip(context[1], children)),
)
register_pytree_node(deque, lambda d: (d, d.maxlen), lambda children, maxlen: deque(children, maxlen))
