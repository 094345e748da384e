"""torch.jit: programs that are traced or scripted.

`trace` writes down what a program does with example inputs (`tracing.py`). `script` checks a function or module as
TorchScript does, shows it as text and as a graph, and runs it by the compiler of this package (`scripting.py`). `save`
and `load` keep what is traced in a file without code (`archives.py`).

>>> @script
... def clipped(x, most: float):
...     return x if x.max() < most else x / x.max() * most
>>> from minitorch_compile import ones
>>> clipped(4 * ones(2), 1.5)
tensor([1.5000, 1.5000])
>>> print(clipped.code)
def clipped(x: Tensor,
    most: float):
  return x if x.max() < most else x / x.max() * most
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar

from minitorch_compile.futures import Future
from minitorch_compile.jit import frontend
from minitorch_compile.jit.archives import load, save
from minitorch_compile.jit.freezing import freeze, optimize_for_inference, run_frozen_optimizations
from minitorch_compile.jit.markers import Error, export, ignore, interface, is_scripting, script_method, unused
from minitorch_compile.jit.script_function import (
    ScriptFunction,
    ScriptMethod,
    last_executed_optimized_graph,
    optimized_execution,
)
from minitorch_compile.jit.script_module import RecursiveScriptModule
from minitorch_compile.jit.scripting import script, script_if_tracing
from minitorch_compile.jit.traced_module import ScriptModule, TopLevelTracedModule
from minitorch_compile.jit.tracing import TracerWarning, TracingCheckError, is_tracing, trace, trace_module

Program = TypeVar("Program")
Final = Final
TracedModule = TopLevelTracedModule  # what functions become, too


class Attribute(NamedTuple):
    """A value with a type that TorchScript is told; here the module keeps both as they are."""

    value: Any
    type: Any


class ScriptWarning(Warning):
    """What TorchScript warned of. Programs name it in filters."""


def annotate(the_type: Any, the_value: Program) -> Program:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's isinstance, where a type from `typing` stands for its container."""
    import builtins

    return builtins.isinstance(obj, getattr(target_type, "__origin__", target_type))


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """The future of a call. It is made at once, as PyTorch does outside of TorchScript."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """What the call returned."""
    return future.wait()


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """Which of TorchScript's fusers is used: there is none."""
    yield


def set_fusion_strategy(strategy: Any) -> list[Any]:
    """How often TorchScript compiles for new sizes: it isn't there. The strategy before: none."""
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Whether TorchScript fuses with oneDNN: there is none."""


def _overload(func: Program) -> Program:
    """Declares types of a function for TorchScript; Python calls the definition that comes last."""
    return func


def _overload_method(func: Program) -> Program:
    """Likewise, for a method."""
    return func


def _copy_to_script_wrapper(fn: Program) -> Program:
    """The function itself."""
    return fn


def _drop(fn: Program) -> Program:
    """The function itself."""
    return fn


def _unwrap_optional(x: Any) -> Any:
    """The value, which must not be None."""
    assert x is not None, "Unwrapping null optional"
    return x


_isinstance, _script_if_tracing, _fork, _wait = isinstance, script_if_tracing, fork, wait
