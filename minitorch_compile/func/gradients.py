"""Gradients of functions: vjp, grad, grad_and_value. Reverse mode, on the tape.

>>> import minitorch_compile as torch
>>> grad(lambda x: x**3)(torch.tensor(2.0))
tensor(12.)
>>> grad(grad(lambda x: x**3))(torch.tensor(2.0))
tensor(12.)

Inside vmap, every argument of the function becomes a leaf *for each example*: what is the same for all examples is
repeated (without a copy), so that each example has a gradient of its own. The tape then records operations on whole
batches, and since no example influences another, the gradient of the sum of all results has the gradients of all
examples in it:

>>> def loss(w, x):
...     return (w * x).sum()
>>> w, xs = torch.ones(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> torch.func.vmap(grad(loss), in_dims=(None, 0))(w, xs)                 # per-sample gradients
tensor([[1., 2.],
        [3., 4.]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.func.named_after import named_after
from minitorch_compile.func.steps import (
    active_levels,
    as_argument,
    begin_recording,
    end_recording,
    gradients,
    has_history,
    is_tracked,
    watch,
)
from minitorch_compile.pytree import TreeSpec, tree_flatten, tree_map_only, tree_unflatten
from minitorch_compile.tensor import Tensor, enable_grad, is_grad_enabled, ops


class Recording:
    """A function, run once with its inputs watched by the tape; it can be pulled back any number of times.

    Results are handed out without the recording behind them, unless somebody else records too: an outer transform, or
    the tape of the user's own. Under `no_grad` nobody does.
    """

    def __init__(
        self, func: Callable[..., Any], primals: Sequence[Any], spec: TreeSpec, name: str, others: Sequence[Any] = ()
    ) -> None:
        forward = name not in ("grad", "vjp")  # forward mode has no leaves, so the function may write to its primals
        for x in primals:
            check_differentiable(x, name)
        self.levels = active_levels()
        self.was_enabled = is_grad_enabled()
        with enable_grad():
            self.watched = [watch(x, self.levels, self._is_recorded(x)) for x in primals]
            inputs = [as_argument(x, self.levels, forward) for x in self.watched]
            begin_recording([*inputs, *others])
            try:
                self.result = func(*tree_unflatten(inputs, spec))
            finally:
                end_recording(self.watched)

    def _is_recorded(self, x: Any) -> bool:
        return self.was_enabled and has_history(x, self.levels)

    def handed_out(self, tree: Any) -> Any:
        """Results as the caller gets them."""
        return tree_map_only(Tensor, self._handed_out, tree)

    def _handed_out(self, x: Any) -> Any:
        return x if self.was_enabled and is_tracked([x], self.levels) else ops.detach(x)

    def pull_back(self, outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The gradients of the inputs, given those of the outputs."""
        needed = is_grad_enabled() and (
            is_tracked(outputs, self.levels) or any(has_history(g, self.levels) for g in cotangents)
        )
        found = gradients(outputs, cotangents, self.watched, self.levels, needed)
        return [x if is_tracked([x], self.levels) else ops.detach(x) for x in found] if needed else found


def is_differentiable(x: Any) -> bool:
    """Whether a tensor has gradients: whole numbers and truth values have none."""
    return bool(x.dtype.is_floating_point or x.dtype.is_complex)


def check_differentiable(x: Any, name: str) -> None:
    """ValueError for what is no tensor, RuntimeError for a tensor of whole numbers."""
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{name}: expected tensors to differentiate with respect to, but got {type(x).__name__}; leave out what is"
            " constant, for instance by argnums or a lambda"
        )
    if not is_differentiable(x):
        raise RuntimeError(f"{name}: only floating point and complex tensors have gradients, but got {x.dtype}")


