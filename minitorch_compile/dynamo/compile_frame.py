"""Compiling one frame: trace it, hand the graph to the backend, write the function that runs instead.

Tracing may meet something that it can't follow. Then it starts again from the beginning, knowing now where to stop
(PyTorch's speculation log), and the generated function does the breaking instruction for real and calls a resume
function for the rest. Where a frame can't be split, the plain function runs instead, under the same guards.
"""

from __future__ import annotations

import keyword
import re
import sys
import time
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile import logs, own_builtins
from minitorch_compile.dynamo.break_reasons import REASONS
from minitorch_compile.dynamo.bytecode.control_flow import is_written_after
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.slots import slots
from minitorch_compile.dynamo.capture.aliasing import guard_aliasing
from minitorch_compile.dynamo.capture.finished_graph import SizeInput, call_count, finish_graph
from minitorch_compile.dynamo.capture.grad_switches import restoring_grad_mode, switch_grad_mode
from minitorch_compile.dynamo.capture.output_graph import OutputGraph
from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter
from minitorch_compile.dynamo.errors import (
    BackendCompilerFailed,
    GraphBreak,
    InternalTracerError,
    RunPlainly,
    SourceLine,
    Unsupported,
)
from minitorch_compile.dynamo.fakes.freed_history import LiveHistory, check_written
from minitorch_compile.dynamo.fakes.symbolic_sizes import SizePolicy
from minitorch_compile.dynamo.guards.class_guards import noting
from minitorch_compile.dynamo.guards.guard_code import write_checks
from minitorch_compile.dynamo.guards.guards import MISS, READ_ERRORS
from minitorch_compile.dynamo.guards.source import CellSource, LocalSource
from minitorch_compile.dynamo.resuming.resume import ResumeCode, resume_code_of, shown_name
from minitorch_compile.dynamo.resuming.resume_prefix import CannotResume, shared_variable
from minitorch_compile.dynamo.rewriting.break_writer import BreakWriter, raised_while_tracing, why_not_here
from minitorch_compile.dynamo.rewriting.breaking import EMITTERS
from minitorch_compile.dynamo.rewriting.codegen import Codegen
from minitorch_compile.dynamo.rewriting.dropped_gradients import drops
from minitorch_compile.dynamo.rewriting.expectation_checks import checks
from minitorch_compile.dynamo.rewriting.frame_code import USED_NAMES, function_text, graph_comments, parameter_names
from minitorch_compile.dynamo.rewriting.graph_failure import check_unneeded, guarded_call
from minitorch_compile.dynamo.rewriting.inference_results import marking_inference
from minitorch_compile.dynamo.variables.base import ObservedException
from minitorch_compile.frame_marks import unhooked
from minitorch_compile.fx import GraphModule
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.source_place import source_place
from minitorch_compile.symbolic import ConstraintViolationError
from minitorch_compile.tensor import fake_like, grad_mode
from minitorch_compile.tensor.dispatch.transform_stack import leaving_transforms

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.region import Region


class _StartAgain(Exception):
    """The trace met something it can't follow; the log says where to stop next time."""


class _SizesMustBeKnown(Exception):
    """The backend could not compile the graph with unknown sizes."""


class _RunFrameAsItIs(Exception):
    """The frame can't be split where it breaks."""

    def __init__(self, reason: Unsupported, why: str) -> None:
        self.reason = reason
        self.why = why


