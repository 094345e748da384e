"""Floor 3: capture graphs from Python functions by interpreting their bytecode."""

# The rule tables fill themselves on import.
from minitorch_compile.control import (
    allow_in_graph,
    assume_constant_result,
    disable,
    graph_break,
    is_compiling,
)
from minitorch_compile.dynamo import compile_frame
from minitorch_compile.dynamo.cache.region import Region, reset
from minitorch_compile.dynamo.capture import traced_backward
from minitorch_compile.dynamo.errors import BackendCompilerFailed, GraphBreak, InternalTracerError, Unsupported
from minitorch_compile.dynamo.eval_frame import cache_sizes, optimize, region_of
from minitorch_compile.dynamo.execution.concrete import interpret
from minitorch_compile.dynamo.explaining.explain import ExplainOutput, explain
from minitorch_compile.dynamo.fakes.dimension_marks import (
    mark_dynamic,
    mark_static,
    mark_unbacked,
    maybe_mark_dynamic,
)
from minitorch_compile.dynamo.frame_evaluation import plain_frames
from minitorch_compile.dynamo.frame_evaluation.check import FrameHookUnavailable
from minitorch_compile.dynamo.frame_evaluation.frame_hook import FrameHook, frame_hook
from minitorch_compile.dynamo.variables.builtins import (
    builtin_functions,
    builtin_iteration,
    builtin_itertools,
    builtin_numbers,
    copies,
    environment,
    identities,
    legacy_types,
    library_functions,
    library_predicates,
    library_settings,
    signatures,
)
from minitorch_compile.dynamo.variables.functions import control_flow
from minitorch_compile.dynamo.variables.objects import made_before, made_classes
from minitorch_compile.dynamo.variables.tensors import number_inputs, tensor_hooks

__all__ = [
    "BackendCompilerFailed",
    "ExplainOutput",
    "FrameHook",
    "FrameHookUnavailable",
    "GraphBreak",
    "InternalTracerError",
    "Region",
    "Unsupported",
    "allow_in_graph",
    "assume_constant_result",
    "cache_sizes",
    "disable",
    "explain",
    "frame_hook",
    "graph_break",
    "interpret",
    "is_compiling",
    "mark_dynamic",
    "mark_static",
    "mark_unbacked",
    "maybe_mark_dynamic",
    "optimize",
    "region_of",
    "reset",
]
