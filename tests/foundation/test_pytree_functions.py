"""Questions, maps and paths over trees, as in torch.utils._pytree: the texts were recorded there."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import pytest

from minitorch_compile import as_torch, pytree
from minitorch_compile.pytree import (
    key_get,
    keystr,
    register_constant,
    register_dataclass,
    register_pytree_node,
    tree_all_only,
    tree_any_only,
    tree_flatten,
    tree_flatten_with_path,
    tree_is_leaf,
    tree_iter,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_only,
    tree_map_only_,
    tree_map_with_path,
    tree_structure,
    treespec_pprint,
)

Pair = namedtuple("Pair", "x y")


@dataclass
class Point:
    a: int
    b: int = 2
    hidden: list = field(default_factory=list, init=False)


register_dataclass(Point)
TREE = {
    "a": [1, (2, None)],
    "b": OrderedDict(z=3),
    "d": Point(4, 5),
    "q": deque([1]),
    "dd": defaultdict(list, {"u": 1}),
}
PRINTED = """TreeSpec(dict, ['a', 'b', 'd', 'q', 'dd'], [TreeSpec(list, None, [*,
    TreeSpec(tuple, None, [*,
      *])]),
  TreeSpec(OrderedDict, ['z'], [*]),
  TreeSpec(Point, [['a', 'b'], []], [*,
    *]),
  TreeSpec(deque, None, [*]),
  TreeSpec(defaultdict, [<class 'list'>, ['u']], [*])])"""
SHORT = (
    "{'a': [*, (*, *)], 'b': OrderedDict({'z': *}), 'd': Point(a=*, b=*, hidden=[]), 'q': deque([*]),"
    " 'dd': defaultdict(<class 'list'>, {'u': *})}"
)


def test_a_spec_prints_as_pytorchs():
    assert repr(tree_structure(TREE)) == PRINTED
    assert treespec_pprint(tree_structure(TREE)).replace("OrderedDict([('z', *)])", "OrderedDict({'z': *})") == SHORT


def test_a_spec_knows_its_parts():
    spec = tree_structure(TREE)
    assert (spec.num_nodes, spec.num_leaves, spec.num_children) == (15, 8, 5)
    assert spec.child(3) == tree_structure(deque([0])) and len(spec.children()) == 5
    assert not spec.is_leaf() and spec.child(1).child(0).is_leaf()


def test_each_leaf_has_a_path_that_leads_to_it():
    tree = {"n": Pair(1, [2]), **TREE}
    found = [keystr(path) for path, _ in tree_leaves_with_path(tree)]
    assert found == [
        "['n'].x", "['n'].y[0]", "['a'][0]", "['a'][1][0]", "['a'][1][1]", "['b']['z']", "['d'].a", "['d'].b",
        "['q'][0]", "['dd']['u']",
    ]  # fmt: skip
    for path, leaf in tree_flatten_with_path(tree)[0]:
        assert key_get(tree, path) is leaf
    assert repr(tree_leaves_with_path(Pair([1], 2))[0][0]) == "(GetAttrKey(name='x'), SequenceKey(idx=0))"


def test_a_map_with_paths_takes_further_trees():
    assert tree_map_with_path(lambda path, a, b: (keystr(path), a + b), [1, {"k": 2}], [10, {"k": 20}]) == [
        ("[0]", 11),
        {"k": ("[1]['k']", 22)},
    ]


def test_a_container_without_keys_has_no_paths():
    class Box:
        def __init__(self, content):
            self.content = content

    register_pytree_node(Box, lambda box: ([box.content], None), lambda children, _: Box(*children))
    with pytest.raises(ValueError, match="Please pass a flatten_with_keys_fn argument to register_pytree_node"):
        tree_leaves_with_path([Box(1)])


def test_a_dataclass_is_rebuilt_from_its_fields():
    doubled = tree_map(lambda n: 2 * n, Point(1, 3))
    assert doubled == Point(2, 6)


def test_what_is_no_dataclass_must_name_its_fields():
    class Plain:
        def __init__(self, u, v):
            self.u, self.v = u, v

    with pytest.raises(ValueError, match="field_names must be specified"):
        register_dataclass(Plain)
    register_dataclass(Plain, field_names=["u", "v"])
    assert tree_leaves([Plain(1, [2])]) == [1, 2]


def test_a_constant_is_part_of_the_shape():
    @dataclass(frozen=True)
    class Setting:
        value: int

    register_constant(Setting)
    assert tree_leaves([Setting(1), 2]) == [2]
    assert tree_structure([Setting(1), 2]) == tree_structure([Setting(1), 3]) != tree_structure([Setting(2), 2])
    with pytest.raises(TypeError, match="non-default `__eq__`"):
        register_constant(type("Plain", (), {}))


def test_only_what_is_of_the_types_or_of_the_predicate():
    tree = [1, "a", {"k": 2.0}]
    assert tree_map_only(lambda leaf: leaf == "a", str.upper, tree) == [1, "A", {"k": 2.0}]
    assert tree_map_only(int | float, lambda n: -n, tree) == [-1, "a", {"k": -2.0}]
    seen = []
    assert tree_map_only_(str, seen.append, tree) is tree and seen == ["a"]
    assert tree_all_only(int, lambda n: n > 0, tree) and not tree_any_only((int, float), lambda n: n < 0, tree)
    with pytest.raises(TypeError, match="a type, a tuple of types, or a callable"):
        tree_map_only(3, abs, tree)


def test_is_leaf_stops_the_descent_everywhere():
    is_pair = lambda tree: isinstance(tree, tuple)
    tree = [(1, 2), [3]]
    assert tree_is_leaf((1, 2), is_pair) and not tree_is_leaf((1, 2))
    assert list(tree_iter(tree, is_pair)) == [(1, 2), 3]
    assert tree_map_only(tuple, sum, tree, is_leaf=is_pair) == [3, [3]]
    assert [keystr(path) for path, _ in tree_leaves_with_path(tree, is_pair)] == ["[0]", "[1][0]"]


@pytest.mark.parametrize("other, message", [
    ({"b": 1}, r"missing key\(s\): \['a'\]; extra key\(s\): \['b'\]"),
    ({"a": 1, "b": 1}, r"extra key\(s\): \['b'\]"),
])  # fmt: skip
def test_dictionaries_with_other_keys_do_not_match(other, message):
    with pytest.raises(ValueError, match=message):
        tree_map(max, {"a": 1}, other)


def test_the_module_is_torchs_too():
    with as_torch.installed():
        import torch
        import torch.utils._pytree as their_name
        from torch.utils._pytree import tree_map as theirs
    assert their_name is pytree and theirs is tree_map and torch.utils._pytree is pytree


def test_flattening_is_the_same_with_and_without_paths():
    assert tree_flatten(TREE)[1] == tree_flatten_with_path(TREE)[1]
    assert tree_flatten(TREE)[0] == [leaf for _, leaf in tree_leaves_with_path(TREE)]


def test_a_class_that_derives_from_dict_is_registered_by_dicts_functions():
    class Output(dict):
        pass

    pytree.register_pytree_node(
        Output,
        pytree._dict_flatten,
        lambda values, context: Output(pytree._dict_unflatten(values, context)),
        flatten_with_keys_fn=pytree._dict_flatten_with_keys,
    )
    leaves, spec = pytree.tree_flatten_with_path(Output(a=1, b=2))
    assert [(pytree.keystr(path), leaf) for path, leaf in leaves] == [("['a']", 1), ("['b']", 2)]
    assert type(pytree.tree_map(str, Output(a=1))) is Output
