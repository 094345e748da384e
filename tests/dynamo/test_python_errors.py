"""What Python raises, the program's `except` gets, with CPython's message; what only the tracer raises, it never
gets."""

import collections
import functools
import operator
import warnings

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager
from minitorch_compile.dynamo.testing.comparing import behaviour
from tests.dynamo.compiled import matrix

Pair = collections.namedtuple("Pair", "a b")


class Answers:
    """Each special method gives what it was told to."""

    def __init__(self, answer):
        self.answer = answer

    def give(self, *args):
        return self.answer

    __len__ = __str__ = __repr__ = __format__ = __iter__ = __int__ = __float__ = __index__ = give


class Truth(Answers):
    __bool__ = Answers.give


class Refusing:
    __iter__ = __contains__ = __len__ = __call__ = __getitem__ = __iadd__ = __bool__ = None

    def __add__(self, other):
        return "sum"


class Slotted:
    __slots__ = ("a",)


def add_in_place(value, other):
    value += other
    return value


def store(value, key=0):
    value[key] = 1


def remove(value, key=0):
    del value[key]


def unpack_two(value):
    a, b = value
    return a, b


def set_attribute(value):
    value.nothing = 1


def same(action, *arguments):
    """The action fails, or does not, in the same way when the failure is caught in the compiled function."""

    def f(x, *arguments):
        try:
            result = action(*arguments)
        except Exception as error:
            result = type(error).__name__, str(error), repr(error.__cause__)
        return x + 1, result

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # a mistake of the tracer would be told in one
        assert behaviour(optimize(f, eager), (matrix(), *arguments)) == behaviour(f, (matrix(), *arguments))


@pytest.mark.parametrize("answer", [-1, 1.5, "a", None, 3, 2**70])
@pytest.mark.parametrize("ask", [len, bool, list, str, repr, format, int, float, range, iter])
def test_what_a_special_method_may_answer(ask, answer):
    same(lambda: ask(Answers(answer)) is None)


@pytest.mark.parametrize("answer", [1, None, "a", True, False])
def test_bool_must_be_given_by_bool(answer):
    same(lambda: 1 if Truth(answer) else 2)
    same(lambda: not Truth(answer))


REFUSED = [len, bool, list, callable, unpack_two, lambda c: 1 in c, lambda c: c(), lambda c: c[0]]


@pytest.mark.parametrize("action", [*REFUSED, lambda c: add_in_place(c, 1), lambda c: c + 1])
def test_a_special_method_that_is_none(action):
    same(lambda: action(Refusing()))


UNPACKED = {
    "a positional": lambda: show(*5),
    "behind another": lambda: show(1, *5),
    "a keyword": lambda: show(**5),
    "into a list": lambda: [*5],
    "into a dict": lambda: {**5},
    "keywords that are no strings": lambda: show(**{1: 2}),
    "keywords of a class": lambda: dict(**{1: 2}),
    "an argument twice": lambda: Pair(1, **{"a": 1}),
}


def show(*args, **kwargs):
    return len(args), list(kwargs)


@pytest.mark.parametrize("action", UNPACKED.values(), ids=list(UNPACKED))
def test_unpacking_what_can_not_be_unpacked(action):
    same(action)


WRONG = {
    "store in a number": lambda: store(5),
    "store in a string": lambda: store("a"),
    "store in a tuple": lambda: store(()),
    "delete of a number": lambda: remove(5),
    "unpack a number": lambda: unpack_two(5),
    "unpack too many": lambda: unpack_two(iter([1, 2, 3])),
    "pairs that are none": lambda: dict([1]),
    "a triple": lambda: dict([(1, 2, 3)]),
    "iter with a sentinel": lambda: iter(5, 6),
    "map of nothing": lambda: map(1),
    "range of text": lambda: range("a"),
    "isinstance of no class": lambda: isinstance(1, 1),
    "reversed number": lambda: reversed(1.5),
    "a slot that is none": lambda: set_attribute(Slotted()),
    "a slot without value": lambda: Slotted().a,
    "popitem of nothing": lambda: collections.OrderedDict().popitem(),
    "a factory that is none": lambda: collections.defaultdict([("a", 1)]),
    "attribute of a deque": lambda: collections.deque().nothing,
}


@pytest.mark.parametrize("action", WRONG.values(), ids=list(WRONG))
def test_the_message_is_the_one_of_python(action):
    same(action)


class Propertied:
    """Only a class statement tells a property its name, and the first name stays."""

    named = property(lambda self: 1)
    renamed = named
    write_only = property(None, lambda self, value: None)

    class Inner:
        n = property()


