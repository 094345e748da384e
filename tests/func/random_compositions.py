"""Random chains of transforms over small functions: each is run plainly and compiled.

python -m tests.func.random_compositions [first [count [backend]]]
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import vmap
from minitorch_compile.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp

Function = Callable[[Any], Any]
WEIGHT = torch.linspace(-1, 1, 9, dtype=torch.float64).reshape(3, 3)
OTHER = torch.linspace(0.5, 2, 3, dtype=torch.float64).requires_grad_()


def written_in_place(x: Any) -> Any:
    y = x * 1
    y[0] = x[0] * x[-1]
    y.mul_(x)
    return y + 1


def written_after_it_was_needed(x: Any) -> Any:
    y = x * 1
    z = y * y
    y[0] = 0
    return z


# Functions of a tensor whose last dimension is 3, to one of the same sizes.
POINTWISE: list[Function] = [
    lambda x: torch.sin(x) * x,
    lambda x: torch.tanh(x @ WEIGHT),
    lambda x: torch.softmax(x, -1) * OTHER,
    lambda x: torch.where(x > 0, x * x, torch.exp(x)),
    lambda x: F.layer_norm(x, (3,)) + x.cumsum(-1),
    lambda x: x[..., torch.tensor([2, 0, 0])] * x.flip(-1),
    lambda x: x * x.detach() + x.mean(-1, keepdim=True),
    lambda x: torch.cat([x[..., :1] ** 2, x[..., 1:].sigmoid()], -1),
    written_in_place,
    written_after_it_was_needed,  # an error where it is differentiated
]


def summed(f: Function) -> Function:
    return lambda x: f(x).sum()


def with_no_grad(f: Function) -> Function:
    def g(x: Any) -> Any:
        with torch.no_grad():
            constant = f(x)
        return x * constant

    return g


# From a function of that kind to another one.
TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "grad": lambda f: grad(summed(f)),
    "grad of the squares": lambda f: grad(lambda x: (f(x) ** 2).sum()),
    "value and grad": lambda f: lambda x: sum(grad_and_value(summed(f))(x)),
    "jacrev": lambda f: lambda x: jacrev(lambda v: f(v).reshape(-1))(x).sum(0) + x,
    "jacfwd": lambda f: lambda x: jacfwd(lambda v: f(v).reshape(-1))(x).sum(0) + x,
    "jacrev by chunks": lambda f: lambda x: jacrev(lambda v: f(v).reshape(-1), chunk_size=2)(x).sum(0),
    "hessian": lambda f: lambda x: hessian(summed(f))(x).sum(tuple(range(x.dim()))),
    "vjp": lambda f: lambda x: vjp(f, x)[1](torch.cos(x))[0],
    "vjp, later": lambda f: lambda x: (lambda y, pull: pull(y * 2)[0] + pull(x)[0])(*vjp(f, x)),
    "jvp": lambda f: lambda x: jvp(f, (x,), (torch.sin(x),))[1],
    "linearize": lambda f: lambda x: (lambda y, push: push(x) - push(y))(*linearize(f, x)),
    "vmap": lambda f: lambda x: vmap(f)(torch.stack([x, x * 0.5])).sum(0),
    "vmap along the end": lambda f: lambda x: vmap(f, in_dims=-1, out_dims=-1)(torch.stack([x, -x], -1)).prod(-1),
    "vmap by chunks": lambda f: lambda x: vmap(f, chunk_size=2)(torch.stack([x, x + 1, x * 2])).mean(0),
    "vmap with a closure": lambda f: lambda x: vmap(lambda a: f(x * a.sum()))(torch.stack([x, x * 2])).sum(0),
    "no_grad": with_no_grad,
}


def composition(seed: int) -> tuple[str, Function]:
    """A chain of one to three transforms, with what it is called."""
    chosen = random.Random(seed)
    number = chosen.randrange(len(POINTWISE))
    names = [chosen.choice(list(TRANSFORMS)) for _ in range(chosen.choice((1, 2, 2, 3)))]
    f = POINTWISE[number]
    for name in names:
        f = TRANSFORMS[name](f)
    return f"{seed}: {' of '.join(reversed(names))} of function {number}", f


def argument(needs_gradient: bool, matrix: bool) -> Any:
    x = torch.linspace(-0.9, 1.1, 6 if matrix else 3, dtype=torch.float64)
    return (x.reshape(2, 3) if matrix else x).requires_grad_(needs_gradient)


def outcome(f: Function, x: Any) -> list[Any]:
    """The result, and the gradients of x and of a tensor that f knows; or the class of the error."""
    try:
        y = f(x)
    except Exception as error:  # whatever it is, both have to raise it
        return [type(error).__name__]
    wanted = [t for t in (x, OTHER) if t.requires_grad]
    if not y.requires_grad:
        return [y, None]
    try:
        return [y, *torch.autograd.grad((y * y.detach()).sum(), wanted, allow_unused=True)]
    except RuntimeError as error:
        return [y, type(error).__name__]


def alike(a: Any, b: Any) -> bool:
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return type(a) is type(b) and a == b
    same_kind = a.shape == b.shape and a.requires_grad == b.requires_grad
    return same_kind and torch.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)


def difference(seed: int, backend: str) -> str | None:
    """What is different when compiled; None if nothing."""
    name, f = composition(seed)
    for needs_gradient in (False, True):
        for matrix in (False, True):
            torch._dynamo.reset()
            compiled = torch.compile(lambda x: f(x), backend=backend)
            expected = outcome(f, argument(needs_gradient, matrix))
            found = outcome(compiled, argument(needs_gradient, matrix))
            if len(expected) != len(found) or not all(map(alike, expected, found)):
                return f"{name}, requires_grad={needs_gradient}, matrix={matrix}: {expected} but {found}"
    return None


def main(first: int = 0, count: int = 100, backend: str = "inductor") -> None:
    found = [d for d in (difference(seed, backend) for seed in range(first, first + count)) if d is not None]
    print("\n".join([*found, f"{count} compositions of transforms, {len(found)} are different when compiled"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
