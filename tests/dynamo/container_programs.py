"""Programs that do one thing with an object of a class derived from a built-in container, string or number.

Every method that the class overrides writes a line of a log and does what its base does. A program is a base, the
names it overrides, an operation, and where the object comes from.

>>> print(program("list", ("__len__",), "len(c)", "global"))                              # doctest: +ELLIPSIS
BASE = list
class C(BASE):
    def __len__(self, *args, **kwargs):
        LOG.append('__len__')
        return super().__len__(*args, **kwargs)
...
def f(x, c):
    c = GLOBAL
    try:
        result = len(c)
    except Exception as error:
        result = type(error).__name__, str(error)
    return x + 1, result
"""

from __future__ import annotations

import collections
import linecache
from dataclasses import dataclass
from typing import Any

import minitorch_compile as torch

PLACES = {"argument": "", "global": "    c = GLOBAL\n", "made": "    c = make()\n"}


@dataclass(frozen=True)
class Family:
    """A base, how an object is made, the methods to override, and what is done with it."""

    base: str
    make: str
    methods: tuple[str, ...]
    operations: tuple[str, ...]


ANY = ("__len__", "__iter__", "__contains__", "__eq__", "__ne__", "__str__", "__repr__", "__getattribute__")
ANY_OPERATIONS = (
    "len(c)", "bool(c)", "not c", "c == make()", "make() == c", "c != BASE()", "str(c)", "f'{c!r}'", "hash(c)",
    "'a' in c", "list(c)", "(*c,)", "show(*c)", "sorted(c)", "max(c)", "min(c)", "sum(c)", "any(c)", "[i for i in c]",
    "dict(enumerate(c))", "first(c)", "type(c) is BASE", "isinstance(c, BASE)", "[c].index(c)", "matched(c)", "{c: 1}",
    "set_attribute(c)", "callable(c)", "iter(c) is c", "c and 3", "list(zip(c, c))", "list(map(str, c))",
)  # fmt: skip
DICT = (
    *ANY, "__getitem__", "__setitem__", "__delitem__", "__missing__", "get", "keys", "items", "update", "pop",
    "setdefault", "__or__", "__ior__", "copy",
)  # fmt: skip
DICT_OPERATIONS = (
    *ANY_OPERATIONS, "c['a']", "c['new']", "set_item(c, 'a')", "delete(c, 'a')", "delete(c, 'new')", "c.get('a')",
    "c.get('new', 1)", "list(c.items())", "dict(c)", "{**c}", "named(**c)", "c | {'a': 3}", "merge(c)", "c.update(b=4)",
    "{}.update(c)", "c.pop('a')", "c.pop('new', 2)", "c.popitem()", "c.setdefault('new', 3)", "c.copy()", "c.clear()",
    "dict.__len__(c)", "dict.get(c, 'a')", "collections.OrderedDict(c)", "add(c, 'a')", "type(c).fromkeys('ab')",
    "grow(c)", "c == dict(c)", "'%(a)s' % c", "list(reversed(c))",
)  # fmt: skip
LIST = (*ANY, "__getitem__", "__setitem__", "__delitem__", "append", "extend", "pop", "__add__", "__iadd__", "sort")
LIST_OPERATIONS = (
    *ANY_OPERATIONS, "c[0]", "c[0:2]", "c[9]", "set_item(c, 0)", "delete(c, 0)", "c.append(x)", "c.extend(c)",
    "[].extend(c)", "extended(c)", "c.pop()", "c.remove(99)", "c.index(2)", "c.sort()", "c + [9]", "[9] + c", "c * 2",
    "list.append(c, 4)", "list.__len__(c)", "c == [1, 2, 3]", "[1, 2] < c", "c.copy()", "BASE.__getitem__(c, 0)",
)  # fmt: skip
NUMBER = ("__eq__", "__add__", "__radd__", "__mul__", "__neg__", "__bool__", "__str__", "__abs__", "__lt__")
NUMBER_OPERATIONS = (
    "c + 1", "1 + c", "c * 2", "-c", "abs(c)", "c == 3", "3 == c", "c < 4", "c in (3, 4)", "c in {3: 1}", "x * c",
    "max(c, 2)", "sum([c, c])", "int(c)", "str(c)", "f'{c:>5}'", "bool(c)", "range(int(c))", "c.__add__(1)",
)  # fmt: skip
TEXT = ("__eq__", "__add__", "__len__", "__contains__", "__str__", "__hash__", "upper", "__getitem__", "__lt__")
TEXT_OPERATIONS = (
    "c == 'abc'", "'abc' == c", "c in ('x', 'abc')", "c in {'abc': 1}", "c in 'xabcx'", "'b' in c", "c + 'z'",
    "'z' + c", "len(c)", "c[0]", "c.upper()", "str(c)", "f'{c:>5}'", "','.join([c, c])", "named(**{c: 1})", "c < 'b'",
)  # fmt: skip
TUPLE = (*ANY, "__getitem__", "__add__", "index")
TUPLE_OPERATIONS = (
    *ANY_OPERATIONS, "c[0]", "c[0:2]", "c + (9,)", "c == (1, 2, 3)", "(1, 2) < c", "c.index(2)", "x.view(c)",
)  # fmt: skip

