"""Programs, interpreted and run plainly."""

import pytest
from mini.interpreter import Unsupported, run

G = 5


def a(x, *r, k=1, **kw):
    return (x, r, k, sorted(kw.items()))


def b():
    acc = []
    for i in range(5):
        if i == 3:
            continue
        acc.append(i)
    else:
        acc.append("e")
    while len(acc) < 10:
        acc += [0]
        if len(acc) == 8:
            break
    return acc


def c(n):
    def inner(y=2, *, z=3):
        return n + y + z

    n += 1
    return inner(), inner(5, z=1), [inner(i) for i in range(3)], {k: v * n for k, v in zip("ab", [1, 2])}


def d():
    def g(n):
        for i in range(n):
            yield 2 * i

    return list(g(4)), sum(x * x for x in range(4))


def e(x):
    u, (v, w) = 1, (2, 3)
    u, v = v, u
    s = f"{u}-{v:03d}-{w!r}"
    return s, x[1:2], x[::2], x is None, 2 in x, not x, -u, u < v < w, u and v or w, G if x else 0


def f(*args):
    t = [*args, 1, *args]
    dd = {**{"a": 1}, "b": 2}
    return a(*t, k=3, **dd), (lambda q: q + 1)(2), t[-1], max(t, key=lambda v: -v)


def h(x):
    x.append(1)
    x[0] = 4
    del x
    try_ = 0
    return try_


def t():
    try:
        return 1
    except ValueError:
        return 2


@pytest.mark.parametrize(
    "function, args", [(a, (1, 2)), (b, ()), (c, (3,)), (d, ()), (e, ([1, 2, 3],)), (f, (1, 2)), (h, ([1],))]
)
def test_gives_what_python_gives(function, args):
    assert run(function, *args) == function(*args)


def test_a_handler_of_exceptions_is_refused_by_name():
    with pytest.raises(Unsupported, match="PUSH_EXC_INFO|exception"):
        run(t)
