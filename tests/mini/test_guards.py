"""Guards and the cache: a version is used where it is right, and another one is made where it would be wrong."""

import types
from collections import OrderedDict, defaultdict, namedtuple

import pytest
from mini.breaks import Region
from mini.guards import Guards, fixed, is_constant, local
from mini.interpreter import Frame
from mini.tensor import Tensor, from_numpy, tensor

from .test_breaks import clone, same


class Box:
    def __init__(self, **parts):
        vars(self).update(parts)


class Loud(int):
    def __repr__(self):
        return "Loud"


def lists(a, b):
    a.append(1)
    return len(b)


def objects(a, b):
    a.n = 5
    return b.n


def storages(a, b):
    a.add_(1)
    return b * 2


def keys(d, x):
    for key in d:
        x = x * key
    return x


def count(r, x):
    x.sum().item()
    for _ in r:
        x = x + 1
    return x


def bound_append(x):
    out = []
    add = out.append
    for i in range(3):
        add(x + i)
        add(x.sum().item())
    return out


def bound_method(box, x):
    scale = x.sum
    x.sum().item()
    return scale() * box.n


def inner_function(x, k):
    def scaled(y, offset=k):
        return y * k + offset

    x.sum().item()
    return scaled(x)


def one_iterator(x):
    it = iter([1, 2, 3, 4])
    other = it
    for _ in range(2):
        x = x + next(it) * next(other)
        x.sum().item()
    return x


def own_item(items, x):
    items.append(items)
    x.sum().item()
    return x * len(items[-1])


def makes_own_item(x):
    items = [x]
    items.append(items)
    x.sum().item()
    return len(items[1][1]), items[1][0] * 2


def views_alive(d, x):
    items = d.items()
    x.sum().item()
    return [k for k, _ in items], x


def in_order(d, x):
    for key in d:
        x = x * d[key] + len(d)
    return x


Pair = namedtuple("Pair", "first second")
t, u = tensor([1.0, 2.0]), tensor([3.0, 4.0])
shared = Box(n=1)
PAIRS = [
    (lists, lambda: ([], []), lambda: ([],) * 2),
    (objects, lambda: (Box(n=1), Box(n=1)), lambda: (Box(n=1),) * 2),
    (storages, lambda: (clone(t), clone(u)), lambda: (lambda x: (x, x[0:1]))(clone(t))),
    (storages, lambda: (lambda x: (x, x[0:1]))(clone(t)), lambda: (clone(t), clone(u)[0:1])),
    (keys, lambda: ({1: 0}, tensor([1, 2])), lambda: ({1.0: 0}, tensor([1, 2]))),
    (keys, lambda: ({1: 0, 2: 0}, t), lambda: ({2: 0, 1: 0}, t)),
    (count, lambda: (range(2), t), lambda: (range(3), t)),
    (count, lambda: ([0], t), lambda: ((0, 0), t)),
    (bound_append, lambda: (t,), lambda: (u,)),
    (bound_method, lambda: (Box(n=1), t), lambda: (Box(n=2), u)),
    (inner_function, lambda: (t, 1), lambda: (t, 2)),
    (one_iterator, lambda: (t,), lambda: (u,)),
    (own_item, lambda: ([], t), lambda: ([0], t)),
    (makes_own_item, lambda: (t,), lambda: (u,)),
    (in_order, lambda: (OrderedDict(a=2), t), lambda: (OrderedDict(a=2, b=3), t)),
    (in_order, lambda: (defaultdict(int, a=2), t), lambda: (defaultdict(int, a=3), t)),
    (lambda pair, x: x * pair.first, lambda: (Pair(2, 3), t), lambda: (Pair(5, 3), t)),
    (lambda pair, x: x * pair[0], lambda: (Pair(2, 3), t), lambda: (Pair(5, 3), t)),
    (views_alive, lambda: ({"a": 1}, t), lambda: ({"b": 1}, t)),
    (lambda x, k: x * k, lambda: (t, 0.0), lambda: (t, -0.0)),
    (lambda x, k: x * k, lambda: (tensor([1, 2]), 1), lambda: (tensor([1, 2]), True)),
    (lambda x, k: x * (k + 1), lambda: (t, Loud(1)), lambda: (t, Loud(2))),
    (lambda x, k: x * k[0], lambda: (t, [2]), lambda: (t, (3,))),
]


@pytest.mark.parametrize("function, first, second", PAIRS)
def test_a_second_call_with_another_world_gives_what_python_gives(function, first, second):
    region = Region(function)
    for make in (first, second, first, second):
        mine, plain = make(), make()
        got, wanted = region(*mine), function(*plain)
        assert same(wanted, got) and (not isinstance(got, Tensor) or got.dtype == wanted.dtype)


def made():
    def inner(x):
        return x * 2

    return inner


def applied(x, function):
    return function(x)


@pytest.mark.parametrize(
    "function, make", [(inner_function, lambda: (t, 2)), (bound_append, lambda: (t,)), (applied, lambda: (t, made()))]
)
def test_functions_and_methods_made_anew_need_no_new_version(function, make):
    region = Region(function)
    region(*make())
    count = len(region.entries())
    region(*make())
    assert len(region.entries()) == count


def test_the_same_code_in_another_module_is_another_function():
    two, three = [types.FunctionType(reads_k.__code__, {"k": k}) for k in (2.0, 3.0)]
    region = Region(applied)
    assert [region(t, function).tolist() for function in (two, three)] == [(t * 2).tolist(), (t * 3).tolist()]


def reads_k(x):
    return x * k  # noqa: F821


def test_a_class_that_is_called_in_another_way_now_is_another_world():
    class Layer:
        def __call__(self, x):
            return x * 2

    region, layer, x = Region(lambda layer, x: layer(x)), Layer(), tensor([1.0])
    assert region(layer, x).item() == 2
    Layer.__call__ = lambda self, x: x * 3
    assert region(layer, x).item() == 3


def test_a_storm_ends_at_the_limit_and_nothing_more_is_compiled():
    made = []
    region = Region(lambda x, k: x * k, lambda graph: made.append(graph) or graph.run)
    assert [region(tensor([1.0]), k).tolist() for k in range(12)] == [[float(k)] for k in range(12)]
    assert len(made) == region.cache.limit == 8


def test_an_unreadable_path_is_a_miss():
    frame = Frame(lambda box: None, (Box(parts=[1]),), {})
    guards = Guards()
    source = local("box").attr("parts")
    guards.read(source, frame.locals["box"].parts, None)
    for parts in (None, [], [2], 3, {}):
        frame.locals["box"].parts = parts
        assert str(guards.first_failing(frame)).startswith(("type(box.parts)", "box.parts[0] == 1"))
    del frame.locals["box"].parts
    assert guards.first_failing(frame) is guards[0]


def test_two_globals_of_the_same_name_are_told_apart():
    first, second = {"__name__": "a", "k": [1]}, {"__name__": "b"}
    second["k"] = first["k"]
    guards = Guards()
    for module in (first, second):
        guards.read(fixed(module).item("k"), module["k"], None)
    assert guards.first_failing(None) is None
    second["k"] = [1]
    assert str(guards.first_failing(None)) == "b['k'] is a['k']"


def test_what_has_a_repr_of_its_own_is_no_constant():
    assert is_constant(1) and not is_constant(Loud(1))


def test_a_layer_switched_off_is_another_world():
    from mini.tape import no_grad

    region = Region(lambda x: x * 2)
    x = from_numpy(t.numpy().copy(), requires_grad=True)
    with no_grad():
        assert not region(x).requires_grad
    assert region(x).requires_grad and len(region.entries()) == 2
