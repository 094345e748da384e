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
import inspect
import keyword
import sys
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.instructions import NULL, TYPE_INTRINSICS, Instruction
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import special_method
from minitorch_compile.dynamo.execution.exception_groups import join_raised, split_group
from minitorch_compile.dynamo.execution.type_parameters import type_intrinsic
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.functions.functions import FunctionVariable, MethodVariable, PartialVariable
from minitorch_compile.dynamo.variables.functions.marked_functions import (
    DisabledFunctionVariable,
    MarkedFunctionVariable,
)
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter
    from minitorch_compile.dynamo.rewriting.codegen import Codegen

Emitter = Callable[["BreakPoint", Instruction], None]
EMITTERS: dict[str, Emitter] = {}

# What these do depends on the frame that calls them, which would be the generated one.
FRAME_FUNCTIONS = (
    builtins.locals, builtins.globals, builtins.vars, builtins.dir, builtins.eval, builtins.exec, builtins.super,
    sys._getframe, sys.exc_info, sys.exception, inspect.currentframe, warnings.warn,
)  # fmt: skip


WITH_CODE = (FunctionVariable, MethodVariable, UserObjectVariable, PartialVariable)


class BreakPoint:
    """The frame at the breaking instruction, and the code being written. `nested`: the break lies inside an inlined
    call, which is compiled on its own; `caller`: what makes calls from a frame that looks like the user's, all calls if
    `names_line`."""

    def __init__(
        self, frame: SymbolicInterpreter, codegen: Codegen, nested: bool, caller: FunctionType, names_line: bool
    ) -> None:
        self.frame = frame
        self.codegen = codegen
        self.nested = nested
        self.caller = caller
        self.names_line = names_line
        self.caller_name = ""  # in the generated code, if it has made a call
        self.stack = list(frame.stack)  # a copy: the frame itself stays as it is
        self.statements: list[str] = []
        self.results: list[str] = []  # the variables that the statements assign
        self.now_handled = ""  # goes before the exception being handled, if the instruction changes which one it is

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
        return value.text if isinstance(value, PlainText) else self.codegen.value(value)

    def operand(self, value: Value) -> str:
        """The same where a literal would look odd: Python warns of `None()`, `5[0]` and `x is 5`."""
        text = self.text(value)
        if text[0].isidentifier() and not keyword.iskeyword(text) and not text.startswith(("b'", 'b"')):
            return text
        variable = self.codegen.output.names.fresh("operand")
        self.statements.append(f"{variable} = {text}")
        return variable

    # --- writing ------------------------------------------------------------------------------------------------------

    def variable(self, prefix: str = "value") -> str:
        """A variable for something that the statements compute."""
        name = self.codegen.output.names.fresh(prefix)
        self.results.append(name)
        return name

    def result(self, expression: str) -> None:
        """The instruction pushes what the expression gives."""
        variable = self.variable()
        self.statements.append(f"{variable} = {expression}")
        self.push_text(variable)

    def push_text(self, text: str) -> None:
        """The instruction pushes what a variable of the generated code holds."""
        self.stack.append(PlainText(text))

    def helper(self, function: Callable[..., Any]) -> str:
        """The name of one of our functions in the generated code."""
        return self.codegen.constant(function, function.__name__)

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
    positional = [point.text(value) for value in [*first, *values[:split]]]
    named = {name: point.text(value) for name, value in zip(names, values[split:])}
    if not _is_called_in_place(point, function):
        arguments = ", ".join([*positional, *(f"{name}={text}" for name, text in named.items())])
        point.result(f"{_function_text(point, function)}({arguments})")
        return
    args = f"({', '.join(positional)}{',' * (len(positional) == 1)})"
    _call_in_place(point, inst, function, args, f"{{{', '.join(f'{name!r}: {text}' for name, text in named.items())}}}")


@emits("CALL_FUNCTION_EX")
def _call_unpacked(point: BreakPoint, inst: Instruction) -> None:
    kwargs = point.pop() if inst.argval else NULL
    args = point.pop()
    function, _ = _callable_pair(point)
    if _is_called_in_place(point, function):
        _call_in_place(point, inst, function, point.text(args), "{}" if kwargs is NULL else point.text(kwargs))
        return
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
    return f"compiled({text})" if _is_compiled_alone(point, tracked) else text


def _is_compiled_alone(point: BreakPoint, function: VariableTracker) -> bool:
    called = function.function.realize() if isinstance(function, MethodVariable) else function
    only_frame = isinstance(called, DisabledFunctionVariable) and called.only_frame
    return point.nested and isinstance(function, WITH_CODE) or only_frame


