"""Statements, run for all lanes of a block at once: each takes a mask of active lanes, and gives those that go on.

An `if` runs both ways, each for the lanes that go there; a loop runs until the last lane has left it. So a warp's
lanes take turns where they diverge, and meet again behind, as on the device.

>>> from minitorch_compile.cuda_simulator.block import Launch
>>> from minitorch_compile.cuda_simulator.faults import Faults
>>> def steps(n):
...     count = 0
...     while n > 1:
...         n = n // 2 if n % 2 == 0 else 3 * n + 1
...         count += 1
...     return count
>>> block = Block(Launch((1, 1, 1), (32, 1, 1), Faults(collect=False)), (0, 0, 0))
>>> run(steps, block, [np.arange(32)], {}, block.existing)[:8].tolist()
[0, 0, 1, 7, 2, 5, 8, 16]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value, is_number, truth
from minitorch_compile.cuda_simulator.block import Block, Mask
from minitorch_compile.cuda_simulator.expressions import Expressions, merge
from minitorch_compile.cuda_simulator.memory import DeviceMemory
from minitorch_compile.cuda_simulator.source import Definition

MOST_TURNS = 1_000_000  # of a loop; one that takes more waits for something that can't happen in lockstep


@dataclass
class Loop:
    """The lanes that have left a loop by `break`, and those that have left its present turn by `continue`."""

    broken: Mask
    continued: Mask


class Frame(Expressions):
    """A call of a function, by the lanes that are active at its beginning."""

    def __init__(self, definition: Definition, block: Block, variables: dict[str, Value], active: Mask) -> None:
        super().__init__(definition, block, variables)
        self.entered = int(np.count_nonzero(active))
        self.nobody = np.zeros(block.width, bool)
        self.loops: list[Loop] = []
        self.result: Value = None
        self.returned = False

    def statements(self, nodes: list[ast.stmt], active: Mask) -> Mask:
        """Runs statements one by one, as long as a lane is left."""
        for node in nodes:
            if not active.any():
                break
            if self.block.counts is not None:
                self.block.counts.step(self.place(node), active)
            run: Callable[[Any, Mask], Mask | None] | None = getattr(self, type(node).__name__, None)
            if run is None:
                self.refuse(node, f"the simulator doesn't run {type(node).__name__}")
            assert run is not None
            after = run(node, active)
            active = active if after is None else after
        return active

    def is_everyone(self, active: Mask) -> bool:
        """Whether no lane that is elsewhere can see this frame's variables."""
        return int(np.count_nonzero(active)) == self.entered

    # ------------------------------------------------------------------------------------------ simple ones

    def Expr(self, node: ast.Expr, active: Mask) -> None:
        self.value(node.value, active)

    def Pass(self, node: ast.Pass, active: Mask) -> None:
        pass

    def Assign(self, node: ast.Assign, active: Mask) -> None:
        value = self.value(node.value, active)
        for target in node.targets:
            self.assign(target, value, active)

    def AnnAssign(self, node: ast.AnnAssign, active: Mask) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, active), active)

    def AugAssign(self, node: ast.AugAssign, active: Mask) -> None:
        if isinstance(node.target, ast.Name):
            old = self.Name(node.target, active)
            self.assign(node.target, self.combined(node, old, self.value(node.value, active)), active)
            return
        if not isinstance(node.target, ast.Subscript):
            self.refuse(node, "kernels assign to variables and to elements of arrays")
        memory, indices = self.place_of(node.target, active)
        place = self.place(node)
        old = memory.load(self.block, indices, active, place)
        value = self.combined(node, old, self.value(node.value, active))
        memory.store(self.block, indices, value, active, place)

    def assign(self, target: Any, value: Value, active: Mask) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value, DeviceMemory):
                value.name = value.name or target.id
            known = target.id in self.variables and not self.is_everyone(active)
            self.variables[target.id] = merge(active, value, self.variables[target.id]) if known else value
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise TypeError(f"{len(target.elts)} values expected, got {value!r}\n    {self.place(target)}")
            for part, element in zip(target.elts, value):
                self.assign(part, element, active)
        elif isinstance(target, ast.Subscript):
            memory, indices = self.place_of(target, active)
            if not is_number(value):
                raise TypeError(f"an element of {memory.title} is a number, got {value!r}\n    {self.place(target)}")
            memory.store(self.block, indices, value, active, self.place(target))
        else:
            self.refuse(target, "kernels assign to variables and to elements of arrays")

    def place_of(self, target: Any, active: Mask) -> tuple[DeviceMemory, tuple[Value, ...]]:
        """The array and the indices of an element that is written."""
        memory, indices = self.whole(target, self.value(target.value, active), self.indices(target, active))
        if len(indices) < memory.ndim:
            self.refuse(target, f"{memory.title} has {memory.ndim} dimensions: kernels write one element at a time")
        return memory, indices

    # ------------------------------------------------------------------------------------------ ways

    def If(self, node: ast.If, active: Mask) -> Mask:
        taken = self.decided(node, self.value(node.test, active), active)
        after = self.statements(node.body, taken)
        return after | self.statements(node.orelse, active & ~taken)

    def decided(self, node: Any, test: Value, active: Mask) -> Mask:
        """The lanes for which a test holds; warps that disagree are counted."""
        taken: Mask = active & truth(test)
        if self.block.counts is not None:
            self.block.counts.branch(self.place(node), active, taken)
        return taken

    def Return(self, node: ast.Return, active: Mask) -> Mask:
        value = None if node.value is None else self.value(node.value, active)
        self.result = merge(active, value, self.result) if self.returned else value
        self.returned = True
        return self.nobody

    def Break(self, node: ast.Break, active: Mask) -> Mask:
        self.loops[-1].broken |= active
        return self.nobody

    def Continue(self, node: ast.Continue, active: Mask) -> Mask:
        self.loops[-1].continued |= active
        return self.nobody

    def While(self, node: ast.While, active: Mask) -> Mask:
        def turns(looping: Mask) -> Mask:
            return self.decided(node, self.value(node.test, looping), looping)

        return self.loop(node, active, turns)

    def For(self, node: ast.For, active: Mask) -> Mask:
        call = node.iter
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        return self.over_range(node, active) if is_range else self.over_tuple(node, active)

    def over_range(self, node: Any, active: Mask) -> Mask:
        """A loop over numbers, of which each lane may have its own."""
        values = [self.value(argument, active) for argument in node.iter.args]
        first, last, step = {1: (np.int64(0), *values, np.int64(1)), 2: (*values, np.int64(1))}.get(len(values), values)
        number = iter_from(first, step)

        def turns(looping: Mask) -> Mask:
            at = next(number)
            going = self.decided(node, np.where(step > 0, at < last, at > last), looping)
            if going.any():
                self.assign(node.target, at, going)
            return going

        return self.loop(node, active, turns)

    def over_tuple(self, node: ast.For, active: Mask) -> Mask:
        values = self.value(node.iter, active)
        if not isinstance(values, tuple):
            self.refuse(node, "kernels loop over range(...) and over tuples")
        elements = iter(values)

        def turns(looping: Mask) -> Mask:
            for element in elements:
                self.assign(node.target, element, looping)
                return looping
            return self.nobody

        return self.loop(node, active, turns)

    def loop(self, node: ast.For | ast.While, active: Mask, turns: Callable[[Mask], Mask]) -> Mask:
        """Runs a loop's body for the lanes that `turns` lets in, until there are none."""
        loop = Loop(self.nobody.copy(), self.nobody.copy())
        self.loops.append(loop)
        looping, done = active, self.nobody
        for turn in self.limited(node):
            if turn and self.block.counts is not None:  # the first time, it was counted as a statement
                self.block.counts.step(self.place(node), looping)
            going = turns(looping)
            done = done | (looping & ~going)
            if not going.any():
                break
            looping = self.statements(node.body, going) | loop.continued
            loop.continued = self.nobody.copy()
        self.loops.pop()
        return self.statements(node.orelse, done) | loop.broken

    def limited(self, node: Any) -> Iterable[int]:
        yield from range(MOST_TURNS)
        self.block.faults.report("endless loop", f"{MOST_TURNS} turns, and some thread goes on", self.place(node))

    # ------------------------------------------------------------------------------------------ calls

    def call_device_function(
        self, function: FunctionType, values: list[Value], named: dict[str, Value], active: Mask
    ) -> Value:
        return run(function, self.block, values, named, active)


def iter_from(first: Value, step: Value) -> Iterator[Value]:
    """first, first + step, first + 2 step, ... in 64 bits."""
    at = first.astype(np.int64)
    while True:
        yield at
        at = at + step


def run(function: FunctionType, block: Block, values: list[Value], named: dict[str, Value], active: Mask) -> Value:
    """Calls a function for the active lanes."""
    definition = Definition.of(function)
    frame = Frame(definition, block, definition.bind(values, named), active)
    frame.statements(definition.body, active)
    return frame.result
