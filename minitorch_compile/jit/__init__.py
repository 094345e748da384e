"""torch.jit, as far as Python itself is the script.

`trace` writes down what a program does with example inputs (`tracing.py`); `save` and `load` keep that in a file
without code (`archives.py`). TorchScript was a second language for a subset of Python, which gives the same results.
Here a scripted function is the function, as under PyTorch's own switch PYTORCH_JIT=0; `compile()` makes it faster.

>>> @script
... def double(x):
...     return 2 * x if not is_scripting() else x
>>> double(3)
6
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from minitorch_compile.futures import Future
from minitorch_compile.jit.archives import load, save
from minitorch_compile.jit.traced_module import TopLevelTracedModule
from minitorch_compile.jit.tracing import TracerWarning, TracingCheckError, is_tracing, trace, trace_module
from minitorch_compile.nn import Module

Program = TypeVar("Program")
ScriptModule = Module
Final = Final
TracedModule = RecursiveScriptModule = ScriptFunction = TopLevelTracedModule  # what functions become, too


class Attribute(NamedTuple):
    """A value with a type that TorchScript is told; here the module keeps both as they are."""

    value: Any
    type: Any


class ScriptWarning(Warning):
    """What TorchScript warned of. Programs name it in filters."""


def script(
    obj: Program, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None
) -> Program:
    """The function, class or module itself."""
    return obj


def script_method(fn: Program) -> Program:
    """The method itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator, with or without arguments, that changes nothing."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: Program) -> Program:
    """The function itself."""
    return fn


def export(fn: Program) -> Program:
    """The function itself."""
    return fn


def interface(obj: Program) -> Program:
    """The class itself."""
    return obj


def script_if_tracing(fn: Program) -> Program:
    """The function itself."""
    return fn


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """A traced module in eval mode whose parameters are constants. RuntimeError for another, or one that trains."""
    if type(mod) is not TopLevelTracedModule:
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your"
            " 'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before"
            " freezing."
        )
    program, known = mod.program, dict([*mod.named_parameters(), *mod.named_buffers()])
    constants = {name: known[path].detach().clone() for name, path in program.attributes.items()}
    frozen = TopLevelTracedModule(replace(program, attributes={}, constants={**program.constants, **constants}))
    frozen.original_name = mod.original_name
    return frozen.eval()


def optimize_for_inference(mod: Program, other_methods: Any = None) -> Program:
    """The module itself; compile() is what makes it faster."""
    return mod


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
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Whether TorchScript optimizes: there is none."""
    yield


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


def is_scripting() -> bool:
    """Whether TorchScript runs this: never."""
    return False


_isinstance, _script_if_tracing, _fork, _wait = isinstance, script_if_tracing, fork, wait
