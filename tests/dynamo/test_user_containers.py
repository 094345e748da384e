"""Classes derived from dict, list, str, int and the like: their methods run as often as plainly, and in that order.

The programs come from `container_programs.py`: each base, with what it overrides, in each of its operations. Compiled,
they give what they give plainly, at three calls with changes between them.
"""

import collections
import random
import warnings

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager
from tests.dynamo.container_programs import FAMILIES, PLACES, program, seen


def compiling(function):
    return optimize(function, eager)


def assert_same_program(base, overridden, operation, place):
    text = program(base, overridden, operation, place)
    plain = seen(text, place, lambda function: function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert seen(text, place, compiling) == plain, text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("base", FAMILIES)
def test_methods_of_the_class_run_as_plainly(base, place):
    family = FAMILIES[base]
    chance = random.Random(f"{base} {place}")
    for operation in chance.sample(family.operations, 5):
        without_access = [name for name in family.methods if name != "__getattribute__"]
        assert_same_program(base, tuple(without_access), operation, place)
        assert_same_program(base, tuple(chance.sample(family.methods, 2)), operation, place)


class Longer(list):
    def __iter__(self):
        return iter([*super().__iter__(), 7])


@pytest.mark.parametrize("where", [slice(None), slice(1, 1), slice(None, None, -1), 0])
def test_a_list_put_into_itself_is_not_iterated_over(where):
    def f(items):
        items[where] = items

    compiled, plain = Longer([1, 2]), Longer([1, 2])
    optimize(f, eager)(compiled)
    f(plain)
    assert list.__repr__(compiled) == list.__repr__(plain)


class Asked:
    """What containers are made of that say which of their methods were called, and lie about their items."""

    def __len__(self):
        CALLED.append("len")
        return 1

    def __iter__(self):
        CALLED.append("iter")
        yield from (7, *super().__iter__())


class AskedList(Asked, list):
    pass


class AskedIterator:
    def __init__(self):
        self.rest = [5, 6]

    def __iter__(self):
        CALLED.append("iter")
        return self

    def __next__(self):
        if not self.rest:
            raise StopIteration
        return self.rest.pop()

    def __len__(self):
        CALLED.append("len")
        return 2


CALLED = []
BY_ITSELF = """c[:] = c
c[1:] = c
c[0:0] = c
c[::1] = c
c[::2] = c
c.extend(c)
c += c
c.__init__(c)
c.__iadd__(c)
c[0] = c
list.__setitem__(c, slice(None), c)
c[:] = reversed(c)
d = [0]; d[:] = c; c.append(d)
c[:] = AskedIterator()
c[::2] = 5
c[:] = None"""


@pytest.mark.parametrize("cls", [AskedList, list])
@pytest.mark.parametrize("statement", BY_ITSELF.splitlines())
def test_a_list_that_is_given_itself_asks_what_it_asks_plainly(statement, cls):
    scope = dict(globals())
    exec(f"def f(x, c):\n    {statement}\n    return x + 1", scope)

    def outcome(function):
        CALLED.clear()
        items, error = cls([1, 2, 3]), None
        try:
            function(torch.ones(1), items)
        except (TypeError, ValueError) as raised:
            error = str(raised)
        shown = ["itself" if item is items else str(item) for item in list.__iter__(items)]
        return error, [*CALLED], shown

    plain = outcome(scope["f"])
    compiled = compiling(scope["f"])
    assert outcome(compiled) == plain
    assert outcome(compiled) == plain


class Noting(dict):
    """Notes what it is asked; dict takes the items of one whose `__iter__` is dict's own without asking."""

    def keys(self):
        CALLED.append("keys")
        return super().keys()

    def __getitem__(self, key):
        CALLED.append(key)
        return super().__getitem__(key)


class NotingOrdered(Noting, collections.OrderedDict):
    pass


class ItemsOnly:
    def items(self):
        return [("q", 4)]

    def __iter__(self):
        return iter([("z", 3)])


MERGED = ("into.update(c)", "into |= c", "into = into | c", "into = c | into", "into = type(into)(c)")
KINDS = {
    "dict": lambda: {"n": 0},
    "OrderedDict": lambda: collections.OrderedDict(n=0),
    "defaultdict": lambda: collections.defaultdict(int, n=0),
    "Noting": lambda: Noting(n=0),
}
GIVEN = {
    **KINDS,
    "NotingOrdered": lambda: NotingOrdered(k=1),
    "ItemsOnly": ItemsOnly,
    "pairs": lambda: [("k", 1), ["l", 2]],
    "one": lambda: [("k",)],
    "three": lambda: [("k", 1), (1, 2, 3)],
    "no pair": lambda: [5],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("statement", MERGED)
def test_a_merge_of_two_dicts_asks_what_it_asks_plainly_and_is_of_that_class(statement, kind):
    scope = dict(globals())
    exec(f"def f(x, into, c):\n    y = x + 1\n    {statement}\n    return into", scope)

    def outcome(function, given):
        CALLED.clear()
        try:
            merged = function(torch.ones(1), KINDS[kind](), GIVEN[given]())
        except (TypeError, ValueError) as raised:
            return str(raised), [*CALLED]
        return type(merged), list(dict.items(merged)), [*CALLED]

    for given in GIVEN:
        assert outcome(compiling(scope["f"]), given) == outcome(scope["f"], given), given
