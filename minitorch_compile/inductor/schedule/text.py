"""A schedule as text: one line a kernel, what it computes as an expression, what it reads and writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.ir.ordered_loops import Scatter
from minitorch_compile.inductor.ir.printer import print_operation
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.tensor.numerics.dtype import dtype

if TYPE_CHECKING:
    from minitorch_compile.inductor.schedule.schedule import Schedule, ScheduleStep

LONGEST_EXPRESSION = 100


INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


class FormulaHandler(Handler):
    """The value of an element is the formula that computes it, without positions. What needs brackets has them."""

    def load(self, buffer: Buffer, address: Index) -> str:
        return buffer.name

    def constant(self, value: Number, dtype: dtype) -> str:
        return repr(value)

    def index_value(self, index: Index, dtype: dtype) -> str:
        return str(index)

    def apply(self, prim: str, *operands: str) -> str:
        if prim in INFIX:
            return f"({f' {INFIX[prim]} '.join(operands)})"
        return f"{prim}({', '.join(map(bare, operands))})"

    def convert(self, value: str, dtype: dtype) -> str:
        return f"{dtype.name}({bare(value)})"

    def random(self, seed: str, counter: str, dtype: dtype) -> str:
        return f"random({seed})"

    def indirect(self, value: str, size: int, wrap: bool) -> Index:
        return symbol(f"<{bare(value)}>", size, indirect=True)

    def masked(self, condition: str, body: Callable[[], str], other: Number, dtype: dtype) -> str:
        return f"masked({bare(self.inside(body))}, {other})"

    def store(self, buffer: Buffer, address: Index, value: str) -> None:
        self.formula = bare(value)

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: str) -> None:
        self.formula = f"{kind}({bare(value)})"

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: str) -> None:
        self.formula = f"running_{kind}({bare(value)})"


def bare(formula: str) -> str:
    """A formula without the brackets around the whole of it.

    >>> bare("(a + b)"), bare("(a + b) * (c + d)")
    ('a + b', '(a + b) * (c + d)')
    """
    depth = 0
    for place, letter in enumerate(formula):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return formula[1:-1] if place == len(formula) - 1 and formula.startswith("(") else formula
    return formula


def formula(loop: Loop) -> str:
    """What a loop computes, as one expression, cut if long."""
    handler = FormulaHandler()
    if isinstance(loop, Scatter):
        text = f"scatter({bare(loop.inner_fn(handler, loop_variables(loop)))})"
    else:
        loop.run(handler, loop_variables(loop))
        text = handler.formula
    return text if len(text) <= LONGEST_EXPRESSION else text[: LONGEST_EXPRESSION - 3] + "..."


def describe_schedule(schedule: Schedule) -> str:
    """One line a kernel, then the totals."""
    lines = [f"kernel {number}: {describe_line(step, schedule)}" for number, step in enumerate(schedule.steps)]
    kernels = "1 kernel" if schedule.kernel_count == 1 else f"{schedule.kernel_count} kernels"
    return "\n".join([*lines, f"{kernels}, {schedule.bytes_moved:,} bytes moved"])


def describe_line(step: ScheduleStep, schedule: Schedule) -> str:
    if isinstance(step, ExternCall):
        return f"{step!r}"
    if isinstance(step, FusedCall):
        stored = "" if step.result not in schedule.internal else ", of which only a block is ever there"
        turns = f"blocks of {step.blocks.length} of {step.blocks.extent}"
        return f"{step.call!r}{stored}; in turns, {turns}: {describe_line(step.epilogue, schedule)}"
    kept = [buffer for buffer in step.outputs if buffer not in schedule.internal]
    formulas = "; ".join(formula_of(step, buffer, schedule) for buffer in kept)
    axes = ", ".join(map(repr, step.axes)) or "once"
    parts = [f"reads {names(step.inputs)}" if step.inputs else "reads nothing", f"writes {names(kept)}"]
    internal = [buffer for buffer in step.outputs if buffer in schedule.internal]
    if internal:
        parts.append(f"keeps {names(internal)} to itself")
    return f"{formulas}  [{axes}]  {'; '.join(parts)}"


def formula_of(group: Group, buffer: Buffer, schedule: Schedule) -> str:
    """The formula of one output, with the values that never reach memory put in where they are used once."""
    text = formula(next(m.loop for m in group.members if m.loop.buffer is buffer))
    for member in reversed(group.members):
        name = member.loop.buffer.name
        uses = re.findall(rf"\b{name}\b", text)
        if member.loop.buffer in schedule.internal and len(uses) == 1:
            inner = formula(member.loop)
            inner = f"({inner})" if " " in inner and not inner.endswith(")") else inner
            text = bare(re.sub(rf"\b{name}\b", inner, text))
    text = f"{buffer.name} = {text}"
    return text if len(text) <= LONGEST_EXPRESSION else text[: LONGEST_EXPRESSION - 3] + "..."


def names(buffers: list[Buffer]) -> str:
    return ", ".join(buffer.name for buffer in buffers)


def describe_step(number: int, step: ScheduleStep, schedule: Schedule) -> str:
    """One kernel with the loops inside it."""
    if isinstance(step, ExternCall):
        return f"kernel {number}: {step!r}"
    if isinstance(step, FusedCall):
        turns = f"in blocks of {step.blocks.length} of {step.blocks.extent}, in turns with the loops below"
        return f"kernel {number}: {step.call!r}, {turns}\n{loops_text(step.epilogue)}"
    return f"kernel {number}: {loops_text(step)}"


def loops_text(step: Group) -> str:
    """The axes of a group, then its loops."""
    bodies = []
    for member, stage in zip(step.members, step.stages()):
        place = "every point" if member.inner else "every row"
        bodies.append(f"# stage {stage}, at {place}\n{print_operation(member.loop)}")
    axes = ", ".join(map(repr, step.axes)) or "once"
    return f"[{axes}]\n" + "\n".join(bodies)
