"""What the tracer knows of Python's library: containers, functools, itertools, operator, sys."""

import collections
import functools
import itertools
import operator
import sys
import types
import typing

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager
from minitorch_compile.dynamo.testing.comparing import behaviour
from tests.dynamo.compiled import assert_same, matrix

Deque = collections.deque


@pytest.mark.parametrize("maxlen", [None, 0, 1, 3])
@pytest.mark.parametrize(
    "change",
    [
        lambda d, x: d.append(x + 1),
        lambda d, x: d.appendleft(x + 1),
        lambda d, x: d.extend([x, 1, 2]),
        lambda d, x: d.extendleft([x, 1, 2]),
        lambda d, x: (d.append(0), d.pop(), d.append(1), d.popleft()),
        lambda d, x: (d.rotate(2), d.rotate(-1)),
        lambda d, x: (d.reverse(), d.append(3)),
        lambda d, x: d.clear(),
        lambda d, x: d.__setitem__(0, x + 1),
        lambda d, x: (d.popleft(), d[0], d[-1]),
    ],
)
def test_a_deque_from_outside_is_changed_as_by_the_plain_function(maxlen, change):
    def f(x, d):
        change(d, x)
        return x * len(d), list(d), d.maxlen

    assert_same(f, lambda: (matrix(), Deque([1, 2, 3, 4], maxlen)), graphs=None, breaks=0)


def test_a_deque_made_inside_lives_on():
    def f(x):
        d = Deque([x], maxlen=2)
        d.append(x + 1)
        return d, d + Deque([1]), d == Deque([x, 1]) if False else None, 1 in Deque([1]), d.copy() is d

    assert_same(f)


def test_a_deque_that_changes_while_it_is_iterated_over_raises():
    def f(x, d):
        for item in d:
            d.append(item)
        return x

    assert_same(f, lambda: (matrix(), Deque([1, 2])), graphs=0)


@pytest.mark.parametrize("last", [True, False])
def test_ordered_dicts_from_outside_are_reordered(last):
    def f(x, d):
        d.move_to_end("b", last=last)
        key, _ = d.popitem(last=last)
        return x + 1, key

    assert_same(f, lambda: (matrix(), collections.OrderedDict(a=1, b=2, c=3)))


def test_a_counter_from_outside():
    def f(x, counter):
        counter.update("ab")
        counter["z"] += 1
        return x * counter["a"] + counter["nothing"], counter.most_common(1)

    assert_same(f, lambda: (matrix(), collections.Counter("aab")))


def test_a_namespace_from_outside_and_one_that_lives_on():
    def f(x, options):
        options.n += 1
        return x * options.n, types.SimpleNamespace(a=x + 1, b=[2])

    assert_same(f, lambda: (matrix(), types.SimpleNamespace(n=2)))


def test_views_of_dicts_backwards():
    assert_same(lambda x, d: [x * v for _, v in reversed(d.items())], lambda: (matrix(), {"a": 1, "b": 2}))


@functools.lru_cache
def table(name, sizes):
    return {"name": name, "sizes": list(sizes)}


class Holder:
    factor = 2

    @functools.lru_cache
    def scaled(self, n):
        return n * self.factor


def test_a_cached_function_gives_the_object_in_its_cache():
    table.cache_clear()

    def f(x, shared):
        found = table("a", (1, 2))
        return x * len(found["sizes"]), found is shared

    compiled = optimize(f, eager)
    shared = table("a", (1, 2))
    assert compiled(matrix(), shared)[1] is True
    shared["sizes"].append(3)
    assert compiled(matrix(), shared)[0].tolist() == (matrix() * 3).tolist()
    table.cache_clear()
    assert compiled(matrix(), shared)[1] is False


def test_types_are_written_in_brackets():
    def f(x):
        parts = torch.jit.annotate(typing.List[typing.Optional[torch.Tensor]], [])
        names = torch.jit.annotate(typing.Dict[str, int], {"by": 3})
        parts.append(typing.cast(typing.Union[torch.Tensor, int], x) * names["by"])
        return parts

    assert torch.compile(f, backend="eager", fullgraph=True)(torch.ones(1))[0].item() == 3


def test_a_cached_method():
    holder = Holder()
    assert_same(lambda x: x * holder.scaled(3), breaks=1)


