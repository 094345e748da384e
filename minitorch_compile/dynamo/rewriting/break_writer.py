"""The end of a generated function whose graph breaks: the breaking instruction, and how the function goes on.

What has to happen at a break, in order: values that live on are made, changes of the world outside are done, then the
instruction itself, then a resume function runs the rest. If the instruction raises inside a `try` or `with`, another
resume function goes on in the handler. The raised exception gets the user's line into its traceback.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     try:
...         return x * x.sum().item()
...     except OverflowError:
...         return None
>>> print(generated(f, ones(2)))
(out_0,) = graph(x)
try:
    value_0 = out_0.item()
except BaseException as error:
    raised_0 = raised_at(raise_in_f_at_3, error)
else:
    return resume_in_f_at_3(x, value_0)
return resume_in_f_at_3_1(raised_0)
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction
from minitorch_compile.dynamo.bytecode.liveness import live_slots
from minitorch_compile.dynamo.errors import GraphBreak, Unsupported
from minitorch_compile.dynamo.resuming.resume import ResumeCode, make_resume_code, resume_code_of
from minitorch_compile.dynamo.resuming.resume_prefix import handled_exceptions
from minitorch_compile.dynamo.rewriting.breaking import EMITTERS, BreakPoint, PlainText
from minitorch_compile.dynamo.rewriting.called_in_place import caller_at, raised_below
from minitorch_compile.dynamo.rewriting.raised_in_place import raised_at, raiser_at, while_handling
from minitorch_compile.dynamo.rewriting.tail_calls import TailCall, run_tail_calls
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.lazy import LazyVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.scope import CellVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter
    from minitorch_compile.dynamo.rewriting.codegen import Codegen

JUMPS = ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")
NO_MORE_ITEMS: Any = type("NoMoreItems", (), {"__doc__": "What `next` gives at the end of a loop."})()


def raised_while_tracing(frame: SymbolicInterpreter, index: int) -> list[Value]:
    """The exceptions that the frame is handling at this instruction and that no running program has raised: their
    tracebacks could not be made again. The outermost first."""
    return [exception for exception in handled_exceptions(frame, index).values() if exception.source is None]


def why_not_here(frame: SymbolicInterpreter, index: int) -> str:
    """Why the frame can't be split at this instruction; empty if it can."""
    inst = frame.program.instructions[index]
    if inst.opname not in EMITTERS and inst.opname not in (*JUMPS, "FOR_ITER"):
        return f"the instruction {inst.opname} can't be done by the generated code"
    return ""


def shown_break(frame: SymbolicInterpreter, reason: Unsupported) -> GraphBreak | None:
    """What the user is told; None in a round of a loop, where the break before was shown."""
    opname = frame.program.instructions[frame.index].opname
    if opname == "FOR_ITER" and resume_code_of(frame.program.code) is not None:
        return None
    graphs = "a second graph" if opname in EMITTERS else "one of two graphs"
    return GraphBreak.of(reason, f"The function continues in {graphs}, split here.")


