"""The symbolic interpreter: the bytecode interpreter over trackers instead of values.

It runs the traced function, and every Python function that it calls, without data. What it computes with tensors lands
in the graph, what it read becomes guards, what it changed is noted as side effects. What it can't follow raises
`Unsupported`.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x, layers):
...     for layer in layers:
...         x = layer(x) if callable(layer) else x * layer
...     return x
>>> print(captured(f, ones(2), [lambda t: t + 1, 3]))
x -> ((x + 1) * 3,)
"""

from __future__ import annotations

import inspect
import linecache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile import logs
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.decode_rules import UnsupportedBytecode
from minitorch_compile.dynamo.bytecode.instructions import NULL, Program
from minitorch_compile.dynamo.capture.expectations import Expectation, expected_outcome
from minitorch_compile.dynamo.capture.import_hooks import ImportHooks
from minitorch_compile.dynamo.capture.suspending_hooks import SuspendingHooks
from minitorch_compile.dynamo.errors import SourceLine, Unsupported, UserError
from minitorch_compile.dynamo.guards import content_guards
from minitorch_compile.dynamo.guards.library_members import same_global
from minitorch_compile.dynamo.guards.source import ConstantSource, ItemSource
from minitorch_compile.dynamo.resuming.resume import resume_code_of
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.functions.functions import FunctionVariable, NestedFunctionVariable
from minitorch_compile.dynamo.variables.functions.skipped_modules import is_library_code, reason_to_skip
from minitorch_compile.dynamo.variables.objects.class_lookup import is_fixed
from minitorch_compile.dynamo.variables.scope import CellVariable, GlobalsVariable
from minitorch_compile.dynamo.variables.side_effects import DELETED
from minitorch_compile.dynamo.variables.tensors.data_numbers import expect_truth, is_told_by_data
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tracer import Tracer
from minitorch_compile.own_builtins import ORIGINAL, SCOPE
from minitorch_compile.symbolic import GuardOnDataDependentSymNode

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph

TRACE_BYTECODE, TRACE_SOURCE = logs.artifact("trace_bytecode"), logs.artifact("trace_source")
TRACE_CALL = logs.artifact("trace_call")
INLINE_DEPTH_LIMIT = 120  # calls inside calls; each takes about eight frames of the host's stack
ASYNC_FLAGS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class SymbolicInterpreter(SuspendingHooks, ImportHooks):
    """One frame of the traced program. `scope` is the module of its function, `parent` the frame that called it.

    Here are the hooks that need to know the frame; the classes below have the others, from arithmetic
    (`operators.py`) and containers (`domain.py`) to exceptions, generators and imports.
    """

    def __init__(
        self,
        program: Program,
        slots: dict[str, Value],
        output: OutputGraph,
        scope: GlobalsVariable,
        parent: SymbolicInterpreter | None = None,
    ) -> None:
        super().__init__(program, slots)
        self.output = output
        self.scope = scope
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self._logged_line = 0
        self.unwound: Value | None = None  # the exception that the last step raised, if a handler of this frame got it

    def called_by(self, caller: Tracer) -> None:
        """A generator's frame goes on below whoever asks for its next item."""
        assert isinstance(caller, SymbolicInterpreter)
        self.parent, self.depth = caller, caller.depth + 1

    # --- running ------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One instruction; an `Unsupported` that passes learns the line."""
        if TRACE_BYTECODE.is_on or TRACE_SOURCE.is_on:
            self._log_step()
        self.unwound = None
        try:
            super().step()
        except Unsupported as error:
            error.stack = (self.source_line(), *error.stack)
            raise
        except GuardOnDataDependentSymNode as error:
            raise UserError.of(error.question, self.source_line()) from error

    def _log_step(self) -> None:
        inst = self.instructions[self.index]
        TRACE_BYTECODE(f"{'  ' * self.depth}{inst}  {self.stack}")
        if inst.line is not None and inst.line != self._logged_line:
            self._logged_line = inst.line
            text = linecache.getline(self.program.code.co_filename, inst.line, self.scope.real).rstrip()
            TRACE_SOURCE(f"{self.program.code.co_filename.rpartition('/')[2]}:{inst.line}  {text}")

    def unwind(self, exception: Value) -> bool:
        self.unwound = exception
        return super().unwind(exception)

    def run(self) -> Value:
        self.output.frames.append(self)
        try:
            return super().run()
        except UnsupportedBytecode as error:
            raise Unsupported("unsupported-syntax", str(error)) from error
        finally:
            self.output.frames.pop()

    def unsupported(self, hook: str) -> NoReturn:
        raise Unsupported("unsupported-syntax", f"the instruction {self.instruction.opname} is not followed.")

    def inline(self, function: FunctionVariable, slots: dict[str, Any]) -> Value:
        """Traces a call of a Python function in place."""
        code = function.code
        self._check_inlinable(function)
        if TRACE_CALL.is_on:
            TRACE_CALL(f"{function.describe()} inlined, called at\n{self.source_line().marked()}")
        try:
            program = decode(code)
        except UnsupportedBytecode as error:
            raise Unsupported("unsupported-syntax", str(error)) from error
        return SymbolicInterpreter(program, slots, self.output, function.scope(self), self).run()

    def _check_inlinable(self, function: FunctionVariable) -> None:
        if function.code.co_flags & ASYNC_FLAGS:
            raise Unsupported("generator-frame", f"{function.describe()} is a coroutine.")
        if self.depth >= INLINE_DEPTH_LIMIT:
            raise Unsupported("recursion-limit", f"calls nested {INLINE_DEPTH_LIMIT} deep, at {function.describe()}.")
        reason = reason_to_skip(function.code, function.scope(self).real.get("__name__"))
        if reason is not None:
            raise reason

    # --- where we are -------------------------------------------------------------------------------------------------

    def source_line(self) -> SourceLine:
        """The line of this frame that is being executed."""
        code = self.program.code
        positions = self.instruction.positions
        number = (positions.lineno if positions else None) or code.co_firstlineno
        text = linecache.getline(code.co_filename, number, self.scope.real)
        one_line = positions is not None and positions.lineno == positions.end_lineno
        start, end = (positions.col_offset, positions.end_col_offset) if one_line and positions else (None, None)
        return SourceLine(code.co_filename, number, self.user_function_name(), text.rstrip("\n"), start, end)

    def user_function_name(self) -> str:
        """The name in the user's program, also inside a resume function."""
        resumed = resume_code_of(self.program.code)
        return (resumed.origin.code if resumed else self.program.code).co_name

    def user_line(self) -> tuple[str, int, str]:
        """The innermost line that is the user's and not of this package: what `node.meta["stack"]` keeps."""
        frame: SymbolicInterpreter | None = self
        while frame is not None and frame.parent is not None and frame.is_library:
            frame = frame.parent
        assert frame is not None
        line = frame.source_line()
        return line.filename, line.lineno, line.text.strip()

    @property
    def is_library(self) -> bool:
        return is_library_code(self.program.code)

    def at_users_line(self, error: Unsupported) -> Unsupported:
        """A break at what warns: the call is made from the line of the user's that led there."""
        error.names_line = True
        error.asks_callers = len(list(takewhile(lambda frame: frame.is_library, reversed(self.output.frames))))
        return error

    # --- constants and names ------------------------------------------------------------------------------------------

    def load_const(self, value: object) -> Value:
        return self.output.from_python(value)

    def load_global(self, name: str) -> Value:
        scope = self.scope
        if name in scope.stored:
            stored = scope.stored[name]
            if stored is not DELETED:
                return stored
        elif name in scope.real:
            if self.is_library and is_fixed(scope.real[name]):
                self.output.guards.add(*same_global(self.output.names, scope.real, name))
                return self.output.wrap_constant(scope.real[name], name)
            assert scope.source is not None
            source = ItemSource(scope.source, name)
            self.output.guards.must_read(source)
            return self.output.wrap(scope.real[name], source)
        return self._load_builtin(name)

    def _load_builtin(self, name: str) -> Value:
        if self.is_library and name in ORIGINAL:
            return self.output.wrap_constant(ORIGINAL[name], name)
        if name not in self.scope.stored:
            assert self.scope.source is not None
            self.output.guards.add(content_guards.dict_contains(self.scope.source, repr(name), False))
        namespace = ConstantSource(self.output.names.install(SCOPE, "builtins_dict"))
        if name not in self.output.builtins:
            self.output.guards.add(content_guards.dict_contains(namespace, repr(name), False))
            self.raise_error(NameError, f"name '{name}' is not defined")
        return self.output.wrap(self.output.builtins[name], ItemSource(namespace, name))

    def load_build_class(self) -> Value:
        return self._load_builtin("__build_class__")

    def store_global(self, name: str, value: Value) -> None:
        self.side_effects.store_global(self.scope, name, value)

    def delete_global(self, name: str) -> None:
        if self.scope.stored.get(name, self.scope.real.get(name, DELETED)) is DELETED:
            self.raise_error(NameError, f"name '{name}' is not defined")
        self.side_effects.store_global(self.scope, name, DELETED)

    def unbound(self, name: str) -> NoReturn:
        if name in self.program.code.co_freevars:
            where = "where it is not associated with a value in enclosing scope"
            self.raise_error(NameError, f"cannot access free variable '{name}' {where}")
        self.raise_error(
            UnboundLocalError, f"cannot access local variable '{name}' where it is not associated with a value"
        )

    def make_cell(self, content: Any) -> CellVariable:
        return CellVariable(content)

    def load_cell(self, cell: CellVariable) -> Any:
        return cell.load(self)

    def store_cell(self, cell: CellVariable, content: Any) -> None:
        cell.store(self, content)

    def truth(self, value: Value) -> bool:
        """Of a tensor only where one way does nothing but raise."""
        tracked = value.realize()
        if isinstance(tracked, TensorVariable) and tracked.fake.numel() == 1:  # type: ignore[attr-defined]
            outcome = expected_outcome(self.program, self.current)
            if outcome is not None:
                self.output.expectations.append(Expectation(tracked, outcome))
                return outcome
        elif is_told_by_data(tracked):
            outcome = expected_outcome(self.program, self.current)
            if outcome is not None and expect_truth(self, tracked, outcome):
                return outcome
        return tracked.truth(self)

    # --- functions and exceptions -------------------------------------------------------------------------------------

    def make_function(self, code: Value, attributes: dict[str, Value]) -> Value:
        return NestedFunctionVariable(self.constant(code), attributes, self.scope)

    def handled_here_or_above(self) -> Any:
        """The exception that the innermost `except` on the call stack is handling, NULL if none."""
        frame: SymbolicInterpreter | None = self
        while frame is not None and frame.handled is NULL:
            frame = frame.parent
        return NULL if frame is None else frame.handled