Propertied.late = property(lambda self: 1)
Propertied.nothing = property()
ACCESSES = [set_attribute, lambda value: value.n, lambda value: value.write_only, lambda value: setattr(value, "n", 1)]
ACCESSES += [lambda value: setattr(value, "named", 1), lambda value: setattr(value, "renamed", 1)]
ACCESSES += [lambda value: setattr(value, "late", 1), lambda value: value.nothing]


@pytest.mark.parametrize("action", ACCESSES)
@pytest.mark.parametrize("cls", [Propertied, Propertied.Inner])
def test_a_property_without_setter_or_getter_is_called_as_python_calls_it(cls, action):
    same(action, cls())


def test_a_property_that_gains_a_setter_is_set():
    class Box:
        n = property(lambda self: 1)

    f = optimize(lambda x, box: (setattr(box, "n", 1), x + 1), eager)
    with pytest.raises(AttributeError, match="property 'n' of '.*Box' object has no setter"):
        f(matrix(), Box())
    Box.n = property(lambda self: 1, lambda self, value: vars(self).update(given=value))
    f(matrix(), box := Box())
    assert vars(box) == {"given": 1}


def deriving(kind):
    """A class derived from property, staticmethod or the like, that answers by itself."""
    methods = {"__get__": lambda self, instance, owner=None: (instance is None, 5)}
    if kind is property:
        methods["__set__"] = lambda self, instance, value: vars(instance).update(kept=value)
    return type(f"Own_{kind.__name__}", (kind,), methods)


@pytest.mark.parametrize("kind", [property, staticmethod, classmethod, functools.cached_property])
def test_a_kind_of_property_with_a_get_of_its_own_is_asked(kind):
    class Box:
        nothing = deriving(kind)(lambda self: 1)

    same(lambda: (Box().nothing, Box.nothing))
    same(lambda box: (set_attribute(box), vars(box), box.nothing), Box())


def test_a_list_is_asked_after_the_class_with_a_reflected_sum():
    class Sum(dict):
        def __radd__(self, other):
            return "reflected", other

    same(lambda: ([1] + Sum(), add_in_place([1], Sum())))
    same(lambda: add_in_place(DEQUE.copy(), Sum()))


def test_iteration_sees_a_value_that_the_loop_changed():
    def double(items):
        for key, value in items.items():
            items["b"] = value * 2
        return items

    same(lambda: double({"a": 1, "b": 2}))


def test_looking_for_a_member_takes_only_what_comes_before_it():
    def f():
        numbers = iter([1, 2, 3, 4])
        return 2 in numbers, list(numbers)

    same(f)


def test_the_limits_of_a_type_of_numpy():
    same(lambda: (float(np.finfo(np.float32).max), int(np.iinfo(np.int32).max)))


def test_a_size_kept_on_the_context_of_a_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.n = x.size(0)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.n

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        compiled = optimize(lambda x: Double.apply(x), eager, dynamic=True)
        for size in (2, 3):
            x = torch.ones(size, requires_grad=True)
            compiled(x).sum().backward()
            assert x.grad.tolist() == [size] * size


DEQUE = collections.deque([1])


@pytest.mark.parametrize("action", [operator.add, operator.eq, operator.ne, operator.le, add_in_place])
def test_a_deque_is_no_list(action):
    same(lambda: action([1], DEQUE.copy()))
    same(lambda: action(DEQUE.copy(), [1]))


class Reflected(dict):
    def __ror__(self, other):
        return "reflected"


@pytest.mark.parametrize("left", [dict, collections.OrderedDict, collections.Counter])
def test_a_merge_asks_the_right_dict_first_only_if_its_class_is_derived_from_that_of_the_left_one(left):
    same(lambda: left(a=1) | Reflected(b=2))
    same(lambda: left(a=1) | collections.OrderedDict(b=2))
    same(lambda: left(a=1) | collections.Counter(b=2))


OPERANDS = (1, None, "s", b"x", (1,), [1], {1: 2}, {1}, frozenset(), Refusing)


@pytest.mark.parametrize("sign", ["+", "-", "*", "//", "**", "<<", "|", "@"])
@pytest.mark.heavy
def test_the_message_names_the_operator_as_it_is_written(sign):
    scope = {}
    for written in (sign, f"{sign}="):
        line = f"left {written} right" if written.endswith("=") else f"left = left {written} right"
        exec(f"def f(x, left, right):\n {line}\n return left", scope)
        for left in OPERANDS:
            for right in OPERANDS:
                x = torch.ones(1)

                def outcome(function):
                    try:
                        return function(
                            x, *(type(o)(o) if isinstance(o, (list, dict, set)) else o for o in (left, right))
                        )
                    except (TypeError, ValueError) as error:
                        return str(error)

                assert outcome(optimize(scope["f"], eager)) == outcome(scope["f"]), (left, written, right)
