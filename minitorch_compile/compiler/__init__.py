"""The top of the stack: `compile`, its backends, modes and options; and `torch.compiler`, the functions around it."""

from typing import Any

from minitorch_compile.compiler import (  # enter backends, the profiler's probes, and who makes the kernels of a GPU
    eager_kernels,
    eager_kernels_cpu,
    pipeline,
    profiled_stages,
)
from minitorch_compile.compiler.backends import (
    get_default_backend,
    list_backends,
    lookup_backend,
    register_backend,
    set_default_backend,
    unregister_backend,
)
from minitorch_compile.compiler.cache_artifacts import CacheInfo, load_cache_artifacts, save_cache_artifacts
from minitorch_compile.compiler.compile import compile
from minitorch_compile.compiler.inspection import Inspection, StageView, inspect
from minitorch_compile.compiler.minify import Minified, minify
from minitorch_compile.compiler.modes import list_mode_options, list_options
from minitorch_compile.compiler.reset import reset
from minitorch_compile.compiler.wrap_numpy import wrap_numpy
from minitorch_compile.control import cudagraph_mark_step_begin, is_exporting
from minitorch_compile.dynamo import (
    allow_in_graph,
    assume_constant_result,
    disable,
    graph_break,
    is_compiling,
)
from minitorch_compile.dynamo.breaks.break_reasons import break_reason
from minitorch_compile.dynamo.explaining.explain import explain
from minitorch_compile.dynamo.stance import set_stance
from minitorch_compile.dynamo.variables.builtins.substitutes import substitute_in_graph

config: Any  # torch.compiler.config, which the package puts here
is_dynamo_compiling = is_compiling  # PyTorch's second name for it

__all__ = [
    "compile",
    "cudagraph_mark_step_begin",
    "CacheInfo",
    "Inspection",
    "Minified",
    "StageView",
    "allow_in_graph",
    "assume_constant_result",
    "break_reason",
    "disable",
    "explain",
    "graph_break",
    "inspect",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "get_default_backend",
    "list_backends",
    "list_mode_options",
    "list_options",
    "load_cache_artifacts",
    "lookup_backend",
    "minify",
    "pipeline",
    "register_backend",
    "reset",
    "save_cache_artifacts",
    "set_stance",
    "substitute_in_graph",
    "set_default_backend",
    "unregister_backend",
    "wrap_numpy",
]
