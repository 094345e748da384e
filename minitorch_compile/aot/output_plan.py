"""How the tensors that a program returns are made from those that its compiled graph returns.

Between the two there is a difference only where memory is shared: a program may return its argument, a view of it, or
two views of one result. A compiled graph returns new tensors, each on its own; the views are made afterwards, by the
same view operations as in the program. So they share storage, and autograd knows them for what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from minitorch_compile.aot.aliasing.view_steps import ViewStep
from minitorch_compile.aot.functionalize import Functionalize
from minitorch_compile.aot.size_values import Values, with_values
from minitorch_compile.tensor.grad_mode import is_grad_enabled
from minitorch_compile.tensor.memory.strides import is_dense
from minitorch_compile.tensor.tensor_base import TensorBase


@dataclass(frozen=True)
class FromInput:
    """The argument at `index`, or with steps a view of it. `outdated`: the view was made under no_grad before the
    argument was written to; `overtaken`: that gave the argument another history."""

    index: int
    steps: tuple[ViewStep, ...] = ()
    outdated: bool = False
    overtaken: bool = False


@dataclass(frozen=True)
class FromGraph:
    """What the graph returns at `position`, or with steps a view of it, which may be outdated, too."""

    position: int
    steps: tuple[ViewStep, ...] = ()
    outdated: bool = False
    overtaken: bool = False


@dataclass(frozen=True)
class Rewritten:
    """A detached view that was written to, or is what a call returned, or with steps a view of it.

    Its memory is that of `view`. Its history, which its base does not share, is that of the result at `position`.
    """

    view: FromInput | FromGraph
    position: int
    steps: tuple[ViewStep, ...] = ()


@dataclass(frozen=True)
class SameAs:
    """The tensor that is output `index` already."""

    index: int


@dataclass(frozen=True)
class Constant:
    """Something that is no tensor."""

    value: Any


OutputPlan = FromInput | FromGraph | Rewritten | SameAs | Constant


def with_sizes(plan: OutputPlan, values: Values) -> OutputPlan:
    """The plan for known sizes."""
    if isinstance(plan, (SameAs, Constant)):
        return plan
    steps = tuple(step._replace(arguments=with_values(step.arguments, values)) for step in plan.steps)
    if isinstance(plan, Rewritten):
        view: Any = with_sizes(plan.view, values)
        return replace(plan, view=view, steps=steps)
    return replace(plan, steps=steps)


def make_all(plans: Sequence[OutputPlan], arguments: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """The tensors and constants that the program returns."""
    roots: dict[int, Any] = {}  # the detached tensors made so far: their views share their history
    made: list[Any] = []
    for plan in plans:
        made.append(made[plan.index] if isinstance(plan, SameAs) else _make(plan, arguments, results, roots))
    return made


def _make(
    plan: FromInput | FromGraph | Rewritten | Constant,
    arguments: Sequence[Any],
    results: Sequence[Any],
    roots: dict[int, Any],
) -> Any:
    if isinstance(plan, Constant):
        return plan.value
    if isinstance(plan, FromInput):
        x = arguments[plan.index]
    elif isinstance(plan, FromGraph):
        x = results[plan.position]
    else:
        if plan.position not in roots:
            view = _make(plan.view, arguments, results, roots)
            roots[plan.position] = _give_history(view, results[plan.position])
        x = roots[plan.position]
    for step in plan.steps:
        x = step.apply(x)
    if isinstance(plan, (FromInput, FromGraph)) and plan.outdated and x.base is not None and x.base.requires_grad:
        if plan.overtaken:  # in either case autograd refuses to use it, as it would plainly
            x.base_rewritten = x.base.rewritten - 1
        else:
            x.version_made = x.storage.version - 1
    return x


def _give_history(detached: TensorBase, result: TensorBase) -> TensorBase:
    """Puts a detached tensor in the place that an equal result of the graph has on the tape."""
    if result.requires_grad:
        detached.requires_grad, detached.grad_fn, detached.output_index = True, result.grad_fn, result.output_index
    return detached


class OutputPlanner:
    """Decides for each returned tensor where it comes from, and collects what the graph has to return for that."""

    def __init__(self, functional: Functionalize, inputs: Sequence[TensorBase], differentiated: bool) -> None:
        self.functional = functional
        self.records = differentiated and is_grad_enabled()
        tensors = {i: x for i, x in enumerate(inputs) if isinstance(x, TensorBase)}
        self.position_of = {id(x): i for i, x in tensors.items()}
        # An argument may be a window of another one; outputs are views of that.
        self.input_index = {x.storage: i for i, x in tensors.items() if functional.contents_of(x).base.tensor is x}
        self.graph_outputs: list[TensorBase] = []
        self._position: dict[int, int] = {}

    def plan_all(self, outputs: Sequence[Any]) -> list[OutputPlan]:
        """A plan for each of the returned values."""
        tensors = {id(x): x for x in outputs if isinstance(x, TensorBase)}
        storages = [x.storage for x in tensors.values()]
        shared = {s for s in storages if storages.count(s) > 1}
        first = {id(x): i for i, x in reversed(list(enumerate(outputs))) if isinstance(x, TensorBase)}
        return [
            SameAs(first[id(x)]) if first.get(id(x), i) < i else self._plan(x, shared) for i, x in enumerate(outputs)
        ]

    def _plan(self, x: Any, shared: set[Any]) -> OutputPlan:
        if not isinstance(x, TensorBase):
            return Constant(x)
        if id(x) in self.position_of:
            return FromInput(self.position_of[id(x)])
        name, view = self.functional.name_of(x), self._view(x, shared)
        if view is None:
            return FromGraph(self._returned(x))
        if name.root.is_result or (name.root.steps and name.root.recorded):
            return Rewritten(view, self._returned(name.root.tensor), name.steps)
        return replace(view, steps=(*view.steps, *name.steps), outdated=name.is_untracked, overtaken=name.is_overtaken)

    def _view(self, x: TensorBase, shared: set[Any]) -> FromInput | FromGraph | None:
        """Where the root of a tensor finds its memory; None if the tensor may have memory of its own."""
        root = self.functional.name_of(x).root
        base = self.functional.contents_of(x).base.tensor
        if x.storage in self.input_index:
            return FromInput(self.input_index[x.storage], root.steps)
        # A tensor that shares its memory, with others or with elements it doesn't show, is a view of a whole one.
        # So is one made under no_grad where there are histories: a leaf, or one that autograd refuses to use.
        name = self.functional.name_of(x)
        follows = not self.records or all(step.recorded for step in name.steps)
        apart = is_dense(x.sizes, x.strides) and follows and not name.is_untracked
        if x is not base and (x.storage in shared or not apart):
            return FromGraph(self._returned(base), root.steps)
        return None

    def _returned(self, x: TensorBase) -> int:
        """The position of a tensor among the graph's outputs."""
        if id(x) not in self._position:
            self._position[id(x)] = len(self.graph_outputs)
            self.graph_outputs.append(x)
        return self._position[id(x)]
