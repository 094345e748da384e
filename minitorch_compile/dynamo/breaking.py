"""How an instruction at which the graph breaks is done for real: as a statement of the generated code.

For each instruction that can break, an emitter takes the operands off the traced stack, writes the statement on their
values, and gives the text of the result, which the resume function finds on its stack.

    self.loss.item()        ->    value_0 = out_0.item()
                                  return resume_at_31(x, value_0)

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     y = x * 2
...     return y.sum().item() + 1
>>> print(generated(f, ones(2)))
(out_0,) = graph(x)
value_0 = out_0.item()
return resume_in_f_at_3(value_0)
"""

from __future__ import annotations

import builtins
import keyword
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.control_flow import can_come_back, enclosing_handlers
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.instructions import NULL, Instruction
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.functions import FunctionVariable, MethodVariable, PartialVariable
from minitorch_compile.dynamo.variables.grad_mode import open_managers
from minitorch_compile.dynamo.variables.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.marked_functions import DisabledFunctionVariable
from minitorch_compile.dynamo.variables.objects import UserObjectVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.codegen import Codegen
    from minitorch_compile.dynamo.symbolic import SymbolicInterpreter

Emitter = Callable[["BreakPoint", Instruction], None]
EMITTERS: dict[str, Emitter] = {}

# What these do depends on the frame that calls them, which would be the generated one.
FRAME_FUNCTIONS = (
    builtins.locals, builtins.globals, builtins.vars, builtins.dir, builtins.eval, builtins.exec, builtins.super,
    sys._getframe, sys.exc_info, sys.exception, warnings.warn,
)  # fmt: skip


class BreakPoint:
    """The frame at the breaking instruction, and the code being written. `nested`: the break lies inside an inlined
    call."""

    def __init__(self, frame: SymbolicInterpreter, codegen: Codegen, nested: bool) -> None:
        self.frame = frame
        self.codegen = codegen
        self.nested = nested
        self.stack = list(frame.stack)  # a copy: the frame itself stays as it is
        self.statements: list[str] = []

    # --- the traced stack ---------------------------------------------------------------------------------------------

    def pop(self) -> Any:
        return self.stack.pop()

    def popn(self, count: int) -> list[Any]:
        split = len(self.stack) - count
        values = self.stack[split:]
        del self.stack[split:]
        return values

    def text(self, value: Value) -> str:
        """The operand as an expression."""
        return self.codegen.value(value)

    def operand(self, value: Value) -> str:
        """The same where a literal would look odd: Python warns of `None()`, `5[0]` and `x is 5`."""
        text = self.text(value)
        if text[0].isidentifier() and not keyword.iskeyword(text) and not text.startswith(("b'", 'b"')):
            return text
        variable = self.codegen.output.names.fresh("operand")
        self.statements.append(f"{variable} = {text}")
        return variable

    # --- writing ------------------------------------------------------------------------------------------------------

    def result(self, expression: str) -> None:
        """The instruction pushes what the expression gives."""
        variable = self.codegen.output.names.fresh("value")
        self.statements.append(f"{variable} = {expression}")
        self.stack.append(PlainText(variable))

    def statement(self, text: str) -> None:
        self.statements.append(text)


class PlainText(Value):
    """A value that the generated code has in a variable already."""

    def __init__(self, text: str) -> None:
        self.text = text


def emits(*opnames: str) -> Callable[[Emitter], Emitter]:
    """Registers how a break at these instructions is written."""

    def register(emitter: Emitter) -> Emitter:
        EMITTERS.update(dict.fromkeys(opnames, emitter))
        return emitter

    return register


@emits("CALL")
def _call(point: BreakPoint, inst: Instruction) -> None:
    count, names = inst.argval
    values = point.popn(count)
    function, first = _callable_pair(point)
    split = count - len(names)
    parts = [point.text(value) for value in [*first, *values[:split]]]
    parts += [f"{name}={point.text(value)}" for name, value in zip(names, values[split:])]
    point.result(f"{_function_text(point, function)}({', '.join(parts)})")


@emits("CALL_FUNCTION_EX")
def _call_unpacked(point: BreakPoint, inst: Instruction) -> None:
    kwargs = point.pop() if inst.argval else NULL
    args = point.pop()
    function, _ = _callable_pair(point)
    parts = [f"*{point.text(args)}"] + ([] if kwargs is NULL else [f"**{point.text(kwargs)}"])
    point.result(f"{_function_text(point, function)}({', '.join(parts)})")


def _callable_pair(point: BreakPoint) -> tuple[Value, list[Value]]:
    first, second = point.popn(2)
    if first is NULL:
        return second, []
    return first, [] if second is NULL else [second]


def _function_text(point: BreakPoint, function: Value) -> str:
    """The callable; if the break was met inside its Python code, it is compiled on its own."""
    tracked = function.realize()
    if any(tracked.real_value() is known for known in FRAME_FUNCTIONS):
        raise Unsupported("unsupported-call", f"{tracked.describe()} looks at the frame that calls it.")
    text = point.operand(function)
    has_code = isinstance(tracked, (FunctionVariable, MethodVariable, UserObjectVariable, PartialVariable))
    called = tracked.function.realize() if isinstance(tracked, MethodVariable) else tracked
    only_frame = isinstance(called, DisabledFunctionVariable) and called.only_frame
    return f"compiled({text})" if point.nested and has_code or only_frame else text


