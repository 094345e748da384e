"""The one line: `model = compile(model)`.

>>> import minitorch_compile as torch
>>> @torch.compile(backend="eager")
... def f(x):
...     return torch.sin(x) + 1
>>> f(torch.tensor([0.0]))
tensor([1.])
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

from minitorch_compile.compiler.backends import Backend, lookup_backend
from minitorch_compile.compiler.modes import options_of
from minitorch_compile.compiler.pipeline import Inductor
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.frame_evaluation.backend_slot import register_backend_lookup
from minitorch_compile.nn.compiler_slot import register_compiler


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Backend = "inductor",
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """A function or module that behaves as `model` and runs compiled graphs. Without `model`, a decorator.

    fullgraph: a graph break is an error that explains it, instead of a split into several graphs.
    dynamic: whether one graph serves many input sizes. None: sizes that changed between two calls are unknown in the
        next version. True: all sizes from 2 on are unknown from the start. False: each new size is compiled once.
    backend: a name of list_backends(), or a callable (graph_module, fake_inputs) -> callable.
    mode, options: see list_mode_options() and list_options(); at most one of them. A backend of the program's own gets
        them as keyword arguments.
    disable: return `model` as it is; so does TORCHDYNAMO_DISABLE=1 in the environment.

    ValueError for an unknown name, TypeError for a wrong type, RuntimeError for settings that exclude each other.
    """
    chosen = _checked_backend(fullgraph, dynamic, backend, mode, options)
    disable = disable or os.environ.get("TORCHDYNAMO_DISABLE") == "1"
    if model is None:
        return lambda function: function if disable else _compiled(function, chosen, fullgraph, dynamic)
    return model if disable else _compiled(model, chosen, fullgraph, dynamic)


def _compiled(model: Any, backend: Backend, fullgraph: bool, dynamic: bool | None) -> Any:
    if not callable(model):
        raise TypeError(f"compile: model must be callable, a function or an nn.Module, got {type(model).__name__}")
    return optimize(model, backend, fullgraph=fullgraph, dynamic=dynamic)


def _checked_backend(
    fullgraph: object, dynamic: object, backend: str | Backend, mode: str | None, options: Mapping[str, Any] | None
) -> Backend:
    """The backend with its options in it, every argument checked first."""
    if not isinstance(fullgraph, bool):
        raise TypeError(f"compile: fullgraph must be True or False, got {fullgraph!r}")
    if dynamic is not None and not isinstance(dynamic, bool):
        raise TypeError(f"compile: dynamic must be True, False or None, got {dynamic!r}")
    chosen = lookup_backend(backend)
    if isinstance(chosen, Inductor):
        settings = options_of(mode, options)
        return Inductor(chosen.target, settings) if settings else chosen
    if mode is not None and options is not None:
        raise RuntimeError("compile: give mode or options, not both")
    given = {"mode": mode if mode != "default" else None, "options": options}
    keywords = {name: value for name, value in given.items() if value is not None}
    return with_keywords(chosen, keywords) if keywords else chosen


def with_keywords(backend: Backend, keywords: Mapping[str, Any]) -> Backend:
    """A program's own backend, called with `mode=` or `options=` as well. RuntimeError if it takes none."""
    try:
        inspect.signature(backend).bind(None, None, **keywords)
    except TypeError as error:
        asked = " and ".join(keywords)
        raise RuntimeError(
            f"compile: {asked} can't be given to {backend!r}, whose parameters are {inspect.signature(backend)}"
        ) from error
    return functools.partial(backend, **keywords)


register_backend_lookup(lookup_backend)  # for frame_hook()
register_compiler(compile)  # for Module.compile()
