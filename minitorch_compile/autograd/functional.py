"""Derivatives of functions: jacobian, hessian, and their products with vectors.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, 2.0])
>>> jacobian(lambda x: x**2, x)
tensor([[2., 0.],
        [0., 4.]])
>>> hvp(lambda x: (x**3).sum(), x, tensor([1.0, 0.0]))
(tensor(9.), tensor([6., 0.]))

`inputs` and `v` are a tensor or a tuple of tensors, and so are the results. With `create_graph` the results can be
differentiated; otherwise the graph that was recorded on the way is gone afterwards. `strict` raises RuntimeError where
a result would be zero because nothing was recorded between the two.

Only the tape is at work here: a product with the Jacobian from the right takes two passes backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.autograd.entry_points import grad
from minitorch_compile.tensor import Tensor, enable_grad, ops

Tensors = tuple[Any, ...]


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(*inputs), v^T J). `v` has the shapes of the outputs; None will do for a single number."""
    with enable_grad():
        xs, was_tuple = _prepared(inputs, "inputs", "vjp", create_graph)
        outputs, output_was_tuple = _outputs(func(*xs), "vjp", xs, strict)
        vector = _vector(v, outputs, "vjp", "func outputs")
        products = _filled(_grads(outputs, xs, vector, create_graph), xs, strict, create_graph)
    return _given_back(outputs, output_was_tuple, create_graph), _given_back(products, was_tuple, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(*inputs), J v). `v` has the shapes of the inputs; None will do for a single number."""
    with enable_grad():
        xs, _ = _prepared(inputs, "inputs", "jvp", create_graph)
        vector = _vector(v, xs, "jvp", "inputs")
        outputs, was_tuple = _outputs(func(*xs), "jvp", xs, strict)
        # u -> u^T J is linear in u, so the derivative of its product with v is J v, whatever u is.
        upper = tuple(ops.zeros_like(out).requires_grad_() for out in outputs)
        pulled = _grads(outputs, xs, upper, True)
        known = [(g, vector[i]) for i, g in enumerate(pulled) if g is not None and g.requires_grad]
        if known:
            products = _grads([g for g, _ in known], upper, [each for _, each in known], create_graph)
        else:
            products = (None,) * len(upper)
        products = _filled(products, outputs, strict, create_graph)
    return _given_back(outputs, was_tuple, create_graph), _given_back(products, was_tuple, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """All partial derivatives: for each output and input a tensor with the dimensions of the one, then of the other.

    A tuple over outputs of tuples over inputs, either level left out where a single tensor stands for the tuple.
    `vectorize` and `strategy` choose how PyTorch computes it; here it is a pass backwards for each output element.
    """
    _check_strategy(strategy)
    with enable_grad():
        xs, was_tuple = _prepared(inputs, "inputs", "jacobian", create_graph)
        outputs, output_was_tuple = _outputs(func(*xs), "jacobian", xs, strict)
        rows = tuple(_jacobian_of(out, xs, create_graph, strict) for out in outputs)
    result = tuple(_given_back(row, was_tuple, create_graph) for row in rows)
    return result if output_was_tuple else result[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function that returns one number: the Jacobian of its gradient."""
    _check_strategy(outer_jacobian_strategy)
    xs, was_tuple = _as_tuple(inputs, "inputs", "hessian")

    def gradient(*args: Any) -> Any:
        out = func(*args)
        if not isinstance(out, Tensor) or out.numel() != 1:
            raise RuntimeError("The function given to hessian should return a single Tensor with a single element")
        found = jacobian(lambda *x: func(*x).reshape(()), args, create_graph=True, strict=strict)
        return found if was_tuple else found[0]

    result = jacobian(gradient, xs if was_tuple else xs[0], create_graph, strict)
    return result


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(*inputs), v^T H) for a function that returns one number."""
    with enable_grad():
        xs, was_tuple = _prepared(inputs, "inputs", "vhp", create_graph)
        vector = _vector(v, xs, "vhp", "inputs")
        outputs, _ = _outputs(func(*xs), "vhp", xs, strict)
        _check_number(outputs, "vhp")
        first = _filled(_grads(outputs, xs, None, True), xs, strict, True)
        known = [i for i, g in enumerate(first) if g.requires_grad]
        second = (
            _grads([first[i] for i in known], xs, [vector[i] for i in known], create_graph)
            if known
            else (None,) * len(xs)
        )
        products = _filled(second, xs, strict, create_graph)
    return _given_back(outputs, False, create_graph), _given_back(products, was_tuple, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(*inputs), H v) for a function that returns one number. H is symmetric where it is continuous, so this is
    `vhp` there."""
    _, was_tuple = _as_tuple(inputs, "inputs", "hvp")

    def gradient(*args: Any) -> Any:
        out = func(*args)
        _check_number((out,) if isinstance(out, Tensor) else tuple(out), "hvp")
        found = _filled(_grads([out], args, None, True), args, strict, True)
        return found if was_tuple else found[0]

    with enable_grad():
        xs, _ = _prepared(inputs, "inputs", "hvp", create_graph)
        value = func(*xs)
    _, product = jvp(gradient, inputs, v, create_graph, False)
    return value if create_graph else value.detach(), product


