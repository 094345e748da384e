"""Programs with breaks, side effects and state: compiled and run plainly, both leave the same world."""

import numpy as np
import pytest
from mini import ops
from mini.breaks import Region
from mini.tensor import Tensor, from_numpy, tensor


def same(a, b):
    if isinstance(a, Tensor):
        return isinstance(b, Tensor) and np.allclose(a.numpy(), b.numpy(), equal_nan=True)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return a == b


K = 2.0


class M:
    def __init__(s):
        s.w = tensor([1.0, 2.0])
        s.n = 0
        s.parts = []

    def scale(s, x):
        return x * s.w

    def __call__(s, x):
        s.n += 1
        y = s.scale(x)
        if y.sum() > 3:
            y = y - K
        s.parts.append(y)
        return y, s.n


def f1(x, n):
    acc = []
    for i in range(n):
        x = x + i
        acc.append(x)
    return acc, {"k": x}, len(acc)


def f2(m, x):
    a = m(x)
    b, n = m(a[0])
    return a, b, n


def f3(x):
    out = []
    for i, v in enumerate([x, x * 2]):
        if v.sum().item() > 2:
            out.append((i, v))
        print("", end="")
    return out


def f4(x, flag):
    def inner(y):
        nonlocal x
        x = x + 1
        return y * x

    z = [inner(x) for _ in range(2)]
    if flag:
        z.append(float(z[0].sum()))
    return z, x


def f5(x):
    q, k = x[:, :2], x[:, 2:]
    s = (q @ k.t()).softmax(-1)
    return ops.cat([s, q], dim=1).mean(0), x.shape, x[0].reshape(2, 2).t()[None, ...]


def f6(x, y):
    x.add_(1)
    return x * y


def f7(d, x):
    d["a"] = d.get("a", 0) + 1
    d["t"] = x * d["a"]
    return [d[k] for k in d]


def clone(v):
    if isinstance(v, Tensor):
        return from_numpy(v.numpy().copy())
    if isinstance(v, list):
        return [clone(i) for i in v]
    if isinstance(v, tuple):
        return tuple(map(clone, v))
    if isinstance(v, dict):
        return {k: clone(i) for k, i in v.items()}
    if isinstance(v, M):
        m = M()
        vars(m).update({k: clone(i) for k, i in vars(v).items()})
        return m
    return v


t = tensor([1.0, 2.0])

t = tensor([1.0, 2.0])
CASES = [
    (f1, (t, 3)),
    (f1, (t, 4)),
    (f2, (M(), t)),
    (f3, (t,)),
    (f4, (t, True)),
    (f4, (t, False)),
    (f5, (from_numpy(np.arange(12).reshape(3, 4).astype("f") / 12),)),
    (f6, (t, t)),
    (f7, ({}, t)),
    (f7, ({"a": 3}, t)),
]


@pytest.mark.parametrize("function, args", CASES)
def test_a_region_does_what_the_function_does(function, args):
    region = Region(function)
    for call in range(3):
        a, b = clone(args), clone(args)
        if function is f6 and call == 1:
            a, b = (a[0], a[0]), (b[0], b[0])
        assert same(function(*a), region(*b))
        if function is f2:
            a, b = vars(a[0]), vars(b[0])
        assert same(a, b)
