"""Methods of the built-in classes with right and wrong arguments: value, exception and what is left of the object."""

import collections
import re

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager

OBJECTS = {
    "[3, 1, 2, 1]": list,
    "(3, 1, 2, 1)": tuple,
    "{'a': 1, 'b': 2}": dict,
    "{1, 2, 3}": set,
    "frozenset({1, 2})": frozenset,
    "'aBc, d'": str,
    "5": int,
    "2.5": float,
    "range(1, 9, 2)": range,
    "collections.OrderedDict(a=1, b=2, c=3)": collections.OrderedDict,
    "collections.defaultdict(list, a=[1])": collections.defaultdict,
    "collections.deque([1, 2, 3], maxlen=4)": collections.deque,
    "x.shape": torch.Size,
}
SPECIAL = "__len__ __contains__ __getitem__ __add__ __eq__ __iter__ __mul__ __lt__ __or__ __setitem__ __delitem__"
ARGUMENTS = (
    "", "1", "'a'", "[1, 2]", "0, 9", "None", "{2, 9}", "x", "[('k', 1)]", "last=False", "key=lambda v: -v", "3, 4, 5",
)  # fmt: skip
PROGRAM = """
import collections
def f(x):
    subject = {subject}
    try:
        result = subject.{name}({arguments})
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        result = repr(error)
    if hasattr(result, "__next__"):
        result = list(result)[:5]
    return *[sorted(v, key=repr) if isinstance(v, (set, frozenset)) else v for v in (result, subject)], x + 1
"""


def outcome(function):
    try:
        text = repr(function(torch.ones(3)))
    except Exception as error:  # whatever it is, both have to raise it
        text = repr(error)
    text = re.sub(r"0x[0-9a-f]+", "", text).replace("KeyError(None)", "KeyError()")  # OrderedDict.move_to_end's own
    text = re.sub(r"need more than 1 value|dictionary update.*has length 1; 2 is", "pairs are", text)  # and update's
    text = text.replace("required", "to unpack")
    return re.sub(r"\b\w+\.(?=\w+\(\) )", "", text)  # whether 'dict.pop()' or 'pop()' is wrong depends on the call


def methods(cls):
    return [name for name in dir(cls) if not name.startswith("_")] + [s for s in SPECIAL.split() if hasattr(cls, s)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("subject", OBJECTS)
def test_every_method_ends_as_in_python(subject):
    for name in methods(OBJECTS[subject]):
        for arguments in ARGUMENTS:
            scope = {"torch": torch}
            exec(PROGRAM.format(subject=subject, name=name, arguments=arguments), scope)
            compiled = outcome(optimize(scope["f"], eager))
            assert compiled == outcome(scope["f"]), f"{subject}.{name}({arguments})"


@pytest.mark.parametrize("method", ["x.log", "(x * 2).sum", "x.__add__", "[].append", "[].__len__", "{}.get",
                                    "'a'.join", "'a'.__len__", "object().__init__"])  # fmt: skip
def test_what_kind_of_method_it_is(method):
    source = f"""
import types
def f(x):
    bound = {method}
    try:
        bound.absent
    except AttributeError as error:
        return type(bound), isinstance(bound, types.MethodType), callable(bound), error.args
"""
    scope = {}
    exec(source, scope)
    assert optimize(scope["f"], eager)(torch.ones(3)) == scope["f"](torch.ones(3))
