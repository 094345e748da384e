"""Nested containers flatten to leaves and come back, as in torch.utils._pytree."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitorch_compile.pytree import (
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_map_only,
    tree_structure,
    tree_unflatten,
)

Pair = namedtuple("Pair", "left right")

TREES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda children: (
        st.lists(children, max_size=3)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), children, max_size=3)
        | st.dictionaries(st.text(max_size=2), children, max_size=3).map(OrderedDict)
        | st.tuples(children, children).map(lambda two: Pair(*two))
        | st.lists(children, max_size=3).map(deque)
    ),
    max_leaves=12,
)


@given(TREES)
@settings(max_examples=100)
def test_unflatten_undoes_flatten_and_keeps_every_type(tree):
    leaves, spec = tree_flatten(tree)
    rebuilt = tree_unflatten(leaves, spec)
    assert rebuilt == tree
    assert repr(rebuilt) == repr(tree), "the container types changed"
    assert spec.num_leaves == len(leaves)
    assert tree_structure(rebuilt) == spec


@pytest.mark.parametrize("empty", [(), [], {}, OrderedDict(), deque()], ids=repr)
def test_an_empty_container_has_no_leaves(empty):
    assert tree_leaves(empty) == []
    assert tree_unflatten([], tree_structure(empty)) == empty


def test_none_is_a_leaf():
    assert tree_leaves([None, (None,)]) == [None, None]


def test_dictionaries_keep_their_insertion_order():
    assert tree_leaves({"b": 1, "a": 2}) == [1, 2]
    assert tree_structure({"b": 1, "a": 2}) != tree_structure({"a": 2, "b": 1})


def test_a_second_dictionary_is_matched_by_key_not_by_position():
    assert tree_map(lambda a, b: a + b, {"a": 1, "b": 2}, {"b": 10, "a": 20}) == {"a": 21, "b": 12}


def test_defaultdict_keeps_its_factory():
    copy = tree_map(lambda v: v, defaultdict(list, a=1))
    assert copy["new"] == []


def test_a_namedtuple_keeps_its_class():
    mapped = tree_map(lambda v: v * 2, Pair(1, [2]))
    assert mapped == Pair(2, [4]) and type(mapped) is Pair


def test_a_subclass_of_list_is_a_leaf_until_registered():
    class Stack(list):
        pass

    assert tree_leaves([Stack([1, 2])]) == [Stack([1, 2])]
    register_pytree_node(Stack, lambda s: (list(s), None), lambda children, _: Stack(children))
    assert tree_leaves([Stack([1, 2])]) == [1, 2]
    assert type(tree_map(abs, Stack([-1]))) is Stack


def test_tree_map_only_touches_the_named_types():
    assert tree_map_only(int, lambda n: -n, [1, "one", {"k": 2.0}]) == [-1, "one", {"k": 2.0}]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: tree_map(max, [1, 2], [1]), "Node arity mismatch; expected 2, but got 1"),
        (lambda: tree_map(max, [1, 2], (1, 2)), "Node type mismatch; expected <class 'list'>, but got <class 'tuple'>"),
        (lambda: tree_map(max, {"a": 1}, {"b": 1}), r"missing key\(s\): \['a'\]"),
        (lambda: tree_unflatten([1], tree_structure([1, 2])), "`leaves` has length 1 but .* holds 2 items"),
        (lambda: register_pytree_node(list, None, None), "already registered"),
    ],
)
def test_mismatched_trees_raise_value_errors_that_say_what_differs(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_swapped_arguments_of_unflatten_are_named():
    with pytest.raises(TypeError, match="expected `treespec` to be a TreeSpec, but got list"):
        tree_unflatten(tree_structure([1]), [1])
