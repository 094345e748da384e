"""`torch._logging.set_logs`: what the compiler shows, by PyTorch's names.

An artifact is switched on by True. A component (dynamo, aot, inductor, dynamic; `all` of them) has a level of Python's
`logging`: at INFO and below it shows those artifacts that tell what PyTorch's messages do (`logs.COMPONENTS`).

>>> import minitorch_compile as torch
>>> from minitorch_compile import logs
>>> torch._logging.set_logs(dynamo=logging.DEBUG, fusion=True)
>>> logs.enabled()
['graph_code', 'graph_breaks', 'recompiles', 'fusion']
>>> torch._logging.set_logs()

Source: PyTorch 2.13, `torch/_logging/_internal.py`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from minitorch_compile import logs

# Of these nothing is logged here.
SILENT_COMPONENTS = [
    "autograd",
    "c10d",
    "cache",
    "ddp",
    "distributed",
    "dtensor",
    "export",
    "fake_tensor",
    "fsdp",
    "onnx",
    "pp",
]
SILENT_ARTIFACTS = [
    "annotation",
    "aot_graphs_effects",
    "benchmarking",
    "caching",
    "compiled_autograd",
    "compiled_autograd_verbose",
    "compute_dependencies",
    "cudagraph_static_inputs",
    "ddp_graphs",
    "graph_code_verbose",
    "graph_region_expansion",
    "hierarchical_compile",
    "incremental",
    "inductor_metrics",
    "loop_ordering",
    "loop_tiling",
    "node_runtime_estimation",
    "not_implemented",
    "onnx_diagnostics",
    "overlap",
    "overlap_scheduling",
    "sym_node",
    "trace_shape_events",
    "verbose_guards",
]
# The component that a module of PyTorch's belongs to.
MODULES = {"torch._dynamo": "dynamo", "torch._functorch": "aot", "torch._inductor": "inductor", "torch": "torch"}


def set_logs(
    *, all: int | None = None, modules: Mapping[str, int | bool] | None = None, **switches: int | bool | None
) -> None:
    """Turns on exactly what is named: artifacts by True, components by a level; `modules` are components, too, by the
    name of a module. Does nothing if TORCH_LOGS is set, which takes precedence.

    ValueError for a name that PyTorch doesn't have either, an artifact without a bool, an unknown level.
    """
    if logs.VARIABLE_OF_PYTORCH in os.environ:
        logging.getLogger(__name__).warning(
            "Using TORCH_LOGS environment variable for log settings, ignoring call to set_logs"
        )
        return
    given = {"torch": all, **switches, **(modules or {})}
    chosen = [artifact for name, value in given.items() if value is not None for artifact in _meant(name, value)]
    logs.set_logs(*chosen)


def _meant(name: str, value: int | bool) -> list[str]:
    """The artifacts that one name switches on."""
    component = next((MODULES[module] for module in MODULES if f"{name}.".startswith(f"{module}.")), name)
    if name in logs.ARTIFACTS and (isinstance(value, bool) or name not in logs.COMPONENTS):
        return [name] if _checked_switch(name, value) else []
    if name in SILENT_ARTIFACTS:
        _checked_switch(name, value)
        return []
    if component not in ("torch", *logs.COMPONENTS, *SILENT_COMPONENTS):
        raise ValueError(f"Unrecognized log or artifact name passed to set_logs: {name}")
    if value not in logging.getLevelNamesMapping().values():
        levels = ",".join(map(str, sorted(set(logging.getLevelNamesMapping().values()), reverse=True)))
        raise ValueError(f"Unrecognized log level for log {name}: {value}, valid level values are: {levels}")
    shown = logs.COMPONENTS if component == "torch" else {component: logs.COMPONENTS.get(component, [])}
    return [artifact for artifacts in shown.values() for artifact in artifacts] if value <= logging.INFO else []


def _checked_switch(name: str, value: int | bool) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"Expected bool to enable artifact {name}, received {value}")
    return value


__all__ = ["set_logs"]