@emits("LOAD_ATTR")
def _load_attr(point: BreakPoint, inst: Instruction) -> None:
    point.result(f"{_attribute_owner(point, point.pop())}.{inst.argval}")


@emits("STORE_ATTR")
def _store_attr(point: BreakPoint, inst: Instruction) -> None:
    value, obj = point.popn(2)
    point.statement(f"{_attribute_owner(point, obj)}.{inst.argval} = {point.text(value)}")


@emits("DELETE_ATTR")
def _delete_attr(point: BreakPoint, inst: Instruction) -> None:
    point.statement(f"del {_attribute_owner(point, point.pop())}.{inst.argval}")


def _attribute_owner(point: BreakPoint, obj: Value) -> str:
    return point.operand(obj)


@emits("BINARY_SUBSCR")
def _getitem(point: BreakPoint, inst: Instruction) -> None:
    obj, key = point.popn(2)
    subject = point.operand(obj)
    point.result(f"{subject}[{point.text(key)}]")


@emits("STORE_SUBSCR")
def _setitem(point: BreakPoint, inst: Instruction) -> None:
    value, obj, key = point.popn(3)
    point.statement(f"{point.operand(obj)}[{point.text(key)}] = {point.text(value)}")


@emits("DELETE_SUBSCR")
def _delitem(point: BreakPoint, inst: Instruction) -> None:
    obj, key = point.popn(2)
    point.statement(f"del {point.operand(obj)}[{point.text(key)}]")


@emits("UNARY_OP")
def _unary(point: BreakPoint, inst: Instruction) -> None:
    point.result(f"{inst.argval} {point.text(point.pop())}")


@emits("BINARY_OP")
def _binary(point: BreakPoint, inst: Instruction) -> None:
    a, b = point.popn(2)
    left, right = point.text(a), point.text(b)
    if not inst.argval.endswith("="):
        point.result(f"{left} {inst.argval} {right}")
        return
    point.result(left)  # a += b needs a variable on its left
    variable = point.stack[-1].text
    point.statement(f"{variable} {inst.argval} {right}")


@emits("COMPARE_OP")
def _compare(point: BreakPoint, inst: Instruction) -> None:
    a, b = point.popn(2)
    point.result(f"{point.text(a)} {inst.argval} {point.text(b)}")


@emits("CONTAINS_OP")
def _contains(point: BreakPoint, inst: Instruction) -> None:
    item, container = point.popn(2)
    point.result(f"{point.text(item)} {'not in' if inst.argval else 'in'} {point.text(container)}")


@emits("IS_OP")
def _is(point: BreakPoint, inst: Instruction) -> None:
    a, b = point.popn(2)
    left, right = point.operand(a), point.operand(b)
    point.result(f"{left} {'is not' if inst.argval else 'is'} {right}")


@emits("GET_ITER")
def _get_iter(point: BreakPoint, inst: Instruction) -> None:
    point.result(f"iter({point.text(point.pop())})")


@emits("FORMAT_VALUE")
def _format(point: BreakPoint, inst: Instruction) -> None:
    spec = point.pop() if inst.argval else NULL
    value = point.text(point.pop())
    point.result(f"format({value})" if spec is NULL else f"format({value}, {point.text(spec)})")


@emits("CONVERT_VALUE")
def _convert(point: BreakPoint, inst: Instruction) -> None:
    point.result(f"{inst.argval}({point.text(point.pop())})")


@emits("IMPORT_NAME")
def _import(point: BreakPoint, inst: Instruction) -> None:
    level, fromlist = point.popn(2)
    scope = point.text(point.frame.scope)
    point.result(f"__import__({inst.argval!r}, {scope}, None, {point.text(fromlist)}, {point.text(level)})")


# --- where a frame can be split ---------------------------------------------------------------------------------------


def why_not_here(frame: SymbolicInterpreter, index: int) -> str:
    """Why the frame can't be split at this instruction; empty if it can."""
    inst = frame.program.instructions[index]
    if can_come_back(frame.program, index):
        return "the line is inside a loop"
    if any(value is not NULL and isinstance(value, IteratorVariable) for value in frame.stack):
        return "a loop is under way"
    handlers = [h for h in enclosing_handlers(frame.program, index) if _opname(frame, h) == "PUSH_EXC_INFO"]
    if any(_opname(frame, handler + 1) != "WITH_EXCEPT_START" for handler in handlers):
        return "the line is inside a try or a comprehension"
    if len(open_managers(frame.stack)) < len(handlers):
        return "the line is inside a with block"
    if inst.opname not in EMITTERS and inst.opname not in ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE"):
        return f"the instruction {inst.opname} can't be done by the generated code"
    return ""


def _opname(frame: SymbolicInterpreter, index: int) -> str:
    return frame.program.instructions[index].opname
