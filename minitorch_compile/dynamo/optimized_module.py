"""A compiled callable object, such as an nn.Module: calls go to compiled code, everything else to the object itself.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> class Scale:
...     by = 2
...     def __call__(self, x):
...         return x * self.by
>>> scale = Scale()
>>> compiled = optimize(scale, eager)
>>> compiled.by = 3
>>> compiled(ones(1)), scale.by, isinstance(compiled, Scale)
(tensor([3.]), 3, True)
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

from minitorch_compile.dynamo.cache.slots import optimized
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import VariableTracker
from minitorch_compile.dynamo.variables.builder import build, builds, guard_type
from minitorch_compile.dynamo.variables.tracer import Output

WALKS = frozenset(
    ["state_dict", "load_state_dict", "_load_below", "named_parameters", "named_buffers", "named_children", "children"]
)
WALKS_WITH_SELF = frozenset(("named_modules", "modules"))


def _tree(original: Any) -> Any:
    """What a compiled nn.Module looks like to those who walk through modules: one whose only child, `_orig_mod`, is the
    original. So the names in a state_dict are those that PyTorch gives."""
    library_module = next(cls for cls in type(original).__mro__ if "_call_is_forward" in vars(cls))
    tree = type("OptimizedModule", (library_module,), {})()
    tree.add_module("_orig_mod", original)
    return tree


class OptimizedModule:
    """A callable object, such as an nn.Module, whose call is compiled. Everything else is the object's own.

    Attributes are read from and stored on the original, and `isinstance` sees the original's class; only the names of
    parameters in `state_dict` and the like begin with `_orig_mod.`, as PyTorch's do. `forward`, as it is and compiled,
    is given for objects that say, in `_call_is_forward`, when a call is nothing but that: graphs and guards then have
    the names of forward's parameters.
    """

    def __init__(
        self,
        original: Any,
        region: Any,
        call: Callable[..., Any],
        forward: tuple[Any, Callable[..., Any]] | None = None,
    ) -> None:
        object.__setattr__(self, "_orig_mod", original)
        object.__setattr__(self, "_dynamo_region", region)
        object.__setattr__(self, "_dynamo_call", call)
        plain, compiled = forward or (None, None)
        object.__setattr__(self, "_dynamo_plain_forward", plain)
        object.__setattr__(self, "_dynamo_forward", compiled)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        original, forward = self._orig_mod, self._dynamo_plain_forward
        if forward is not None and type(original).forward is forward and original._call_is_forward:
            return self._dynamo_forward(original, *args, **kwargs)
        return self._dynamo_call(original, *args, **kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._orig_mod)

    def __getattr__(self, name: str) -> Any:
        original = object.__getattribute__(self, "_orig_mod")
        if name == "forward" and hasattr(type(original), "_call_is_forward"):
            return self.__call__
        if name in WALKS and hasattr(type(original), "_call_is_forward"):
            return getattr(_tree(original), name)
        if name in WALKS_WITH_SELF and hasattr(type(original), "_call_is_forward"):
            return functools.partial(self._walked, name)
        value = getattr(original, name)
        if isinstance(value, MethodType) and value.__self__ is original:
            return self._chained(value)
        return value

    def _walked(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """named_modules() and modules(), which begin with this object."""
        tree = _tree(self._orig_mod)
        for found in getattr(tree, name)(*args, **kwargs):
            if isinstance(found, tuple):
                yield found[0], self if found[1] is tree else found[1]
            else:
                yield self if found is tree else found

    def _chained(self, method: MethodType) -> Callable[..., Any]:
        """`model = model.eval()` keeps the compiled model: a method that gives its object gives this one."""

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            return self if result is self._orig_mod else result

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return dir(self._orig_mod)

    def __repr__(self) -> str:
        original = self._orig_mod
        return repr(_tree(original)) if hasattr(type(original), "_call_is_forward") else f"Optimized({original!r})"

    # A copy shares the object, as every shallow copy shares attributes, and its compiled code. A deep copy and what was
    # pickled have an object of their own, which is compiled when it is called: compiled code belongs to its process.

    def __copy__(self) -> OptimizedModule:
        forward = (self._dynamo_plain_forward, self._dynamo_forward) if self._dynamo_forward is not None else None
        return OptimizedModule(self._orig_mod, self._dynamo_region, self._dynamo_call, forward)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = self._dynamo_region.compile_again(copy.deepcopy(self._orig_mod, memo))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        region = self._dynamo_region
        return optimized, (self._orig_mod, region.backend, region.fullgraph, region.dynamic)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __iter__(self) -> Any:
        return iter(self._orig_mod)

    def __getitem__(self, key: Any) -> Any:
        return self._orig_mod[key]


@builds(OptimizedModule)
def _within_a_trace(output: Output, value: OptimizedModule, source: Source) -> VariableTracker:
    """Inside a trace, a compiled module is the module."""
    guard_type(output, value, source)
    return build(output, value._orig_mod, AttrSource(source, "_orig_mod"))
