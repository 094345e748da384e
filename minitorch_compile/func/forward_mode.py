"""jvp and linearize: how the result of a function moves when its arguments do.

>>> import minitorch_compile as torch
>>> x, direction = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0])
>>> jvp(lambda x: x**2, (x,), (direction,))
(tensor([1., 4.]), tensor([2., 0.]))

There is no second set of derivative formulas for the forward direction. A vector-Jacobian product u -> u J is linear in
u, so its own vector-Jacobian product is v -> J v, whatever u is: two passes backwards are one forwards. Source: J.
Townsend, "A new trick for calculating Jacobian vector products", 2017; PyTorch has formulas for this direction as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.func.gradients import vjp
from minitorch_compile.pytree import tree_flatten, tree_map
from minitorch_compile.tensor import ops


def linearized(func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool = False) -> tuple[Any, ...]:
    """(output, a function from one tangent a primal to that of the output), and aux."""
    output, pull_back, *aux = vjp(func, *primals, has_aux=has_aux)
    _, push_forward = vjp(pull_back, tree_map(ops.zeros_like, output))

    def pushed(*tangents: Any) -> Any:
        _check_tangents(primals, tangents)
        return push_forward(tangents)[0]

    return (output, pushed, *aux)


def _check_tangents(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> None:
    (xs, spec), (vs, given_spec) = tree_flatten(primals), tree_flatten(tangents)
    if spec != given_spec:
        raise RuntimeError(f"jvp: the tangents must be nested like the primals, {spec}, but they are {given_spec}")
    for x, v in zip(xs, vs):
        if x.shape != v.shape:
            raise RuntimeError(f"jvp: a tangent has shape {tuple(v.shape)}, its primal {tuple(x.shape)}")


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """(func(*primals), the derivative of it in the direction of `tangents`); then aux, with `has_aux`.

    `strict` is accepted as in PyTorch: a result that does not depend on the primals has a tangent of zeros either way.
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple) or not primals:
        raise RuntimeError("jvp: primals and tangents must be tuples, with an entry for each argument of the function")
    output, pushed, *aux = linearized(func, primals, has_aux)
    return (output, pushed(*tangents), *aux)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """(func(*primals), the linear function from tangents to the tangent of the result). The function is run once.

    >>> import minitorch_compile as torch
    >>> output, push = linearize(torch.sin, torch.tensor(0.0))
    >>> output, push(torch.tensor(1.0)), push(torch.tensor(2.0))
    (tensor(0.), tensor(1.), tensor(2.))
    """
    output, pushed = linearized(func, primals)
    return output, pushed
