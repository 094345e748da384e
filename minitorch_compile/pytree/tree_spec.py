"""The shape of a tree: everything but its leaves.

>>> from minitorch_compile.pytree import tree_structure
>>> spec = tree_structure([(1, 2), 3])
>>> spec.num_leaves, spec.num_nodes, spec.children()
(3, 5, [TreeSpec(tuple, None, [*,
  *]), *])
>>> print(treespec_pprint(spec))
[(*, *), *]
>>> spec.unflatten("abc")
[('a', 'b'), 'c']
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from minitorch_compile.pytree.containers import SUPPORTED_NODES, Context, NodeDef, container_of


class TreeSpec:
    """The shape of a tree. Two trees of equal shape have equal specs."""

    __slots__ = ("type", "context", "children_specs", "num_leaves", "_rule")

    def __init__(
        self, type: Any, context: Context, children_specs: list[TreeSpec], rule: NodeDef | None = None
    ) -> None:
        rule = rule or (None if type is None else SUPPORTED_NODES[type])
        self.type = type
        self.context = context
        self.children_specs = children_specs
        self.num_leaves: int = sum(child.num_leaves for child in children_specs) if rule else 1
        self._rule = rule

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    @property
    def num_nodes(self) -> int:
        """The containers and leaves of the tree, all together."""
        return 1 + sum(child.num_nodes for child in self.children_specs)

    def children(self) -> list[TreeSpec]:
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        return self.children_specs[index]

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
        return self._rule.unflatten_fn([child._build(leaves) for child in self.children_specs], self.context)

    # ------------------------------------------------------------------------------------------ another tree

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of `tree` that stand where this spec has its leaves; the upper part must have the same shape."""
        if self._rule is None:
            return [tree]
        children = self._matching_children(tree)
        return [leaf for spec, child in zip(self.children_specs, children) for leaf in spec.flatten_up_to(child)]

    def spread(self, prefix: Any, is_leaf: Callable[[Any], bool]) -> list[Any]:
        """One entry for each leaf, from a tree that may end earlier: an entry in place of a subtree is for all in it.

        >>> from minitorch_compile.pytree import tree_structure
        >>> tree_structure(([1, 2], {"a": 3})).spread((0, {"a": None}), lambda t: t is None or isinstance(t, int))
        [0, 0, None]
        """
        if is_leaf(prefix):
            return [prefix] * self.num_leaves
        if self._rule is None:
            raise ValueError(f"Node type mismatch; expected a leaf, but got {type(prefix)}.")
        children = self._matching_children(prefix)
        return [entry for spec, child in zip(self.children_specs, children) for entry in spec.spread(child, is_leaf)]

    def _matching_children(self, tree: Any) -> list[Any]:
        rule = container_of(tree)
        node_type = rule.type if rule else type(tree)
        if rule is None or node_type is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type}, but got {node_type}.")
        children, context = rule.flatten_fn(tree)
        children = list(children)
        if isinstance(tree, dict):
            return self._in_key_order(tree)
        if len(children) != len(self.children_specs):
            raise ValueError(f"Node arity mismatch; expected {len(self.children_specs)}, but got {len(children)}.")
        if context != self.context:
            raise ValueError(f"Node context mismatch for {self.type}; expected {self.context!r}, but got {context!r}.")
        return children

    def _in_key_order(self, tree: dict[Any, Any]) -> list[Any]:
        """Dictionaries match by key, whatever order the second one was filled in."""
        keys = self.context[1] if self.type is defaultdict else self.context
        missing, extra = [key for key in keys if key not in tree], [key for key in tree if key not in keys]
        if missing or extra:
            told = [f"missing key(s): {missing}"] * bool(missing) + [f"extra key(s): {extra}"] * bool(extra)
            raise ValueError(f"Node keys mismatch; {'; '.join(told)}.")
        return [tree[key] for key in keys]

    # ------------------------------------------------------------------------------------------ looking

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
        return self._text(0)

    def _text(self, indent: int) -> str:
        """A line for each child but the first, as PyTorch prints it."""
        if self._rule is None:
            return "*"
        separator = ",\n" + " " * (indent + 2)
        children = separator.join(child._text(indent + 2) for child in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"


class LeafSpec(TreeSpec):
    """The shape of a leaf. `treespec_leaf()` gives the one that all trees have."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


LEAF = LeafSpec()


def treespec_leaf() -> LeafSpec:
    """The shape of a leaf."""
    return LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The shape of a tuple whose children have these shapes. ValueError for what is no TreeSpec.

    >>> treespec_tuple([treespec_leaf(), treespec_leaf()]).unflatten([1, 2])
    (1, 2)
    """
    return TreeSpec(tuple, None, _specs(list(iterable)))


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The shape of a dict whose values have these shapes. ValueError for what is no TreeSpec.

    >>> treespec_dict(a=treespec_leaf()).unflatten([1])
    {'a': 1}
    """
    children = dict(mapping, **kwargs)
    return TreeSpec(dict, list(children), _specs(list(children.values())))


def _specs(children: list[TreeSpec]) -> list[TreeSpec]:
    strange = next((child for child in children if not isinstance(child, TreeSpec)), None)
    if strange is not None:
        raise ValueError(f"a shape is made of TreeSpecs, as tree_structure() gives them, but got {strange!r}")
    return children


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The shape as its containers print themselves, with a star for each leaf."""
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))
