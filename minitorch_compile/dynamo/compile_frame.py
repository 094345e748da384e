"""Compiling one frame: trace it, hand the graph to the backend, write the function that runs instead.

Tracing may meet something that it can't follow. Then it starts again from the beginning, knowing now where to stop
(PyTorch's speculation log, `rewriting/split_point.py`), and the generated function does the breaking instruction for
real and calls a resume function for the rest. Where a frame can't be split, the plain function runs instead, under the
same guards.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile import own_builtins
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.slots import slots
from minitorch_compile.dynamo.capture.aliasing import guard_aliasing
from minitorch_compile.dynamo.capture.finished_graph import call_count, finish_graph
from minitorch_compile.dynamo.capture.output_graph import OutputGraph
from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter
from minitorch_compile.dynamo.errors import (
    EXPECTED,
    ForbiddenCall,
    GraphBreak,
    InternalTracerError,
    RunPlainly,
    StartAgain,
    Unsupported,
)
from minitorch_compile.dynamo.fakes.freed_history import LiveHistory, check_written
from minitorch_compile.dynamo.fakes.symbolic_sizes import SizePolicy
from minitorch_compile.dynamo.guards.class_guards import noting
from minitorch_compile.dynamo.guards.guards import MISS, READ_ERRORS
from minitorch_compile.dynamo.guards.source import CellSource, LocalSource
from minitorch_compile.dynamo.resuming.resume import ResumeCode, shown_name
from minitorch_compile.dynamo.resuming.resume_prefix import CannotResume, shared_variable
from minitorch_compile.dynamo.rewriting.backend_call import (
    SizesMustBeKnown,
    call_backend,
    in_its_modes,
    modes_as_before,
    modes_switched,
)
from minitorch_compile.dynamo.rewriting.break_writer import BreakWriter, shown_break
from minitorch_compile.dynamo.rewriting.codegen import Codegen
from minitorch_compile.dynamo.rewriting.dropped_gradients import drops
from minitorch_compile.dynamo.rewriting.expectation_checks import checks
from minitorch_compile.dynamo.rewriting.frame_code import function_text, graph_comments, identifier, parameter_names
from minitorch_compile.dynamo.rewriting.graph_failure import check_unneeded, guarded_call
from minitorch_compile.dynamo.rewriting.guarded_body import guard_sizes, write_body
from minitorch_compile.dynamo.rewriting.split_point import (
    Breaks,
    RaisedAt,
    RunFrameAsItIs,
    let_go_of_frames,
    split_at_backward,
    split_here,
    too_deep,
)
from minitorch_compile.dynamo.rewriting.waiting_generators import check_left, check_owners
from minitorch_compile.dynamo.variables.base import ObservedException
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.source_place import source_place
from minitorch_compile.tensor.dispatch.transform_stack import leaving_transforms

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.region import Region


def compile_frame(
    function: FunctionType,
    arguments: tuple[Any, ...],
    region: Region,
    owner: type | None = None,
    builtins: Mapping[str, Any] = own_builtins.SCOPE,
) -> Entry:
    """Traces a call of `function` with these arguments, in the order of its slots, and gives the compiled version.

    `owner`: whose caches the resume functions share, see `Region.wrap`. `builtins`: those that the program has.
    """
    started = time.perf_counter()
    breaks: Breaks = {}
    policy = SizePolicy(region.dynamic, region.cache_of(function, owner).sizes)
    while True:
        frame = FrameCompiler(function, arguments, region, breaks, owner, policy, builtins)
        try:
            with leaving_transforms(), noting(frame.output.lookups):
                entry = frame.compile()
        except StartAgain as again:
            let_go_of_frames(again, frame.handled_outside)
            continue
        except SizesMustBeKnown as wrong:
            region.graph_modules.remove(wrong.module)
            policy = policy.with_known_sizes()
            continue
        except EXPECTED:
            raise
        except Exception as error:
            raise InternalTracerError.of(error, frame.frame.source_line()) from error
        finally:
            modes_as_before(frame.output)
            frame.forget()
        entry.seconds = time.perf_counter() - started
        return entry


class FrameCompiler:
    """One attempt at a frame."""

    def __init__(
        self,
        function: FunctionType,
        arguments: tuple[Any, ...],
        region: Region,
        breaks: Breaks,
        owner: type | None,
        policy: SizePolicy,
        builtins: Mapping[str, Any],
    ) -> None:
        self.function = function
        self.code = function.__code__
        self.handled_outside = sys.exception()
        self.region = region
        self.breaks = breaks
        self.owner = owner
        self.program = decode(self.code)
        self.raised_at: RaisedAt = {}
        self.parameters = parameter_names(self.code)
        self.name = identifier(shown_name(self.code).rpartition(".")[2])
        cells = (f"cell_{shared_variable(name)}" for name in self.code.co_freevars)
        names = (*self.parameters.values(), *cells, self.name, f"make_{self.name}")
        self.output = OutputGraph(function.__globals__, names, policy, builtins, region.fullgraph)
        self.frame = SymbolicInterpreter(
            self.program, self._slots(arguments), self.output, self.output.scope_of(function.__globals__)
        )

    def _slots(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """Arguments, looked into when needed, and the cells of the closure."""
        slots: dict[str, Any] = {
            name: self.output.wrap(value, LocalSource(text))
            for (name, text), value in zip(self.parameters.items(), arguments)
        }
        for name, cell in zip(self.code.co_freevars, self.function.__closure__ or ()):
            slots[name] = self.output.wrap_cell(cell, CellSource(shared_variable(name)))
        return slots

    def forget(self) -> None:
        """Lets go of the program's objects: they end when the program drops them, not when garbage is collected."""
        self.output.forget()
        self.frame.locals.clear()
        self.frame.stack.clear()
        self.frame.outcome = None

    # --- tracing ------------------------------------------------------------------------------------------------------

    def compile(self) -> Entry:
        """The entry; `StartAgain` after meeting a new break, `RunPlainly` if the program raises."""
        self.output.frames.append(self.frame)
        try:
            broken_at = self._trace()
            return self._entry_for_break(broken_at) if broken_at is not None else self._entry_for_return()
        except ObservedException as error:
            raise RunPlainly(error.value.describe()) from error
        except RunFrameAsItIs as skipped:
            let_go_of_frames(skipped, self.handled_outside)
            return self._entry_for_plain(skipped)
        finally:
            self.output.frames.clear()

    def _trace(self) -> Unsupported | None:
        """Steps to the end of the frame, or to the known break."""
        frame, step = self.frame, 0
        while frame.outcome is None:
            self.output.step = step
            if step in self.breaks:
                return self.breaks[step]
            try:
                frame.step()
                if frame.unwound is not None:
                    self.raised_at.setdefault(id(frame.unwound), (step, frame.current, frame.source_line()))
            except Unsupported as error:
                if self.region.fullgraph:
                    raise
                split_here(frame, self.breaks, self.raised_at, error)
            except ForbiddenCall as error:
                raise error.at(frame.source_line()) from None
            except RecursionError as error:
                deep = too_deep(frame)
                if self.region.fullgraph:
                    raise deep from error
                raise RunFrameAsItIs(deep, "where it ends can't be told") from error
            step += 1
        return None

    # --- the three ways a frame ends ----------------------------------------------------------------------------------

    def _entry_for_return(self) -> Entry:
        assert self.frame.outcome is not None
        value = self.frame.outcome.value
        return self._finish(lambda codegen: codegen.return_value(value, self.output.side_effects), None)

    def _entry_for_break(self, reason: Unsupported) -> Entry:
        return self._finish(lambda codegen: self._write_break(codegen, reason), shown_break(self.frame, reason))

    def _write_break(self, codegen: Codegen, reason: Unsupported) -> None:
        try:
            BreakWriter(self.frame, self.name, self._compiled_rest, codegen, reason).write()
            check_owners(self.frame, codegen)
        except CannotResume as error:
            raise RunFrameAsItIs(reason, str(error)) from error

    def _compiled_rest(self, resume: ResumeCode) -> Callable[..., Any]:
        """What the generated function calls to go on."""
        return self.region.resume_function(resume, self.function.__globals__, self.owner)

    def _entry_for_plain(self, skipped: RunFrameAsItIs) -> Entry:
        codegen = write_body(self.output, lambda codegen: None)
        guard_sizes(codegen)
        read = codegen.reader.assigned  # an object that only these hold must not live on
        body = [*([f"del {', '.join(read)}"] if read else []), f"return plain({', '.join(self.parameters.values())})"]
        return self._entry(codegen, body, None, skipped.shown, skipped.compiles_callees)

    # --- putting the pieces together ----------------------------------------------------------------------------------

    def _finish(self, write: Callable[[Codegen], None], shown: GraphBreak | None) -> Entry:
        output = self.output
        before, behind = list[str](), list[str]()  # the call of the graph
        try:
            if output.written_inputs or output.side_effects.changed:
                guard_aliasing(output)
            codegen = write_body(output, write)
            self._check_outputs(codegen)
            if output.expectations:
                before, behind = checks(output, codegen, ", ".join(self.parameters.values()))
        except LiveHistory as error:
            if self.region.fullgraph:
                raise
            split_at_backward(self.frame, self.breaks, error)
        except Unsupported as error:
            error.stack = error.stack or (self.frame.source_line(),)
            if self.region.fullgraph:
                raise
            raise RunFrameAsItIs(error, "what it leaves behind can't be made by generated code") from error
        behind += modes_switched(output, codegen)
        call, module = self._graph_call(codegen)
        lines = [*before, *call, *behind, *codegen.body]
        if call and output.dropped_gradients:
            lines = [*drops(output, codegen, lines), *lines]
        guard_sizes(codegen)
        return self._entry(codegen, lines, module, shown)

    def _check_outputs(self, codegen: Codegen) -> None:
        """Whether all that the frame leaves behind can be what a graph gives."""
        check_unneeded(self.output, [variable.node for variable in codegen.graph_outputs.values()])
        if self.output.generators:
            check_left(codegen)
        if self.output.backward_call is not None:
            check_written(self.output, self.output.backward_call)

    def _graph_call(self, codegen: Codegen) -> tuple[list[str], GraphModule | None]:
        """The call of the compiled graph, with the user's lines that it does."""
        inputs = finish_graph(self.output, [variable.node for variable in codegen.graph_outputs.values()])
        if not call_count(self.output.graph):
            return [], None
        module = LazyGraphModule.captured(self.output.graph, f"Graph_of_{self.name}")
        lines = [node.meta["stack"] for node in self.output.graph.nodes if "stack" in node.meta]
        self.region.graph_captured(module)
        compiled = call_backend(self.region.backend, self.output, module, inputs)
        graph = codegen.constant(in_its_modes(compiled, self.output), "graph")
        sources = [variable.source for variable in inputs if variable.source is not None]
        call = f"{graph}({', '.join(codegen.reader.arguments(sources))})"
        outputs = [*codegen.graph_outputs, *(["*unneeded"] if self.output.unneeded else [])]
        if outputs:
            call = f"({', '.join(outputs)}{',' * (len(outputs) == 1)}) = {call}"
        guarded = guarded_call(self.output, codegen, call, list(self.parameters.values()))
        return [*graph_comments(lines), *guarded], module

    def _entry(
        self,
        codegen: Codegen,
        body: list[str],
        module: GraphModule | None,
        shown: GraphBreak | None,
        is_plain: bool = False,
    ) -> Entry:
        names = self.output.names.values
        names.update(MISS=MISS, READ_ERRORS=READ_ERRORS, compiled=self.region.compiled)
        # What a class or warning made here is attributed to.
        names["__name__"] = self.function.__globals__.get("__name__")
        place = source_place(self.code.co_filename, self.code.co_firstlineno)
        title = f"What runs instead of `{shown_name(self.code)}` ({place}) when the guards hold."
        source = function_text(
            self.name,
            title,
            list(self.parameters.values()),
            [shared_variable(name) for name in self.code.co_freevars],
            codegen.reader.lines,
            body,
            codegen.reader.functions,
        )
        bind = function_from_source(source, f"make_{self.name}", names)
        return Entry(bind, self.output.guards, source, names, module, shown, repr(self.output.side_effects), is_plain)


slots.compile_frame = compile_frame
