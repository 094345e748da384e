"""export(module, args): what the tracer captures of one call, as an ExportedProgram.

>>> from minitorch_compile.nn import ReLU
>>> from minitorch_compile.tensor import ones
>>> export(ReLU(), (ones(2),)).module()(-ones(2))
tensor([0., 0.])

Source: torch/export/__init__.py.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

from minitorch_compile import pytree
from minitorch_compile.export.capture import Capture
from minitorch_compile.export.dynamic_shapes import ExportError
from minitorch_compile.export.exported_program import ExportedProgram
from minitorch_compile.export.graph_signature import InputKind
from minitorch_compile.nn import Module
from minitorch_compile.tensor import Tensor


def export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """The graph of `mod(*args, **kwargs)`; `mod` and the arguments are as before, though it has run once.

    dynamic_shapes: for each argument, by name or in their order, which dimensions may have other sizes: a dict from
        dimension to Dim, Dim.AUTO or Dim.DYNAMIC, or a tuple of these; nested as the argument is. Without it, sizes are
        those of the example. Which sizes a program turned out to be for is checked at each call.
    strict: both are done in the same way here, from bytecode.
    Unsupported where the tracer can't follow, UserError for `dynamic_shapes` that don't fit, ValueError for arguments
    that are no tensors, numbers, texts or None.
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise ExportError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if preserve_module_call_signature:
        raise NotImplementedError(
            "export: preserve_module_call_signature is for unflatten(), which is not offered; leave it out"
        )
    for leaf in pytree.tree_leaves((args, kwargs or {})):
        if not isinstance(leaf, (Tensor, int, float, str, type(None))):
            raise ValueError(
                f"Unsupported input type {type(leaf)}. Export only supports pytree containers of basic types (Tensor,"
                " int, float, ...) as input. To register a custom dataclass, use torch.export.register_dataclass. To"
                " register a custom container type, use torch.utils._pytree.register_pytree_node."
            )
    found = Capture(mod, args, kwargs or {}, dynamic_shapes)
    kept = {entry[2]: entry[3] for entry in found.lifted if entry[4] is False or entry[0] is InputKind.CONSTANT_TENSOR}
    return ExportedProgram(
        found.graph,
        found.signature,
        dict(mod.state_dict(keep_vars=True)),
        kept,
        found.checks,
        found.out_spec,
        (args, kwargs or {}),
    )


def draft_export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    preserve_module_call_signature: tuple[str, ...] = (),
    strict: bool = False,
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> NoReturn:
    """Refused: what stops an export is never passed over."""
    raise NotImplementedError(
        "draft_export guesses where an export would stop; torch._dynamo.explain(mod)(*args) lists all graph breaks with"
        " their lines and what mends them"
    )


def unflatten(module: ExportedProgram, flat_args_adapter: Any = None) -> NoReturn:
    """Refused: the graph doesn't keep which submodule made a node."""
    raise NotImplementedError(
        "unflatten: an exported graph keeps no submodules; call module(), whose parameters have their dotted names, or"
        " export the submodules themselves"
    )


def register_dataclass(cls: type, *, serialized_type_name: str | None = None) -> None:
    """Arguments and results may hold instances of a dataclass: their fields are leaves."""
    if not dataclasses.is_dataclass(cls):
        raise AssertionError(f"Only dataclasses can be registered with this function: {cls}")
    pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)
