"""Scripted functions: checked when they are made, compiled when they have run once.

>>> def steps(x, limit: float):
...     while x.sum() < limit:
...         x = x * 2
...     return x
>>> scripted = ScriptFunction(steps)
>>> from minitorch_compile import ones
>>> scripted(ones(2), 5.0)
tensor([4., 4.])
>>> scripted(3, 5.0)
Traceback (most recent call last):
RuntimeError: steps() Expected a value of type 'Tensor (inferred)' for argument 'x' but instead found type 'int'.
...

The first call runs as Python, as TorchScript's first call runs unoptimized; from the second on the compiler has it.
Control flow that depends on numbers in tensors means what it means in Python; there the graph is split.
"""

from __future__ import annotations

import inspect
import linecache
import os
import pickle
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from minitorch_compile.control import is_compiling
from minitorch_compile.jit.frontend import Definition, definition_of
from minitorch_compile.jit.markers import FAILED, Error, as_script
from minitorch_compile.jit.resolution import Resolution
from minitorch_compile.jit.script_graph import ScriptGraph, graph_of
from minitorch_compile.jit.script_text import code_text
from minitorch_compile.jit.script_types import bound, declaration
from minitorch_compile.jit.tracing import is_tracing, scripted_call
from minitorch_compile.nn import Module
from minitorch_compile.nn.compiler_slot import registered_compiler

PACKAGE_FOLDER = os.path.dirname(os.path.dirname(__file__)) + os.sep


class _Optimizing(threading.local):
    on = True
    last: ScriptFunction | ScriptMethod | None = None


_optimizing = _Optimizing()


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Whether scripted code that runs inside may be compiled."""
    before, _optimizing.on = _optimizing.on, should_optimize
    try:
        yield
    finally:
        _optimizing.on = before


def last_executed_optimized_graph() -> ScriptGraph:
    """The graph of the function that was scripted and ran last. RuntimeError if none did."""
    if _optimizing.last is None:
        raise RuntimeError("No optimized graph has been executed in this thread")
    return _optimizing.last.graph


class Runner:
    """Runs a function as it is the first time, compiled from then on."""

    def __init__(self) -> None:
        self.has_run = False
        self.compiled: Callable[..., Any] | None = None

    def __deepcopy__(self, memo: Any) -> Runner:
        return Runner()

    def run(self, program: Callable[..., Any], args: list[Any]) -> Any:
        """The program's result. What it raises itself comes as an Error, what an operation raises as RuntimeError."""
        optimized = self.has_run and _optimizing.on and not is_tracing()
        if optimized and self.compiled is None:
            self.compiled = registered_compiler()(program)
        chosen = self.compiled if optimized and self.compiled is not None else program
        try:
            with as_script():
                result = chosen(*args)
        except Exception as error:
            raise _in_a_script(error) from error
        self.has_run = True
        return result


def _in_a_script(error: Exception) -> Exception:
    """The error that a caller of scripted code gets."""
    if isinstance(error, Error):
        return error
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    own = not last.filename.startswith(PACKAGE_FOLDER) and line.startswith(("raise", "assert"))
    kind = type(error).__name__
    named = f"builtins.{kind}: {error}" if own and line.startswith("raise") else f"RuntimeError: {kind}: {error}"
    text = (
        f"{FAILED}\nTraceback of TorchScript (most recent call last):\n"
        f'  File "{last.filename}", line {last.lineno}, in {last.name}\n    {line}\n    ~ <--- HERE\n{named}\n'
    )
    return Error(text) if own else RuntimeError(text)


class ScriptFunction:
    """A function that `script` has made. `name`, `code`, `graph` and `schema` say what it is."""

    __name__ = "ScriptFunction"
    __qualname__ = "torch.jit.ScriptFunction"

    def __init__(self, function: FunctionType) -> None:
        self.resolution = Resolution()
        self.definition: Definition = self.resolution.take(function)
        self._torchdynamo_inline = function
        self.__doc__ = function.__doc__
        self._runner = Runner()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():  # a compiled caller takes in the function
            return self._torchdynamo_inline(*args, **kwargs)
        return scripted_call(self, self.run, bound(self.definition, "", args, kwargs))

    def run(self, *args: Any) -> Any:
        """The result for arguments that were checked."""
        result = self._runner.run(self._torchdynamo_inline, list(args))
        _optimizing.last = self
        return result

    @property
    def name(self) -> str:
        """The function's name."""
        return self.definition.name

    @property
    def qualified_name(self) -> str:
        """Its name within TorchScript's names."""
        return f"__torch__.{self.name}"

    @property
    def graph(self) -> ScriptGraph:
        """Its operations."""
        return graph_of(self.definition)

    inlined_graph = graph

    @property
    def code(self) -> str:
        """Its text."""
        return code_text(self.definition)

    @property
    def schema(self) -> str:
        """Its arguments with their types."""
        return declaration(self.definition)

    def __reduce__(self) -> Any:
        raise pickle.PickleError("ScriptFunction cannot be pickled")


class ScriptMethod:
    """A method of a scripted module: `program` is the module that runs, `owner` the one that the user has. A module of
    this package has no definition that its arguments are checked by."""

    def __init__(self, owner: Any, program: Any, name: str, definition: Definition | None) -> None:
        self.owner, self.program, self.checked = owner, program, definition
        self.name = self.__name__ = name
        self._runner = Runner()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return self._plain(*args, **kwargs)
        if self.checked is None:
            given = inspect.signature(getattr(self.program, self.name)).bind(*args, **kwargs)
            given.apply_defaults()
            return scripted_call(self, self.run, list(given.args))
        return scripted_call(self, self.run, bound(self.checked, self._itself, args, kwargs))

    def run(self, *args: Any) -> Any:
        """The result for arguments that were checked."""
        result = self._runner.run(self._plain, list(args))
        _optimizing.last = self
        return result

    @property
    def _plain(self) -> Callable[..., Any]:
        """Calling the module runs its hooks, too."""
        return self.program if self.name == "forward" else getattr(self.program, self.name)

    @property
    def definition(self) -> Definition:
        """Its text."""
        method = getattr(type(self.program), self.name)
        if method is Module.forward:
            raise AttributeError(f"{self.owner.original_name} has no method forward()")
        return self.checked or definition_of(method, of_a_method=True)

    @property
    def _itself(self) -> str:
        return f"__torch__.{self.owner.original_name} self"

    @property
    def graph(self) -> ScriptGraph:
        """Its operations."""
        return graph_of(self.definition, self.owner.original_name)

    inlined_graph = graph

    @property
    def code(self) -> str:
        """Its text."""
        return code_text(self.definition)

    @property
    def schema(self) -> str:
        """Its arguments with their types."""
        return declaration(self.definition, self._itself)
