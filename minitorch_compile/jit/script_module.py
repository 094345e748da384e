"""Scripted modules. `scripted_module` takes a module and everything below it.

>>> from minitorch_compile import nn, ones
>>> class Halved(nn.Module):
...     def forward(self, x):
...         return self.half(x)
...     def half(self, x):
...         return x / 2
>>> scripted = scripted_module(Halved(), {})
>>> scripted, scripted(ones(2))
(RecursiveScriptModule(original_name=Halved), tensor([0.5000, 0.5000]))

What runs is the *program*: an instance of the module's own class with copies of its attributes. The
RecursiveScriptModule before it has its parameters and buffers (those of the original, as in TorchScript) and of its
methods those that were compiled: `forward`, what it calls, and what is marked with `export`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from typing import Any

from minitorch_compile.jit.markers import marker_of
from minitorch_compile.jit.resolution import MISSING, Resolution, convertible, ours
from minitorch_compile.jit.script_function import ScriptMethod
from minitorch_compile.jit.script_graph import ScriptGraph
from minitorch_compile.jit.traced_module import ScriptModule
from minitorch_compile.nn import Module

SHARED = ("_parameters", "_buffers", "_non_persistent_buffers_set")
Known = dict[int, "RecursiveScriptModule"]


class RecursiveScriptModule(ScriptModule):
    """A module that `script` has made."""

    def __init__(self, program: Module, parts: dict[str, Any], resolution: Resolution) -> None:
        super().__init__()
        self.__dict__.update({name: vars(program)[name] for name in SHARED})
        self.__dict__["_modules"] = parts
        self.__dict__["training"] = program.training
        self.__dict__["original_name"] = type(program).__name__
        self.__dict__["_methods"] = {
            name: ScriptMethod(self, program, name, definition) for name, definition in resolution.methods.items()
        }
        self.__dict__["_resolution"] = resolution
        self.__dict__["_program"] = program

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._method("forward")(*args, **kwargs)

    def _method(self, name: str) -> ScriptMethod:
        methods = self.__dict__["_methods"]
        if name not in methods:  # a module of this package, which needs no check
            methods[name] = ScriptMethod(self, self._program, name, None)
        return methods[name]

    # -------------------------------------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        if name in state.get("_methods", ()):
            return state["_methods"][name]
        try:
            return super().__getattr__(name)
        except AttributeError:
            program = state.get("_program")
            value = MISSING if program is None else _offered(self, program, name)
            if value is MISSING:
                raise
            return value

    def __setattr__(self, name: str, value: Any) -> None:
        program = self.__dict__.get("_program")
        if program is None:
            super().__setattr__(name, value)
            return
        if name in self._modules and not isinstance(value, ScriptModule):
            raise RuntimeError(
                "Cannot re-assign modules in a ScriptModule with non-scripted module, tried to replace existing module"
                f" '{name}': {value}"
            )
        if name in _constants(program):
            raise RuntimeError(f"Can't set constant '{name}' which has value:{getattr(program, name)}")
        if name in vars(program) and name not in vars(self) or name == "training":
            _set_attribute(program, name, value)
        if name not in vars(program) or name == "training":
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__dict__["_methods"]})

    # -------------------------------------------------------------------------------------------- texts

    @property
    def graph(self) -> ScriptGraph:
        """The operations of `forward`."""
        return self._method("forward").graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The text of `forward`."""
        return self._method("forward").code

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    # -------------------------------------------------------------------------------------------- containers

    def __len__(self) -> int:
        return len(self._container())

    def __iter__(self) -> Iterator[Any]:
        kept = self._container()
        return iter(self._modules.values()) if not hasattr(kept, "keys") else iter(self._modules)

    def __getitem__(self, index: Any) -> Any:
        kept = self._container()
        if hasattr(kept, "keys"):
            return self._modules[index]
        chosen = list(self._modules.values())[index]
        return chosen if isinstance(chosen, Module) else scripted_module(kept[index], {})

    def __contains__(self, name: Any) -> bool:
        return name in self._modules

    def keys(self) -> Any:
        """The names of a scripted ModuleDict."""
        return self._container().keys() and self._modules.keys()

    def items(self) -> Any:
        """The names and modules of a scripted ModuleDict."""
        return self._container().keys() and self._modules.items()

    def values(self) -> Any:
        """The modules of a scripted ModuleDict."""
        return self._container().keys() and self._modules.values()

    def __bool__(self) -> bool:
        return True

    def _container(self) -> Any:
        if not hasattr(type(self._program), "__len__"):
            raise TypeError(f"object of type {self.original_name!r}, scripted, is no container")
        return self._program

    # -------------------------------------------------------------------------------------------- copies and files

    def __deepcopy__(self, memo: Any) -> RecursiveScriptModule:
        made = memo[id(self)] = RecursiveScriptModule.__new__(RecursiveScriptModule)
        state = {name: copy.deepcopy(vars(self)[name], memo) for name in ("_program", "_modules")}
        made.__init__(state["_program"], state["_modules"], self.__dict__["_resolution"])  # type: ignore[misc]
        return made

    def __copy__(self) -> RecursiveScriptModule:
        return RecursiveScriptModule(self._program, dict(self._modules), self.__dict__["_resolution"])

    def __getstate__(self) -> Any:
        raise RuntimeError(
            f"Tried to serialize object __torch__.{self.original_name} which does not have a __getstate__ method"
            " defined! A scripted module is kept by torch.jit.save; torch.save takes its state_dict()"
        )


