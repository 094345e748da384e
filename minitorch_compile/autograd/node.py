"""The recorded graph: a node for each operation that was run on tensors that require grad.

`y = x * x` leaves behind, in `y.grad_fn`, a node that knows how to turn the gradient of `y` into the gradient of `x`.
Its *edges* lead to the nodes that made its inputs; a leaf's edge leads to the node that adds to `leaf.grad`.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, requires_grad=True)
>>> y = (x * x).sum()
>>> y.grad_fn
<SumBackward0 object at 0x...>
>>> y.grad_fn.next_functions[0][0].next_functions
((<AccumulateGrad object at 0x...>, 0), (<AccumulateGrad object at 0x...>, 0))

Nodes are numbered as they are made. An edge always leads to a lower number, so walking by falling numbers visits every
node after all nodes that send it a gradient: that is the whole of the engine's ordering.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.autograd.removable_handle import RemovableHandle
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

Grad = Any  # a Tensor, or None where no gradient flows
Edge = tuple["Node | None", int]  # the node a gradient goes to, and as the gradient of which of its outputs
NO_EDGE: Edge = (None, 0)

numbers = itertools.count()
new_leaves: list[Node] = []  # those to which the first edges were made since the last operation was recorded

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have"
    " already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify"
    " retain_graph=True if you "
    "need to backward through the graph a second time or if you need to access saved tensors after calling backward."
)

_TYPE_NAMES = {"float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16"}
_TYPE_NAMES |= {"int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
_TYPE_NAMES |= {"complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble"}

INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation"
    " tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or"
    " use `torch.no_grad()` instead of `torch.inference_mode()`."
)


class Layout:
    """What a tensor looks like, without its value: all that many derivative formulas need of it."""

    __slots__ = ("device", "dtype", "offset", "sizes", "strides")

    sizes: Size
    strides: tuple[int, ...]
    offset: int
    dtype: dtype
    device: device

    def __init__(self, x: TensorBase) -> None:
        self.sizes = x.sizes
        self.strides = x.strides
        self.offset = x.offset
        self.dtype = x.dtype
        self.device = x.device

    def __repr__(self) -> str:
        return f"Layout(sizes={list(self.sizes)}, strides={self.strides}, dtype={self.dtype})"


class Node:
    """One recorded operation.

    `next_functions` has an edge for each tensor among the inputs, NO_EDGE for one that does not require grad. `hooks`
    may change gradients: a `TensorHook` those of the outputs as soon as they are complete, then a `BeforeApply` what
    `apply` gets, and an `AfterApply` what it gave.
    """

    __slots__ = ("__weakref__", "hooks", "next_functions", "number")

    new_gradients = True  # whether what `apply` returns is held by nobody else, or came in as a gradient
    next_functions: tuple[Edge, ...]
    hooks: dict[int, Any] | None

    def __init__(self, next_functions: tuple[Edge, ...]) -> None:
        self.number = next(numbers)
        self.next_functions = next_functions
        if new_leaves and next_functions:
            order_leaves(next_functions)
        self.hooks = None

    @property
    def output_count(self) -> int:
        return 1

    def name(self) -> str:
        """The name that PyTorch would give it, such as MulBackward0."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        """From the gradients of the outputs those of the inputs, one for each edge; anything where not `wanted`."""
        raise NotImplementedError

    @property
    def keeps_values(self) -> bool:
        """Whether `release` has something to let go of."""
        return False

    def release(self) -> None:
        """Lets go of the saved values; `apply` raises from then on, if there were any."""

    @property
    def is_freed(self) -> bool:
        """Whether `apply` is certain to raise, since it needs what was let go of."""
        return False

    def register_prehook(self, fn: Callable[[tuple[Grad, ...]], Any]) -> RemovableHandle:
        """`fn(grad_outputs)` is called before the node runs; the tuple it returns, if any, takes their place."""

        return self._add_hook(BeforeApply(fn))

    def register_hook(self, fn: Callable[[tuple[Grad, ...], tuple[Grad, ...]], Any]) -> RemovableHandle:
        """`fn(grad_inputs, grad_outputs)` is called after the node ran; the tuple it returns, if any, takes the place
        of `grad_inputs`."""
        return self._add_hook(AfterApply(fn))

    def _add_hook(self, hook: Any) -> RemovableHandle:
        if self.hooks is None:
            self.hooks = {}
        handle = RemovableHandle(self.hooks)
        self.hooks[handle.id] = hook
        return handle


class TensorHook:
    """A hook for the gradient of one tensor: called when it is complete, whether or not the node then runs."""

    def __call__(self, grads: list[Grad]) -> None:
        raise NotImplementedError


class BeforeApply:
    """A hook for what comes to a node, called after those for its tensors."""

    def __init__(self, hook: Callable[[tuple[Grad, ...]], Any]) -> None:
        self.hook = hook

    def __call__(self, grads: list[Grad]) -> None:
        replacement = self.hook(tuple(grads))
        if replacement is not None:
            grads[:] = _all_replaced(grads, replacement, self.hook)


class AfterApply:
    """A hook for what a node gave."""

    def __init__(self, hook: Callable[[tuple[Grad, ...], tuple[Grad, ...]], Any]) -> None:
        self.hook = hook

    def __call__(self, gradients: Sequence[Grad], grads: Sequence[Grad]) -> Sequence[Grad]:
        replacement = self.hook(tuple(gradients), tuple(grads))
        return gradients if replacement is None else _all_replaced(gradients, replacement, self.hook)


def _all_replaced(grads: Sequence[Grad], replacement: Any, hook: Any) -> Sequence[Grad]:
    """What a hook gave for several gradients. RuntimeError unless there are as many."""
    given = replacement if isinstance(replacement, (tuple, list)) else (replacement,)
    if len(given) != len(grads):
        raise RuntimeError(
            f"hook '{_name_of(hook)}' has returned an incorrect number of values (got {len(given)}, but expected"
            f" {len(grads)})"
        )
    return [None if new is None else replaced(old, new, hook) for old, new in zip(grads, given, strict=True)]


def replaced(grad: Grad, replacement: Any, hook: Any) -> Any:
    """What a hook gave for a gradient. TypeError if it is no tensor, RuntimeError if it looks otherwise."""
    if not isinstance(replacement, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type(replacement).__name__}'")
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    for what, was, came in (("type", grad.dtype, replacement.dtype), ("size", grad.sizes, replacement.sizes)):
        if was != came:
            raise RuntimeError(f"hook '{_name_of(hook)}' has changed the {what} of value (was {was}, got {came})")
    return replacement


def _name_of(hook: Any) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


class AccumulateGrad(Node):
    """The end of an edge to a leaf: what arrives is added to `variable.grad`.

    The tensor owns its node and not the other way round, so that a dropped tensor is freed at once.
    """

    __slots__ = ("_variable", "post_hooks")

    def __init__(self, variable: Callable[[], TensorBase | None]) -> None:
        super().__init__(())
        self._variable = variable
        self.post_hooks: dict[int, Callable[[Any], None]] = {}

    @property
    def variable(self) -> TensorBase | None:
        """The leaf, or None if it no longer exists."""
        return self._variable()


def order_leaves(edges: Sequence[Edge]) -> None:
    """Lets the leaves that an operation is the first to use be visited in its order, as PyTorch does: the first of them
    gets the highest of their numbers."""
    leaves = [node for node, _ in dict.fromkeys(edges) if node is not None and node in new_leaves]
    for leaf, number in zip(leaves, sorted([leaf.number for leaf in leaves], reverse=True), strict=True):
        leaf.number = number
    new_leaves.clear()


def modified_inplace(x: Any, saved_version: int, made_by: Node | None = None, index: int = 0) -> RuntimeError:
    """The error, in PyTorch's words, for a saved tensor that was overwritten before the backward pass needed it."""
    origin = "" if made_by is None else f", which is output {index} of {made_by.name()},"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{_TYPE_NAMES[x.dtype.name]}Tensor {list(x.sizes)}]{origin} is at version {x.storage.version};"
        f" expected version {saved_version} instead. "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with"
        " torch.autograd.set_detect_anomaly(True, check_nan=False); or write the value to a new tensor (x = x + 1"
        " instead of x += 1)."
    )
