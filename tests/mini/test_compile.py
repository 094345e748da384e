"""Whole programs, forward and backward, on each backend."""

from functools import partial

import numpy as np
import pytest
from mini import ops
from mini.aot import aot
from mini.breaks import Region
from mini.front import compile
from mini.nn import Linear
from mini.prims import decompose
from mini.program import Program
from mini.tensor import from_numpy

from .programs import CASES, r

COMPILERS = {"graph": lambda graph: graph.run, "prims": lambda graph: decompose(graph).run, "kernels": Program}


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES])
def test_values_and_gradients_are_the_eager_ones(f, args, compiler):
    for x in args:
        x.requires_grad, x.grad = True, None
    out = f(*args)
    weights = r(*out.sizes)
    (out * weights).sum().backward()
    wanted = [x.grad.numpy() for x in args]
    region = Region(f, aot(compiler))
    for _ in range(2):
        for x in args:
            x.grad = None
        got = region(*args)
        assert np.allclose(got.numpy(), out.numpy())
        (got * weights).sum().backward()
        assert all(np.allclose(x.grad.numpy(), grad, atol=1e-9) for x, grad in zip(args, wanted))
    assert len(region.entries()) == 1


def g1(x):
    y = x[1:]
    y.mul_(2)
    x[0] = 7
    z = x.reshape(6)
    z.add_(1)
    return y, z.sum(), x.t()


def g2(x, y):
    x[:, 1].copy_(y.sum(0).expand(2))
    return x * y


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
@pytest.mark.parametrize("f, sizes", [(g1, [(3, 2)]), (g2, [(2, 3), (3,)])])
def test_writes_reach_the_arguments(f, sizes, compiler):
    plain = [r(*size) for size in sizes]
    mine = [from_numpy(x.numpy().copy()) for x in plain]
    region, wanted, got = Region(f, aot(compiler)), f(*plain), None
    got = region(*mine)
    wanted, got = [out if isinstance(out, tuple) else (out,) for out in (wanted, got)]
    assert all(np.allclose(a.numpy(), b.numpy()) for a, b in zip((*wanted, *plain), (*got, *mine)))
    assert len(region.entries()) == 1
    if f is g1:
        assert got[2].storage is mine[0].storage  # a view of an argument stays one


LAYER = Linear(3, 2)


@pytest.mark.parametrize("f", [LAYER, LAYER.forward, ops.exp, ops.gelu, partial(ops.add, 2), len],
                         ids=["module", "method", "op", "function", "partial", "builtin"])  # fmt: skip
def test_whatever_can_be_called_can_be_compiled(f):
    x = r(2, 3)
    got, wanted = compile(f)(x), f(x)
    assert got == wanted if f is len else np.allclose(got.numpy(), wanted.numpy())
