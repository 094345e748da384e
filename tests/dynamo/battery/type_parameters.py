"""`def f[T]`, `class C[T]` and `type A`, from Python 3.12 on; text, since the parsers of older versions refuse it."""

import sys

SOURCE = """
def generic_functions():
    def first[T, *Ts, **P](x: T, y: int = 3, *, z: str = "a") -> tuple[T, *Ts]:
        return x, y, z

    async def later[T](x: T):
        return x

    return first(1), first.__type_params__, first.__annotations__, first.__qualname__, later.__type_params__


def generic_classes():
    class Box[T: int, S: (int, str)]:
        value: T

        def get[U](self, u: U, label: str = "") -> T:
            return __class__, u

    class Named[K](Box[K, int], metaclass=type):
        key = K

    bound, choices = Box.__type_params__
    kinds = bound.__bound__, choices.__constraints__, Box.get.__annotations__
    return kinds, Box.__orig_bases__, Named().get(2)[1], Named.key, Named.__mro__[1] is Box, Box[int, str].__args__


def aliases():
    type Pairs[K] = dict[K, int]
    type Tree = list[Tree]
    return Pairs, Pairs[int], Pairs.__value__, Tree.__value__, Tree.__type_params__


def a_bound_is_evaluated_when_it_is_asked_for():
    log = []

    def f[T: log.append("bound")](x: T): ...

    log.append("before")
    return f.__type_params__[0].__bound__, log


def a_comprehension_beside_a_type_parameter():
    class C[T]:
        T = "class"
        seen = [T for _ in (1,)], T

    def f[T]():
        return [(lambda: T)() for T in T.__name__]

    return C.seen, f()


def error_in_a_bound():
    def f[T: missing](x: T): ...

    return f.__type_params__[0].__bound__
"""

if sys.version_info >= (3, 12):
    exec(SOURCE)
