"""The arguments of calls in one form: defaults filled in, by position or by keyword.

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.nn import functional as F
>>> normalize_function(F.dropout, ("x",), {"training": False}, normalize_to_only_use_kwargs=True).kwargs
{'input': 'x', 'p': 0.5, 'training': False, 'inplace': False}
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from minitorch_compile.fx.mutable_calls import refuse_mutation
from minitorch_compile.fx.node import Node


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """The signatures of an op, of which there is one here; None if it is no op. With `return_schemas` a pair, whose
    second part is None: ops here have no schemas besides."""
    signature = getattr(op, "__signature__", None) if hasattr(op, "kind") else None
    signatures = None if signature is None else [signature]
    return (signatures, None) if return_schemas else signatures


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a function; None if its signature isn't known or they don't fit it."""
    try:
        return _normalized(inspect.signature(target), args, kwargs or {}, normalize_to_only_use_kwargs)
    except (TypeError, ValueError):
        return None


def normalize_module(
    root: Any,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call of one of the library's modules; None for others."""
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if not type(module).__module__.startswith("minitorch_compile.nn"):
        return None
    return normalize_function(module.forward, args, kwargs, normalize_to_only_use_kwargs=normalize_to_only_use_kwargs)


def normalize_node(
    node: Node, root: Any, arg_types: Any, kwarg_types: Any, normalize_to_only_use_kwargs: bool
) -> ArgsKwargsPair | None:
    """See `Node.normalized_arguments`."""
    if node.op == "call_function":
        assert callable(node.target)
        return normalize_function(
            node.target, node.args, node.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
        )
    if node.op == "call_module":
        return normalize_module(root, str(node.target), node.args, node.kwargs, normalize_to_only_use_kwargs)
    return None


def _normalized(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], by_keyword: bool
) -> ArgsKwargsPair | None:
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(parameter.kind not in plain for parameter in signature.parameters.values()):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values = list(bound.arguments.items())
    count = 0 if by_keyword else len(args)
    return ArgsKwargsPair(tuple(value for _, value in values[:count]), dict(values[count:]))


check_for_mutable_operation = refuse_mutation

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
]
