"""What was compiled before: compile() asked for the same function again, with the same settings, compiles nothing anew.

Programs say `torch.compile(f)(x)` in a loop. All of them have one region. It belongs to the function or the nn.Module,
ends with it, and no copy of it has it.

>>> from minitorch_compile.dynamo.cache.region import Region
>>> from minitorch_compile.dynamo.testing import eager
>>> def f(x): ...
>>> first = region_for(f, ("eager",), lambda: Region(eager))
>>> region_for(f, ("eager",), lambda: Region(eager)) is first
True
>>> region_for(f, ("eager", "dynamic"), lambda: Region(eager)) is first
False

The regions of two modules are two: what is compiled for one doesn't count against the recompile limit of the other. But
a region takes over what another living module's has compiled with equal settings, if its guards hold
(`Region.siblings`): the twelve equal layers of a model are compiled once. PyTorch has one cache for each code object.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.cache.callees import original
from minitorch_compile.nn.compiler_slot import COMPILED_BEFORE

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.region import Region


class CompiledBefore:
    """The regions of one function or module, in its `__dict__`. A copy of that dict is somebody else's."""

    def __init__(self, owner: Any = None) -> None:
        self.owner = None if owner is None else weakref.ref(owner)
        self.regions: list[Region] = []

    def is_of(self, owner: Any) -> bool:
        """Not so in what `functools.wraps` or a shallow copy has made."""
        return self.owner is not None and self.owner() is owner

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledBefore:
        return CompiledBefore()

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledBefore, ()


def region_for(function: Any, settings: tuple[Any, ...], make: Callable[[], Region]) -> Region:
    """The region in which this was compiled with equal settings; the first time, and for objects that are neither a
    function nor an nn.Module nor a method of one, what `make` gives."""
    owner = _owner(function)
    if owner is None:
        return make()
    known = vars(owner).get(COMPILED_BEFORE)
    if known is None or not known.is_of(owner):
        known = vars(owner)[COMPILED_BEFORE] = CompiledBefore(owner)
    for region in known.regions:
        if region.settings == settings:
            return region
    region = make()
    region.settings = settings
    region.module = None if type(owner) is FunctionType else weakref.ref(owner)
    known.regions.append(region)
    return region


def _owner(function: Any) -> Any:
    """What the compiled code is for, and lives as long as."""
    if type(function) is FunctionType:
        return original(function)
    owner = function.__self__ if type(function) is MethodType else function
    return owner if hasattr(type(owner), "_call_is_forward") else None
