"""`torch.compiler.config`: options of the whole stack, most of them those of `torch._dynamo.config`.

>>> import minitorch_compile as torch
>>> with torch.compiler.config.patch(recompile_limit=2):
...     torch._dynamo.config.recompile_limit
2
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from minitorch_compile._dynamo.config import option_names as tracers
from minitorch_compile.option_names import OptionModule, OptionNames, Place

SHARED = (
    "accumulated_recompile_limit",
    "allow_unspec_int_on_nn_module",
    "assume_static_by_default",
    "automatic_dynamic_shapes",
    "capture_dynamic_output_shape_ops",
    "capture_scalar_outputs",
    "dynamic_shapes",
    "enable_cpp_symbolic_shape_guards",
    "fail_on_recompile_limit_hit",
    "log_file_name",
    "recompile_limit",
    "reorderable_logging_functions",
    "skip_tensor_guards_with_matching_dict_tags",
    "verbose",
    "wrap_top_frame",
)
# Sizes are marked by mark_dynamic and mark_unbacked, not by the names of what they are read from.
ALWAYS: dict[str, Any] = {"dynamic_sources": "", "dynamic_values": "", "unbacked_sources": ""}
UNUSED: dict[str, Any] = {
    "cache_key_tag": "",
    "force_cudagraph_gc": False,
    "force_disable_caches": False,
    "job_id": None,
    "pgo_extra_read_key": None,
    "pgo_extra_write_key": None,
}

option_names = OptionNames(
    "torch.compiler.config",
    {name: Place(partial(tracers.get, name), partial(tracers.set, name)) for name in SHARED},
    ALWAYS,
    UNUSED,
)
patch = option_names.patch
get_config_copy = option_names.copy
sys.modules[__name__].__class__ = OptionModule  # Python's documented way to customise attribute access of a module
