"""Programs, interpreted and run plainly."""

import pytest
from mini.interpreter import Items, Unsupported, run

from .python_programs import PROGRAMS, outcome


@pytest.mark.parametrize("function, args", [(f, args) for f, *args in PROGRAMS])
def test_does_what_python_does(function, args):
    assert outcome(lambda *args: run(function, *args), *args) == outcome(function, *args)


def catches():
    try:
        return 1
    except ValueError:
        return 2


async def waits():
    return 1


def delegates():
    yield from [1, 2]


def formats(x=1):
    return f"{x:03}"


def makes_a_set(x=1):
    return {x}


def takes_apart(x=(1, 2)):
    first, *rest = x
    return first, rest


@pytest.mark.parametrize(
    "function, named",
    [
        (catches, "PUSH_EXC_INFO"),
        (waits, "async function waits"),
        (delegates, "GET_YIELD_FROM_ITER"),
        (formats, "FORMAT_VALUE|FORMAT_WITH_SPEC"),
        (makes_a_set, "BUILD_SET"),
        (takes_apart, "UNPACK_EX"),
    ],
)
def test_what_is_not_interpreted_is_refused_by_name(function, named):
    with pytest.raises(Unsupported, match=named):
        run(function)


def test_an_iterator_can_be_put_back():
    items = Items(range(3))
    assert next(items) == 0
    at = items.at
    assert list(items) == [1, 2]
    assert list(Items(range(3), at)) == [1, 2]
