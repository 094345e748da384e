"""Shapes as text: the texts were written by PyTorch 2.13."""

import enum
import time
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from minitorch_compile import pytree
from minitorch_compile.pytree import (
    tree_leaves,
    tree_structure,
    treespec_dict,
    treespec_dumps,
    treespec_leaf,
    treespec_loads,
    treespec_tuple,
)


class Color(enum.Enum):
    RED = 1


class Box:
    def __init__(self, content, color):
        self.content, self.color = content, color


Pair = namedtuple("Pair", "x y")
LEAF = '{"type": null, "context": null, "children_spec": []}'
BOX = (
    '[1, {"type": "my.Box", "context": "{\\"__enum__\\": true, \\"fqn\\": \\"%s:Color\\", \\"name\\": \\"RED\\"}",'
    ' "children_spec": [' + LEAF + "]}]"
)
WRITTEN = (
    '[1, {"type": "builtins.dict", "context": "[\\"d\\", \\"q\\"]", "children_spec": [{"type":'
    ' "collections.defaultdict", "context": {"default_factory_module": "builtins", "default_factory_name": "list",'
    ' "dict_context": ["k"]}, "children_spec": [' + LEAF + ']}, {"type": "collections.deque", "context": "5",'
    ' "children_spec": [{"type": "collections.namedtuple", "context": "my.Pair", "children_spec": ['
    + ", ".join([LEAF, LEAF])
    + "]}]}]}]"
)


@pytest.fixture
def registered():
    pytree._register_namedtuple(Pair, serialized_type_name="my.Pair")
    pytree.register_pytree_node(
        Box, lambda box: ([box.content], box.color), lambda c, color: Box(*c, color), serialized_type_name="my.Box"
    )
    yield
    for cls in (Pair, Box):
        del pytree.SUPPORTED_NODES[cls], pytree.containers.dumpables[cls]


def test_a_shape_is_written_and_read_as_by_pytorch(registered):
    spec = tree_structure({"d": defaultdict(list, k=1), "q": deque([Pair(1, 2)], 5)})
    assert treespec_dumps(spec) == WRITTEN
    assert treespec_loads(WRITTEN) == spec
    assert treespec_loads(WRITTEN).unflatten([1, 2, 3])["q"] == deque([Pair(2, 3)])
    assert treespec_dumps(tree_structure(Box(1, Color.RED))) == BOX % __name__
    assert treespec_loads(BOX % __name__).context is Color.RED
    assert treespec_loads(treespec_dumps(tree_structure([1, (2, OrderedDict(a=3))]))).num_leaves == 3


def test_what_has_no_name_or_no_text_is_refused(registered):
    class Plain:
        pass

    unnamed = namedtuple("unnamed", "a")
    pytree.register_pytree_node(Plain, lambda _: ([], None), lambda *_: Plain())
    with pytest.raises(NotImplementedError, match="give register_pytree_node a serialized_type_name"):
        treespec_dumps(tree_structure(Plain()))
    with pytest.raises(NotImplementedError, match="register it with _register_namedtuple"):
        treespec_dumps(tree_structure(unnamed(1)))
    with pytest.raises(TypeError, match="to_dumpable_context"):
        treespec_dumps(tree_structure(Box(1, object())))
    with pytest.raises(NotImplementedError, match=r"no type is registered as 'a\.B'"):
        treespec_loads('[1, {"type": "a.B", "context": "null", "children_spec": []}]')
    with pytest.raises(ValueError, match="Unknown protocol 2"):
        treespec_dumps(treespec_leaf(), 2)
    with pytest.raises(TypeError, match="expected `treespec` to be a TreeSpec"):
        treespec_dumps([1])
    with pytest.raises(TypeError, match="is no Enum"):
        treespec_loads('[1, {"type": "builtins.list", "context": "{\\"__enum__\\": 1, \\"fqn\\": \\"os:system\\"}"}]')
    with pytest.raises(ValueError, match="both to_dumpable_context and from_dumpable_context"):
        pytree.register_pytree_node(set, list, set, to_dumpable_context=str)


def test_shapes_can_be_made_by_hand():
    assert treespec_tuple([treespec_leaf()]) == tree_structure((1,)) != tree_structure([1])
    assert treespec_dict({"a": treespec_leaf()}, b=treespec_tuple()) == tree_structure({"a": 1, "b": ()})
    assert isinstance(treespec_leaf(), pytree.LeafSpec) and treespec_leaf() == pytree.LeafSpec()
    with pytest.raises(ValueError, match="but got 3"):
        treespec_dict(a=3)


def test_classes_that_derive_from_namedtuples_are_containers():
    class Derived(Pair):
        pass

    assert tree_leaves(Derived(1, [2])) == [1, 2]
    assert type(tree_structure(Derived(1, 2)).unflatten([3, 4])) is Derived
    assert pytree._get_node_type(Derived(1, 2)) is namedtuple is tree_structure(Pair(1, 2)).type
    assert pytree.SUPPORTED_NODES[namedtuple].flatten_fn(Pair(1, 2)) == ([1, 2], Pair)


def test_built_in_tuples_with_names_are_leaves():
    now = time.gmtime()
    assert pytree.is_structseq(now) and pytree.is_structseq(type(now)) and not pytree.is_structseq(Pair)
    assert tree_leaves(now) == [now]


def test_a_text_imports_no_module() -> None:
    text = treespec_dumps(tree_structure(defaultdict(list, a=1))).replace("builtins", "antigravity")
    with pytest.raises(ModuleNotFoundError, match="names the module 'antigravity'; import that first"):
        treespec_loads(text)
