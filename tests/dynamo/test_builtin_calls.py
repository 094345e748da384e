"""Calls of builtins and library functions with right and wrong arguments: the value or the very exception of Python."""

import itertools
import re

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager

BUILTINS = (
    "list tuple dict set frozenset bool str int float complex len sum min max abs round divmod pow range slice"
    " enumerate zip map filter reversed sorted iter next any all isinstance issubclass hasattr getattr callable type"
    " repr chr ord hex bin oct format"
)
FUNCTIONS = {
    "math": "sqrt floor prod gcd isclose copysign log comb fmod isnan",
    "operator": "add mul getitem attrgetter itemgetter neg contains concat index truth is_not lshift",
    "itertools": "chain product permutations accumulate repeat islice zip_longest starmap takewhile groupby pairwise",
    "functools": "reduce partial",
    "copy": "copy deepcopy",
}
ARGUMENTS = (
    "", "[1, 2]", "[1, 2], [3]", "3", "'ab'", "None", "2, 3", "[3, 1, 2], 0", "1.5", "[1], [2], [3]", "(1, 2), 'k'",
    "{'a': 1}", "[(1, 2)]", "lambda a: a, [1, 2]", "[1, 2], key=None", "strict=True", "'ab', 'b'", "-1", "x",
    "[x], [x]", "True", "2, 3, 5", "int, object", "3, int", "[3, 1], reverse=True", "unknown=1",
)  # fmt: skip
CALLED = [*BUILTINS.split(), *(f"{module}.{name}" for module, names in FUNCTIONS.items() for name in names.split())]


def outcome(function):
    """The value as text, iterators unrolled; or the exception."""
    try:
        value = function(torch.ones(3))
        if isinstance(value, (set, frozenset)):
            value = type(value)(), sorted(value, key=repr)  # the order in memory is nobody's business
        text = f"{type(value).__name__} {list(itertools.islice(value, 5)) if hasattr(value, '__next__') else value!r}"
    except Exception as error:  # whatever it is, both have to raise it
        text = f"{type(error).__name__}: {error}"
    return re.sub(r"0x[0-9a-f]+", "", text)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLED)
def test_every_call_ends_as_in_python(name):
    for arguments in ARGUMENTS:
        scope = {"torch": torch}
        text = f"import copy, functools, itertools, math, operator\ndef f(x):\n    return {name}({arguments})\n"
        exec(text, scope)
        assert outcome(optimize(scope["f"], eager)) == outcome(scope["f"]), f"{name}({arguments})"


def test_names_of_the_tracer_are_no_names_of_arguments():
    def program(x):
        return dict(tracer=1, mapping=2, rule=3, other=4), {}.update(other=1, self=2), x + 1

    plain, compiled = program(torch.ones(1)), optimize(program, eager)(torch.ones(1))
    assert plain[:2] == compiled[:2]


SORTED = {
    "a dict of tensors": lambda x: [v for _, v in sorted({"b": x, "a": x * 2, "c": x + 1}.items())],
    "backwards": lambda x: [v for _, v in sorted({"b": x, "a": x * 2}.items(), reverse=True)],
    "keys that are tuples with tensors": lambda x: [
        t[1] for t in sorted([((2, x), x), ((1, x), x * 3)], key=lambda t: t[0])
    ],
    "equal keys": lambda x: [t for _, t in sorted([([1], x), ([0], x * 2), ([1], x * 3)], key=lambda t: (t[0], "a"))],
    "what can't be compared": lambda x: sorted([(1, x), ("a", x)])[0][1],
}


@pytest.mark.parametrize("name", SORTED)
def test_sorting_by_what_is_no_constant(name):
    function = SORTED[name]
    assert outcome(optimize(function, eager, fullgraph=True)) == outcome(function)
