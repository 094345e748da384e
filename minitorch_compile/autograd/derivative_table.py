"""The table of derivatives, and how a row of it is written.

A formula takes the gradient of the output, the output, and all parameters of the op; it returns the gradients of the
parameters. It is written in ops, so that it can be differentiated and traced in turn:

    @derivative(ops.mul)
    def _(grad: Tensor, out: Unused, x: ForOthers, y: ForOthers) -> Gradients:
        return lambda: sum_to(grad * y, x), lambda: sum_to(grad * x, y)

- Several outputs: `grad` and `out` are tuples, and an entry of `grad` is None where no gradient arrived.
- One entry a parameter; trailing Nones may be left out, and a formula for the first parameter alone may return just its
  entry.
- An entry may be a function without arguments: it is called only if that gradient is needed.
- The annotations say what is kept from the forward pass. `Tensor` (or nothing) keeps the value, `ForOthers` keeps it if
  another parameter requires grad, `Layout` keeps only what it looks like, `Unused` nothing. What is not kept may be
  freed, and may be overwritten in place.

>>> from minitorch_compile.tensor import ops
>>> DERIVATIVES[ops.mul].keeps_out, DERIVATIVES[ops.mul].keeps
('nothing', ('for others', 'for others'))
>>> NOT_DIFFERENTIABLE[ops.eq]
'the result is bool'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

from minitorch_compile.autograd.node import Layout
from minitorch_compile.autograd.node_names import VARIANTS, name_of
from minitorch_compile.tensor import Op, ops

Formula = Callable[..., Any]
Gradients = Any  # a Tensor, None, a function that gives one of these, or a tuple with an entry for each parameter
ForOthers: TypeAlias = Any
Unused: TypeAlias = None

VALUE, FOR_OTHERS, LAYOUT, NOTHING = "value", "for others", "layout", "nothing"
_KEEPS = {"Tensor": VALUE, "ForOthers": FOR_OTHERS, "Layout": LAYOUT, "Unused": NOTHING}


class Derivative:
    """A formula, and what it needs kept: `keeps_out`, a tuple for several outputs, and `keeps`, for each parameter.

    `node_class` is the class of the nodes that use it, made on first use: they differ in their name only. `variant`
    says the name where it depends on the arguments.
    """

    __slots__ = ("formula", "keeps", "keeps_for_others", "keeps_out", "name", "node_class", "tensors", "variant")

    def __init__(self, op: Op, formula: Formula) -> None:
        self.name = name_of(op.name)
        self.variant = VARIANTS.get(op.name)
        self.formula = formula
        self.node_class: Any = None
        _, out, *parameters = inspect.signature(formula).parameters.values()
        if len(parameters) != len(op.parameters):
            raise TypeError(
                f"derivative({op}): the formula must take grad, out, {', '.join(op.parameters)}; it takes"
                f" {len(parameters)} parameters"
            )
        self.keeps_out = _kept_outputs(str(out.annotation))
        self.keeps = tuple(_KEEPS.get(_annotation(p), VALUE) for p in parameters)
        self.tensors = tuple((i, self.keeps[i]) for i in op.tensor_parameters)
        self.keeps_for_others = tuple(i for i in op.tensor_parameters if self.keeps[i] is FOR_OTHERS)


def _annotation(parameter: inspect.Parameter) -> str:
    return str(parameter.annotation).removesuffix(" | None")


def _kept_outputs(annotation: str) -> Any:
    """The `tuple[Layout, Tensor]` of an op with several outputs, or the one word of an op with one."""
    if annotation.startswith("tuple["):
        return tuple(_KEEPS[word.strip()] for word in annotation[len("tuple[") : -1].split(","))
    return _KEEPS.get(annotation, VALUE)


DERIVATIVES: dict[Op, Derivative] = {}
NOT_DIFFERENTIABLE: dict[Op, str] = {}


def derivative(op: Op) -> Callable[[Formula], Formula]:
    """Registers the formula below as the derivative of `op`. ValueError if there is one already."""

    def register(formula: Formula) -> Formula:
        if op in DERIVATIVES or op in NOT_DIFFERENTIABLE:
            raise ValueError(f"derivative({op}): there is a row for it already")
        DERIVATIVES[op] = Derivative(op, formula)
        return formula

    return register


def not_differentiable(*which: Op, because: str) -> None:
    """Says that results of these ops never require grad, and why."""
    for op in which:
        if op in DERIVATIVES:
            raise ValueError(f"not_differentiable({op}): it has a derivative")
        NOT_DIFFERENTIABLE[op] = because


def sum_to(grad: Any, like: Any) -> Any:
    """The gradient of something that was broadcast, or converted, on its way in: summed over the repeated dimensions.

    >>> from minitorch_compile.tensor import ones, tensor
    >>> sum_to(ones(2, 3), ones(3)), sum_to(ones(2, 3), ones(2, 1))
    (tensor([2., 2., 2.]), tensor([[3.],
            [3.]]))
    """
    if grad.dtype.is_complex and not like.dtype.is_complex:
        grad = ops.real(grad)
    lead = len(grad.sizes) - len(like.sizes)
    if lead or grad.sizes != like.sizes:
        repeated = [d for d in range(lead, len(grad.sizes)) if like.sizes[d - lead] == 1 and grad.sizes[d] != 1]
        if repeated:
            grad = ops.sum(grad, repeated, True)
        if lead:
            grad = ops.sum(grad, list(range(lead)))
    return grad if grad.dtype is like.dtype else ops.to_copy(grad, like.dtype)


__all__ = [
    "DERIVATIVES",
    "FOR_OTHERS",
    "LAYOUT",
    "NOTHING",
    "NOT_DIFFERENTIABLE",
    "VALUE",
    "Derivative",
    "ForOthers",
    "Gradients",
    "Layout",
    "Unused",
    "derivative",
    "not_differentiable",
    "sum_to",
]