# --- the transforms ---------------------------------------------------------------------------------------------------


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), a function from cotangents, one for each output, to a tuple of gradients, one a primal).

    With `has_aux`, the function returns (output, aux), and aux is the third result. RuntimeError for outputs that are
    no tensors of floating point or complex numbers.

    >>> import minitorch_compile as torch
    >>> y, pull_back = vjp(torch.sin, torch.tensor(0.0))
    >>> y, pull_back(torch.tensor(2.0))
    (tensor(0.), (tensor(2.),))
    """
    recording, spec, result, aux = recorded(func, primals, has_aux, "vjp")
    outputs, out_spec = tree_flatten(result)
    _check_outputs(outputs)

    def pull_back(cotangents: Any) -> Any:
        given, given_spec = tree_flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                f"vjp: the cotangents must be nested like the output, {out_spec}, but they are {given_spec}"
            )
        for y, g in zip(outputs, given):
            if y.shape != g.shape:
                raise RuntimeError(f"vjp: a cotangent has shape {tuple(g.shape)}, its output {tuple(y.shape)}")
        return tree_unflatten(recording.pull_back(outputs, given), spec)

    public = recording.handed_out(result)
    return (public, pull_back, recording.handed_out(aux)) if has_aux else (public, pull_back)


def recorded(
    func: Callable[..., Any], primals: Any, has_aux: bool, name: str, others: Sequence[Any] = ()
) -> tuple[Recording, TreeSpec, Any, Any]:
    """The function, run: its recording, how the primals are nested, output and aux with their history. `others` are
    its other tensors: it may write to them, too."""
    leaves, spec = tree_flatten(primals)
    recording = Recording(func, leaves, spec, name, others)
    return recording, spec, *_with_aux(recording.result, has_aux, name)


def _check_outputs(outputs: Sequence[Any]) -> None:
    if not outputs:
        raise RuntimeError("vjp: the function must return at least one tensor, but its output is empty")
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"vjp: the function must return tensors, but returned {type(y).__name__}")
        if not is_differentiable(y):
            raise RuntimeError(
                f"vjp: all outputs must be floating point or complex, but one is {y.dtype}; return it as aux, with"
                " has_aux=True"
            )


def _with_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{name}: with has_aux=True the function must return a pair (output, aux)")
    for leaf in tree_flatten(result[1])[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: aux must consist of tensors, but has {leaf!r} of type {type(leaf).__name__}")
    return result


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns (gradient, value) of `func`, whose result is one number; (gradient, (value, aux)) with
    `has_aux`. `argnums`: the position(s) of the arguments to differentiate with respect to."""

    @named_after(func)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        tensors: list[Any] = []
        if len(args) > 1:
            leaves, structure = tree_flatten(args)
            leaves = [_apart(x) if isinstance(x, Tensor) else x for x in leaves]
            tensors = [x for x in leaves if isinstance(x, Tensor)]
            args = tree_unflatten(leaves, structure)
        chosen, rest = chosen_arguments(func, args, kwargs, argnums, "grad")
        recording, spec, value, aux = recorded(rest, chosen, has_aux, "grad", tensors)
        _check_scalar(value)
        found = tree_unflatten(recording.pull_back([value], [ops.ones_like(value)]), spec)
        public = recording.handed_out((value, aux) if has_aux else value)
        return (found if isinstance(argnums, tuple) else found[0]), public

    return with_gradient


def _apart(x: Any) -> Any:
    """The same memory as another tensor: what is written to it gives the caller's tensor no history."""
    return x if x.requires_grad else ops.detach(x)


def _check_scalar(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise RuntimeError(f"grad: the function must return a tensor, but returned {type(value).__name__}")
    if value.dim() != 0:
        raise RuntimeError(
            f"grad: the function must return one number, a tensor of 0 dimensions, but returned one of {value.dim()}."
            " Use jacrev for the derivatives of several numbers"
        )
    if value.dtype.is_complex:
        raise RuntimeError("grad: the function must return a real number, but returned a complex one; use vjp")


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of `func`, whose result is one number, as a function; (gradient, aux) with `has_aux`."""
    both = grad_and_value(func, argnums, has_aux)

    @named_after(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def chosen_arguments(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, name: str
) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """The arguments at `argnums`, and the function of these alone."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    if not wanted or not all(isinstance(n, int) for n in wanted):
        raise RuntimeError(f"{name}: argnums must be an int or a tuple of ints, but got {argnums!r}")
    for n in wanted:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"{name}: argnums has {n}, but the function is called with {len(args)} arguments")
    places = [n % len(args) for n in wanted]
    if len(set(places)) != len(places):
        raise RuntimeError(f"{name}: argnums must name each argument once, but got {argnums!r}")

    def of_chosen(*chosen: Any) -> Any:
        merged = list(args)
        for place, value in zip(places, chosen):
            merged[place] = value
        return func(*merged, **kwargs)

    return tuple(args[place] for place in places), of_chosen
