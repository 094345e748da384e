# ruff: noqa: B023, C416, F821, UP032 (they are meant: each is a construct of its own)
"""Programs in plain Python, each with arguments: what they give, raise and leave behind is what CPython does."""

import copy
import json

G = 5


def parameters(x, *rest, k=1, **named):
    return (x, rest, k, sorted(named.items()))


def loops():
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


def closures(n):
    def inner(y=2, *, z=3):
        return n + y + z

    n += 1
    return inner(), inner(5, z=1), [inner(i) for i in range(3)], {k: v * n for k, v in zip("ab", [1, 2])}


def counter():
    count = 0

    def bump(by=1):
        nonlocal count
        count += by
        return count

    return [bump(), bump(3), bump()], count, bump.__defaults__, bump.__name__


def annotated(x: int, /, y: "float" = 2.0, *, z: str = "z") -> tuple:
    def inner(a: int, *, b: str = "b") -> int:
        return a

    return x, y, z, inner.__annotations__, inner.__kwdefaults__, inner.__qualname__


def generators():
    def g(n):
        for i in range(n):
            got = yield 2 * i
            if got:
                yield got
        return "end"

    sent = g(2)
    first = next(sent)
    return list(g(4)), sum(x * x for x in range(4)), first, sent.send("hello"), list(sent)


def interleaved():
    log = []

    def g():
        for i in range(3):
            log.append(("before", i))
            yield i

    for i in g():
        log.append(("body", i))
    return log


def stops_inside():
    def g():
        yield next(iter([]))

    return list(g())


def expressions(x):
    u, (v, w) = 1, (2, 3)
    u, v = v, u
    return (
        x[1:2],
        x[::2],
        x is None,
        x is not None,
        2 in x,
        9 not in x,
        not x,
        -u,
        +u,
        ~u,
        u < v < w,
        u and v or w,
        G,
    )


def operators(a, b):
    return a + b, a - b, a * b, a / b, a // b, a % b, a**b, a & b, a | b, a ^ b, a << b, a >> b, a == b, a != b, a >= b


def in_place(a, b):
    a += b
    a -= 1
    a *= b
    a //= 2
    a **= 2
    a |= b
    a ^= 1
    return a


def in_place_keeps_the_object(xs):
    ys, d = xs, {"a": 1}
    e = d
    ys *= 2
    ys += (3,)
    d |= {"b": 2}
    return xs, e, ys is xs


def calls(*args):
    t = [*args, 1, *args]
    named = {**{"a": 1}, "b": 2}
    return (
        parameters(*t, k=3, **named),
        (lambda q: q + 1)(2),
        max(t, key=lambda v: -v),
        "{}-{x}".format(1, x=2),
    )


def slices(xs):
    xs[1:3] = [7, 8, 9]
    del xs[0]
    ys = xs[:]
    ys[0], ys[-1] = ys[-1], ys[0]
    return xs, ys


def taking_apart(pairs):
    (a, b), second, (_, last) = pairs
    return a, b, second, last, {k: v for k, v in pairs}


def comprehension_variables(x):
    y = [x for x in range(x)]
    fs = [lambda: x + i for i in range(2)]
    return y, x, [f() for f in fs], [[i * j for j in range(i)] for i in range(3)]


def none_or(a, b=None):
    if b is None:
        b = 7
    while a is not None:
        a = a[1:] or None
    return a or b


def early(xs):
    for x in xs:
        for y in xs:
            if x + y > 4:
                return x, y
    return None


def shared_iterator():
    it = iter([1, 2, 3, 4])
    return [(a, next(it)) for a in it], next(it, "none")


def grows(xs):
    for x in xs:
        if len(xs) < 6:
            xs.append(x + 10)
    return xs


def after_the_end(xs):
    it = iter(xs)
    seen = [x for x in it]
    xs.append(9)
    return seen, list(it)


def unbound(flag):
    if flag:
        y = 1
    return y


def unbound_in_a_cell(flag):
    def g():
        return y

    if flag:
        y = 1
    return g()


def deleted(x):
    y = x
    del x
    return y, x


def raises(x):
    raise ValueError("no", x) from KeyError(x)


def asserts(x):
    assert x, "x is needed"
    return x


def divides(x):
    return 1 // x


def too_few(x):
    a, b = x
    return a, b


def wrong_arguments():
    return parameters(k=2)


def twice_a_keyword(a):
    return parameters(1, **a, **a)


def of_a_module(x):
    return json.dumps(x, sort_keys=True), [json.loads(s) for s in ["1", json.dumps(obj=x, indent=None)]]


def unknown_name():
    return does_not_exist


PROGRAMS = [
    (parameters, 1, 2),
    (parameters, 1),
    (loops,),
    (closures, 3),
    (counter,),
    (annotated, 1),
    (annotated, 1, 2),
    (generators,),
    (interleaved,),
    (stops_inside,),
    (expressions, [1, 2, 3]),
    (operators, 7, 2),
    (operators, 7, 0),
    (in_place, 7, 2),
    (in_place_keeps_the_object, [1, 2]),
    (calls, 1, 2),
    (slices, [1, 2, 3, 4, 5]),
    (taking_apart, [(1, 2), (3, 4), (5, 6)]),
    (comprehension_variables, 3),
    (none_or, "abc"),
    (none_or, "abc", 3),
    (early, [1, 2, 3]),
    (early, []),
    (shared_iterator,),
    (grows, [1, 2, 3]),
    (after_the_end, [1, 2]),
    (unbound, True),
    (unbound, False),
    (unbound_in_a_cell, True),
    (unbound_in_a_cell, False),
    (deleted, 1),
    (raises, 3),
    (asserts, 0),
    (asserts, 1),
    (divides, 0),
    (too_few, [1]),
    (too_few, [1, 2]),
    (wrong_arguments,),
    (twice_a_keyword, {"k": 1}),
    (twice_a_keyword, {}),
    (unknown_name,),
    (of_a_module, {"b": 1, "a": [2]}),
]


def outcome(call, *args):
    """What a call gives or raises, and how it leaves its arguments."""
    args = copy.deepcopy(args)
    try:
        return call(*args), args
    except Exception as error:
        return type(error), type(error.__cause__), args
