"""The places of the package that a learner's function can take, with what it must do there.

>>> print(splice_point("tensor.is_contiguous").contract)
Whether the elements lie in row-major order without gaps.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import Any


@dataclass(frozen=True)
class SplicePoint:
    """`target` is "module:attribute.path" below the package; `parameters` are those of the function there."""

    name: str
    target: str
    parameters: tuple[str, ...]
    contract: str

    def resolve(self) -> Any:
        """The object there: a function, or one wrapped by `functools.lru_cache`."""
        module_name, _, path = self.target.partition(":")
        found: Any = importlib.import_module(f"minitorch_compile.{module_name}")
        for attribute in path.split("."):
            found = getattr(found, attribute)
        return found

    def function(self) -> FunctionType:
        """The plain function there, inside any cache around it."""
        function = inspect.unwrap(self.resolve())
        assert isinstance(function, FunctionType), f"{self.target} is not a Python function"
        return function


SPLICE_POINTS = (
    SplicePoint(
        "tensor.contiguous_strides",
        "tensor.memory.strides:contiguous_strides",
        ("sizes",),
        "The row-major strides of a new tensor of these sizes; a size of 0 counts as 1.",
    ),
    SplicePoint(
        "tensor.is_contiguous",
        "tensor.memory.strides:is_contiguous",
        ("sizes", "strides"),
        "Whether the elements lie in row-major order without gaps.",
    ),
    SplicePoint(
        "dynamo.unwind",
        "dynamo.execution.frame:InterpretedFrame.unwind",
        ("self", "exception"),
        "Goes to the handler that covers the current instruction; whether there is one.",
    ),
    SplicePoint(
        "fx.merge_common_subexpressions",
        "fx.passes.common_subexpressions:merge_common_subexpressions",
        ("graph",),
        "A copy of the graph in which what is computed twice is computed once.",
    ),
    SplicePoint(
        "dynamo.live_slots",
        "dynamo.bytecode.liveness:live_slots",
        ("program", "index"),
        "The slots that may still be read, before they are written, when the program goes on at the instruction.",
    ),
    SplicePoint(
        "dynamo.holds_tensor",
        "dynamo.frame_evaluation.skip_rule:holds_tensor",
        ("value", "depth"),
        "Whether the value is a tensor, or leads to one in at most `depth` steps to items and attributes.",
    ),
    SplicePoint(
        "aot.minimum_cut",
        "aot.partitioning.max_flow:FlowNetwork.minimum_cut",
        ("self", "source", "sink"),
        "The edges of a cheapest cut, a set of pairs: of all such cuts the one nearest to the sink.",
    ),
    SplicePoint(
        "aot.merge_addmm",
        "aot.passes.addmm:merge_addmm",
        ("graph",),
        "A new graph, in which each mm that one add reads, and nobody else, is an addmm with the other summand.",
    ),
    SplicePoint(
        "prims.log_softmax",
        "prims.decompositions.reduction:log_softmax",
        ("x", "dim", "dtype"),
        "The logarithm of softmax along a dimension, of x converted to dtype unless that is None.",
    ),
    SplicePoint(
        "inductor.pad",
        "inductor.lowering.shape:pad",
        ("graph", "x", "low", "high", "value"),
        "The box of x with that many elements of this value put before and behind it in each dimension.",
    ),
    SplicePoint(
        "inductor.between",
        "inductor.schedule.fit:between",
        ("scheduler", "a", "b"),
        "A step that needs `a` and that `b` needs, directly or through others; None if there is none.",
    ),
    SplicePoint(
        "inductor.candidates",
        "inductor.schedule.scheduler:Scheduler.candidates",
        ("self",),
        "Pairs of nodes that are groups and touch a common buffer, the earlier one first, most bytes saved first.",
    ),
    SplicePoint(
        "inductor.assign_offsets",
        "inductor.schedule.memory_plan:assign_offsets",
        ("lives",),
        "Offsets by name and the size of the block: nothing overlaps in both place and time, all multiples of 64.",
    ),
    SplicePoint(
        "inductor.stays_in_piece",
        "inductor.schedule.fused_call:stays_in_piece",
        ("access", "axis", "piece"),
        "Whether position n of the axis reads only elements from n * piece up to (n + 1) * piece.",
    ),
    SplicePoint(
        "inductor.overwrites_safely",
        "inductor.schedule.memory_plan:overwrites_safely",
        ("group", "output", "source"),
        "Whether every element of `source` is read for the last time where, and not after, `output` takes its place.",
    ),
    SplicePoint(
        "inductor.timed",
        "inductor.tuning.autotune:timed",
        ("names", "run", "known"),
        "Seconds for each candidate: those that are known, or by running each several times, in turns.",
    ),
    SplicePoint(
        "inductor.load",
        "inductor.runtime.code_cache:load",
        ("source",),
        "The module made from a generated file's text; its `run` takes and returns tensors.",
    ),
)


def splice_point(name: str) -> SplicePoint:
    """The splice point of this name. LookupError lists the names there are."""
    for point in SPLICE_POINTS:
        if point.name == name:
            return point
    raise LookupError(f"no splice point {name!r}. Choose one of: {', '.join(point.name for point in SPLICE_POINTS)}")
