"""Classes derived from dict, list, str, int and the like: their methods run as often as plainly, and in that order.

The programs come from `container_programs.py`: each base, with what it overrides, in each of its operations. Compiled,
they give what they give plainly, at three calls with changes between them.
"""

import random
import warnings

import pytest

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