# ---------------------------------------------------------------------------------------------------------- the pieces


def _as_tuple(value: Any, name: str, caller: str) -> tuple[Tensors, bool]:
    was_tuple = isinstance(value, (tuple, list))
    tensors = tuple(value) if was_tuple else (value,)
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            where = f"element {i} of the {name}" if was_tuple else f"the {name}"
            raise TypeError(f"The {name} given to {caller} must be Tensors or a tuple of them; {where} is {type(x)}.")
    return tensors, was_tuple


def _prepared(inputs: Any, name: str, caller: str, create_graph: bool) -> tuple[Tensors, bool]:
    """The inputs as the places to differentiate by: fresh leaves, or with `create_graph` copies with a history."""
    tensors, was_tuple = _as_tuple(inputs, name, caller)
    if create_graph:
        fresh = tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in tensors)
    else:
        fresh = tuple(x.detach().requires_grad_() for x in tensors)
    return fresh, was_tuple


def _outputs(value: Any, caller: str, xs: Tensors, strict: bool) -> tuple[Tensors, bool]:
    outputs, was_tuple = _as_tuple(value, f"outputs of the user-provided function to {caller}", caller)
    if strict:
        for i, out in enumerate(outputs):
            if not out.requires_grad:
                raise RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The outputs must be computed"
                    " in a differentiable manner from the input when running in strict mode."
                )
    return outputs, was_tuple


def _vector(v: Any, like: Tensors, caller: str, what: str) -> Tensors:
    """The vector, checked against what it must look like; 1 for a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {what} of the function given to {caller} are a single Tensor"
                " with a single element."
            )
        return (ops.ones_like(like[0]),)
    vectors, _ = _as_tuple(v, "v", caller)
    if len(vectors) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
    for i, (each, x) in enumerate(zip(vectors, like, strict=True)):
        if each.sizes != x.sizes:
            raise RuntimeError(f"Entry {i} in v has invalid size: should be {x.sizes} but got {each.sizes}.")
    return tuple(each.detach() for each in vectors) if not any(each.requires_grad for each in vectors) else vectors


def _check_number(outputs: Tensors, caller: str) -> None:
    if len(outputs) != 1 or not isinstance(outputs[0], Tensor) or outputs[0].numel() != 1:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor with a single element")


def _check_strategy(strategy: str) -> None:
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f'Expected strategy to be either "forward-mode" or "reverse-mode", got {strategy!r}.')


def _grads(outputs: Sequence[Any], xs: Sequence[Any], upper: Sequence[Any] | None, create_graph: bool) -> Tensors:
    """As autograd.grad, with None for an input that nothing leads to and outputs without a history left out."""
    kept = [i for i, out in enumerate(outputs) if out.requires_grad]
    if not kept:
        return (None,) * len(xs)
    given = None if upper is None else [upper[i] for i in kept]
    return grad([outputs[i] for i in kept], xs, given, retain_graph=True, create_graph=create_graph, allow_unused=True)


def _filled(gradients: Sequence[Any], like: Sequence[Any], strict: bool, create_graph: bool) -> Tensors:
    """Zeros where no gradient came; RuntimeError if `strict`."""
    if strict:
        for i, g in enumerate(gradients):
            if g is None or (create_graph and not g.requires_grad):
                raise RuntimeError(
                    f"The result does not depend on entry {i} in a differentiable manner, which is not allowed in"
                    " strict mode."
                )
    return tuple(ops.zeros_like(x) if g is None else g for g, x in zip(gradients, like, strict=True))


def _jacobian_of(out: Any, xs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobians of one output, a row for each of its elements."""
    flat = out.reshape(-1)
    rows: list[list[Any]] = [[] for _ in xs]
    for i in range(flat.numel()):
        found = _filled(_grads([flat[i]], xs, None, create_graph), xs, strict, create_graph)
        for row, g in zip(rows, found, strict=True):
            row.append(g)
    return tuple(
        ops.stack(row).reshape((*out.sizes, *x.sizes)) if row else ops.zeros((*out.sizes, *x.sizes), dtype=x.dtype)
        for row, x in zip(rows, xs, strict=True)
    )


def _given_back(results: Tensors, was_tuple: bool, create_graph: bool) -> Any:
    if not create_graph:
        results = tuple(x.detach() for x in results)
    return results if was_tuple else results[0]


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