class BreakWriter:
    """Writes the end of the body, from the frame as it is before the breaking instruction.

    `name` is that of the function that is written; `compiled` gives what is called for the rest of it.
    """

    def __init__(
        self,
        frame: SymbolicInterpreter,
        name: str,
        compiled: Callable[[ResumeCode], Callable[..., Any]],
        codegen: Codegen,
        reason: Unsupported,
    ) -> None:
        self.frame = frame
        self.program = frame.program
        self.name = name
        self.compiled = compiled
        self.codegen = codegen
        self.reason = reason
        self.handled = handled_exceptions(self.frame, self.frame.index)
        self.resumed = resume_code_of(self.program.code)

    @property
    def _code(self) -> CodeType:
        """The user's."""
        return (self.resumed.origin if self.resumed else self.program).code

    @property
    def index(self) -> int:
        return self.frame.index

    @property
    def inst(self) -> Instruction:
        return self.program.instructions[self.index]

    def write(self) -> None:
        """The instruction, and every way to go on."""
        inlined = len(self.reason.stack) - 1
        compiled_alone = inlined > self.reason.asks_callers
        names_line = self.reason.names_line or self.reason.asks_callers > 0
        caller = caller_at(self._code, self.inst.positions)
        point = BreakPoint(self.frame, self.codegen, compiled_alone, caller, names_line)
        if self.inst.opname in EMITTERS:
            EMITTERS[self.inst.opname](point, self.inst)
            go_on = self._next_instruction(point)
        elif self.inst.opname == "FOR_ITER":
            go_on = self._next_item(point)
        else:
            go_on = self._jump(point)
        on_error = self._resume_in_handler()
        for effect in self.frame.output.side_effects:
            self.codegen.effect(effect)
        self.codegen.comment(self.reason.stack[0])
        dropped = self._dropped("\n".join([*go_on, on_error[1] if on_error else ""]))
        self._do(
            self._within_handler(point), [*dropped, *go_on] if go_on else [], on_error, self._raised(point), dropped
        )

    def _next_instruction(self, point: BreakPoint) -> list[str]:
        """An instruction with one way on. After `except*`, the part of the group that it matched is being handled."""
        if not self.inst.falls_through:
            return []
        whole = dict(self.handled)
        if point.now_handled:
            slot, exception = list(whole.items())[-1]
            self.handled[slot] = PlainText(point.now_handled + self._text(exception))
        call = self._resume(point.stack, self.index + 1)
        self.handled = whole
        return [f"return {call}"]

    # --- instructions with two ways on --------------------------------------------------------------------------------

    def _jump(self, point: BreakPoint) -> list[str]:
        """A jump on a value that only the running program knows: one resume function for each way."""
        assert self.inst.target is not None
        condition = point.text(point.pop())
        jump = self._resume(point.stack, self.inst.target)
        fall_through = self._resume(point.stack, self.index + 1)
        if self.inst.opname == "POP_JUMP_IF_FALSE":
            jump, fall_through = fall_through, jump
        test = point.variable("test")
        point.statement(f"{test} = bool({condition})")
        return [f"if {test}:", f"    return {jump}", f"return {fall_through}"]

    def _next_item(self, point: BreakPoint) -> list[str]:
        """The next round of a loop over something unknown, or what comes after the loop."""
        assert self.inst.target is not None
        item, end = point.variable("item"), self.codegen.constant(NO_MORE_ITEMS, "NO_MORE_ITEMS")
        *below, iterator = point.stack
        point.statement(f"{item} = next({point.text(iterator)}, {end})")
        round_ = self._resume([*point.stack, PlainText(item)], self.index + 1)
        return [f"if {item} is {end}:", f"    return {self._resume(below, self.inst.target)}", f"return {round_}"]

    # --- resume functions ---------------------------------------------------------------------------------------------

    def _resume(self, stack: list[Any], index: int, raised: str = "") -> str:
        """The call of the resume function that goes on at `index` with this stack; or in its handler, if `raised`
        there."""
        stack = self._with_methods_apart(stack)
        entry = self.program.handler_of(index) if raised else None
        live = live_slots(self.program, entry.target if entry else index)
        cells = {name: v for name, v in self.frame.locals.items() if isinstance(v, CellVariable) and name in live}
        slots = {name: v for name, v in self.frame.locals.items() if name in live and name not in cells}
        resume = make_resume_code(
            self.program,
            index,
            stack_size=len(stack),
            nulls={position for position, value in enumerate(stack) if value is NULL},
            slots=slots,
            cells=cells,
            raising=bool(raised),
        )
        values = {**slots, **{f"__stack{position}": value for position, value in enumerate(stack)}}
        values.update({f"__handled{position}": value for position, value in self.handled.items()})
        values["__raised"] = PlainText(raised)
        return self._call(resume, [self._text(values[name]) for name in resume.argument_names])

    def _with_methods_apart(self, stack: list[Any]) -> list[Any]:
        """The same stack, where a method of a built-in class that waits for its arguments is as CPython has it, the
        function and the object: an error of the call then names the class as well."""
        apart = list(stack)
        for position, value in enumerate(stack):
            null = position + (1 if sys.version_info >= (3, 13) else -1)
            if isinstance(value, BuiltinMethodVariable) and 0 <= null < len(stack) and stack[null] is NULL:
                function = None if value in self.frame.locals.values() else value.function
                if function is not None:
                    text = self.codegen.constant(function, value.name)
                    apart[min(null, position) : max(null, position) + 1] = [PlainText(text), value.owner]
        return apart

    def _call(self, resume: ResumeCode, arguments: list[str]) -> str:
        """Inside a loop resume functions call each other in circles; these calls are left to whoever entered it."""
        target = self.codegen.constant(self.compiled(resume), resume.name)
        if resume.free_names:
            cells = (self.codegen.value(self.frame.locals[name]) for name in resume.free_names)
            target = f"{target}({', '.join(cells)})"
        if not resume.is_in_loop:
            return f"{target}({', '.join(arguments)})"
        if self.resumed is not None and self.resumed.is_in_loop:
            whole = ", ".join(arguments) + ("," if len(arguments) == 1 else "")
            return f"{self.codegen.constant(TailCall, 'TailCall')}({target}, ({whole}))"
        return f"{self.codegen.constant(run_tail_calls, 'run_tail_calls')}({', '.join([target, *arguments])})"

    def _resume_in_handler(self) -> tuple[str, str] | None:
        """The variable for the exception, and the call that goes on in the handler around the instruction, if any."""
        entry = self.program.handler_of(self.index)
        if entry is None:
            return None
        raised = self.frame.output.names.fresh("raised")
        return raised, self._resume(self.frame.stack[: entry.depth], self.index, raised)

    def _text(self, value: Value) -> str:
        return value.text if isinstance(value, PlainText) else self.codegen.value(value)

    # --- the instruction itself ---------------------------------------------------------------------------------------

    def _within_handler(self, point: BreakPoint) -> list[str]:
        """The statements; in an `except` block, they find the exception that is being handled."""
        if not self.handled:
            return point.statements
        step = self.frame.output.names.fresh("step")
        exception = self.codegen.value(list(self.handled.values())[-1])
        call = f"{self.codegen.constant(while_handling, 'while_handling')}({exception}, {step})"
        if not point.results:
            return [f"def {step}():", *_indented(point.statements), call]
        results = ", ".join(point.results)
        return [f"def {step}():", *_indented([*point.statements, f"return {results}"]), f"{results} = {call}"]

    def _raised(self, point: BreakPoint) -> str:
        """What the instruction raises, with the user's line."""
        if point.caller_name:
            return f"{self.codegen.constant(raised_below, 'raised_below')}({point.caller_name}, error)"
        name = f"raise_in_{self.name}_at_{self.inst.line}"
        raiser = self.codegen.constant(raiser_at(self._code, self.inst.positions), name)
        return f"{self.codegen.constant(raised_at, 'raised_at')}({raiser}, error)"

    def _do(
        self,
        statements: Sequence[str],
        go_on: Sequence[str],
        on_error: tuple[str, str] | None,
        raised: str,
        dropped: Sequence[str],
    ) -> None:
        """What is raised leaves the function, or goes to the handler."""
        self.codegen.body += ["try:", *_indented(statements), "except BaseException as error:"]
        if on_error is None:
            self.codegen.body += [f"    raise {raised}", *go_on]
            return
        variable, handler = on_error
        self.codegen.body.append(f"    {variable} = {raised}")
        self.codegen.body += ["else:", *_indented(go_on)] if go_on else []
        self.codegen.body += [*dropped, f"return {handler}"]

    def _dropped(self, ways_on: str) -> list[str]:
        """The statement that lets go of what the rest of the function does not get, and plain Python has dropped by
        now: it may be the last reference to an object whose end can be seen. Such are values that nothing looked into;
        where all of them are passed on, or a variable of the frame holds what was not made, there is nothing to do."""
        guards, reader = self.codegen.output.guards, self.codegen.reader
        harmless = {guard.source for guard in guards if guard.cls is None or not hasattr(guard.cls, "__del__")}
        unknown = [reader.variable_of(source) for source in guards.reads if source not in harmless]
        unknown = [name for name in unknown if name in reader.assigned and not _mentions(ways_on, name)]
        if not unknown:
            return []
        held = []
        for value in self.frame.locals.values():
            name = self._name_of(value)
            if name is None:
                return []
            held.append(name)
        made = [name for name in self.codegen.made_variables if not _mentions(ways_on, name)]
        names = [name for name in (*unknown, *made) if name not in held]
        return [f"del {', '.join(names)}"] if names else []

    def _name_of(self, value: Value) -> str | None:
        """The variable of the generated code that holds a value; empty for a constant, None if it was not made."""
        if isinstance(value, LazyVariable) and not value.is_realized:
            return self.codegen.reader.variable_of(value.source)
        tracker = value.realize()
        if isinstance(tracker, ConstantVariable):
            return ""
        if self.codegen.has_made(tracker):
            return self.codegen.value(tracker)
        return None if tracker.source is None else self.codegen.reader.variable_of(tracker.source)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _indented(lines: Sequence[str]) -> list[str]:
    return [textwrap.indent(line, "    ") for line in lines]