FAMILIES = {
    "dict": Family("dict", "C({'a': 1, 'b': 2})", DICT, DICT_OPERATIONS),
    "OrderedDict": Family("collections.OrderedDict", "C({'a': 1, 'b': 2})", DICT, DICT_OPERATIONS),
    "defaultdict": Family("collections.defaultdict", "C(list, {'a': 1, 'b': 2})", DICT, DICT_OPERATIONS),
    "Counter": Family("collections.Counter", "C({'a': 1, 'b': 2})", DICT, DICT_OPERATIONS),
    "UserDict": Family("collections.UserDict", "C({'a': 1, 'b': 2})", DICT, DICT_OPERATIONS),
    "list": Family("list", "C([1, 2, 3])", LIST, LIST_OPERATIONS),
    "deque": Family("collections.deque", "C([1, 2, 3])", LIST[:-2], LIST_OPERATIONS[:-8]),
    "set": Family("set", "C([1, 2, 3])", ANY, ANY_OPERATIONS),
    "tuple": Family("tuple", "C([1, 2, 3])", TUPLE, TUPLE_OPERATIONS),
    "namedtuple": Family("Named", "C(1, 2, 3)", TUPLE, TUPLE_OPERATIONS),
    "int": Family("int", "C(3)", NUMBER, NUMBER_OPERATIONS),
    "float": Family("float", "C(3.0)", NUMBER, NUMBER_OPERATIONS),
    "str": Family("str", "C('abc')", TEXT, TEXT_OPERATIONS),
}

OVERRIDE = """    def {0}(self, *args, **kwargs):
        LOG.append('{0}')
        return super().{0}(*args, **kwargs)
"""
MISSING = """    def __missing__(self, key):
        LOG.append('__missing__')
        return 7
"""
HELPERS = """
import collections
import minitorch_compile as torch
LOG = []
Named = collections.namedtuple("Named", "a b c")
def show(*args):
    return len(args)
def named(**kwargs):
    return list(kwargs)
def first(c):
    head, *rest = c
    return head, rest
def set_attribute(c):
    c.extra = 5
    return c.extra
def set_item(c, key):
    c[key] = 5
def delete(c, key):
    del c[key]
def merge(c):
    c |= {'a': 9, 'new': 1}
def add(c, key):
    c[key] += 1
def extended(c):
    items = [0]
    items += c
    return items
def grow(c):
    for key in c:
        c[key + '!'] = 1
def matched(c):
    match c:
        case [first, *rest]:
            return first, len(rest)
        case {'a': value, **rest}:
            return value, len(rest)
        case _:
            return 'neither'
"""


def program(base: str, overridden: tuple[str, ...], operation: str, place: str) -> str:
    """The text that defines `f`, `make`, `GLOBAL`."""
    family = FAMILIES[base]
    body = "".join(MISSING if name == "__missing__" else OVERRIDE.format(name) for name in overridden)
    return (
        f"BASE = {family.base}\nclass C(BASE):\n{body or '    pass' + chr(10)}\n"
        f"def make():\n    return {family.make}\nGLOBAL = make()\nLOG.clear()\n"
        f"def f(x, c):\n{PLACES[place]}    try:\n        result = {operation}\n"
        "    except Exception as error:\n        result = type(error).__name__, str(error)\n    return x + 1, result\n"
    )


def world_of(text: str) -> dict[str, Any]:
    """The names that the program defines."""
    filename = f"<program {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    world: dict[str, Any] = {"__name__": "user"}
    exec(HELPERS, world)
    exec(compile(text, filename, "exec"), world)
    return world


# What to change between two calls, past the methods of the class.
CHANGES: dict[type, Any] = {
    collections.OrderedDict: lambda c, n: collections.OrderedDict.__setitem__(c, "b", n),
    dict: lambda c, n: dict.__setitem__(c, "ab"[n % 2], n),
    list: list.append,
    collections.deque: collections.deque.append,
    set: set.add,
}


def change(value: Any, number: int) -> None:
    """Changes the contents, if they can change."""
    rule = next((rule for base, rule in CHANGES.items() if issubclass(type(value), base)), None)
    if rule is not None:
        rule(value, number)


def picture(value: Any, depth: int = 4) -> Any:
    """Class, contents and attributes, past the methods of the class."""
    cls = type(value)
    base = next((base for base in PARTS if issubclass(cls, base)), None)
    if depth == 0 or base is None:
        attributes = getattr(cls, "__module__", "") == "user" and object.__getattribute__(value, "__dict__")
        return cls.__name__, [(k, picture(v, depth - 1)) for k, v in attributes.items()] if attributes else []
    parts = [part if depth == 1 else picture(part, depth - 1) for part in PARTS[base](value)]
    return cls.__name__, parts, [] if cls.__module__ != "user" else sorted(object.__getattribute__(value, "__dict__"))


PARTS: dict[type, Any] = {
    torch.Tensor: lambda v: [repr(v.tolist())],
    dict: lambda v: [(k, dict.__getitem__(v, k)) for k in dict.__iter__(v)],
    list: list.__iter__,
    tuple: tuple.__iter__,
    collections.deque: collections.deque.__iter__,
    set: set.__iter__,
}


def seen(text: str, place: str, compiling: Any) -> list[Any]:
    """What three calls give, log and leave behind; the object is changed between them."""
    world = world_of(text)
    function = compiling(world["f"])
    value = world["make"]()
    calls = []
    for number in range(3):
        world["LOG"].clear()
        result = function(torch.ones(2), value)
        log = list(world["LOG"])
        shown = result[1] if isinstance(result[1], (str, int)) else picture(result[1])
        calls.append((shown, log, picture(value), picture(world["GLOBAL"])))
        change(world["GLOBAL"] if place == "global" else value, number)
    return calls