def _offered(facade: RecursiveScriptModule, program: Module, name: str) -> Any:
    """An attribute that TorchScript would have, too; MISSING for any other."""
    on_class = inspect.getattr_static(type(program), name, MISSING)
    if marker_of(on_class) in ("ignore", "unused") and not isinstance(on_class, property):
        return on_class.__get__(facade)  # as Python, on what the user has
    if isinstance(on_class, property):
        return getattr(program, name)
    if name in vars(program):
        value = vars(program)[name]
        return MISSING if callable(value) or not convertible(value) else value
    return getattr(program, name) if name in getattr(program, "__constants__", ()) else MISSING


def _constants(program: Module) -> set[str]:
    """The attributes that are declared Final, or listed in __constants__."""
    annotated = inspect.get_annotations(type(program))
    return {name for name, kind in annotated.items() if "Final" in str(kind)} | set(
        getattr(program, "__constants__", ())
    )


def _set_attribute(program: Module, name: str, value: Any) -> None:
    before = vars(program).get(name)
    if isinstance(before, (bool, int, float, str)) and not isinstance(value, type(before)):
        if not (isinstance(before, float) and isinstance(value, int)):
            kind = type(before).__name__
            raise RuntimeError(
                f"Could not cast attribute '{name}' to type {kind}: Unable to cast Python instance of type"
                f" {type(value)}"
            )
    setattr(program, name, value)


def scripted_module(module: Module, known: Known) -> Any:
    """The scripted form of a module; `known` are those that were scripted already, by the ids of the originals."""
    if isinstance(module, ScriptModule):
        return module
    if id(module) in known:
        return known[id(module)]
    program = object.__new__(type(module))
    program.__dict__.update({name: _copied(value) for name, value in vars(module).items()})
    parts = {name: None if part is None else scripted_module(part, known) for name, part in module._modules.items()}
    program.__dict__["_modules"] = {name: _program_of(part) for name, part in parts.items()}
    resolution = Resolution(program)
    if not ours(type(module)):
        for name in _entries(module):
            resolution.take_method(name)
    made = known[id(module)] = RecursiveScriptModule(program, parts, resolution)
    return made


def _program_of(part: Any) -> Any:
    return part._program if isinstance(part, RecursiveScriptModule) else part


def _copied(value: Any) -> Any:
    return copy.copy(value) if type(value) in (list, dict, set) else value


def _entries(module: Module) -> list[str]:
    """The methods from which a module is compiled."""
    cls = type(module)
    exported = [name for name in dir(cls) if marker_of(inspect.getattr_static(cls, name)) == "export"]
    return [*(["forward"] if cls.forward is not Module.forward else []), *exported]
