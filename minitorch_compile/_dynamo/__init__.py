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

from minitorch_compile._dynamo import config
from minitorch_compile.compiler import list_backends, lookup_backend, register_backend, reset
from minitorch_compile.dynamo import (
    BackendCompilerFailed,
    Unsupported,
    allow_in_graph,
    assume_constant_result,
    disable,
    explain,
    graph_break,
    is_compiling,
    mark_dynamic,
    mark_static,
    mark_unbacked,
    maybe_mark_dynamic,
    optimize,
    testing,
)
from minitorch_compile.dynamo import errors as exc
from minitorch_compile.dynamo.optimized_module import OptimizedModule

__all__ = [
    "BackendCompilerFailed",
    "OptimizedModule",
    "Unsupported",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "exc",
    "explain",
    "graph_break",
    "is_compiling",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_unbacked",
    "maybe_mark_dynamic",
    "optimize",
    "register_backend",
    "reset",
    "testing",
]
