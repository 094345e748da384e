"""`torch._dynamo` as programs use it: the tracer's public names, and its `config`.

The tracer itself is `minitorch_compile.dynamo`; this is the place where PyTorch has these names.

>>> import minitorch_compile as torch
>>> counter = torch._dynamo.testing.CompileCounter()
>>> f = torch.compile(lambda x: x.sin() + 1, backend=counter)
>>> _ = f(torch.ones(2))
>>> counter.frame_count, counter.op_count
(1, 2)
>>> torch._dynamo.reset()
"""

import sys

from minitorch_compile._dynamo import compiled_autograd, compiler_config, config, eval_frame, utils
from minitorch_compile._dynamo.eval_frame import (
    disable,
    innermost_fn,
    optimize,
    optimize_assert,
    run,
    substitute_in_graph,
)
from minitorch_compile._dynamo.exporting import ExportResult, export
from minitorch_compile.compiler import list_backends, lookup_backend, register_backend, reset
from minitorch_compile.control import forbid_in_graph
from minitorch_compile.dynamo import (
    BackendCompilerFailed,
    Unsupported,
    allow_in_graph,
    assume_constant_result,
    explain,
    graph_break,
    is_compiling,
    mark_dynamic,
    mark_static,
    mark_unbacked,
    maybe_mark_dynamic,
    testing,
)
from minitorch_compile.dynamo import errors as exc
from minitorch_compile.dynamo.optimized_module import OptimizedModule
from minitorch_compile.dynamo.stance import set_stance
from minitorch_compile.tensor import Tensor


def mark_static_address(t: Tensor, guard: bool = False) -> None:
    """Says that a tensor stays where it is in memory, which only CUDA graphs ask for. TypeError for another object."""
    if not isinstance(t, Tensor):
        raise TypeError(f"mark_static_address expects a tensor but received {type(t).__name__}")


def set_recursion_limit(limit: int) -> None:
    """How deep calls may be nested, as sys.setrecursionlimit: the tracer is Python, too."""
    sys.setrecursionlimit(limit)


reset_code_caches = reset  # there is nothing that outlives it

__all__ = [
    "BackendCompilerFailed",
    "ExportResult",
    "OptimizedModule",
    "Unsupported",
    "allow_in_graph",
    "assume_constant_result",
    "compiled_autograd",
    "compiler_config",
    "config",
    "disable",
    "eval_frame",
    "exc",
    "explain",
    "export",
    "forbid_in_graph",
    "graph_break",
    "innermost_fn",
    "is_compiling",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "mark_unbacked",
    "maybe_mark_dynamic",
    "optimize",
    "optimize_assert",
    "register_backend",
    "reset",
    "reset_code_caches",
    "run",
    "set_recursion_limit",
    "set_stance",
    "substitute_in_graph",
    "testing",
    "utils",
]
