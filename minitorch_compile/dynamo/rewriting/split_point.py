"""Where a frame is split that can't be followed to its end: PyTorch's speculation log.

Each attempt at a frame notes the step at which it met something new, and starts again; the next one stops there. An
exception that was raised while tracing has no traceback that could be made again, so the split comes before it. Where
no generated code can do the breaking instruction, the whole frame runs as it is.

>>> from minitorch_compile.dynamo.explaining.explain import explain
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     print(x.sum().item())
...     return x + 1
>>> explain(f)(ones(2)).graph_count
2.0
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from minitorch_compile.dynamo.breaks.break_reasons import REASONS
from minitorch_compile.dynamo.errors import GraphBreak, SourceLine, StartAgain, Unsupported
from minitorch_compile.dynamo.fakes.freed_history import LiveHistory
from minitorch_compile.dynamo.rewriting.break_writer import raised_while_tracing, why_not_here

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter

NOT_SPLIT = REASONS["function-not-split"]

Breaks = dict[int, Unsupported]  # step of the trace -> what it met there
RaisedAt = dict[int, tuple[int, int, SourceLine]]  # id of an exception -> step, instruction and line


class RunFrameAsItIs(Exception):
    """The frame can't be split where it breaks."""

    def __init__(self, reason: Unsupported, why: str) -> None:
        self.reason = reason
        self.why = why

    @property
    def shown(self) -> GraphBreak:
        text = f"This function runs as plain Python, because {self.why} [{NOT_SPLIT.id}]; what it calls is compiled."
        return GraphBreak.of(self.reason, text)

    @property
    def compiles_callees(self) -> bool:
        """Not where calls are nested too deeply: they would only end in the same way."""
        return self.reason.reason.name != "recursion-limit"


def split_here(frame: SymbolicInterpreter, breaks: Breaks, raised_at: RaisedAt, error: Unsupported) -> NoReturn:
    """The instruction can't be followed: the next attempt stops before it."""
    step, index = frame.output.step, frame.current
    raised = raised_while_tracing(frame, index)
    if raised and not error.keeps_frame_whole and id(raised[0]) in raised_at:
        step, index, line = raised_at[id(raised[0])]
        detail = f"{raised[0].realize().describe()} is raised for real, since the graph breaks where it is handled: "
        error = Unsupported("raised-exception", detail + error.detail, error.hint)
        error.stack = (line,)
    _split_at(frame, breaks, (step, index), error, error.keeps_frame_whole)


def split_at_backward(frame: SymbolicInterpreter, breaks: Breaks, error: LiveHistory) -> NoReturn:
    """What goes out of the graph shows only at its end that backward() can't be a part of it."""
    call = frame.output.backward_call
    assert call is not None
    _split_at(frame, breaks, (call.step, call.instruction), error)


def _split_at(
    frame: SymbolicInterpreter, breaks: Breaks, place: tuple[int, int], error: Unsupported, why: str = ""
) -> NoReturn:
    step, index = place
    why = why or why_not_here(frame, index)
    if why:
        raise RunFrameAsItIs(error, why) from error
    breaks[step] = error
    raise StartAgain from error


def too_deep(frame: SymbolicInterpreter) -> Unsupported:
    """The break where the tracer itself has no stack left."""
    reason = Unsupported("recursion-limit", "the tracer's own stack overflows: calls or data are nested too deeply.")
    reason.stack = (frame.source_line(),)
    return reason


def let_go_of_frames(error: BaseException, handled_outside: BaseException | None) -> None:
    """The frames of the tracer, which the tracebacks of an error and of what led to it show, hold the program's
    objects; and the error, which is kept, is held by some of them. An exception that the program is handling may have
    led to it, too: that one stays as it is."""
    following: BaseException | None = error
    while following is not None and following is not handled_outside:
        following.__traceback__ = None
        following = following.__context__
