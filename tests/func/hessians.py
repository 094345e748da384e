"""Functions of a matrix to one number, the seven ways to their Hessian, and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import vmap
from minitorch_compile.func import grad, jacfwd, jacrev, jvp, vjp

torch.manual_seed(0)
X = torch.randn(3, 4, dtype=torch.float64)
W = torch.randn(4, 3, dtype=torch.float64)
KERNEL = torch.randn(2, 1, 2, 2, dtype=torch.float64)


def with_python_control_flow(x):
    for row in x:
        x = x * 1.1 + (row.sin() if row.shape[0] > 2 else row)
    return (x * x).sum()


FUNCTIONS = {
    "control flow": with_python_control_flow,
    "reductions": lambda x: x.prod(0).sum() + x.std(1).mean() + x.logsumexp(1).sum() + (x**3).amax(),
    "matmul": lambda x: torch.tanh(x @ W).pow(2).sum() + (x @ x.t()).trace(),
    "softmax": lambda x: (torch.softmax(x, -1) * torch.log_softmax(x @ W, 0).sum()).pow(2).sum(),
    "conv": lambda x: torch.sin(F.conv2d(x[None, None], KERNEL)).sum() * F.avg_pool2d(x[None], 2).sum(),
    "indexing": lambda x: (
        (x[torch.tensor([0, 2, 0])] ** 3).sum() * x[1:, ::2].cumsum(0).sum() + x.gather(1, IDX).prod()
    ),
    "where and norm": lambda x: torch.where(x > 0, x.exp(), x**2).sum() + F.layer_norm(x, (4,)).pow(3).sum(),
}
IDX = torch.tensor([[0], [3], [1]])


def units_of(x):
    return torch.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)


def jvp_of_vjp(f):
    return lambda x: vmap(lambda e: jvp(lambda y: vjp(f, y)[1](ONE)[0], (x,), (e,))[1])(units_of(x))


def vjp_of_jvp(f):
    return lambda x: vmap(lambda e: vjp(lambda y: jvp(f, (y,), (e,))[1], x)[1](ONE)[0])(units_of(x))


def jvp_of_jvp(f):
    def second(x, a, b):
        return jvp(lambda y: jvp(f, (y,), (a,))[1], (x,), (b,))[1]

    return lambda x: vmap(lambda a: vmap(lambda b: second(x, a, b))(units_of(x)))(units_of(x))


ONE = torch.ones((), dtype=torch.float64)
WAYS: dict[str, Callable[[Any], Any]] = {
    "forward over reverse": lambda f: jacfwd(jacrev(f)),
    "reverse over forward": lambda f: jacrev(jacfwd(f)),
    "forward over forward": lambda f: jacfwd(jacfwd(f)),
    "reverse over reverse": lambda f: jacrev(jacrev(f)),
    "jvp of vjp": jvp_of_vjp,
    "vjp of jvp": vjp_of_jvp,
    "jvp of jvp": jvp_of_jvp,
}


def by_finite_differences(f, x, step=1e-5):
    gradient = grad(f)
    columns = []
    for e in torch.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape):
        columns.append((gradient(x + step * e) - gradient(x - step * e)) / (2 * step))
    return torch.stack(columns).reshape(*x.shape, *x.shape)
