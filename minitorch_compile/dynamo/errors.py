"""What the tracer raises, and how a graph break is told to the person who wrote the line.

>>> line = SourceLine("/home/me/train.py", 31, "loss_fn", '    if loss.item() > 10: print("diverging")', 7, 18)
>>> broken = Unsupported("data-dependent-value", ".item() needs the tensor's data, which does not exist while tracing.")
>>> broken.stack = (line,)
>>> shown = GraphBreak.of(broken, "The function continues in two graphs, split here.")
>>> print(shown.describe(1, 2))                                                           # doctest: +ELLIPSIS
Graph break 1 of 2 in `loss_fn`, train.py:31
    31 |     if loss.item() > 10: print("diverging")
                ^^^^^^^^^^^
  data-dependent value: .item() needs the tensor's data, which does not exist while tracing.
  The function continues in two graphs, split here.  Hint: keep the value in a tensor ... [MTC-B07]
"""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from typing import Any

from minitorch_compile.dynamo.breaks.break_reasons import REASONS, BreakReason
from minitorch_compile.source_place import source_place
from minitorch_compile.symbolic import ConstraintViolationError

PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class SourceLine:
    """A place in the user's program: file, line, function, the text, and the columns of the expression in it."""

    filename: str
    lineno: int
    function: str
    text: str
    start: int | None = None
    end: int | None = None

    @property
    def place(self) -> str:
        return source_place(self.filename, self.lineno)

    def is_users(self) -> bool:
        """Whether the line is not this package's own."""
        return not self.filename.startswith(PACKAGE_FOLDER)

    def marked(self) -> str:
        """The line with its number, and carets below the expression."""
        label = f"{self.lineno:6} | "
        if not self.text:
            return f"{label}(the source is not available)"
        shown = label + self.text.rstrip()
        if self.start is None or self.end is None or self.end <= self.start:
            return shown
        return f"{shown}\n{' ' * (len(label) + self.start)}{'^' * (self.end - self.start)}"


class TorchDynamoException(RuntimeError):
    """The base of what the compiler raises, under PyTorch's name."""


class Unsupported(TorchDynamoException):
    """The tracer can't follow the program here. `reason` is a row of the catalogue, `detail` says what was met.

    `stack` is filled in by the interpreter that meets the error: the line in the traced function first, then the lines
    inside the functions that were inlined.
    """

    asks_callers: int = 0  # how many frames above the innermost one the line looks at
    names_line: bool = False  # whether what it calls tells which line called it
    keeps_frame_whole: str = ""  # why the frame can't be split even where frames usually can

    def __init__(self, reason: str, detail: str, hint: str = "") -> None:
        self.reason: BreakReason = REASONS[reason]
        self.detail = detail
        self.hint = hint or self.reason.hint
        self.stack: tuple[SourceLine, ...] = ()
        super().__init__(reason, detail)

    def __str__(self) -> str:
        if not self.stack:
            return f"{self.reason.title}: {self.detail}  Hint: {self.hint}  [{self.reason.id}]"
        return str(GraphBreak.of(self, "fullgraph=True does not allow a break."))


class UserError(Unsupported):
    """What the program asks of a number depends on data; the author can say what always holds."""

    @classmethod
    def of(cls, question: object, *stack: SourceLine) -> UserError:
        """For what was asked: the text of a comparison, or the number that was needed."""
        error = cls(
            "data-dependent-number",
            "Consider annotating your code using torch._check*(). Could not guard on data-dependent expression"
            f" {question}.",
        )
        error.stack = stack
        return error


class UnexpectedData(RuntimeError):
    """A graph runs on data for which it was not made. The plain function is run instead."""


class InternalTracerError(TorchDynamoException):
    """A mistake in the tracer itself, not in the user's program. The frame runs as plain Python, with a warning; only
    fullgraph=True raises it."""

    @classmethod
    def of(cls, error: Exception, line: SourceLine) -> InternalTracerError:
        """What to tell and to report: the line that was traced, and where in the tracer it went wrong."""
        origin = traceback.extract_tb(error.__traceback__)[-1]
        return cls(
            f"the tracer failed in `{line.function}`, {line.place}: {type(error).__name__}: {error}"
            f" ({source_place(origin.filename, origin.lineno or 0)}, in {origin.name}).\n{line.marked()}\n"
            "This is a mistake of the compiler, not of the program; disable() on the function avoids it."
        )


