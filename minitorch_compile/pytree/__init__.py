"""Nested containers as a flat list of leaves, and back.

Every floor meets arguments such as ``{"x": t, "layers": [a, (b, None)]}`` and wants to do one thing to each tensor in
them. Flattening separates the two questions "which leaves?" and "how were they arranged?":

>>> leaves, spec = tree_flatten({"x": 1, "layers": [2, (3, None)]})
>>> leaves
[1, 2, 3, None]
>>> spec
TreeSpec(dict, ['x', 'layers'], [*,
  TreeSpec(list, None, [*,
    TreeSpec(tuple, None, [*,
      *])])])
>>> tree_unflatten([10 * leaf if leaf else leaf for leaf in leaves], spec)
{'x': 10, 'layers': [20, (30, None)]}

The names and semantics are those of ``torch.utils._pytree``: a container is recognised by its exact type (a subclass of
list is a leaf until it is registered), ``None`` is a leaf, and dictionaries keep their insertion order. Tuples, lists,
dicts, namedtuples, OrderedDict, defaultdict and deque are known; `register_dataclass` and `register_pytree_node` add
others.
"""

from collections.abc import Callable
from typing import Any

from minitorch_compile.pytree.containers import (
    SUPPORTED_NODES,
    Context,
    FlattenFn,
    NodeDef,
    UnflattenFn,
    _dict_flatten,
    _dict_flatten_with_keys,
    _dict_unflatten,
    _get_node_type,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    register_constant,
    register_dataclass,
    register_pytree_node,
)
from minitorch_compile.pytree.key_paths import (
    GetAttrKey,
    MappingKey,
    SequenceKey,
    key_get,
    keystr,
    tree_flatten_with_path,
    tree_leaves_with_path,
    tree_map_with_path,
)
from minitorch_compile.pytree.spec_text import _register_namedtuple, treespec_dumps, treespec_loads
from minitorch_compile.pytree.tree_spec import (
    LeafSpec,
    TreeSpec,
    treespec_dict,
    treespec_leaf,
    treespec_pprint,
    treespec_tuple,
)
from minitorch_compile.pytree.trees import (
    _broadcast_to_and_flatten,
    arg_tree_leaves,
    map_only,
    tree_all,
    tree_all_only,
    tree_any,
    tree_any_only,
    tree_flatten,
    tree_is_leaf,
    tree_iter,
    tree_leaves,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_map_only_,
    tree_structure,
    tree_unflatten,
)

_register_pytree_node = register_pytree_node  # the older name
PyTree = Any
DumpableContext = Any
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]
PyTreeSpec = TreeSpec
