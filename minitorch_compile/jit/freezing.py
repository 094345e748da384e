"""freeze: a module in eval mode whose parameters are constants.

>>> from minitorch_compile import nn, ones
>>> from minitorch_compile.jit.tracing import trace
>>> frozen = freeze(trace(nn.Linear(2, 1).eval(), ones(1, 2)))
>>> list(frozen.parameters())
[]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from minitorch_compile.jit.script_module import RecursiveScriptModule
from minitorch_compile.jit.traced_module import ScriptModule, TopLevelTracedModule
from minitorch_compile.nn import Module


def freeze(mod: Any, preserved_attrs: Sequence[str] | None = None, optimize_numerics: bool = True) -> Any:
    """A copy of a scripted or traced module in eval mode. Its parameters are constants; of a scripted module's methods
    it has `forward` and those in `preserved_attrs`. RuntimeError for another module, or one that trains."""
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your"
            " 'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before"
            " freezing."
        )
    if isinstance(mod, TopLevelTracedModule):
        return _frozen_trace(mod)
    if not isinstance(mod, RecursiveScriptModule):
        raise RuntimeError("freeze: the module's class is a ScriptModule itself; script an nn.Module instead")
    return _frozen_script(mod, ["forward", *(preserved_attrs or ())])


def _frozen_trace(mod: TopLevelTracedModule) -> TopLevelTracedModule:
    program, known = mod.program, dict([*mod.named_parameters(), *mod.named_buffers()])
    constants = {name: known[path].detach().clone() for name, path in program.attributes.items()}
    frozen = TopLevelTracedModule(replace(program, attributes={}, constants={**program.constants, **constants}))
    frozen.original_name = mod.original_name
    return frozen.eval()


def _frozen_script(mod: RecursiveScriptModule, preserved: list[str]) -> RecursiveScriptModule:
    for name in preserved[1:]:
        if not hasattr(mod, name):
            raise RuntimeError(f"Unknown attribute to preserve: {mod.original_name} has no {name!r}")
    program = _with_constants(mod._program)
    resolution = mod.__dict__["_resolution"]
    made = RecursiveScriptModule(program, {}, resolution)
    kept = {name: method for name, method in made.__dict__["_methods"].items() if name in preserved}
    made.__dict__["_methods"] = kept
    made.__dict__["_frozen"] = frozenset(preserved)
    return made


def _with_constants(module: Any) -> Module:
    """A copy of a program whose tensors are plain attributes, and so no parameters any more."""
    if isinstance(module, TopLevelTracedModule):
        return _frozen_trace(module)
    copied = object.__new__(type(module))
    copied.__dict__.update(vars(module))
    tensors = {**module._parameters, **module._buffers}
    copied.__dict__.update({name: None if x is None else x.detach().clone() for name, x in tensors.items()})
    copied.__dict__.update({"_parameters": {}, "_buffers": {}, "_non_persistent_buffers_set": set()})
    parts = {name: None if part is None else _with_constants(part) for name, part in module._modules.items()}
    copied.__dict__["_modules"] = parts
    return copied


def optimize_for_inference(mod: Any, other_methods: Sequence[str] | None = None) -> Any:
    """A frozen copy of a scripted or traced module; one that trains, or has been frozen, stays as it is."""
    if not isinstance(mod, ScriptModule):
        raise ValueError("optimize_for_inference expects ScriptModule as input. Please use torch.jit.script or trace")
    frozen = not any(True for _ in mod.parameters())
    return mod if frozen or mod.training else freeze(mod.eval(), other_methods)


def run_frozen_optimizations(mod: Any, optimize_numerics: bool = True, preserved_methods: Any = None) -> None:
    """What `freeze` would do besides: the compiler does it when the module runs."""
