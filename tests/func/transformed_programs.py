"""Functions that use transforms, of x of sizes (3, 4), for running compiled and plainly."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import nn, vmap
from minitorch_compile.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)

torch.manual_seed(0)
W = torch.randn(4, 3)
KERNEL = torch.randn(2, 1, 2, 2)
PLACES = torch.tensor([[0], [3], [1]])
LABELS = torch.tensor([0, 2, 1])
NET = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
PARAMETERS = {name: p.detach() for name, p in NET.named_parameters()}

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__.replace("_", " ")] = function
    return function


def f(x: Any) -> Any:
    return (torch.tanh(x) * x).sum()


MADE_OUTSIDE = vmap(grad(f))


def with_control_flow(x: Any) -> Any:
    for row in x:
        x = x * 1.1 + (row.sin() if row.shape[0] > 2 else row)
    return (x * x).sum()


def images(x: Any) -> Any:
    return torch.sin(F.conv2d(x[None, None], KERNEL)).sum() * F.avg_pool2d(x[None], 2).sum()


def indexing(x: Any) -> Any:
    picked = (x[torch.tensor([0, 2, 0])] ** 3).sum()
    return picked * x[1:, ::2].cumsum(0).sum() + x.gather(1, PLACES).prod()


def attention_like(x: Any) -> Any:
    return (torch.softmax(x @ W, -1) * torch.log_softmax(x @ W, 0).sum()).pow(2).sum()


def loss(parameters: Any, x: Any, y: Any) -> Any:
    return F.cross_entropy(functional_call(NET, parameters, (x[None],)), y[None])


@program
def one_vmap(x):
    return vmap(f)(x)


@program
def vmap_of_vmap(x):
    return vmap(vmap(torch.sin), in_dims=1, out_dims=1)(x)


@program
def nested_arguments(x):
    return vmap(lambda d, n: {"s": d["a"] * d["b"] + n}, in_dims=({"a": 0, "b": None}, None))({"a": x, "b": x[0]}, 2.0)


@program
def by_chunks(x):
    return vmap(lambda row: (row.sin(), row.sum()), chunk_size=2, out_dims=(1, 0))(x)


@program
def one_grad(x):
    return grad(f)(x)


@program
def grad_of_grad(x):
    return grad(lambda x: grad(f)(x).pow(2).sum())(x)


@program
def several_arguments(x):
    return grad(lambda a, b, by=1.0: (a * b * by).sum(), argnums=(0, 1))(x, x * 2, by=3.0)


@program
def value_and_aux(x):
    return grad_and_value(lambda a: (f(a), {"a": a * 2}), has_aux=True)(x)


@program
def jacobians(x):
    return jacrev(lambda a: torch.tanh(a @ W))(x), jacfwd(lambda a: torch.tanh(a @ W))(x)


@program
def jacobian_by_chunks(x):
    return jacrev(lambda a: torch.tanh(a @ W), chunk_size=4)(x)


@program
def hessian_with_control_flow(x):
    return hessian(with_control_flow)(x)


@program
def hessian_of_images(x):
    return hessian(images)(x)


@program
def hessian_with_indexing(x):
    return jacrev(jacfwd(indexing))(x)


@program
def hessian_of_softmax(x):
    return jacfwd(jacrev(attention_like))(x)


@program
def pulled_back_later(x):
    y, pull = vjp(torch.sin, x)
    z = y * 2
    return z, pull(z)[0], pull(y)[0]


@program
def pulled_back_for_many(x):
    y, pull = vjp(lambda a: a.sum(1).sin(), x)
    return vmap(pull)(torch.eye(3))


@program
def pushed_forward(x):
    y, push = linearize(torch.sin, x)
    return y, push(x), push(x * 2), jvp(torch.cos, (x,), (y,))


@program
def closures(x):
    w = x.sum()
    return vmap(lambda row: (row * w).sum())(x), grad(lambda a: (a * w).sum())(x)


@program
def vmap_over_a_closure_over_a_vmap(x):
    return vmap(lambda a: vmap(lambda b: a @ b)(x))(x)


@program
def side_effects_of_numbers(x):
    seen = []

    def noted(row):
        seen.append(row.shape[0])
        return row * 2

    return vmap(noted)(x), seen


@program
def writing_in_place(x):
    y = x.clone()
    totals = vmap(lambda row, n: row.add_(n).sum())(y, torch.arange(3.0))
    return totals, y


@program
def writing_inside_grad(x):
    def squares(a):
        b = a.clone()
        b.mul_(a)
        b[0] = b[1] * 2
        return b.sum()

    return grad(squares)(x)


@program
def per_sample_gradients(x):
    return vmap(grad(loss), in_dims=(None, 0, 0))(PARAMETERS, x, LABELS)


@program
def size_of_gradients(x):
    gradients = vmap(grad(loss), in_dims=(None, 0, 0))(dict(NET.named_parameters()), x, LABELS)
    return sum(g.pow(2).sum() for g in gradients.values())


@program
def random_numbers(x):
    different = vmap(lambda row: row + torch.rand(()), randomness="different")(x)
    return different, vmap(lambda row: F.dropout(row), randomness="same")(x)


@program
def callables_of_every_kind(x):
    scaled = functools.partial(torch.add, alpha=2)
    found = vmap(torch.dot)(x, x), vmap(NET)(x), vmap(torch.Tensor.sin)(x), vmap(operator.mul)(x, x)
    return *found, vmap(scaled, in_dims=(0, None))(x, x[0]), functools.partial(vmap, in_dims=1)(f)(x), MADE_OUTSIDE(x)


@program
def no_grad_inside_and_outside(x):
    with torch.no_grad():
        constant = grad(f)(x)

    def difference(a):
        with torch.no_grad():
            c = a.cos()
        return (a.sin() * c).sum()

    return constant, grad(difference)(x)


@program
def learning_to_learn(x):
    def learnt(w):
        for _ in range(3):
            w = w - 0.1 * grad(lambda w: ((w @ w.t() - torch.eye(3)) ** 2).sum())(w)
        return w

    return grad(lambda x: learnt(x).pow(2).sum())(x)


@program
def detached_inside(x):
    return grad(lambda a: (a.detach() * a * a.data).sum())(x)
