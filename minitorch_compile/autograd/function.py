"""Function: an operation with a backward pass of your own.

>>> from minitorch_compile.tensor import tensor
>>> class Cube(Function):
...     @staticmethod
...     def forward(ctx, x):
...         ctx.save_for_backward(x)
...         return x * x * x
...     @staticmethod
...     def backward(ctx, grad):
...         (x,) = ctx.saved_tensors
...         return 3 * x * x * grad
>>> x = tensor(2.0, requires_grad=True)
>>> Cube.apply(x).backward()
>>> x.grad
tensor(12.)

Ahead-of-time compiled graphs are Functions as well: forward and backward are two compiled programs behind one node.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.autograd.forward_mode_slot import registered_forward_mode
from minitorch_compile.autograd.function_node import FunctionNode
from minitorch_compile.autograd.node import Grad, Node
from minitorch_compile.autograd.vmap_slot import registered_vmap
from minitorch_compile.autograd.watching import tell, watchers
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.grad_mode import no_grad, state
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import TensorBase


class Function:
    """Subclass it with static methods `forward(ctx, *args)` and `backward(ctx, *grads)`, and call `apply(*args)`.

    `backward` returns a gradient or None for each argument. Its operations are recorded if the gradients are to be
    differentiated in turn. A class that defines `setup_context(ctx, inputs, output)` has a forward without ctx.

    Set `new_gradients` if the gradients are always tensors that nobody else holds: then `.grad` need not be a copy.

    >>> class Twice(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> Twice.apply(torch.ones(1))
    tensor([2.])
    """

    new_gradients = False
    generate_vmap_rule = False  # PyTorch's switch; here a class without a `vmap` is as if it had said True
    node_class: type[FunctionNode] = FunctionNode

    def __init_subclass__(cls, **options: Any) -> None:
        """Names the class of its nodes, for programs that draw graphs: type(y.grad_fn).__name__."""
        super().__init_subclass__(**options)
        cls.node_class = type(f"{cls.__name__}Backward", (FunctionNode,), {"__doc__": FunctionNode.__doc__})

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The operation. Nothing in it is recorded."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The gradients of the arguments, given those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with"
            " backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grads: Any) -> Any:
        """Another name under which backward may be defined."""
        raise NotImplementedError("You must implement the backward method, or vjp, for custom autograd.Function.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """RuntimeError: a Function is called through `apply`."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd"
            " function with static forward method, and call it as MyFunction.apply(...)."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs, given those of the arguments: for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """What it is on a batch: (output, out_dims) for arguments whose batch is at `in_dims`, None for what is the
        same for all examples. `info` has batch_size and randomness. A class without one is applied to each example."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set"
            " generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Runs forward, and leaves a node behind if a tensor among the arguments requires grad."""
        if stacks.transforms:
            if registered_forward_mode().carry_tangents(args):
                return registered_forward_mode().apply_function(cls, args)
            if any(isinstance(x, TensorBase) and x.is_example for x in args):
                return registered_vmap()(cls, args)
        return cls.applied(args)[1]

    @classmethod
    def applied(cls, args: Sequence[Any]) -> tuple[FunctionNode, Any]:
        """What `apply` does with tensors that carry no tangents: the node, and what the caller gets."""
        ctx = cls.node_class(cls.__name__, cls._pulls_back(), args)
        ctx.new_gradients = cls.new_gradients
        result = cls._forwarded(ctx, args)
        if not (state.enabled and any(ctx.needs_input_grad)):
            return ctx, result
        several = isinstance(result, (tuple, list))
        cls._refuse_batches((*args, *(result if several else (result,))))
        outputs = ctx.attach(result if several else (result,), args)
        if watchers:
            tell(ctx)
        return ctx, outputs if several else outputs[0]

    @classmethod
    def _pulls_back(cls) -> Callable[..., Any]:
        return cls.backward if cls.vjp is Function.vjp else cls.vjp

    @classmethod
    def _forwarded(cls, ctx: FunctionNode, args: Sequence[Any]) -> Any:
        """What forward gives; `ctx` has what it, or setup_context, left for backward."""
        setup = getattr(cls, "setup_context", None)
        with no_grad():
            result = cls.forward(*args) if setup else cls.forward(ctx, *args)
            if setup:
                setup(ctx, args, result)
        return result

    @classmethod
    def _refuse_batches(cls, values: Sequence[Any]) -> None:
        """RuntimeError for examples of a batch that were not given as arguments: the tape, which lies below vmap, would
        miss the node."""
        if any(isinstance(x, TensorBase) and x.is_example for x in values):
            raise RuntimeError(
                f"{cls.__name__}.apply: forward uses a tensor of a running vmap that isn't among its arguments; pass it"
                " to apply"
            )


class InplaceFunction(Function):
    """A Function with an `inplace` flag, from before `ctx.mark_dirty`; old programs still derive from it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


FunctionCtx = FunctionNode


class Undifferentiable(Node):
    """Behind gradients that must not be differentiated again."""

    __slots__ = ()

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward whose operations can't be recorded: differentiating its results raises RuntimeError.

    `fn`: the backward of an autograd.Function, under its `@staticmethod`.

    >>> class Twice(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @torch.autograd.function.once_differentiable
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> x = torch.ones(1, requires_grad=True)
    >>> torch.autograd.grad(Twice.apply(x), x)
    (tensor([2.]),)
    """

    @functools.wraps(fn)
    def unrecorded(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            result = fn(ctx, *grads)
        # As in PyTorch: a gradient that doesn't depend on another one is a constant for the second pass.
        if not (state.enabled and any(isinstance(g, TensorBase) and g.requires_grad for g in grads)):
            return result
        node = Undifferentiable(ctx.next_functions)
        gradients = result if isinstance(result, (tuple, list)) else (result,)
        return tuple(_guarded(g, node) for g in gradients)

    return unrecorded


def _guarded(grad: Grad, node: Node) -> Grad:
    if not isinstance(grad, TensorBase) or grad.dtype.category < FLOATING:
        return grad
    guarded = grad.detach()  # type: ignore[attr-defined]
    guarded.requires_grad, guarded.grad_fn = True, node
    return guarded
