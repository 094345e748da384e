"""backward() in a traced program: what its graph may leave behind.

A program that goes back through its own results becomes one graph, forward and backward together. Nothing recorded
comes out of it. So every tensor that lives on must be one from which nobody can go back any more, since what was saved
for that was freed by the walk; another one would need a history that the graph does not have, and the program breaks
at backward() instead.

>>> from minitorch_compile.dynamo.explaining.explain import explain
>>> from minitorch_compile.tensor import ones
>>> def step(w, x, keep):
...     loss = (w * x).square().sum()
...     loss.backward(retain_graph=keep)
...     return loss
>>> w = ones(2, requires_grad=True)
>>> [explain(step)(w, ones(2), keep).graph_break_count for keep in (False, True)]
[0, 1]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from minitorch_compile.dynamo.errors import SourceLine, Unsupported
from minitorch_compile.tensor.tensor_base import TensorBase

LIVE = "{0} that lives on has a history which this call does not free, and a graph can't leave one behind."


@dataclass
class BackwardCall:
    """The first backward() or grad() of a trace: at which step and instruction of the frame, on which lines.

    `with_freed_history(tensor, label, index, leaves)` gives a result of the graph what is left of its history.
    """

    step: int
    instruction: int
    stack: tuple[SourceLine, ...]
    with_freed_history: Callable[..., Any]

    def refused(self, what: str) -> LiveHistory:
        """The break at this place."""
        error = LiveHistory("autograd-call", LIVE.format(what), "let the function return what is detached.")
        error.stack = self.stack
        return error


class LiveHistory(Unsupported):
    """A tensor lives on from which somebody could go back: the trace must stop before backward()."""


def leaves_of(roots: Sequence[TensorBase]) -> list[Any]:
    """The leaves of autograd's graph that tensors were computed from, each once; None for what is none of them."""
    leaves: dict[int, Any] = {id(x): x for x in roots if x.grad_fn is None and x.requires_grad}
    for node in _nodes_behind(roots, lambda node: False):
        if not node.next_functions:
            variable = getattr(node, "variable", None)
            leaves[id(variable)] = variable
    return list(leaves.values())


def is_freed(x: TensorBase) -> bool:
    """Whether every way from a tensor to a leaf leads through a node that can't be walked again."""
    nodes = _nodes_behind([x], lambda node: node.is_freed)
    return x.grad_fn is not None and all(node.is_freed or node.next_functions for node in nodes)


def _nodes_behind(roots: Sequence[TensorBase], stops: Callable[[Any], bool]) -> Iterator[Any]:
    pending = [x.grad_fn for x in roots if x.grad_fn is not None]
    seen = set(pending)
    while pending:
        node = pending.pop()
        yield node
        fresh = [] if stops(node) else [n for n, _ in node.next_functions if n is not None and n not in seen]
        seen.update(fresh)
        pending += fresh


def check_written(output: Any, backward: BackwardCall) -> None:
    """Refuses a tensor from outside that was given a new history by a write."""
    for variable in output.written_inputs:
        fake = variable.fake
        if fake.requires_grad and not fake.is_leaf:
            raise backward.refused("a tensor that is written to, and")
