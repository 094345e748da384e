"""match statements: every kind of pattern."""

import collections
import dataclasses
import enum


@dataclasses.dataclass
class _Point:
    x: int
    y: int = 0


class _Color(enum.Enum):
    RED = 1
    BLUE = 2


def literals():
    def f(x):
        match x:
            case 0:
                return "zero"
            case "a" | "b":
                return "letter"
            case None:
                return "none"
            case True:
                return "true"
            case -1.5:
                return "float"
            case _:
                return "other"

    return [f(x) for x in (0, "b", None, True, -1.5, "z", 1)]


def sequences():
    def f(x):
        match x:
            case []:
                return "empty"
            case [a]:
                return "one", a
            case [a, b]:
                return "two", a, b
            case [a, *rest, z]:
                return a, rest, z
            case _:
                return "no sequence"

    return [f(x) for x in ([], [1], (1, 2), [1, 2, 3, 4], "abc", b"ab", {1}, collections.deque([1, 2, 3]), 5)]


def mappings():
    def f(x):
        match x:
            case {"kind": "a", "value": v}:
                return "a", v
            case {"kind": kind, **rest}:
                return kind, rest
            case {}:
                return "some mapping"
            case _:
                return "no mapping"

    return [f(x) for x in ({"kind": "a", "value": 1}, {"kind": "b", "z": 2}, {"q": 1}, {}, [1])]


def mapping_asks_get():
    d = collections.defaultdict(list)
    match d:
        case {"missing": x}:
            return x
        case _:
            return dict(d)


def classes():
    def f(x):
        match x:
            case _Point(0, 0):
                return "origin"
            case _Point(x=0, y=yy):
                return "on y", yy
            case _Point(a, y=b) if a == b:
                return "diagonal", a
            case _Point():
                return "point"
            case int(n) | float(n):
                return "number", n
            case str() as s:
                return "string", s
            case dict(d):
                return "dict", d
            case _:
                return "other"

    cases = (_Point(0, 0), _Point(0, 5), _Point(3, 3), _Point(1, 2), 7, 2.5, "s", {"a": 1}, [1])
    return [f(x) for x in cases]


def values():
    def f(x):
        match x:
            case _Color.RED:
                return "red"
            case _Color():
                return "color", x.value

    return f(_Color.RED), f(_Color.BLUE), f(3)


def guards_and_captures():
    def f(x):
        match x:
            case [a, b] if a > b:
                return "descending"
            case [a, b] as whole:
                return whole, a
            case other if other:
                return "truthy", other
        return "fell through"

    return f([2, 1]), f([1, 2]), f(5), f(0)


def nested_patterns():
    def f(x):
        match x:
            case {"points": [_Point(x=a), *_], "name": str(name)}:
                return a, name
            case [[1, (2 | 3) as k], {"z": [*_, last]}]:
                return k, last
            case _:
                return None

    return f({"points": [_Point(4)], "name": "n"}), f([[1, 3], {"z": [7, 8, 9]}]), f([[1, 4], {"z": [1]}])


def or_patterns_bind():
    def f(x):
        match x:
            case (1, y) | (y, 1):
                return y
            case {"a": y} | {"b": y}:
                return "m", y

    return f((1, 5)), f((6, 1)), f({"b": 7}), f((2, 2))


def match_in_a_loop():
    found = []
    for command in (("go", "north"), ("take",), ("stop",), ("go", "south")):
        match command:
            case "go", direction:
                found.append(direction)
            case ("stop",):
                break
            case _:
                continue
    return found


def subject_is_evaluated_once():
    def subject():
        print("asked")
        return 3

    match subject():
        case 1:
            return "one"
        case 2:
            return "two"
        case n:
            return n


def self_matching_builtins():
    found = []
    for x in (1, "a", [1], (1,), {"k": 1}, {1}, frozenset(), b"x", bytearray(b"y"), 1.5, True):
        match x:
            case bool(v):
                found.append(("bool", v))
            case int(v) | str(v) | list(v) | tuple(v) | dict(v) | set(v):
                found.append((type(v).__name__, v))
            case frozenset() | bytes() | bytearray() | float():
                found.append("rest")
    return found


def error_too_many_positional_patterns():
    match 5:
        case int(a, b):
            return a


def error_match_args_too_short():
    match _Point(1):
        case _Point(a, b, c):
            return a


def error_pattern_is_no_class():
    thing = 5
    match 5:
        case thing():
            return 1


def error_match_args_is_no_tuple():
    class C:
        __match_args__ = ["x"]
        x = 1

    match C():
        case C(a):
            return a


def error_the_same_attribute_twice():
    class Pair:
        __match_args__ = ("a", "b")
        a = b = 1

    match Pair():
        case Pair(1, a=1):
            return "matched"


def error_a_key_twice():
    class Keys:
        FIRST = "a"

    match {"a": 0, "b": 1}:
        case {Keys.FIRST: x, "a": y}:
            return x, y
