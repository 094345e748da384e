"""The backend's turn: it gets the graph and example inputs, and gives what the generated function calls as `graph`.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.tensor import ones
>>> def refusing(module, examples):
...     raise NotImplementedError("no sums here")
>>> optimize(lambda x: x.sum(), refusing)(ones(2))
Traceback (most recent call last):
    ...
minitorch_compile.dynamo.errors.BackendCompilerFailed: backend 'refusing' raised NotImplementedError: no sums here
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile import logs
from minitorch_compile.amp.autocast_state import become, setting, setting_kept
from minitorch_compile.dynamo.capture.finished_graph import example_inputs
from minitorch_compile.dynamo.capture.grad_switches import restoring_grad_mode, switch_grad_mode
from minitorch_compile.dynamo.errors import BackendCompilerFailed, Unsupported
from minitorch_compile.dynamo.rewriting.inference_results import marking_inference
from minitorch_compile.dynamo.rewriting.split_point import RunFrameAsItIs
from minitorch_compile.frame_marks import unhooked
from minitorch_compile.fx import GraphModule
from minitorch_compile.symbolic import SymFloat
from minitorch_compile.tensor import grad_mode
from minitorch_compile.tensor.dispatch import overrides
from minitorch_compile.tensor.dispatch.overrides import not_overridden
from minitorch_compile.tensor.dispatch.transform_stack import leaving_transforms

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.finished_graph import SizeInput
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.rewriting.codegen import Codegen
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

DYNAMIC = logs.artifact("dynamic")


class SizesMustBeKnown(Exception):
    """The backend could not compile the graph with unknown sizes or floats."""

    def __init__(self, module: GraphModule) -> None:
        self.module = module


def call_backend(
    backend: Callable[..., Any], output: OutputGraph, module: GraphModule, inputs: list[TensorVariable | SizeInput]
) -> Callable[..., Any]:
    """The compiled graph. It is compiled in the modes in which it will be called, those before the frame."""
    mode_now, casts_now = grad_mode.state.enabled, None if output.autocast is None else setting()
    modes_as_before(output)
    try:
        return _compiled(backend, output, module, example_inputs(inputs))
    finally:
        grad_mode.state.enabled = mode_now
        if casts_now is not None:
            become(casts_now)


def modes_as_before(output: OutputGraph) -> None:
    """Grad mode and autocast as they were before the frame was traced."""
    grad_mode.state.enabled = output.grad_mode_before
    if output.autocast is not None:
        become(output.autocast.outside)


def modes_switched(output: OutputGraph, codegen: Codegen) -> list[str]:
    """Statements behind the graph: the frame leaves a mode switched."""
    statements = []
    if grad_mode.state.enabled != output.grad_mode_before:
        switch = codegen.constant(switch_grad_mode, "switch_grad_mode")
        statements.append(f"{switch}({grad_mode.state.enabled})")
    for region, arguments, _ in output.autocast.open if output.autocast is not None else ():
        statements.append(f"{codegen.constant(region, region.__name__)}(*{codegen.constant(arguments, 'autocast')})")
    if output.overrides is not None:
        if output.overrides.modes:
            reason = Unsupported("unsupported-call", "a mode with __torch_function__ is left entered.")
            reason.stack = (output.frames[0].source_line(),)
            raise RunFrameAsItIs(reason, "a mode that was entered while tracing can't be handed over")
        statements += output.overrides.left_switched(codegen.constant(overrides.state, "overrides_state"))
    return statements


def _compiled(
    backend: Callable[..., Any], output: OutputGraph, module: GraphModule, examples: list[Any]
) -> Callable[..., Any]:
    try:
        compiled = backend(module, examples)
    except Exception as error:
        name = getattr(backend, "__name__", type(backend).__name__)
        if output.sizes.sources or any(isinstance(x, SymFloat) for x in examples):
            DYNAMIC(f"backend {name!r} can't compile for unknown sizes or floats ({error}): compiled for those at hand")
            raise SizesMustBeKnown(module) from error
        raise BackendCompilerFailed(f"backend {name!r} raised {type(error).__name__}: {error}") from error
    if not callable(compiled):
        raise BackendCompilerFailed(f"the backend must return a callable, but returned {type(compiled).__name__}.")
    return compiled


def in_its_modes(compiled: Callable[..., Any], output: OutputGraph) -> Callable[..., Any]:
    """The same, where the graph switches a mode, holds steps of transforms, or runs in inference mode."""
    if output.autocast is not None:
        compiled = setting_kept()(compiled)
    if output.overrides is not None:
        compiled = not_overridden(compiled)
    if output.graph.find_nodes(op="call_function", target=switch_grad_mode):
        compiled = restoring_grad_mode(compiled)
    if output.has_steps:
        compiled = leaving_transforms()(compiled)
    return unhooked(marking_inference(compiled) if grad_mode.state.inference else compiled)
