"""The parameters of a traced function as placeholders of its graph.

`concrete_args` gives some of them values. A value is put in, and the graph checks that it is called with the same one;
where a container has `PH`, there is a placeholder:

>>> from minitorch_compile.fx import PH, symbolic_trace
>>> def scaled(x, options):
...     return x["a"] * x["b"] if options is None else x["a"]
>>> module = symbolic_trace(scaled, concrete_args={"x": {"a": PH, "b": PH}, "options": None})
>>> module({"a": 3, "b": 4}, None)
12
>>> try:
...     module({"a": 3, "b": 4}, "other")
... except AssertionError as error:
...     print(error)
options has been specialized to have value None but got another value
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile import pytree
from minitorch_compile.fx.effects import has_side_effect
from minitorch_compile.fx.proxy import Proxy
from minitorch_compile.fx.pytree_code import _PyTreeCodeGen, _PyTreeInfo
from minitorch_compile.tensor import device, dtype
from minitorch_compile.tensor.functions.checks import _assert

if TYPE_CHECKING:
    from minitorch_compile.fx.tracer import Tracer

COMPARED = (bool, str, int, float, complex, dtype, device)
VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class PHBase:
    """In `concrete_args`: here is a placeholder."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A placeholder whose node gets the attributes that were set on this object."""

    def __init__(self, ph_key: str | None = None) -> None:
        self.ph_key = ph_key


class Inputs:
    """What a function is called with while it is traced."""

    def __init__(self, tracer: Tracer, function: Any, is_module: bool, concrete: Any) -> None:
        self.tracer, self.function, self.is_module = tracer, function, is_module
        self.analysed: Any = inspect.unwrap(function)
        self.code = self.analysed.__code__
        self.count = self.code.co_argcount + self.code.co_kwonlyargcount
        self.parameters = inspect.signature(self.analysed).parameters
        self.concrete = concrete

    def prepared(self) -> tuple[Callable[..., Any], list[Any]]:
        """The function to call, and its arguments."""
        names = list(self.code.co_varnames)
        if self.is_module and self.count == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        args: list[Any] = [self.tracer.root] if self.is_module else []
        variable = bool(self.code.co_flags & VARIABLE)
        if isinstance(self.concrete, tuple):
            if self.concrete and variable and self.count == 1:
                return self.function, args + [self._flat(i, each) for i, each in enumerate(self.concrete)]
            self.concrete = self._by_name(names[len(args) : self.count])
        args += [self._argument(name) for name in names[len(args) : self.count]]
        function = self.function
        if self.code.co_kwonlyargcount or variable:
            stars = [flag for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS) if self.code.co_flags & flag]
            for flag, name in zip(stars, names[self.count :]):
                args.append(self._argument(("*" if flag == inspect.CO_VARARGS else "**") + name))
            function = _with_positional_arguments(function, len(args))
        return self._flattened(function, args, names)

    def _by_name(self, names: list[str]) -> dict[str, Any]:
        if len(names) != len(self.concrete):
            raise RuntimeError(
                f"Tracing expected {len(names)} arguments but got {len(self.concrete)} concrete arguments"
            )
        return dict(zip(names, self.concrete))

    def _flattened(
        self, function: Callable[..., Any], args: list[Any], names: list[str]
    ) -> tuple[Callable[..., Any], list[Any]]:
        """If an argument is a container: a function of all that is in them."""
        flat, spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in spec.children()):
            return function, args
        graph = self.tracer.graph
        graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names[: self.count], spec, None)))

        def flattening(*leaves: Any) -> Any:
            result = function(*pytree.tree_unflatten(list(leaves), spec))
            leaves_out, out_spec = pytree.tree_flatten(result)
            codegen: Any = graph._codegen
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return leaves_out

        return flattening, flat

    # ------------------------------------------------------------------------------------------ one argument

    def _argument(self, name: str) -> Any:
        if self.concrete is not None and name in self.concrete:
            counter = iter(range(1, 1 << 30))
            return pytree.tree_map(lambda value: self._known(name, next(counter), value), self.concrete[name])
        type_expr = self.analysed.__annotations__.get(name)
        return self.tracer.create_proxy("placeholder", name, self._default(name), {}, type_expr=type_expr)

    def _default(self, name: str) -> tuple[Any, ...]:
        if name.startswith("*"):
            return ()
        default = self.parameters[name].default
        return () if default is inspect.Parameter.empty else (default,)

    def _known(self, name: str, number: int, value: Any) -> Any:
        """A placeholder where there is PH; else the value, with a check that it is what was given."""
        proxy = self.tracer.create_proxy("placeholder", f"{name}_{number}", self._default(name), {})
        if isinstance(value, PHBase):
            _hand_over(value, proxy)
            return proxy
        if isinstance(value, COMPARED):
            message = f"{name} has been specialized to have value {value} but got another value"
            self.tracer.create_proxy("call_function", _assert, (proxy == value, message), {})
        elif value is None:
            message = f"{name} has been specialized to have value None but got another value"
            self.tracer.create_proxy("call_function", _assert_is_none, (proxy, message), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to"
                " the user to make sure that your inputs match the inputs you specialized the function with.",
                stacklevel=2,
            )
        return value

    def _flat(self, number: int, value: Any) -> Proxy:
        proxy = self.tracer.create_proxy("placeholder", f"input_{number}", (), {})
        if isinstance(value, PHBase):
            _hand_over(value, proxy)
        return proxy


def _hand_over(placeholder: PHBase, proxy: Proxy) -> None:
    """What was set on a placeholder is set on its node."""
    if placeholder is not PH:
        for name, value in vars(placeholder).items():
            if not callable(value) and not hasattr(proxy.node, name):
                setattr(proxy.node, name, value)


@has_side_effect
def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


def _with_positional_arguments(function: Any, count: int) -> FunctionType:
    """The function with `*args` and `**kwargs` as plain parameters, so that a proxy can stand for each of them."""
    code = function.__code__
    flags = code.co_flags & ~VARIABLE
    plain = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return FunctionType(plain, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
