"""How one call comes down to prims: a tree of the decompositions that run.

>>> import minitorch_compile as torch
>>> print(tree_of(torch.nn.functional.silu, torch.empty(3)))
F.silu
└─ silu
   ├─ sigmoid
   │  ├─ prims.full
   │  ├─ prims.neg
   │  ├─ prims.exp
   │  ├─ prims.add
   │  └─ prims.reciprocal
   └─ prims.mul

An op that is written in others has their calls below it; an op of the table of decompositions, what its rule calls; a
prim, nothing. What has no decomposition is a leaf, too, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.dot import Drawing
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.fx.kinds import kind_of_target
from minitorch_compile.prims.decomposer import Decomposer
from minitorch_compile.prims.decomposition_table import beyond_prims, refusal_of_call
from minitorch_compile.prims.prim import Prim
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.tensor_base import TensorBase


@dataclass
class Reduction:
    """A call and what it comes down to. `times`: how often it is called like that by the same caller."""

    op: Op | None
    name: str
    below: list[Reduction] = field(default_factory=list)
    reason: str | None = None
    times: int = 1

    @property
    def prims(self) -> Counter[str]:
        """How many calls of each prim it comes down to."""
        if isinstance(self.op, Prim):
            return Counter({self.op.name: self.times})
        total: Counter[str] = Counter()
        for part in self.below:
            for name, count in part.prims.items():
                total[name] += count * self.times
        return total

    @property
    def depth(self) -> int:
        """How many decompositions lie between the call and the prims; 0 for a prim."""
        return 1 + max((part.depth for part in self.below), default=0) if self.below else 0

    @property
    def refused(self) -> dict[str, str]:
        """The ops below (or this one) that have no decomposition, and why."""
        own = {self.name: self.reason} if self.reason else {}
        return own | {name: reason for part in self.below for name, reason in part.refused.items()}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.label + (f": stays, {self.reason}" if self.reason else "")
        for position, part in enumerate(self.below):
            is_last = position == len(self.below) - 1
            first, *others = part._lines()
            yield ("└─ " if is_last else "├─ ") + first
            yield from (("   " if is_last else "│  ") + line for line in others)

    @property
    def label(self) -> str:
        name = f"prims.{self.name}" if isinstance(self.op, Prim) else self.name
        return name if self.times == 1 else f"{name}  x {self.times}"

    def draw(self) -> GraphView:
        """The tree as a drawing, from left to right."""
        drawing = Drawing(self.name, "LR")
        self._draw(drawing, "", 0)
        return drawing.view()

    def _draw(self, drawing: Drawing, above: str, number: int) -> None:
        id = f"{above}/{number} {self.name}"
        kind = "input" if not above else kind_of_target(self.op)
        drawing.add_node(id, self.label, kind, tooltip=self.reason or (self.op.__doc__ or "" if self.op else ""))
        if above:
            drawing.add_edge(above, id)
        for position, part in enumerate(self.below):
            part._draw(drawing, id, position)


def tree_of(function: Callable[..., Any], *args: Any, name: str | None = None, **kwargs: Any) -> Reduction:
    """What a call of an op (or of any function of tensors) comes down to, for arguments like these.

    Nothing is computed: tensors among the arguments are replaced by fakes.
    """
    decomposer = _CallTreeDecomposer(name or str(getattr(function, "name", getattr(function, "__name__", "call"))))
    stand_in = lambda x: decomposer.placeholder("x", x) if isinstance(x, TensorBase) else x
    fakes, named = map_aggregate(args, stand_in), map_aggregate(kwargs, stand_in)
    with dispatch.mode(decomposer):
        function(*fakes, **named)
    root = decomposer.root
    own_call = len(root.below) == 1 and root.below[0].name == root.name
    return root.below[0] if own_call else root


class _CallTreeDecomposer(Decomposer):
    """Decomposes, and notes what called what."""

    def __init__(self, name: str) -> None:
        super().__init__(beyond_prims, {})
        self.root = Reduction(None, name)
        self._path = [self.root]

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind == "inplace":  # what it stores counts; who sees it afterwards doesn't
            self.process(op.functional, args, kwargs)  # type: ignore[attr-defined]
            return args[0]
        reason = None if isinstance(op, Prim) else refusal_of_call(op, op.bind(args, kwargs))
        here = Reduction(op, op.name, reason=reason)
        self._path.append(here)
        try:
            return super().process(op, args, kwargs)
        finally:
            self._path.pop()
            _add(self._path[-1].below, here)


def _add(to: list[Reduction], call: Reduction) -> None:
    """Appends the call, or counts it once more if there is one just like it."""
    for known in to:
        if known.op is call.op and known.below == call.below:
            known.times += 1
            return
    to.append(call)
