"""Statements and expressions of every kind, broken inside: the compiled function does what the plain one does.

`brk(value)` gives the value back and breaks the graph.
"""

import contextlib
import sys
import types

import pytest

from minitorch_compile.dynamo import disable, optimize
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.dynamo.testing.comparing import behaviour
from tests.dynamo.compiled import matrix


@disable
def brk(v=None):
    return v


COUNT = 0


class Swallows:
    def __init__(s, log):
        s.log = log

    def __enter__(s):
        s.log.append("in")
        return s

    def __exit__(s, t, e, tb):
        s.log.append(repr(e))
        return True


def except_star(x, log):
    try:
        brk()
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as e:
        log.append(repr(e))
        x = x * 2
        brk()
        x = x + 1
    except* (TypeError, KeyError) as e:
        log.append(repr(e))
        x = x * 3
        brk()
    return x + 1


def walrus(x, log):
    if (n := brk(3)) > 2:
        x = x * n
    while (m := n - 1) > 0:
        n = m
        brk()
        x = x + m
    return [y := x + 1, y * 2, n]


def stars(x, log):
    def g(*args, k=1, **kw):
        return args, k, sorted(kw)

    a = [1, 2]
    d = {"k": 5, "z": 1}
    r = g(*brk(a), *a, **brk(d))
    first, *mid, last = brk((1, 2, 3, 4))
    (p, q), r2 = brk(((1, 2), 3))
    return r, first, mid, last, p, q, r2, [*brk(a), *mid], {**brk(d), "y": 2}, {*brk(a)}, x + 1


def deleting_and_nonlocal(x, log):
    k = 1
    t = 5

    def inc():
        nonlocal k
        k += 1
        brk()
        k += 1
        return k

    inc()
    del t
    try:
        t  # noqa: F821
    except UnboundLocalError as e:
        log.append(str(e))
    x = x * inc()
    lst = brk([1, 2, 3])
    del lst[0]
    d = {"a": 1, "b": 2}
    del d["a"]
    return x, k, lst, d


def global_names(x, log):
    global COUNT
    COUNT += 1
    brk()
    COUNT += 1
    x = x * 2
    global FRESH
    FRESH = COUNT
    brk()
    del FRESH
    try:
        FRESH
    except NameError as e:
        log.append(str(e))
    COUNT = 0
    return x


def functions_escape(x, log):
    fs = []
    for i in range(3):

        def f(y, i=i, *, z=brk(i) + 1):
            return y * i + z, i

        fs.append(f)
    g = lambda y, s=brk(2): [y * s, fs[-1](y)]
    x = x + 1
    brk()
    return x, [f(1) for f in fs], g(2)


def closures_escape(x, log):
    n = 0

    def up():
        nonlocal n
        n += 1
        brk()
        return n

    up()
    x = x + n
    up()
    return x, up, n


def format_specs(x, log):
    w = brk(8)
    v = 3.14159
    s = "q"
    return f"{v:{w}.{w - 5}f}|{s!r:>{w}}|{v=:.2f}|{brk(s)!s:^5}|{x.shape[0]:03d}", x + 1


def chained_comparisons(x, log):
    return 1 < brk(2) < 3 <= brk(3) != brk(4), (1 < 0 < brk(log.append("no"))), x * 2


def return_inside_finally(x, log):
    def g(k):
        for i in range(3):
            try:
                if i == k:
                    return brk(i)
                if i == 1:
                    continue
                brk()
            finally:
                log.append(("f", i))
                if k == 5:
                    break
        return "end"

    return g(0), g(1), g(2), g(5), g(9), x + 1


def several_managers(x, log):
    with Swallows(log) as a, Swallows(log) as b, contextlib.nullcontext(brk(4)) as n:
        x = x * n
        brk()
        raise ValueError("v")
    with contextlib.ExitStack() as st:
        st.enter_context(Swallows(log))
        st.callback(log.append, "cb")
        brk()
        x = x + 1
    return x, a is b


def raise_from(x, log):
    try:
        try:
            brk()
            {}["k"]
        except KeyError as e:
            brk()
            raise ValueError("v") from e
    except ValueError as e:
        log.append((repr(e.__cause__), repr(e.__context__), e.__suppress_context__))
        x = x * 2
    try:
        try:
            int(brk("q"))
        except ValueError:
            raise TypeError("t") from None
    except TypeError as e:
        log.append((repr(e.__cause__), repr(e.__context__), e.__suppress_context__))
        brk()
        x = x + 1
    return x


def matches(x, log):
    r = []
    for v in (1, "s", [1, 2, 3], {"a": 1, "b": 2}, None, (4, 5), 2.5, {"k": [1]}):
        match brk(v):
            case 1 | 2:
                r.append("one")
            case str(s):
                r.append(s)
            case [a, *rest] if brk(len(rest)) > 1:
                r.append(rest)
            case {"a": a, **rest}:
                r.append((a, rest))
            case None:
                r.append("none")
            case (p, q):
                r.append((p, q))
            case float() as f:
                r.append(f)
            case _:
                brk()
                r.append("other")
        x = x + 1
    return r, x


