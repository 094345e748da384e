"""Arithmetic, comparisons, boolean operators, subscripts, slices."""

# ruff: noqa: F632 (odd code is the point here)


class _Matrix:
    def __init__(self, n):
        self.n = n

    def __matmul__(self, other):
        return ("matmul", self.n, other.n)

    def __imatmul__(self, other):
        return ("imatmul", self.n, other.n)


class _Falsy:
    def __bool__(self):
        print("asked")
        return False


class _RaisesInBool:
    def __bool__(self):
        raise ZeroDivisionError("no truth here")


def arithmetic():
    a, b = 17, 5
    return a + b, a - b, a * b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b


def float_arithmetic():
    a, b = 1.5, -0.25
    return a + b, a - b, a * b, a / b, a // b, a % b, a**2, -a, +a, abs(b)


def unary():
    x = 12
    return -x, +x, ~x, not x, not 0, not not x


def unary_plus_of_a_bool():
    return +True, -True, +False


def matrix_multiplication():
    a, b = _Matrix(1), _Matrix(2)
    first = a @ b
    a @= b
    return first, a


def inplace_on_numbers():
    x = 7
    x += 3
    x -= 1
    x *= 4
    x //= 5
    x %= 5
    x **= 3
    x <<= 2
    x >>= 1
    x |= 8
    x &= 29
    x ^= 3
    x /= 2
    return x


def inplace_keeps_the_list():
    xs = [1]
    same = xs
    xs += [2, 3]
    xs *= 2
    return xs is same, xs


def inplace_on_an_item_and_an_attribute():
    class Box:
        pass

    box = Box()
    box.items = [1, 2]
    box.items[0] += 10
    box.items += [5]
    box.count = 1
    box.count -= 4
    return box.items, box.count


def comparisons():
    a, b = 3, 4
    return a < b, a <= b, a == b, a != b, a > b, a >= b


def comparisons_in_conditions():
    found = []
    for a in (1, 2, 3, float("nan")):
        if a < 2:
            found.append(("lt", a))
        if a <= 2:
            found.append(("le", a))
        if a == 2:
            found.append(("eq", a))
        if a != 2:
            found.append(("ne", str(a)))
        if a > 2:
            found.append(("gt", a))
        if a >= 2:
            found.append(("ge", a))
    return found


def specialised_comparisons_stay_right():
    total = 0
    for i in range(200):
        if i < 50:
            total += 1
        if i >= 150:
            total += 100
        if i == 75:
            total += 10000
        if float(i) > 190.5:
            total += 7
        if str(i) == "42":
            total += 13
    return total


def chained_comparison():
    def f(x):
        print("f", x)
        return x

    return f(1) < f(2) < f(3), f(3) < f(2) < f(1), f(1) <= f(1) != f(2) > f(0)


def chained_comparison_in_a_condition():
    return ["in" if 0 <= x < 10 else "out" for x in (-1, 0, 9, 10)]


def identity():
    a = []
    b = a
    return a is b, a is not b, a is None, a is not None, b is not []


def membership():
    return 2 in [1, 2], 3 not in [1, 2], "b" in "abc", "x" in {"x": 1}, 5 in range(10)


def short_circuit_and_or():
    def f(x):
        print(x)
        return x

    return f(1) and f(0) and f(2), f(0) or f("") or f("last"), f(0) or f(3) and f(4)


def short_circuit_in_conditions():
    found = []
    for a in (0, 1):
        for b in (0, 1):
            if a and b or not a and not b:
                found.append((a, b))
            if not (a or b):
                found.append("none")
    return found


def truth_is_asked_once():
    x = _Falsy()
    return "yes" if x else "no"


def truth_of_or_returns_the_object():
    x = _Falsy()
    return type(x or "other").__name__, type(x and "other").__name__


def not_asks_truth():
    return not _Falsy()


def truth_can_raise():
    try:
        if _RaisesInBool():
            return "true"
    except ZeroDivisionError as error:
        return str(error)


def while_asks_truth_each_time():
    class Countdown:
        def __init__(self, n):
            self.n = n

        def __bool__(self):
            self.n -= 1
            return self.n >= 0

    x, count = Countdown(4), 0
    while x:
        count += 1
    return count


def none_tests():
    found = []
    for x in (None, 0, "a"):
        if x is None:
            found.append("none")
        if x is not None:
            found.append(x)
        while x is None:
            x = "replaced"
        found.append(x)
    return found


def conditional_expression():
    return [("small" if x < 3 else "middle" if x < 6 else "large") for x in (1, 4, 9)]


def walrus():
    data = [5, 8, 12]
    found = []
    while (x := data.pop() if data else None) is not None:
        found.append(x)
    if (n := len(found)) > 2:
        found.append(n)
    return found, [y for z in (1, 2, 3) if (y := z * z) > 1]


def subscripts():
    xs = [10, 20, 30]
    d = {"k": 1, (1, 2): "tuple"}
    xs[1] = 21
    d["new"] = xs[-1]
    del xs[0]
    del d["k"]
    return xs, d, d[1, 2]


def slices():
    xs = list(range(10))
    return xs[2:5], xs[:3], xs[7:], xs[:], xs[::2], xs[8:2:-2], xs[-3:-1], "hello"[1:3]


def slice_with_computed_bounds():
    xs, lo, hi, step = list(range(10)), 2, 8, 3
    return xs[lo:hi], xs[lo : hi + 1 : step], xs[: hi - lo]


def slice_assignment():
    xs = list(range(6))
    xs[1:3] = ["a", "b", "c"]
    xs[::2] = [0] * len(xs[::2])
    ys = list(range(6))
    ys[2:4] += [9]
    del ys[:1]
    return xs, ys


def slice_assignment_with_computed_bounds():
    xs, lo, hi = list(range(8)), 2, 5
    xs[lo:hi] = "ab"
    xs[hi:] += [9]
    xs[: lo - 1] = []
    del xs[lo:hi]
    return xs


def slice_objects_and_ellipsis():
    class Show:
        def __getitem__(self, key):
            return repr(key)

    s = Show()
    return s[1:2, ...], s[::3], s[...], s[1:2, 3], s[None:]


def big_constants():
    return 2**100, -1, 255, 256, 257, 1e300, 3j, b"bytes", 1_000_000_007


def constants_that_are_equal_but_different():
    return 1, 1.0, True, 0.0, -0.0, False, (1, 2), (1.0, 2.0), "1"


def nested_constant_tuples():
    return (1, (2, (3, frozenset({4}))), "s"), 1 in {1, 2, 3}, 5 in (1, 2, 3)


def error_unsupported_operand():
    return 1 + "a"


def error_inplace_operand():
    x = 1
    x -= "a"
    return x


def error_division_by_zero():
    return 1 // 0


def error_compare():
    return 1 < "a"


def error_not_subscriptable():
    x = 5
    return x[0]


def error_index():
    return [1, 2][7]


def error_key():
    return {"a": 1}["b"]


def error_contains():
    return 1 in 5


def error_unary():
    return -"a"


def error_item_assignment():
    t = (1, 2)
    t[0] = 5


def error_attribute():
    return (5).nothing


def error_unhashable():
    return {[]: 1}
