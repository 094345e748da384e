# ruff: noqa: B007, C416, C417 (they are meant: each is a construct of its own)
"""What a trace may not get wrong in silence: half-done instructions, iterators, identities, defaults, texts."""

import pytest
from mini.breaks import Region
from mini.graph import trace
from mini.interpreter import Frame
from mini.tensor import fake, tensor
from mini.tracer import Trace

from .test_breaks import clone, same


def in_a_call(x):
    n = 0

    def g():
        nonlocal n
        n += 1
        return x.sum().item()

    return g() + n, n


def consumed_in_a_call(x):
    def g(items):
        first = list(items)
        return len(first), x.sum().item()

    return g(iter([1, 2, 3]))


def changed_in_a_call(x, seen):
    def g(d):
        seen.append(1)
        d["k"] = x
        del d["old"]
        return x.sum().item()

    d = {"old": 0}
    return g(d), seen, d


def unread_cell(x):
    def g():
        nonlocal late
        late = 2
        return x.sum().item()

    if x is None:
        late = 1
    return g(), late


def bound(x):
    f = x.relu
    x.sum().item()
    return f() + 1


def collected(x):
    return [v.sum().item() for v in [x, x * 2]], {k: (x * k).sum().item() for k in range(2)}


def shared_iterator(x):
    it = iter([1, 2, 3, 4])
    return [x * a + next(it) for a in it]


def interleaved(x):
    log = []

    def g():
        for i in range(2):
            log.append(i)
            yield x * i

    for i, y in enumerate(g()):
        log.append(10 * i)
        log.append(y)
    return log


def keys(x):
    scale = [3]
    return (
        sorted([3, 1, 2], key=lambda v: -v * scale[0]),
        max([x.shape, (1,)], key=len),
        list(map(lambda v: x + v, [1, 2])),
    )


def words(x):
    return "{}".format(x), str([x]), "%s" % x, ", ".join(map(str, [x]))  # noqa: UP031, UP032


def with_default(x, acc=[]):  # noqa: B006
    acc.append(1)
    return x * len(acc)


def calls_with_default(x):
    return with_default(x) + with_default(x)


def in_place(x, items, names):
    items *= 2
    items += [x]
    names |= {"b": x}
    return items, names


def identity(x, a, b):
    return x if a is b else -x


class Plain:
    def __init__(self):
        self.set = []

    @property
    def doubled(self):
        self.set.append("read")
        return 2

    @doubled.setter
    def doubled(self, value):
        self.set.append(value)


def by_property(x, made=Plain):
    p = made()
    p.doubled = 3
    return x * p.doubled, p.set


def loops_over_views(x, d):
    for k, v in d.items():
        x = x + v
    return [k for k in d], x, list(reversed([x, 1])), [a for a in zip(d, d.values())]


def rows(x):
    a, b = x
    return a, b, [row.sum() for row in x], len(x)


t = tensor([1.0, 2.0])
CASES = [
    (in_a_call, t), (consumed_in_a_call, t), (changed_in_a_call, t, [5]), (collected, t), (shared_iterator, t),
    (keys, t), (words, t), (calls_with_default, t), (in_place, t, [1], {"a": 2}), (by_property, t), (unread_cell, t),
    (loops_over_views, t, {"a": 1, "b": 2}), (rows, tensor([[1.0, 2.0], [3.0, 4.0]])),
]  # fmt: skip


@pytest.mark.parametrize("function, args", [(f, args) for f, *args in CASES])
def test_a_region_does_what_the_function_does(function, args):
    region = Region(function)
    for moved in (0, 0, 1):
        a, b = [[tensor((v + moved).tolist()) if v is args[0] else clone(v) for v in args] for _ in range(2)]
        if function is calls_with_default:
            with_default.__defaults__[0].clear()
        wanted = function(*a)
        if function is calls_with_default:
            with_default.__defaults__[0].clear()
        assert same(region(*b), wanted)
        assert same(b, a)


def test_whether_two_objects_are_one_is_asked_again():
    region, a, b = Region(identity), Plain(), Plain()
    assert same(region(t, a, b), identity(t, a, b))
    assert same(region(t, a, a), identity(t, a, a))
    assert same(region(t, a, None), identity(t, a, None))


def test_a_half_done_call_leaves_no_node():
    def f(x):
        y = x * 2
        return (lambda z: (z + 1).sum().item())(y)

    traced = Trace(Frame(f, (t,), {}))
    traced.run()
    assert [str(node) for node in traced.record.graph.nodes] == ["mul"]


def test_a_generator_that_waits_where_a_graph_ends_makes_the_rest_run_for_real():
    assert same(Region(interleaved)(t), interleaved(t))


def test_a_tensor_that_is_no_argument_is_refused():
    w = tensor([1.0, 2.0])
    for f in (lambda x: x + w, lambda x: w.add_(x), lambda x: w):
        with pytest.raises(RuntimeError, match="no argument"):
            trace(f, fake((2,)))
    assert w.tolist() == [1.0, 2.0]