def _is_called_in_place(point: BreakPoint, function: Value) -> bool:
    """Whether it runs as it is, and may look at the frame that calls it."""
    tracked = function.realize()
    may_look = point.names_line or isinstance(tracked, (*WITH_CODE, MarkedFunctionVariable))
    return may_look and not _is_compiled_alone(point, tracked)


def _call_in_place(point: BreakPoint, inst: Instruction, function: Value, args: str, kwargs: str) -> None:
    text = _function_text(point, function)
    point.caller_name = point.codegen.constant(point.caller, f"call_in_{point.caller.__name__}_at_{inst.line}")
    point.result(f"{point.caller_name}({text}, {args}, {kwargs})")


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


# --- iteration and taking apart ---------------------------------------------------------------------------------------


@emits("GET_ITER")
def _get_iter(point: BreakPoint, inst: Instruction) -> None:
    point.result(f"iter({point.text(point.pop())})")


@emits("UNPACK_SEQUENCE")
def _unpack(point: BreakPoint, inst: Instruction) -> None:
    _unpack_into(point, [point.variable() for _ in range(inst.argval)], None)


@emits("UNPACK_EX")
def _unpack_ex(point: BreakPoint, inst: Instruction) -> None:
    before, after = inst.argval
    _unpack_into(point, [point.variable() for _ in range(before + 1 + after)], before)


def _unpack_into(point: BreakPoint, variables: list[str], starred: int | None) -> None:
    targets = ", ".join(f"*{name}" if position == starred else name for position, name in enumerate(variables))
    point.statement(f"[{targets}] = {point.text(point.pop())}")
    for name in reversed(variables):
        point.push_text(name)


@emits("LIST_EXTEND")
def _list_extend(point: BreakPoint, inst: Instruction) -> None:
    items = point.text(point.pop())
    point.statement(f"{point.text(point.stack[-inst.argval])}.extend([*{items}])")


@emits("SET_UPDATE", "DICT_UPDATE")
def _update(point: BreakPoint, inst: Instruction) -> None:
    items = point.text(point.pop())
    target = point.text(point.stack[-inst.argval])
    point.statement(f"{target}.update({f'{{**{items}}}' if inst.opname == 'DICT_UPDATE' else items})")


# --- with and raise ---------------------------------------------------------------------------------------------------


@emits("BEFORE_WITH")
def _before_with(point: BreakPoint, inst: Instruction) -> None:
    manager, special = point.text(point.pop()), point.helper(special_method)
    enter = point.variable("enter")
    point.statement(f"{enter} = {special}({manager}, '__enter__')")
    point.result(f"{special}({manager}, '__exit__')")
    point.result(f"{enter}()")


@emits("LOAD_SPECIAL")
def _load_special(point: BreakPoint, inst: Instruction) -> None:
    point.result(f"{point.helper(special_method)}({point.text(point.pop())}, {inst.argval!r})")
    point.stack.append(NULL)


@emits("WITH_EXCEPT_START")
def _with_except_start(point: BreakPoint, inst: Instruction) -> None:
    leave, error = point.text(point.stack[-3 - inst.argval]), point.text(point.stack[-1])
    point.result(f"{leave}(type({error}), {error}, {error}.__traceback__)")


@emits("RAISE_VARARGS")
def _raise(point: BreakPoint, inst: Instruction) -> None:
    parts = [point.text(value) for value in point.popn(inst.argval)]
    point.statement(" from ".join(["raise " + "".join(parts[:1]), *parts[1:]]))


# --- except* ----------------------------------------------------------------------------------------------------------


@emits("CHECK_EG_MATCH")
def _split_group(point: BreakPoint, inst: Instruction) -> None:
    error, classes = point.popn(2)
    rest, matched = point.variable("rest"), point.variable("matched")
    split = point.helper(split_group)
    point.statement(f"{rest}, {matched} = {split}({point.text(error)}, {point.text(classes)})")
    point.push_text(rest)
    point.push_text(matched)
    point.now_handled = f"{matched} if {matched} is not None else "


@emits("TYPE_PARAMETERS")
def _type_parameters(point: BreakPoint, inst: Instruction) -> None:
    count, _ = TYPE_INTRINSICS[inst.argval]
    operands = ", ".join(point.text(operand) for operand in point.popn(count))
    point.result(f"{point.helper(type_intrinsic(inst.argval))}({operands})")


@emits("PREP_RERAISE_STAR")
def _join_groups(point: BreakPoint, inst: Instruction) -> None:
    original, raised = point.popn(2)
    point.result(f"{point.helper(join_raised)}({point.text(original)}, {point.text(raised)})")
