"""The steps that transforms are made of: all that they do besides calling functions.

A transform is plain Python around these. So a compiled function that uses one is traced like any other, through the
transform and into the function that it is given, and each step becomes a node of the graph (`graph_steps.py` of
`dynamo/capture/`):

>>> import minitorch_compile as torch
>>> from minitorch_compile.dynamo.testing import captured
>>> print(captured(lambda x: torch.func.vmap(torch.sin, in_dims=1)(x), torch.ones(3, 2)).replace("; ", "\\n"))
x -> enter_vmap = enter_vmap(1, 2, 'error')
as_example = as_example(movedim(x, 1, 0), 1)
leave_vmap = leave_vmap(1)
as_batch = as_batch(sin(as_example), 1, 2)
(as_batch,)

Run on fake tensors under the tracer of a compiler (`aot/tracing.py`), the same steps leave no trace of themselves: what
is written down are operations on batches, and derivative formulas.

Arguments are tensors, lists of them, and constants. `levels` are the vmaps that a recording was started in
(`levels.py`).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from minitorch_compile import autograd
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import AccumulateGrad, Node
from minitorch_compile.control import graph_step
from minitorch_compile.func.batch_tensor import BatchTensor, bottom, levels_of
from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.func.interpreter import RandomnessRefused, VmapInterpreter, active_vmaps
from minitorch_compile.func.levels import Levels
from minitorch_compile.tensor import enable_grad, ops
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.dispatch.transform_stack import (
    enter_recording,
    enter_transform,
    leave_recording,
    leave_transform,
)

LevelsAndSizes = tuple[tuple[int, int], ...]

# --- vmap -------------------------------------------------------------------------------------------------------------


@graph_step
def active_levels() -> LevelsAndSizes:
    """The level and the batch size of each vmap that runs, the outermost first."""
    return Levels.active().entries


@graph_step
def enter_vmap(level: int, size: int, randomness: str) -> None:
    """Operations are now on batches of `size` examples."""
    enter_transform(VmapInterpreter(level, size, randomness))


@graph_step
def leave_vmap(level: int) -> None:
    """The end of the vmap of this level."""
    leave_transform(next(vmap for vmap in active_vmaps() if vmap.level == level))


@graph_step
def refuse_randomness() -> None:
    """Operations that draw random numbers are errors from now on."""
    enter_transform(RandomnessRefused())


@graph_step
def allow_randomness() -> None:
    """The end of the last refusal."""
    leave_transform(next(t for t in reversed(stacks.transforms) if isinstance(t, RandomnessRefused)))


@graph_step
def as_example(x: Any, level: int) -> Any:
    """A tensor of sizes (batch, ...), seen as one example."""
    return BatchTensor.of(x, level)


@graph_step
def is_example(x: Any, level: int) -> bool:
    """Whether a tensor differs between the examples of the vmap of this level."""
    return level in levels_of(x)


@graph_step
def as_batch(x: Any, level: int, size: int) -> Any:
    """The inverse; what is the same for all examples is repeated."""
    return Batch(level, size).spread(x)


# --- recording a function, to pull gradients back through it ----------------------------------------------------------


@graph_step
def has_history(x: Any, levels: LevelsAndSizes) -> bool:
    """Whether somebody differentiates with respect to what x was computed from."""
    return Levels(levels).stripped(x).requires_grad


@graph_step
def watch(x: Any, levels: LevelsAndSizes, keep_history: bool) -> Any:
    """A tensor that stands for x alone, with the batches of all levels: a new leaf, or, to keep x's history, a link
    between it and the rest."""
    data = Levels(levels).stripped(x)
    watched = ops.view_as(data, data) if keep_history else ops.detach(data)
    if not watched.requires_grad:  # a link is a leaf too where a compiler traces for values alone
        watched.requires_grad = True
    watched.is_confined = watched.is_in_use = True
    stacks.watched = [known for known in stacks.watched if getattr(known(), "is_in_use", False)]
    stacks.watched.append(weakref.ref(watched))
    return watched


@graph_step
def begin_recording(arguments: Sequence[Any]) -> None:
    """A function begins to run with these arguments: it may write to them, and to what it makes itself."""
    enter_recording([bottom(x) for x in arguments])


@graph_step
def as_argument(watched: Any, levels: LevelsAndSizes, writable: bool) -> Any:
    """What the function gets in place of the tensor that is watched: itself, which like any leaf can't be written in
    place; or, if `writable`, a result over the same memory, which can."""
    argument = watched
    if writable and watched.base is None:
        argument = ops.view_as(watched, watched)
        argument.base = None  # autograd takes it for a result with memory of its own
    return Levels(levels).restored(argument)


@graph_step
def end_recording(watched: Sequence[Any]) -> None:
    """The function has run. From now on only the recording knows these tensors."""
    leave_recording()
    for x in watched:
        x.is_in_use = False


@graph_step
def is_tracked(tensors: Sequence[Any], levels: LevelsAndSizes) -> bool:
    """Whether tensors depend on a leaf of the user's, or of a recording that still runs, or are one."""
    values = [bottom(Levels(levels).stripped(x)) for x in tensors]
    return any(_is_leaf_in_use(x) for x in values) or _reaches_a_leaf_in_use([x.grad_fn for x in values])


def _is_leaf_in_use(x: Any) -> bool:
    return x.requires_grad and x.grad_fn is None and getattr(x, "is_in_use", True)


def _reaches_a_leaf_in_use(roots: Sequence[Node | None]) -> bool:
    leaves = (node.variable for node in _nodes_above(roots) if isinstance(node, AccumulateGrad))
    return any(getattr(leaf, "is_in_use", True) for leaf in leaves)


def _nodes_above(roots: Sequence[Node | None]) -> Iterator[Node]:
    """The recorded nodes that lead to these, and these."""
    pending = [node for node in roots if node is not None]
    seen = set(pending)
    while pending:
        node = pending.pop()
        yield node
        for target, _ in node.next_functions:
            if target is not None and target not in seen:
                seen.add(target)
                pending.append(target)


@graph_step
def depends_on(y: Any, watched: Sequence[Any], levels: LevelsAndSizes) -> bool:
    """Whether a tensor was computed from one that is watched."""
    wanted = {gradient_edge(x)[0] for x in watched}
    root = Levels(levels).stripped(y).grad_fn
    return any(node in wanted for node in _nodes_above([root]))


@graph_step
def gradients(
    outputs: Sequence[Any],
    cotangents: Sequence[Any],
    watched: Sequence[Any],
    levels: LevelsAndSizes,
    keep_history: bool,
) -> list[Any]:
    """The gradients of what was watched, given those of the outputs; zeros for what no output depends on."""
    own = Levels(levels)
    pairs = [(own.stripped(y), own.stripped(g)) for y, g in zip(outputs, cotangents)]
    pairs = [(y, g) for y, g in pairs if y.requires_grad]
    with enable_grad(), own.left():
        found = autograd.grad(
            [y for y, _ in pairs],
            watched,
            [g for _, g in pairs],
            retain_graph=True,
            create_graph=keep_history,
            allow_unused=True,
            materialize_grads=True,
        )
    return [own.restored(g) for g in found]
