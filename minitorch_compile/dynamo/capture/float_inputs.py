"""Floats that the graph takes: a learning rate that was another one when the function was compiled before.

What the program computes of it in Python is computed before the graph is called, as Python does; so the graph takes
each number that meets a tensor.

>>> import math
>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import CompileCounter
>>> from minitorch_compile.tensor import ones
>>> counter = CompileCounter()
>>> step = optimize(lambda x, lr: x * math.sqrt(lr) - x * lr, counter)
>>> [step(ones(1), lr).item() for lr in (4.0, 9.0, 16.0)], counter.frame_count
([-2.0, -6.0, -12.0], 2)
>>> print(counter.graphs[1].graph.compact())
x, sqrt_lr, lr -> ((x * sqrt_lr) - (x * lr),)

What an operation asks of it (`dropout` compares with 0 and 1) becomes a guard.
"""

from __future__ import annotations

import re
from functools import cached_property

from minitorch_compile.dynamo.capture.finished_graph import SizeInput
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.value_guards import escaped
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.tensors.numbers import ExpressionSource, NumberVariable
from minitorch_compile.dynamo.variables.tracer import Output
from minitorch_compile.fx import Node
from minitorch_compile.symbolic import Assumptions, SizeFloat, SymFloat


class GuardedFloats(Assumptions):
    """What the operations of a graph ask of its floats, as guards. The names are the paths on which they are read."""

    def __init__(self, output: Output) -> None:
        super().__init__({})
        self.output = output
        self.numbers: dict[str, NumberVariable] = {}

    def unknown(self, number: NumberVariable) -> SymFloat:
        """What stands for a number in fake calls."""
        assert number.source is not None
        name = number.source.name()
        self.numbers[name] = number
        self.know(name, number.seen)
        return (SizeFloat if number.of_sizes else SymFloat)(name, self)

    def assume(self, condition: str) -> None:
        source = next(number.source for name, number in self.numbers.items() if name in condition)
        assert source is not None
        self.output.guards.add(Guard(source, "NUMBER_MATCH", escaped(condition), "as when it was traced"))

    def specialize(self, number: SymFloat) -> float:
        if number.made_by is not None:
            return super().specialize(number)
        value: float = self.numbers[number.text].value
        return value


class FloatInputs(Output):
    """The placeholders of such floats."""

    size_inputs: list[SizeInput]

    @cached_property
    def floats(self) -> GuardedFloats:
        """What was asked of them."""
        return GuardedFloats(self)

    def float_argument(self, number: NumberVariable) -> Node:
        """The placeholder of a float from outside, or of what was computed of it."""
        assert number.source is not None
        for known in self.size_inputs:
            if known.source == number.source:
                return known.node
        node = self._placeholder(_name(number.source.name()))
        node.meta.update(val=self.floats.unknown(number), source=number.source)
        self.size_inputs.append(SizeInput(node, number.source, None))
        return node

    def _placeholder(self, name: str) -> Node:
        raise NotImplementedError

    def float_of(self, number: SymFloat) -> Value:
        """The tracker of a float that an operation computed of others, or gave back."""
        known = self.floats.numbers.get(number.text)
        return known or NumberVariable(self, number.hint, ExpressionSource(number.text), (), changing=True)


def _name(path: str) -> str:
    """`(1 - self.rate)` -> number_1_self_rate"""
    text = re.sub(r"\W+", "_", path).strip("_")
    return text if text.isidentifier() else f"number_{text}"
