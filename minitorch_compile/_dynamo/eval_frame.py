"""`torch._dynamo.optimize(backend)(function)` and its kin: PyTorch's first way to say `torch.compile`.

>>> import minitorch_compile as torch
>>> @torch._dynamo.optimize("eager", nopython=True)
... def double(x):
...     return x * 2
>>> double(torch.ones(1))
tensor([2.])
>>> torch._dynamo.run(double)(torch.ones(3))      # compiles nothing new
tensor([2., 2., 2.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from minitorch_compile import control
from minitorch_compile.compiler import compile
from minitorch_compile.control import FORBIDDEN, compiled_from
from minitorch_compile.dynamo.optimized_module import OptimizedModule
from minitorch_compile.dynamo.stance import set_stance
from minitorch_compile.dynamo.variables.builtins import substitutes

Decorator = Callable[[Any], Any]


class OptimizeDecorator:
    """What `optimize` gives: a decorator, and no context manager."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def __call__(self, fn: Any) -> Any:
        return compile(fn, **self.settings)

    def __enter__(self) -> NoReturn:
        raise RuntimeError(
            "torch._dynamo.optimize(...) is used with a context manager. Use it as a decorator,"
            " torch._dynamo.optimize(...)(function), or call torch.compile(function)"
        )

    def __exit__(self, *error: object) -> None:
        """Never called: there is no way in."""


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True) -> Any:
    """`torch.compiler.disable`; with `wrapping=False` what it gives doesn't tell `inspect` which function is in it."""
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason, wrapping=wrapping)
    made = control.disable(fn, recursive, reason=reason)
    if not wrapping:
        vars(made).pop("__wrapped__", None)
    return made


def substitute_in_graph(
    original_fn: Callable[..., Any],
    *,
    can_constant_fold_through: bool = False,
    skip_signature_check: bool = False,
    is_embedded_type: bool = False,
) -> Decorator:
    """`torch.compiler.substitute_in_graph`; `is_embedded_type`: `original_fn` is a class, which the function stands
    for where it is called."""
    return substitutes.substitute_in_graph(
        original_fn,
        can_constant_fold_through=can_constant_fold_through,
        skip_signature_check=skip_signature_check,
    )


def optimize(
    backend: Any = "inductor",
    *,
    nopython: bool = False,
    disable: bool = False,
    dynamic: bool | None = None,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Decorator:
    """A decorator: torch.compile with that backend; `nopython` is fullgraph."""
    return OptimizeDecorator(
        backend=backend, fullgraph=nopython, disable=disable, dynamic=dynamic, mode=mode, options=options
    )


def optimize_assert(backend: Any = "inductor", *, dynamic: bool | None = None) -> Decorator:
    """The same where a graph break is an error."""
    return optimize(backend, nopython=True, dynamic=dynamic)


def run(fn: Any = None) -> Any:
    """A function that runs what is compiled of `fn`, and compiles nothing new. Without `fn`, a decorator."""
    if fn is None:
        return run
    made = set_stance("eager_on_recompile")(fn)
    del vars(made)[FORBIDDEN]  # a compiled function may call it
    return made


def is_dynamo_supported() -> bool:
    """Whether programs are compiled on this machine."""
    return True


def innermost_fn(fn: Any) -> Any:
    """The plain function behind a compiled one."""
    while compiled_from(fn) is not None:
        fn = compiled_from(fn)
    return fn


__all__ = ["OptimizedModule", "innermost_fn", "is_dynamo_supported", "optimize", "optimize_assert", "run", "set_stance"]
