"""torch.jit, as far as Python itself is the script.

TorchScript was a second language for a subset of Python, which gives the same results. Here a scripted function is the
function, as under PyTorch's own switch PYTORCH_JIT=0; `compile()` is what makes programs faster. Archives of programs
are neither written nor read.

>>> @script
... def double(x):
...     return 2 * x if not is_scripting() else x
>>> double(3)
6
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar

from minitorch_compile.nn import Module

Program = TypeVar("Program")
ScriptModule = Module
Final = Final


def script(
    obj: Program, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None
) -> Program:
    """The function, class or module itself."""
    return obj


def trace(func: Program, example_inputs: Any = None, **options: Any) -> Program:
    """The function or module itself; it isn't run. What depends on data keeps depending on it."""
    return func


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


def freeze(mod: Program, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Program:
    """The module itself."""
    return mod


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


def is_scripting() -> bool:
    """Whether TorchScript runs this: never."""
    return False


def is_tracing() -> bool:
    """Whether torch.jit.trace runs this: never."""
    return False


def _no_archives(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.jit.{name}: archives of programs are not offered; save(model.state_dict(), file) keeps the weights,"
        " and the model's Python file is the program"
    )


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """NotImplementedError: programs are not stored."""
    _no_archives("save")


def load(f: Any, map_location: Any = None, _extra_files: Any = None) -> Callable[..., Any]:
    """NotImplementedError: programs are not stored."""
    _no_archives("load")
