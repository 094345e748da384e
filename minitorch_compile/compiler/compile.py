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

from minitorch_compile import config
from minitorch_compile.compiler.backends import Backend, get_default_backend, lookup_backend
from minitorch_compile.compiler.modes import options_of
from minitorch_compile.compiler.pipeline import Inductor
from minitorch_compile.dynamo.cache.region import Region
from minitorch_compile.dynamo.cache.shared_regions import region_for
from minitorch_compile.dynamo.eval_frame import optimize_in
from minitorch_compile.dynamo.frame_evaluation.backend_slot import register_backend_lookup
from minitorch_compile.dynamo.optimized_module import OptimizedModule
from minitorch_compile.kernel_options import defaults
from minitorch_compile.nn.compiler_slot import register_compiler


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Backend | None = None,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """A function or module that behaves as `model` and runs compiled graphs. Without `model`, a decorator.

    fullgraph: a graph break is an error that explains it, instead of a split into several graphs; numbers and sizes
        that only data tell are in the graph, as if `config.capture_scalar_outputs` and its neighbour asked for it.
    dynamic: whether one graph serves many input sizes. None: sizes that changed between two calls are unknown in the
        next version. True: all sizes from 2 on are unknown from the start. False: each new size is compiled once.
    backend: a name of list_backends(), or a callable (graph_module, fake_inputs) -> callable. None: that of
        get_default_backend(), "inductor" unless another was set.
    mode, options: see list_mode_options() and list_options(); at most one of them. A backend of the program's own gets
        them as keyword arguments.
    name: what tools call it. disable: return `model` as it is; so does TORCHDYNAMO_DISABLE=1 in the environment.
    recompile_limit: how many versions there may be; config.recompile_limit unless given.
    isolate_recompiles: compile it anew. Else a function or nn.Module that was compiled before with the same arguments
        has its versions already, and equal modules share theirs.

    ValueError for an unknown name, TypeError for a wrong type, RuntimeError for settings that exclude each other;
    NotImplementedError for `shapes_spec`.

    >>> torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.zeros(2))
    tensor([1., 1.])
    """
    if shapes_spec is not None:
        raise NotImplementedError("compile: shapes_spec isn't implemented; use dynamic=, or mark_dynamic on the inputs")
    if recompile_limit is not None and (not isinstance(recompile_limit, int) or recompile_limit < 1):
        raise ValueError(f"compile: recompile_limit must be a positive int or None, got {recompile_limit!r}")
    given = get_default_backend() if backend is None else backend
    chosen = _checked_backend(fullgraph, dynamic, given, mode, options)
    limits = fullgraph, dynamic, recompile_limit, name
    settings = (*_what_is_asked(given, mode, options), *config.values(), defaults(), *limits)
    region = functools.partial(Region, chosen, *limits)
    alone = isolate_recompiles or (options is not None and not isinstance(chosen, Inductor))  # can't be compared
    disable = disable or os.environ.get("TORCHDYNAMO_DISABLE") == "1"

    def compiled(function: Any) -> Any:
        if disable:
            return function
        if not callable(function):
            what = type(function).__name__
            raise TypeError(f"compile: model must be callable, a function or an nn.Module, got {what}")
        if isinstance(chosen, Inductor):
            chosen.found_target()  # imports Numba, once: here and not at the first call
        plain = function._orig_mod if type(function) is OptimizedModule else function
        return optimize_in(region() if alone else region_for(plain, settings, region), plain)

    return compiled if model is None else compiled(model)


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


def _what_is_asked(backend: str | Backend, mode: str | None, options: Mapping[str, Any] | None) -> tuple[Any, Any]:
    """The backend as it was found, with what it is to do."""
    found = lookup_backend(backend)
    return found, options_of(mode, options) if isinstance(found, Inductor) else mode


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