class RunPlainly(Exception):
    """This call runs as it is: the frame ended with an exception of the program, and plain Python raises the real one;
    or it makes what the next calls can be compiled for."""


class BackendCompilerFailed(TorchDynamoException):
    """The backend raised while compiling a captured graph; the original error is its cause."""

    @property
    def inner_exception(self) -> BaseException | None:
        """What the backend raised."""
        return self.__cause__


class ForbiddenCall(AssertionError):
    """A compiled function calls what would change how it is compiled."""

    @classmethod
    def of(cls, function: object) -> ForbiddenCall:
        """For the function that is called."""
        return cls(f"Attempt to trace forbidden callable {function}; call it outside of compiled functions")

    def at(self, line: SourceLine) -> ForbiddenCall:
        """The same, with the user's line."""
        return ForbiddenCall(f"{self}\n\nfrom user code: `{line.function}`, {line.place}\n{line.marked()}")


class RecompileError(TorchDynamoException):
    """A function would have to be compiled again, which config.error_on_recompile does not allow."""


class TorchRuntimeError(TorchDynamoException):
    """PyTorch's for a call that fails on tensors without data. Here the program runs as it is, and raises what it
    raises."""


class StartAgain(Exception):
    """The frame is to be traced from its beginning: the trace met something that it can't follow, and the log says
    where to stop next time, or something was made that it finds there then."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """PyTorch's sign to itself to trace once more. Nothing raises it here."""


class InvalidBackend(TorchDynamoException, ValueError):
    """There is no backend of that name."""


InternalTorchDynamoError = InternalTracerError  # PyTorch's name
# What tracing may end with that is no mistake of the tracer's.
EXPECTED = (
    Unsupported,
    RunPlainly,
    BackendCompilerFailed,
    ForbiddenCall,
    InternalTracerError,
    ConstraintViolationError,
)


@dataclass(frozen=True)
class GraphBreak:
    """One graph break as it is shown: where, what, why, how the function goes on."""

    reason: str
    hint: str
    code: str
    stack: tuple[SourceLine, ...]
    continuation: str = ""
    title: str = ""

    @classmethod
    def of(cls, error: Unsupported, continuation: str) -> GraphBreak:
        return cls(error.detail, error.hint, error.reason.id, error.stack, continuation, error.reason.title)

    @property
    def users_lines(self) -> tuple[SourceLine, ...]:
        """The stack without the package's own lines: above a module's `forward` stands `Module.__call__`."""
        return tuple(filter(SourceLine.is_users, self.stack)) or self.stack[-1:]

    @property
    def source_line(self) -> SourceLine:
        """The line of the traced function; what was inlined below it is the rest of `users_lines`."""
        return self.users_lines[0]

    @property
    def filename(self) -> str:
        return self.source_line.filename

    @property
    def lineno(self) -> int:
        return self.source_line.lineno

    @property
    def line(self) -> str:
        return self.source_line.text.strip()

    @property
    def key(self) -> tuple[Any, ...]:
        """Breaks with the same key have the same cause: one inside a callee shows again when the callee is compiled
        itself."""
        cause = self.stack[-1]
        return self.code, cause.filename, cause.lineno, cause.start, self.reason

    def describe(self, number: int = 0, count: int = 0) -> str:
        """The five lines of an explanation, numbered if wanted."""
        which = f" {number} of {count}" if count else ""
        lines = [
            f"Graph break{which} in `{self.source_line.function}`, {self.source_line.place}",
            self.source_line.marked(),
        ]
        for inner in self.users_lines[1:]:
            lines += [f"  called from there: `{inner.function}`, {inner.place}", inner.marked()]
        lines.append(f"  {self.title}: {self.reason}")
        lines.append("  " + "  ".join(filter(None, [self.continuation, f"Hint: {self.hint}", f"[{self.code}]"])))
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()