NOT_SPLIT = REASONS["function-not-split"]
DYNAMIC = logs.artifact("dynamic")
EXPECTED = (Unsupported, RunPlainly, BackendCompilerFailed, InternalTracerError, ConstraintViolationError)


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
    breaks: dict[int, Unsupported] = {}  # step of the trace -> what it met there
    policy = SizePolicy(region.dynamic, region.cache_of(function, owner).sizes)
    while True:
        mode_before = grad_mode.state.enabled
        frame = FrameCompiler(function, arguments, region, breaks, owner, policy, builtins)
        try:
            with leaving_transforms(), noting(frame.output.lookups):
                entry = frame.compile()
        except _StartAgain as again:
            _let_go_of_frames(again, frame.handled_outside)
            continue
        except _SizesMustBeKnown:
            policy = policy.with_known_sizes()
            continue
        except EXPECTED:
            raise
        except Exception as error:
            raise InternalTracerError.of(error, frame.frame.source_line()) from error
        finally:
            grad_mode.state.enabled = mode_before
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
        breaks: dict[int, Unsupported],
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
        self.raised_at: dict[int, tuple[int, int, SourceLine]] = {}  # exception -> step, instruction and line
        self.parameters = parameter_names(self.code)
        self.name = _identifier(shown_name(self.code).rpartition(".")[2])
        cells = (f"cell_{shared_variable(name)}" for name in self.code.co_freevars)
        self.output = OutputGraph(
            function.__globals__,
            (*self.parameters.values(), *cells, self.name, f"make_{self.name}"),
            policy,
            builtins,
        )
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
        """The entry; `_StartAgain` after meeting a new break, `RunPlainly` if the program raises."""
        self.output.frames.append(self.frame)
        try:
            broken_at = self._trace()
            return self._entry_for_break(broken_at) if broken_at is not None else self._entry_for_return()
        except ObservedException as error:
            raise RunPlainly(error.value.describe()) from error
        except _RunFrameAsItIs as skipped:
            _let_go_of_frames(skipped, self.handled_outside)
            return self._entry_for_plain(skipped)
        finally:
            self.output.frames.clear()

    def _trace(self) -> Unsupported | None:
        """Steps to the end of the frame, or to the known break."""
        step = 0
        while self.frame.outcome is None:
            self.output.step = step
            known = self.breaks.get(step)
            if known is not None:
                return known
            try:
                self.frame.step()
                if self.frame.unwound is not None:
                    here = step, self.frame.current, self.frame.source_line()
                    self.raised_at.setdefault(id(self.frame.unwound), here)
            except Unsupported as error:
                self._note_break(step, error)
            except RecursionError as error:
                deep = Unsupported(
                    "recursion-limit", "the tracer's own stack overflows: calls or data are nested too deeply."
                )
                deep.stack = (self.frame.source_line(),)
                if self.region.fullgraph:
                    raise deep from error
                raise _RunFrameAsItIs(deep, "where it ends can't be told") from error
            step += 1
        return None

    def _note_break(self, step: int, error: Unsupported) -> None:
        if self.region.fullgraph:
            raise error
        index = self.frame.current
        raised = raised_while_tracing(self.frame, index)
        if raised and not error.keeps_frame_whole and id(raised[0]) in self.raised_at:
            step, index, line = self.raised_at[id(raised[0])]
            detail = (
                f"{raised[0].realize().describe()} is raised for real, since the graph breaks where it is handled: "
            )
            error = Unsupported("raised-exception", detail + error.detail, error.hint)
            error.stack = (line,)
        why = error.keeps_frame_whole or why_not_here(self.frame, index)
        if why:
            raise _RunFrameAsItIs(error, why) from error
        self.breaks[step] = error
        raise _StartAgain from error

    def _break_at_backward(self, error: LiveHistory) -> NoReturn:
        """What goes out of the graph shows only at its end that backward() can't be a part of it."""
        call = self.output.backward_call
        assert call is not None
        if self.region.fullgraph:
            raise error
        why = why_not_here(self.frame, call.instruction)
        if why:
            raise _RunFrameAsItIs(error, why) from error
        self.breaks[call.step] = error
        raise _StartAgain from error

    # --- the three ways a frame ends ----------------------------------------------------------------------------------

    def _entry_for_return(self) -> Entry:
        assert self.frame.outcome is not None
        value = self.frame.outcome.value
        return self._finish(lambda codegen: codegen.return_value(value, self.output.side_effects), None)

    def _entry_for_break(self, reason: Unsupported) -> Entry:
        opname = self.program.instructions[self.frame.index].opname
        graphs = "a second graph" if opname in EMITTERS else "one of two graphs"
        shown = GraphBreak.of(reason, f"The function continues in {graphs}, split here.")
        goes_on = opname == "FOR_ITER" and resume_code_of(self.code) is not None  # the break before was shown
        return self._finish(lambda codegen: self._write_break(codegen, reason), None if goes_on else shown)

    def _write_break(self, codegen: Codegen, reason: Unsupported) -> None:
        try:
            BreakWriter(self.frame, self.name, self._compiled_rest, codegen, reason).write()
            self._check_owners(codegen)
        except CannotResume as error:
            raise _RunFrameAsItIs(reason, str(error)) from error

    def _compiled_rest(self, resume: ResumeCode) -> Callable[..., Any]:
        """What the generated function calls to go on."""
        return self.region.resume_function(resume, self.function.__globals__, self.owner)

    def _entry_for_plain(self, skipped: _RunFrameAsItIs) -> Entry:
        shown = GraphBreak.of(
            skipped.reason,
            f"This function runs as plain Python, because {skipped.why} [{NOT_SPLIT.id}]; what it calls is compiled.",
        )
        codegen = Codegen(self.output)
        self._guard_classes()
        write_checks(self.output.guards, codegen.reader)
        self._guard_sizes(codegen)
        read = codegen.reader.assigned  # an object that only these hold must not live on
        body = [*([f"del {', '.join(read)}"] if read else []), f"return plain({', '.join(self.parameters.values())})"]
        is_plain = skipped.reason.reason.name != "recursion-limit"  # its callees would only end in the same way
        return self._entry(codegen, body, None, shown, is_plain)

    # --- putting the pieces together ----------------------------------------------------------------------------------

    def _finish(self, write: Callable[[Codegen], None], shown: GraphBreak | None) -> Entry:
        try:
            guard_aliasing(self.output)
            codegen = self._written(write)
            self._check_generators(codegen)
            check_unneeded(self.output, [variable.node for variable in codegen.graph_outputs.values()])
            check_written(self.output)
            prepared, expected = checks(self.output, codegen, ", ".join(self.parameters.values()))
        except LiveHistory as error:
            self._break_at_backward(error)
        except Unsupported as error:
            if not error.stack:
                error.stack = (self.frame.source_line(),)
            if self.region.fullgraph:
                raise
            raise _RunFrameAsItIs(error, "what it leaves behind can't be made by generated code") from error
        if grad_mode.state.enabled != self.output.grad_mode_before:
            switch = codegen.constant(switch_grad_mode, "switch_grad_mode")
            codegen.body.insert(0, f"{switch}({grad_mode.state.enabled})")
        codegen.body[:0] = expected
        call, module = self._graph_call(codegen)
        lines = [*prepared, *call, *codegen.body]
        first = drops(self.output, codegen, lines) if call else []
        self._guard_sizes(codegen)
        return self._entry(codegen, [*first, *lines], module, shown)

    def _check_generators(self, codegen: Codegen) -> None:
        """A generator that is left half-way in a try or with block ends at a moment that the trace can't tell; one that
        lives on, when the program drops it."""
        for generator in self.output.generators:
            if generator.waits_in_a_block and not codegen.has_made(generator):
                raise Unsupported("generator-frame", f"{generator.describe()} is left before the end of its block.")

    def _check_owners(self, codegen: Codegen) -> None:
        """The parts of a split frame all hold what is passed on, so a generator in a block may end later than it does
        plainly. Not if a `with` ends it, whose context manager it is, or a variable has it as long as the frame, or
        another such generator delegates to it."""
        last = [*self.output.side_effects.attribute_values("gen"), *self._lasting()]
        for generator in self.output.generators:
            if generator in last:
                last += generator.frame.stack
            elif generator.waits_in_a_block and codegen.has_made(generator):
                raise CannotResume(f"{generator.describe()} waits in a block, which ends with its last reference.")

    def _lasting(self) -> list[Any]:
        """What variables of the frame hold from the break to its end."""
        index, slots = self.frame.index, self.frame.locals
        return [value for name, value in slots.items() if not is_written_after(self.program, index, name)]

    def _written(self, write: Callable[[Codegen], None]) -> Codegen:
        """The body. If writing it looked into more values, there are new guards, which must come before the reads."""
        while True:
            codegen = Codegen(self.output)
            self._guard_classes()
            count = len(self.output.guards)
            write_checks(self.output.guards, codegen.reader)
            write(codegen)
            self._guard_classes()
            if len(self.output.guards) == count:
                return codegen

    def _guard_classes(self) -> None:
        """What the classes had, and lacked, that were asked."""
        output = self.output
        output.guards.add(*output.lookups.guards(output.names, output.guards, output.made_classes))

    def _guard_sizes(self, codegen: Codegen) -> None:
        """What was assumed about sizes, by the trace and by the backend: checked after all other guards."""
        self.output.guards.add(*self.output.sizes.guards())
        for text in self.output.sizes.checks(codegen.read):
            codegen.reader.check_text(text)
        codegen.reader.flush()

    def _graph_call(self, codegen: Codegen) -> tuple[list[str], GraphModule | None]:
        """The call of the compiled graph, with the user's lines that it does."""
        inputs = finish_graph(self.output, list(codegen.graph_outputs.values()))
        if not call_count(self.output.graph):
            return [], None
        module = GraphModule({}, self.output.graph, class_name=f"Graph_of_{self.name}")
        lines = [node.meta["stack"] for node in self.output.graph.nodes if "stack" in node.meta]
        mode_now, grad_mode.state.enabled = grad_mode.state.enabled, self.output.grad_mode_before
        try:
            compiled = self._compile_graph(module, self._example_inputs(inputs))
        finally:
            grad_mode.state.enabled = mode_now
        graph = codegen.constant(compiled, "graph")
        sources = [variable.source for variable in inputs if variable.source is not None]
        call = f"{graph}({', '.join(codegen.reader.arguments(sources))})"
        outputs = [*codegen.graph_outputs, *(["*unneeded"] if self.output.unneeded else [])]
        if outputs:
            call = f"({', '.join(outputs)}{',' * (len(outputs) == 1)}) = {call}"
        guarded = guarded_call(self.output, codegen, call, list(self.parameters.values()))
        return [*graph_comments(lines), *guarded], module

    @staticmethod
    def _example_inputs(inputs: list[Any]) -> list[Any]:
        """Fakes as the graph finds them: the ones used in tracing may have been changed by it."""
        storages: dict[int, Any] = {}
        examples = []
        for variable in inputs:
            if isinstance(variable, SizeInput):
                examples.append(variable.node.meta["val"])
                continue
            example = fake_like(variable.real)
            if variable.layout is not None:
                variable.layout.apply_to(example)
            example.storage = storages.setdefault(id(variable.real.storage.memory), example.storage)
            examples.append(example)
        return examples

    def _compile_graph(self, module: GraphModule, examples: list[Any]) -> Callable[..., Any]:
        self.region.graph_captured(module)
        try:
            compiled = self.region.backend(module, examples)
        except Exception as error:
            backend = self.region.backend
            name = getattr(backend, "__name__", type(backend).__name__)
            if self.output.sizes.sources:
                DYNAMIC(f"backend {name!r} can't compile for unknown sizes ({error}): compiled for those at hand")
                self.region.graph_modules.remove(module)
                raise _SizesMustBeKnown from error
            raise BackendCompilerFailed(f"backend {name!r} raised {type(error).__name__}: {error}") from error
        if not callable(compiled):
            raise BackendCompilerFailed(f"the backend must return a callable, but returned {type(compiled).__name__}.")
        switches = bool(self.output.graph.find_nodes(op="call_function", target=switch_grad_mode))
        compiled = restoring_grad_mode(compiled) if switches else compiled
        compiled = leaving_transforms()(compiled) if self.output.has_steps else compiled
        return unhooked(marking_inference(compiled) if grad_mode.state.inference else compiled)

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
        names["__name__"] = self.function.__globals__.get(
            "__name__"
        )  # what a class or warning made here is attributed to
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


def _let_go_of_frames(error: BaseException, handled_outside: BaseException | None) -> None:
    """The frames of the tracer, which the tracebacks of an error and of what led to it show, hold the program's
    objects; and the error, which is kept, is held by some of them. An exception that the program is handling may have
    led to it, too: that one stays as it is."""
    following: BaseException | None = error
    while following is not None and following is not handled_outside:
        following.__traceback__ = None
        following = following.__context__


def _identifier(name: str) -> str:
    """<lambda> -> lambda_"""
    clean = re.sub(r"\W", "_", name).strip("_") or "frame"
    return f"{clean}_" if keyword.iskeyword(clean) or clean in USED_NAMES else clean


slots.compile_frame = compile_frame
