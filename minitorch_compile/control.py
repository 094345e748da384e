"""What a program says to the compiler: break the graph here, don't compile this, are we compiling?

These functions only leave marks, or give the answer that holds when nobody traces; the tracer, which stands far above,
looks at the marks and answers for itself. So a library can speak to a compiler that it doesn't import.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from minitorch_compile.frame_marks import passed, unhooked

AnyCallable = TypeVar("AnyCallable", bound=Callable[..., Any])


def graph_break(msg: str = "") -> None:
    """Ends the graph here when traced; does nothing when run. `msg` is for the reader.

    >>> graph_break()
    """


def is_compiling() -> bool:
    """True while the function is traced for compilation, False when it runs as plain Python.

    >>> is_compiling()
    False
    """
    return False


def as_graph_input(number: Any) -> Any:
    """The number itself; in a compiled function a float from outside as a tensor, so that another value of it is no
    reason to compile again.

    >>> as_graph_input(0.1)
    0.1
    """
    return number


def made_before(make: Callable[..., bool], *arguments: Any) -> None:
    """Does nothing when run. Traced, `make(*arguments)` is called there and then, on the running program's objects, and
    if it says that it has made something, the trace begins anew and finds it: so what only the first call of a function
    lacks, as an optimizer's states, is no reason to compile the second one again.

    >>> made_before(lambda: True)
    """


def is_exporting() -> bool:
    """Whether a program is traced by `torch.export`, which is not part of this package: False.

    >>> is_exporting()
    False
    """
    return False


def cudagraph_mark_step_begin() -> None:
    """Says that another step of the program begins: what compiled functions with mode="reduce-overhead" returned on a
    GPU, or saved for a backward pass that never came, may be overwritten.

    >>> cudagraph_mark_step_begin()
    """
    _steps[0] += 1


_steps = [0]


def steps_begun() -> int:
    """How often a program has said so."""
    return _steps[0]


def disable(fn: AnyCallable | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Marks a function that is never compiled: a compiled caller breaks its graph and calls it. Also a decorator.

    With `recursive=False` only the function itself runs as plain Python; what it calls is compiled.

    >>> @disable
    ... def log(loss):
    ...     return f"{loss:.3f}"
    >>> log(0.5)
    '0.500'
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if not callable(fn):
        raise TypeError(f"disable: fn must be callable, but got {type(fn).__name__}.")
    original = compiled_from(fn) or fn  # of a compiled function, the plain one runs

    @unhooked
    def disabled(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    def frame_disabled(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    made = functools.wraps(original)(disabled if recursive else frame_disabled)
    made.__dict__.pop("_dynamo_original", None)
    made.__dict__["_dynamo_disabled"] = True
    made.__dict__["_dynamo_disabled_because"] = reason
    if not recursive and isinstance(original, FunctionType):
        made.__dict__["_dynamo_only_frame"] = passed(original)
    return made


def compiled_from(function: Any) -> Any:
    """The plain function behind a compiled one. None for any other function, also for one that functools.wraps has made
    to look like a compiled one."""
    attributes = getattr(function, "__dict__", {})
    return attributes.get("_dynamo_original") if attributes.get("_dynamo_wrapper_id") == id(function) else None


def allow_in_graph(fn: Any) -> Any:
    """Marks a Python function of tensors whose call becomes one node: the tracer does not look inside. Also a
    decorator. `fn` may be a list of them.

    The function must do nothing but compute its result from its arguments; nobody checks that. Of a module's class
    it says nothing, since a call of the module is not one of the class: libraries mark theirs all the same.

    >>> @allow_in_graph
    ... def double(x):
    ...     return x * 2
    >>> double(3)
    6
    """
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(one) for one in fn]
    return fn if isinstance(fn, type) else _marked(fn, "allow_in_graph", "_dynamo_allowed")


def assume_constant_result(fn: AnyCallable) -> AnyCallable:
    """Marks a Python function that is called once, while tracing; its result is a constant of the compiled code.

    >>> @assume_constant_result
    ... def setting():
    ...     return 3
    >>> setting()
    3
    """
    return _marked(fn, "assume_constant_result", "_dynamo_constant")


FORBIDDEN = "_dynamo_forbidden"


def forbid_in_graph(fn: Any) -> Any:
    """Marks a function, class or each of a list of them whose call within a compiled function is an AssertionError."""
    if isinstance(fn, (list, tuple)):
        return [forbid_in_graph(one) for one in fn]
    if not callable(fn):
        raise AssertionError("forbid_in_graph applies only to callables")
    setattr(fn, FORBIDDEN, True)
    return fn


def _marked(function: AnyCallable, caller: str, mark: str) -> AnyCallable:
    if not isinstance(function, FunctionType):
        raise TypeError(f"{caller}: function must be a Python function, but got {type(function).__name__}.")
    function.__dict__[mark] = True
    return function


ASKED_AGAIN = "_dynamo_asked_again"


def asked_again(function: AnyCallable) -> AnyCallable:
    """Marks a question about the state of the world, without arguments and answered by True or False: the compiler asks
    it while tracing, and again at each call.

    >>> @asked_again
    ... def is_tuesday():
    ...     return False
    >>> is_tuesday()
    False
    """
    return _marked(function, "asked_again", ASKED_AGAIN)


GRAPH_STEP = "_dynamo_step"


def graph_step(function: AnyCallable) -> AnyCallable:
    """Marks a function whose call is one node that is neither dropped nor merged: a step of a function transform, say
    (`dynamo/fakes/graph_steps.py`). It fails for tensors without data exactly when it fails for others."""
    assert isinstance(function, FunctionType)
    function.__dict__[GRAPH_STEP] = True
    return function


def is_graph_step(target: Any) -> bool:
    """Whether the target of a node is such a function."""
    return isinstance(target, FunctionType) and GRAPH_STEP in target.__dict__