def generators(x, log):
    def g():
        try:
            for i in range(3):
                got = yield i * brk(2)
                log.append(got)
        finally:
            log.append("fin")
        return "ret"

    def h():
        r = yield from g()
        log.append(r)
        yield r

    a = list(h())
    it = h()
    b = next(it)
    brk()
    c = it.send("s")
    it.close()
    return a, b, c, sum(y * 2 for y in g()), x * 2, dict(zip("ab", h()))


def classes(x, log):
    k = brk(2)

    class Meta(type):
        def __new__(m, n, b, d, **kw):
            log.append((n, sorted(kw)))
            return super().__new__(m, n, b, d)

    class A(metaclass=Meta, flag=k):
        z = k + 1

        def __init__(self):
            self.v = brk(5)

        @property
        def p(self):
            return self.v * brk(2)

        @classmethod
        def c(cls):
            return cls.z

        @staticmethod
        def s(q):
            return q + 1

        def __call__(self, y):
            return y * self.p

    class B(A, flag=0):
        def __init__(self):
            super().__init__()
            self.w = 1
            brk()

    b = B()
    return b(x), b.p, B.c(), A.s(1), b.w, isinstance(b, A), [c.__name__ for c in B.__mro__]


def loops(x, log):
    for i in range(4):
        for j in range(3):
            if brk(j) == 1:
                continue
            if i == 2:
                break
            x = x + j
        else:
            log.append(("else", i))
        if i == 3:
            break
    else:
        log.append("never")
    n = 0
    while True:
        n += 1
        if brk(n) > 3:
            break
    else:
        log.append("never")
    return x, n


def comprehensions(x, log):
    return (
        [brk(i) + j for i in range(2) for j in range(2) if brk(j)],
        {i: brk(i) for i in "ab"},
        {brk(i) for i in (1, 2)},
        list(brk(i) for i in range(2)),
        x + 1,
        [[brk(a) for a in b] for b in ((1, 2), (3,))],
    )


def assertions(x, log):
    assert brk(True), "no"
    try:
        assert brk(0), f"msg {brk(1)}"
    except AssertionError as e:
        log.append(str(e))
    return x + 1


def imports(x, log):
    import math as m
    import os.path
    from collections import OrderedDict as O

    return m.floor(brk(2.5)), O([(1, 2)]), os.path.basename("a/b"), x + 1


def recursion(x, log):
    def fact(n):
        return 1 if n < 2 else n * fact(brk(n - 1))

    return fact(5), x * fact(3)


def conditions_and_operators(x, log):
    return (x if brk(0) else x * 2), brk(0) or brk("b"), brk(1) and brk("c"), not brk(0), -brk(1), ~brk(2), brk(3) ** 2


def augmented_assignments(x, log):
    l = brk([1])
    l += [2]
    l *= 2
    o = brk({"a": 1})
    o["a"] += 5
    o |= {"b": 1}

    class N:
        v = 1

    n = N()
    n.v += brk(2)
    x += brk(1)
    x *= 2
    return l, o, n.v, x


def except_star_nested(x, log):
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [TypeError(2), KeyError(3)]), OSError(9)])
        except* ValueError as e:
            log.append((repr(e), repr(brk(sys.exc_info()[1]))))
            x = x * 2
            brk()
            log.append(repr(sys.exc_info()[1]))
        except* TypeError as e:
            log.append(repr(brk(e)))
            brk()
            raise RuntimeError("new")
        finally:
            log.append("fin")
            brk()
    except ExceptionGroup as g:
        log.append((repr(g), [repr(q.__context__) for q in g.exceptions]))
        brk()
        x = x + 1
    return x


def except_star_of_a_plain_exception(x, log):
    try:
        brk()
        raise KeyError("naked")
    except* KeyError as e:
        log.append(repr(e))
        x = x * 2
        brk()
        log.append(repr(sys.exc_info()[1]))
    log.append(repr(sys.exc_info()))
    return x


def except_star_in_a_loop(x, log):
    for i in range(3):
        try:
            if i:
                raise ExceptionGroup("g", [ValueError(i)])
            x = x * 3
        except* ValueError:
            x = x * 2
            brk()
        else:
            log.append("else")
    return x


def comprehension_over_the_name_of_an_outer_variable(x, log):
    def inner():
        values = [brk(x) + 1 for x in (x, x)]
        brk()
        return [*values, *(f() for f in [lambda: x for x in values]), x]

    log.append(len(inner()))
    return sum(inner()[:4])


PROGRAMS = [
    value
    for value in list(globals().values())
    if isinstance(value, types.FunctionType) and value.__code__.co_varnames[:2] == ("x", "log")
]

KEPT_WHOLE = (recursion, assertions)  # a function that contains itself is not made again; pytest rewrites assertions


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_construct_that_breaks_inside_does_what_it_did(program):
    counter = CompileCounter()
    compiled = optimize(program, counter)
    for _ in range(3):
        plain = behaviour(program, (matrix(), []), state=(COUNT,))
        assert behaviour(compiled, (matrix(), []), state=(COUNT,)) == plain
    assert counter.frame_count >= 1 or program in KEPT_WHOLE
