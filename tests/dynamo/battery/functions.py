"""Calls and definitions: arguments of every kind, defaults, decorators, recursion, lambdas, builtins as callbacks."""

import functools


def _show(*args, **kwargs):
    return args, kwargs


def positional_and_keyword_arguments():
    def f(a, b, c=3, *, d, e=5):
        return a, b, c, d, e

    return f(1, 2, d=4), f(1, b=2, d=4, e=6), f(d=1, a=2, b=3, c=4)


def star_arguments_in_definitions():
    def f(a, *args, k=0, **kwargs):
        return a, args, k, kwargs

    return f(1), f(1, 2, 3), f(1, 2, k=3, z=4), f(*"abc", **{"k": 1, "y": 2})


def positional_only():
    def f(a, b, /, c, *, d):
        return a, b, c, d

    return f(1, 2, 3, d=4), f(1, 2, c=3, d=4)


def star_arguments_in_calls():
    xs, d = [1, 2], {"a": 3}
    return _show(*xs), _show(0, *xs, 9, *xs), _show(**d), _show(*xs, b=1, **d), _show(*(), **{})


def star_arguments_from_generators():
    return _show(*(x * x for x in range(3)), *{"k": 1}, **{k: 1 for k in "ab"})


def keyword_arguments_only():
    return _show(a=1, b=2), _show(1, a=2), dict(x=1, y=[2])


def keyword_argument_with_a_condition():
    n = 3
    return _show(a=1 if n > 2 else 2, b=n or 4)


def defaults_are_evaluated_once():
    def f(x, seen=[]):
        seen.append(x)
        return list(seen)

    return f(1), f(2), f(3, [])


def default_expressions_run_in_order():
    def log(x):
        print(x)
        return x

    def f(a=log(1), *, b=log(2)):
        return a, b

    return f()


def lambdas():
    add = lambda a, b=2: a + b
    return add(1), add(1, 5), (lambda *a, **k: (a, k))(1, z=2), [f(3) for f in (lambda x: x, lambda x: -x)]


def recursion():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(10)


def mutual_recursion():
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return even(10), odd(7)


def decorators():
    def twice(f):
        @functools.wraps(f)
        def inner(*args):
            return f(*args) * 2

        return inner

    def plus(n):
        return lambda f: lambda *args: f(*args) + n

    @twice
    @plus(3)
    def g(x):
        return x

    return g(4)


def function_attributes():
    def f(a: int, b: "str" = "x", *, c: float = 1.0) -> bool:
        """Documented."""
        return a

    f.extra = 5
    return f.__name__, f.__doc__, f.__defaults__, f.__kwdefaults__, f.extra, sorted(f.__annotations__), f.__qualname__


def functions_as_values():
    table = {"up": str.upper, "len": len, "neg": lambda x: -x}
    return table["up"]("a"), table["len"]("abc"), table["neg"](3)


def callbacks_of_builtins():
    return (
        sorted([3, -1, 2], key=lambda x: -x),
        list(map(lambda a, b: a * b, [1, 2], [3, 4])),
        list(filter(None, [0, 1, "", "a"])),
        functools.reduce(lambda a, b: a + b, [1, 2, 3], 10),
        max("abc", key=ord),
    )


def partials():
    f = functools.partial(_show, 1, k=2)
    return f(3, z=4), functools.partial(f, 9)(k=5)


def method_calls():
    s = "a,b,c"
    parts = s.split(",", maxsplit=1)
    parts.append("z".upper().lower())
    return parts, "-".join(parts), "{x}".format(x=5), [].__class__.__name__, parts.index("z")


def calling_the_result_of_a_call():
    def outer(a):
        def inner(b):
            return lambda c: (a, b, c)

        return inner

    return outer(1)(2)(3), (outer if len("x") else None)(4)(5)(6)


def callable_objects():
    class Adder:
        def __init__(self, n):
            self.n = n

        def __call__(self, x, *, scale=1):
            return (x + self.n) * scale

    return Adder(3)(4), Adder(1)(2, scale=10)


def returning_nothing():
    def f():
        pass

    def g():
        return

    return f(), g()


def many_arguments():
    def f(*args, **kwargs):
        return len(args), len(kwargs)

    return f(*range(300), **{f"k{i}": i for i in range(300)})


def evaluation_order_of_a_call():
    def log(x):
        print(x)
        return x

    log(_show)(log(1), *log([2]), k=log(3), **log({"m": 4}))


def duck_typed_mapping_in_a_call():
    class Keys:
        def keys(self):
            return ["a", "b"]

        def __getitem__(self, key):
            return key * 2

    return _show(**Keys()), {**Keys()}


def error_missing_argument():
    def f(a, b, *, c):
        return a

    f(1)


def error_missing_keyword_only():
    def f(a, *, c):
        return a

    f(1)


def error_too_many_arguments():
    def f(a, b=1):
        return a

    f(1, 2, 3)


def error_unexpected_keyword():
    def f(a):
        return a

    f(1, b=2)


def error_repeated_argument():
    def f(a, b):
        return a

    f(1, a=2)


def error_repeated_keyword():
    _show(**{"a": 1}, **{"a": 2})


def error_star_of_a_number():
    _show(*5)


def error_double_star_of_a_number():
    _show(**5)


def error_positional_only_by_name():
    def f(a, /):
        return a

    f(a=1)


def error_not_callable():
    x = 5
    return x(1)