@pytest.mark.parametrize("maxsize", [None, 2])
def test_a_cache_counts_as_plainly(maxsize):
    def counted(run):
        log = []

        @functools.lru_cache(maxsize)
        def noted(n, by=1):
            log.append(n)
            return [n * by]

        def f(x):
            for n in (1, 2, 3, 1, 1):
                noted(n)
            same = noted(1) is noted(1)
            log.append("stored")
            return x * noted(2, by=3)[0], same, noted.cache_info(), noted.cache_clear()

        return [behaviour(run(f), (matrix(),)) for _ in range(3)], log

    assert counted(lambda f: optimize(f, eager)) == counted(lambda f: f)


def test_a_cached_function_sees_what_was_stored_before_it():
    state = {"n": 1}

    @functools.cache
    def read(key):
        return state[key]

    def f(x):
        state["n"] += 1
        return x * read("n")

    assert optimize(f, eager)(matrix()).tolist() == (matrix() * 2).tolist()


def test_single_dispatch_follows_what_is_registered_later():
    @functools.singledispatch
    def size(value):
        return 1

    compiled = optimize(lambda x, value: x * size(value), eager)
    assert compiled(torch.ones(1), [1, 2]).tolist() == [1]
    size.register(list, len)
    assert compiled(torch.ones(1), [1, 2]).tolist() == [2]


second = operator.itemgetter(1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (second([1, x]), operator.itemgetter(0, 2)((1, 2, 3))),
        lambda x: operator.attrgetter("shape")(x),
        lambda x: operator.attrgetter("T.shape", "ndim")(x),
        lambda x: operator.methodcaller("sum", dim=0)(x),
        lambda x: (x + 1, operator.itemgetter("a"), sorted([(2, "a"), (1, "b")], key=second)),
    ],
)
def test_getters(function):
    assert_same(lambda x: (x * 2, function(x)))


@pytest.mark.parametrize(
    "items",
    [
        lambda: itertools.permutations("abc", 2),
        lambda: itertools.combinations_with_replacement([1, 2, 3], 2),
        lambda: itertools.islice(itertools.cycle([1, 2, 3]), 7),
        lambda: itertools.compress("abcd", [1, 0, 1]),
        lambda: itertools.filterfalse(None, [0, 1, "", 2]),
        lambda: [(k, list(g)) for k, g in itertools.groupby([1, 1, 2, 3, 3], key=lambda n: n % 3)],
        lambda: [k for k, _ in itertools.groupby("aabba")],
        lambda: itertools.chain(*itertools.tee([1, 2, 3])),
        lambda: itertools.chain.from_iterable(["ab", [1]]),
    ],
)
def test_itertools(items):
    assert_same(lambda x: (x + 1, list(items())))


def test_an_iterator_written_as_a_class():
    class Countdown:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    def f(x, counting):
        first = next(iter(counting))
        return [x * k for k in counting], first, iter(counting) is counting

    assert_same(f, lambda: (matrix(), Countdown(4)))


def test_the_exception_being_handled():
    def f(x):
        before = sys.exc_info()[0], sys.exception()
        try:
            raise KeyError("a")
        except KeyError:
            return x + 1, before, sys.exc_info()[0], sys.exception().args

    assert_same(f)
    compiled = optimize(lambda x: (x + 1, sys.exception()), eager)
    assert compiled(matrix())[1] is None
    try:
        raise ValueError("outside")
    except ValueError as error:
        assert compiled(matrix())[1] is error


def test_the_text_of_an_exception_whose_init_is_its_own():
    class Refused(Exception):
        def __init__(self, amount):
            super().__init__(f"refused {amount}")

    def f(x):
        try:
            raise Refused(3)
        except Refused as error:
            return x + 1, str(error), repr(error)

    assert_same(f)


def test_a_named_tuple_class_made_inside_is_new_at_each_call():
    def f(x):
        Pair = collections.namedtuple("Pair", "a b")
        return Pair(x + 1, b=2)

    assert_same(f)
    compiled = optimize(f, eager)
    assert type(compiled(matrix())) is not type(compiled(matrix()))


def test_isinstance_asks_a_metaclass():
    class Wide(type):
        def __instancecheck__(cls, instance):
            return hasattr(instance, "width")

    class HasWidth(metaclass=Wide):
        pass

    assert_same(lambda x, o: (x + 1, isinstance(o, HasWidth), isinstance(3, HasWidth)), lambda: (matrix(), Box()))
    assert_same(lambda x: (x + 1, isinstance(x, torch.autograd.Variable), torch.autograd.Variable(x) * 2))


class Box:
    width = 3
