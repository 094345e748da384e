"""`torch._dynamo.config`: PyTorch's names for options of the tracer, kept in `minitorch_compile.config`.

>>> from minitorch_compile._dynamo import config
>>> with config.patch(cache_size_limit=2):
...     config.recompile_limit
2

Some of PyTorch's options have no counterpart, since the tracer here always does one of the two. They can be set; where
that would change what a program gets, a warning says what holds:

>>> config.inline_inbuilt_nn_modules = True
>>> import warnings
>>> with warnings.catch_warnings(record=True) as told:
...     config.guard_nn_modules = False
>>> print(told[0].message)
torch._dynamo.config.guard_nn_modules is always True here: False has no effect.
>>> config.guard_nn_modules = True
"""

from __future__ import annotations

import sys
from typing import Any

from minitorch_compile.option_names import OptionModule, OptionNames, Place

ALIASES = {"cache_size_limit": "recompile_limit"}
OPTIONS = (
    "automatic_dynamic_shapes",
    "capture_dynamic_output_shape_ops",
    "capture_scalar_outputs",
    "error_on_recompile",
    "recompile_limit",
    "specialize_float",
    "suppress_errors",
)

# What the tracer always does, and a program may see.
ALWAYS: dict[str, Any] = {
    "allow_ignore_mark_dynamic": False,
    "allow_rnn": True,
    "assume_static_by_default": True,
    "compiled_autograd": False,
    "debug_backend_override": "",
    "disable": False,  # set_stance("force_eager") does it
    "dynamic_shapes": True,
    "enable_faithful_generator_behavior": True,
    "fail_on_recompile_limit_hit": False,
    "force_nn_module_property_static_shapes": True,
    "force_parameter_static_shapes": True,
    "guard_nn_modules": True,
    "inline_inbuilt_nn_modules": True,
    "minimum_call_count": 1,
    "only_allow_pt2_compliant_ops": False,
    "replay_side_effects": True,
    "rewrite_assert_with_torch_assert": True,
    "trace_numpy": True,
    "use_numpy_random_stream": True,
}

# How PyTorch's tracer does it, checks itself or reports: nothing that a program gets depends on these.
UNUSED: dict[str, Any] = {
    "accumulated_cache_size_limit": 256,
    "accumulated_recompile_limit": 256,
    "allow_empty_graphs": False,
    "allow_unspec_int_on_nn_module": False,
    "assume_dunder_attributes_remain_unchanged": True,
    "automatic_dynamic_local_pgo": True,
    "automatic_dynamic_remote_pgo": None,
    "caching_precompile": False,
    "capture_autograd_function": True,
    "capture_func_transforms": True,
    "capture_profiler_record_function": False,
    "capture_sparse_compute": True,
    "cprofile": False,
    "cudagraph_backend_keep_input_mutation": False,
    "cudagraph_backend_support_input_mutation": False,
    "dead_code_elimination": None,
    "debug_dir_root": "",
    "do_not_emit_runtime_asserts": False,
    "dynamo_profiler": False,
    "enable_compiler_collectives": False,
    "enable_cpp_framelocals_guard_eval": True,
    "enable_cpp_guard_manager": True,
    "enable_cpp_symbolic_shape_guards": False,
    "enable_trace_contextlib": True,
    "error_on_nested_fx_trace": True,
    "error_on_nested_jit_trace": True,
    "fake_tensor_cache_enabled": True,
    "fake_tensor_disable_inference_mode": True,
    "graph_break_on_nn_param_ctor": True,
    "guard_nn_modules_using_dict_tags": True,
    "ignore_logging_functions": set(),
    "install_free_tensors": False,
    "issue_3_13_0_warning": True,
    "log_compilation_metrics": True,
    "log_file_name": None,
    "nested_graph_breaks": False,
    "numpy_default_complex": "complex128",
    "numpy_default_float": "float64",
    "numpy_default_int": "int64",
    "optimize_ddp": True,
    "optimize_ddp_lazy_compile": False,
    "prefer_deferred_runtime_asserts_over_guards": False,
    "prepare_freezing": False,
    "raise_on_ctx_manager_usage": True,
    "raise_on_unsafe_aot_autograd": False,
    "record_runtime_overhead": True,
    "reorderable_logging_functions": set(),
    "replay_record_enabled": False,
    "report_guard_failures": True,
    "repro_after": None,
    "repro_forward_only": False,
    "repro_ignore_non_fp": False,
    "repro_level": 2,
    "repro_tolerance": 0.001,
    "run_gc_after_compile": True,
    "same_two_models_use_fp64": True,
    "skip_code_recursive_on_recompile_limit_hit": True,
    "skip_fsdp_guards": True,
    "skip_guards_on_constant_func_defaults": False,
    "skip_nnmodule_hook_guards": True,
    "skip_no_tensor_aliasing_guards_on_parameters": True,
    "skip_tensor_guards_with_matching_dict_tags": True,
    "skip_torchrec": True,
    "specialize_int": False,
    "traceable_tensor_subclasses": set(),
    "use_graph_deduplication": False,
    "use_lazy_graph_module": True,
    "use_recursive_dict_tags_for_guards": False,
    "verbose": False,
    "verify_correctness": False,
    "wrap_top_frame": False,
}

option_names = OptionNames(
    "torch._dynamo.config",
    {name: Place.in_config(ALIASES.get(name, name)) for name in (*OPTIONS, *ALIASES)},
    ALWAYS,
    UNUSED,
)
patch = option_names.patch
get_config_copy = option_names.copy
sys.modules[__name__].__class__ = OptionModule  # Python's documented way to customise attribute access of a module
