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

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile import autograd
from minitorch_compile.autograd.node import AccumulateGrad, Node
from minitorch_compile.func.levels import Levels
from minitorch_compile.pytree import TreeSpec, tree_flatten, tree_map_only, tree_unflatten
from minitorch_compile.tensor import Tensor, enable_grad, ops


class Recording:
    """A function, run once with its inputs watched by the tape; it can be pulled back any number of times."""

    def __init__(self, func: Callable[..., Any], primals: Sequence[Any], spec: TreeSpec) -> None:
        self.levels = Levels.active()
        self.primals = primals
        self.is_running = True
        with enable_grad():
            self.watched = [self._watched(self.levels.stripped(x)) for x in primals]
            self.result = func(*tree_unflatten(map(self.levels.restored, self.watched), spec))
        self.is_running = False

    def _watched(self, x: Any) -> Any:
        """A tensor that stands for x alone: a new leaf; or, if x has a history, a link between it and the rest."""
        if not isinstance(x, Tensor):
            raise TypeError(f"grad: expected tensors to differentiate with respect to, but got {type(x).__name__}")
        if not (x.dtype.is_floating_point or x.dtype.is_complex):
            raise RuntimeError(f"grad: only floating point and complex tensors have gradients, but got {x.dtype}")
        if x.requires_grad:
            return ops.view_as(x, x)
        leaf = ops.detach(x).requires_grad_()
        leaf._recording = self
        return leaf

    def is_tracked_from_outside(self, outputs: Sequence[Any]) -> bool:
        """Whether the results depend on tensors that somebody else differentiates with respect to."""
        return _reaches_a_leaf_in_use([self.levels.stripped(y).grad_fn for y in outputs])

    def without_own_history(self, tree: Any) -> Any:
        """Results to hand out: they do not keep the recording, unless somebody else records too."""
        tensors = [x for x in tree_flatten(tree)[0] if isinstance(x, Tensor)]
        return tree if self.is_tracked_from_outside(tensors) else tree_map_only(Tensor, ops.detach, tree)

    def pull_back(self, outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The gradients of the inputs, given those of the outputs."""
        pairs = [(self.levels.stripped(y), self.levels.stripped(g)) for y, g in zip(outputs, cotangents)]
        pairs = [(y, g) for y, g in pairs if y.requires_grad]
        if not pairs:
            return [ops.zeros_like(x) for x in self.primals]
        keep = self.is_tracked_from_outside(outputs) or any(g.requires_grad for _, g in pairs)
        with enable_grad(), self.levels.left():
            gradients = autograd.grad(
                [y for y, _ in pairs],
                self.watched,
                [g for _, g in pairs],
                retain_graph=True,
                create_graph=keep,
                allow_unused=True,
                materialize_grads=True,
            )
        return [self.levels.restored(g) for g in gradients]


def _reaches_a_leaf_in_use(roots: Sequence[Node | None]) -> bool:
    """Whether the recorded graph above these nodes ends at a leaf of the user's, or of a recording that still runs.

    The leaves of a recording that is complete are known to nobody but that recording.
    """
    pending = [node for node in roots if node is not None]
    seen = set(pending)
    while pending:
        node = pending.pop()
        if isinstance(node, AccumulateGrad):
            recording = getattr(node.variable, "_recording", None)
            if recording is None or recording.is_running:
                return True
        for target, _ in node.next_functions:
            if target is not None and target not in seen:
                seen.add(target)
                pending.append(target)
    return False


# --- the transforms ---------------------------------------------------------------------------------------------------


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), a function from cotangents to the vector-Jacobian product, a tuple with an entry a primal).

    With `has_aux`, func returns (output, aux), and aux, which is not differentiated, is a third result.
    """
    leaves, spec = tree_flatten(primals)
    recording = Recording(func, leaves, spec)
    result, aux = _with_aux(recording.result, has_aux, "vjp")
    outputs, out_spec = tree_flatten(result)
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"vjp: the function must return tensors, but returned {type(y).__name__}")

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

    public = recording.without_own_history(result)
    return (public, pull_back, recording.without_own_history(aux)) if has_aux else (public, pull_back)


def _with_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{name}: with has_aux=True the function must return a pair (output, aux)")
    return result


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns (gradient, value) of `func`, whose result is one number; (gradient, (value, aux)) with
    `has_aux`. `argnums`: the position(s) of the arguments to differentiate with respect to."""

    @functools.wraps(func)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        chosen, rest = chosen_arguments(func, args, kwargs, argnums, "grad")
        leaves, spec = tree_flatten(chosen)
        recording = Recording(rest, leaves, spec)
        value, aux = _with_aux(recording.result, has_aux, "grad")
        _check_scalar(value)
        gradients = tree_unflatten(recording.pull_back([value], [ops.ones_like(value)]), spec)
        public = recording.without_own_history((value, aux) if has_aux else value)
        return (gradients if isinstance(argnums, tuple) else gradients[0]), public

    return with_gradient


def _check_scalar(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise RuntimeError(f"grad: the function must return a tensor, but returned {type(value).__name__}")
    if value.dim() != 0:
        raise RuntimeError(
            f"grad: the function must return one number, a tensor of 0 dimensions, but returned one of {value.dim()}."
            " Use jacrev for the derivatives of several numbers"
        )


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of `func`, whose result is one number, as a function; (gradient, aux) with `has_aux`."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

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
